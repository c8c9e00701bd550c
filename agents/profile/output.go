package profile

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
)

// maxAnswer bounds a file that the answer is read from, in bytes.
const maxAnswer = 16 << 20

// An answer is what an agent's output says.
type answer struct {
	text  string
	found bool
	// trouble is the last error that the output tells of.
	trouble string
	usage   *tooleval.Usage
}

// read finds the answer in the agent's output.
func (t *attempt) read() (answer, error) {
	o := &t.agent.profile.Output
	out := t.stdout.String()
	if o.File != "" {
		path, err := t.scope.expand(o.File)
		if err != nil {
			return answer{}, err
		}
		info, err := os.Lstat(path)
		switch {
		case os.IsNotExist(err):
			return answer{}, fmt.Errorf("it did not write its answer to %s", o.File)
		case err != nil:
			return answer{}, err
		case !info.Mode().IsRegular() || info.Size() > maxAnswer:
			return answer{}, fmt.Errorf("%s is no file of at most %d bytes", o.File, maxAnswer)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return answer{}, err
		}
		out = string(b)
	}
	switch t.agent.profile.format() {
	case "json":
		v, err := tooleval.DecodeValue([]byte(strings.TrimSpace(out)))
		if err != nil {
			return answer{}, fmt.Errorf("its output is not the JSON that its profile says: %w", err)
		}
		var r reader
		r.line(o, v)
		return r.answer, nil
	case "jsonl":
		var r reader
		for line := range strings.SplitSeq(out, "\n") {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
				if v, err := tooleval.DecodeValue([]byte(line)); err == nil {
					r.line(o, v)
				}
			}
		}
		return r.answer, nil
	}
	text := strings.TrimSpace(out)
	return answer{text: text, found: text != ""}, nil
}

// A reader gathers an answer from the values of an output.
type reader struct{ answer }

func (r *reader) line(o *Output, v any) {
	if fits(v, o.Answer.Where) {
		if texts := pick(v, o.Answer.Path); len(texts) > 0 {
			if text := strings.TrimSpace(joined(texts)); text != "" {
				r.text, r.found = text, true
			}
		}
	}
	if o.Error.Path != "" && fits(v, o.Error.Where) {
		if texts := pick(v, o.Error.Path); len(texts) > 0 && joined(texts) != "" {
			r.trouble = joined(texts)
		}
	}
	if u := &o.Usage; fits(v, u.Where) {
		r.count(u, v)
	}
}

// count reads the counts of one line. What is no count is left unknown.
func (r *reader) count(u *UsagePick, v any) {
	take := func(path string, to func(*tooleval.Usage) **int64) {
		if path == "" {
			return
		}
		list := pick(v, path)
		if len(list) != 1 {
			return
		}
		n, err := strconv.ParseInt(fmt.Sprint(list[0]), 10, 64)
		if err != nil || n < 0 {
			return
		}
		if r.usage == nil {
			r.usage = &tooleval.Usage{}
		}
		slot := to(r.usage)
		if u.Sum && *slot != nil {
			n += **slot
		}
		*slot = &n
	}
	take(u.Input, func(u *tooleval.Usage) **int64 { return &u.InputTokens })
	take(u.Output, func(u *tooleval.Usage) **int64 { return &u.OutputTokens })
	take(u.Cached, func(u *tooleval.Usage) **int64 { return &u.CachedTokens })
	take(u.Turns, func(u *tooleval.Usage) **int64 { return &u.Turns })
	if u.Cost == "" {
		return
	}
	if list := pick(v, u.Cost); len(list) == 1 {
		if cost, err := strconv.ParseFloat(fmt.Sprint(list[0]), 64); err == nil && cost >= 0 {
			if r.usage == nil {
				r.usage = &tooleval.Usage{}
			}
			if u.Sum && r.usage.CostUSD != nil {
				cost += *r.usage.CostUSD
			}
			r.usage.CostUSD = &cost
		}
	}
}

// fits reports whether the members of v are as where says.
func fits(v any, where map[string]string) bool {
	for path, want := range where {
		if list := pick(v, path); len(list) != 1 || fmt.Sprint(list[0]) != want {
			return false
		}
	}
	return true
}

// pick is every value at a path: names and indices with dots between them, and * for every element of a list.
func pick(v any, path string) []any {
	list := []any{v}
	for step := range strings.SplitSeq(path, ".") {
		var next []any
		for _, v := range list {
			switch x := v.(type) {
			case map[string]any:
				if m, ok := x[step]; ok {
					next = append(next, m)
				}
			case []any:
				if step == "*" {
					next = append(next, x...)
				} else if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(x) {
					next = append(next, x[i])
				}
			}
		}
		list = next
	}
	return list
}

// joined is the values as one text; those that are no text are left as JSON.
func joined(list []any) string {
	var b strings.Builder
	for _, v := range list {
		switch x := v.(type) {
		case string:
			b.WriteString(x)
		case nil:
		default:
			b.Write(tooleval.CanonicalJSON(x))
		}
	}
	return b.String()
}
