package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tooleval/tooleval"
)

// neutralVersion is the version of the neutral format that is read.
const neutralVersion = 1

func fitsNeutral(p *probe) bool {
	return p.first().has("recording") && !p.first().has("schema_version")
}

var (
	neutralKeys = []string{"recording", "task_id", "trial", "agent", "calls", "said", "response", "state", "agent_state", "ending", "error",
		"error_owner", "incomplete", "channel", "usage", "reward", "passed", "warnings"}
	neutralCallKeys = []string{"tool", "args", "args_text", "id", "turn", "caller", "result", "is_error", "status", "error", "aside"}
)

// readNeutral reads the neutral format; see docs/formats/neutral.md. It is strict: a key that is not known is an error, since
// a misspelt one would leave out what it was to say.
func readNeutral(s *source, yield func(*Recording, error) bool) {
	n := 0
	s.values(func(v value, _ bool, err error) bool {
		n++
		position := fmt.Sprintf("recording %d", n)
		if err != nil {
			return yield(nil, s.wrap(position, err))
		}
		b := newBuilder(s, position)
		if err := b.neutral(v); err != nil {
			return yield(nil, s.bad(position, err))
		}
		return yield(s.done(b, position))
	})
}

// A strict reads the keys of an object and remembers everything that is wrong with them.
type strict struct {
	v     value
	where string
	errs  []error
}

func newStrict(v value, where string, known []string) *strict {
	s := &strict{v: v, where: where}
	if v.kind() != '{' {
		s.fail("it is %s, want an object", v.what())
	}
	var seen []string
	v.each(func(k, _ value) bool {
		name := k.str()
		if !slices.Contains(known, name) {
			s.fail("unknown key %.100q%s", name, tooleval.DidYouMean(name, known))
		}
		if slices.Contains(seen, name) {
			s.fail("key %.100q is written twice", name)
		}
		seen = append(seen, name)
		return len(s.errs) < 20
	})
	return s
}

func (s *strict) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if s.where != "" {
		err = fmt.Errorf("%s: %w", s.where, err)
	}
	s.errs = append(s.errs, err)
}

// want is the value of a key if it is of that kind; another kind is an error, none is not.
func (s *strict) want(key string, kinds string, what string) value {
	v := s.v.get(key)
	if v.none() {
		return nil
	}
	for _, k := range []byte(kinds) {
		if v.kind() == k {
			return v
		}
	}
	s.fail("%s is %s, want %s", key, v.what(), what)
	return nil
}

func (s *strict) text(key string) tooleval.Text {
	t, _ := s.want(key, `"`, "a string").text()
	return t
}

func (s *strict) integer(key string, least int64) (int64, bool) {
	v := s.want(key, "0", "a whole number")
	if v == nil {
		return 0, false
	}
	n, ok := v.integer()
	if !ok || n < least || n > maxTrial {
		s.fail("%s is %.50s, want a whole number from %d on", key, v, least)
		return 0, false
	}
	return n, true
}

