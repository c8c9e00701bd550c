package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tooleval/tooleval"
)

// visible is what an agent could see of a task.
type visible struct {
	asked  corpus // the description and the input
	all    corpus // that, the tools, and everything that a tool said in any run of the panel
	states corpus // the final states of worlds
}

// prompt takes in what every agent is told.
func (v *visible) prompt(s *tooleval.Suite, t *tooleval.Task) {
	for _, text := range []string{t.Description, string(t.Input)} {
		v.asked.add(text)
		v.all.add(text)
	}
	for _, tool := range s.Toolset(t) {
		v.all.add(tool.Description)
		v.all.add(string(tool.Schema))
	}
}

// results takes in what the tools said in a run.
func (v *visible) results(run *tooleval.Run) {
	for _, c := range run.Trajectory.Calls {
		v.all.add(string(c.Result.Text))
		v.all.add(string(c.Result.Structured))
	}
	if run.StateFrom == "world" {
		v.states.add(string(run.State))
	}
}

// A corpus is texts in which values are looked for.
type corpus struct {
	texts   []string
	seen    map[string]bool
	numbers map[string]bool
	size    int
}

// mostCorpus bounds the bytes of one corpus; what comes later is left out, and then a value may be reported as unseen.
const mostCorpus = 32 << 20

var numeral = regexp.MustCompile(`[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)

func (c *corpus) add(text string) {
	if c.seen == nil {
		c.seen, c.numbers = map[string]bool{}, map[string]bool{}
	}
	if text == "" || c.seen[text] || c.size+len(text) > mostCorpus {
		return
	}
	c.seen[text] = true
	c.size += len(text)
	c.texts = append(c.texts, strings.ToLower(text), words(text))
	for _, n := range numeral.FindAllString(text, -1) {
		c.numbers[numberKey(n)] = true
	}
}

// numberKey is a number without its sign and its spelling.
func numberKey(s string) string {
	f, err := strconv.ParseFloat(strings.TrimLeft(strings.ReplaceAll(s, ",", ""), "-+$"), 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'g', 12, 64)
}

// holds reports whether a value stands somewhere: a number by value, a text in any case, also as JSON writes it.
func (c *corpus) holds(v any) bool {
	text := ""
	switch x := v.(type) {
	case string:
		text = strings.ToLower(x)
		if _, err := strconv.ParseFloat(strings.ReplaceAll(x, ",", ""), 64); err == nil && c.numbers[numberKey(x)] {
			return true
		}
	case json.Number: // a small whole number is mostly a count, which stands nowhere
		return !isWord(x) || c.numbers[numberKey(x.String())]
	default:
		return true
	}
	quoted := strings.Trim(strings.ToLower(string(tooleval.CanonicalJSON(v))), `"`)
	run := words(text)
	return slices.ContainsFunc(c.texts, func(t string) bool {
		return strings.Contains(t, text) || strings.Contains(t, quoted) || run != "  " && strings.Contains(t, run)
	})
}

// words are the words of a text in lower case, with one space around each: {"shelf": "K7"} holds shelf k7.
func words(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ") + " "
}

// An expected value is a scalar that a pattern asks for at a place; of several values one is enough.
type expected struct {
	name   string
	values []any
}

func (e expected) String() string {
	var out []string
	for _, v := range e.values {
		if n, ok := v.(json.Number); ok { // as it is written
			out = append(out, n.String())
			continue
		}
		out = append(out, fmt.Sprintf("%.100s", tooleval.CanonicalJSON(v)))
	}
	return e.name + " " + strings.Join(out, " or ")
}

func (e expected) seenIn(c *corpus) bool { return slices.ContainsFunc(e.values, c.holds) }

// isWord reports whether it is one text or number that can be found in words: not a truth value, and no small count.
func (e expected) isWord() bool {
	return !slices.ContainsFunc(e.values, func(v any) bool { return !isWord(v) })
}

func isWord(v any) bool {
	switch x := v.(type) {
	case string:
		return x != ""
	case json.Number:
		f, err := x.Float64()
		return err != nil || f > 10 || f < -10 || f != float64(int64(f))
	}
	return false
}

// expectations are the scalars that a pattern asks for. Truth values count too; a small whole number, which is mostly a
// count of something, is left to the panel.
func expectations(p tooleval.Pattern) []expected {
	if p.IsZero() {
		return nil
	}
	raw, err := p.MarshalJSON()
	if err != nil {
		return nil
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		return nil
	}
	var out []expected
	gather(v, nil, true, &out)
	return out
}

func gather(v any, p path, matchers bool, out *[]expected) {
	switch x := v.(type) {
	case map[string]any:
		if name := matcher(x); matchers && name != "" {
			switch name {
			case "$literal":
				gather(x[name], p, false, out)
			case "$number", "$contains":
				*out = append(*out, expected{p.String(), []any{x[name]}})
			case "$subset", "$exact", "$unordered":
				gather(x[name], p, true, out)
			case "$one_of":
				options, _ := x[name].([]any)
				e := expected{name: p.String()}
				for _, o := range options {
					var inner []expected
					gather(o, p, true, &inner)
					if len(inner) != 1 {
						return // alternatives of several values each: any of them may be the one that is meant
					}
					e.values = append(e.values, inner[0].values...)
				}
				*out = append(*out, e)
			}
			return
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			gather(x[k], p.child(k), matchers, out)
		}
	case []any:
		for i, e := range x {
			gather(e, p.child(i), matchers, out)
		}
	default:
		*out = append(*out, expected{p.String(), []any{v}})
	}
}

// matcher is the name of the matcher that an object is; empty when it is a plain one.
func matcher(m map[string]any) string {
	for k := range m {
		if strings.HasPrefix(k, "$") {
			return k
		}
	}
	return ""
}