func (b *builder) neutral(v value) error {
	s := newStrict(v, "", neutralKeys)
	r := b.rec
	if version, ok := s.integer("recording", 1); !ok {
		s.fail("recording has to be the version of the format, %d", neutralVersion)
	} else if version > neutralVersion {
		return fmt.Errorf("version %d of the format is newer than %d, the newest that this tooleval reads: update tooleval", version, neutralVersion)
	}
	r.TaskID = string(s.text("task_id"))
	if n, ok := s.integer("trial", 0); ok {
		r.Index = int(n)
	}
	r.Source.Agent = string(s.text("agent"))
	b.neutralCalls(s)
	for i, e := range s.want("said", "[", "a list of strings").list() {
		t, ok := e.text()
		if !ok {
			s.fail("said[%d] is %s, want a string", i, e.what())
		}
		r.Said = append(r.Said, t)
	}
	r.Result.Response = s.text("response")
	if st := v.get("state"); !st.none() {
		r.State = st.raw()
	}
	if st := v.get("agent_state"); !st.none() {
		r.Result.State = st.raw()
	}
	if e := s.text("ending"); e != "" {
		var err error
		if r.Ending, err = parseEnding(string(e)); err != nil {
			s.fail("%w", err)
		}
	}
	r.Error, r.ErrorOwner = s.text("error"), tooleval.Owner(s.text("error_owner"))
	owners := []string{"agent", "world", "task", "judge", "infra", "harness", "user"}
	if o := string(r.ErrorOwner); o != "" && !slices.Contains(owners, o) {
		s.fail("error_owner %.50q is not known%s", o, tooleval.DidYouMean(o, owners))
	}
	if r.Ending == tooleval.Errored && r.ErrorOwner == "" {
		s.fail("an ending of error needs error_owner: who broke decides whether the run counts")
	}
	r.Trajectory.Incomplete = string(s.text("incomplete"))
	if c := string(s.text("channel")); c != "" {
		channels := []string{tooleval.InProcess, tooleval.OverStdio, tooleval.OverMCP, tooleval.OverHTTP, tooleval.SelfReported}
		if !slices.Contains(channels, c) {
			s.fail("channel %.50q is not known%s", c, tooleval.DidYouMean(c, channels))
		}
		r.Trajectory.Channel = c
	}
	if u := s.want("usage", "{", "an object"); u != nil {
		r.Result.Usage = new(tooleval.Usage)
		if err := json.Unmarshal(u, r.Result.Usage); err != nil {
			s.fail("usage: %w", err)
		}
	}
	b.given(s.want("reward", "0", "a number"), s.want("passed", "tf", "true or false"))
	for _, e := range s.want("warnings", "[", "a list of strings").list() {
		t, _ := e.text()
		b.warn("%s", t)
	}
	return errors.Join(s.errs...)
}

// neutralCalls reads the calls. Neighbours with the same turn were made at once.
func (b *builder) neutralCalls(s *strict) {
	var group []found
	var settle []func()
	turn, first := int64(-1), 0
	flush := func() {
		b.calls(group)
		for _, f := range settle {
			f()
		}
		first += len(group)
		group, settle = nil, nil
	}
	for i, e := range s.want("calls", "[", "a list of calls").list() {
		c := newStrict(e, fmt.Sprintf("calls[%d]", i), neutralCallKeys)
		f := found{id: string(c.text("id")), tool: string(c.text("tool")), args: e.get("args"), caller: string(c.text("caller"))}
		if f.tool == "" {
			c.fail("it names no tool")
		}
		if t := c.want("args_text", `"`, "a string"); t != nil {
			text, _ := t.text()
			f.argsText = &text
			if f.args != nil {
				c.fail("args and args_text are given: give one")
			}
		}
		n, numbered := c.integer("turn", 0)
		if !numbered || n != turn || len(group) == 0 {
			flush()
		}
		turn = -1
		if numbered {
			turn = n
		}
		if t := c.text("aside"); t != "" {
			b.rec.Aside = append(b.rec.Aside, Aside{Call: b.clock + 1, Text: t})
		}
		at := first + len(group)
		group = append(group, f)
		settle = append(settle, b.neutralResult(c, at))
		s.errs = append(s.errs, c.errs...)
	}
	flush()
}

// neutralResult gives call i its result once it is there.
func (b *builder) neutralResult(c *strict, i int) func() {
	result := c.v.get("result")
	failed := c.want("is_error", "tf", "true or false").kind() == 't'
	status := tooleval.CallStatus(c.text("status"))
	why := c.text("error")
	known := []string{"ok", "tool_error", "refused", "protocol_error", "timeout", "cancelled"}
	if status != "" && !slices.Contains(known, string(status)) {
		c.fail("status %.50q is not known%s", status, tooleval.DidYouMean(string(status), known))
	}
	if failed && status == tooleval.CallOK {
		c.fail("status is ok, but is_error is true")
	}
	text, ok := result.text()
	if !ok && result != nil {
		text = tooleval.Text(result.raw())
	}
	return func() {
		if result == nil && status == "" && !failed {
			return // no result was recorded
		}
		b.answer(i, text, failed || status == tooleval.CallToolError || status == tooleval.CallRefused)
		call := &b.rec.Trajectory.Calls[i]
		call.Error = why
		if status != "" && call.ArgsError == "" {
			call.Status = status
		}
	}
}
