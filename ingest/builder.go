package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// A builder makes one Recording of what a decoder finds, in the order in which it was written.
type builder struct {
	rec     *Recording
	opts    *Options
	clock   int
	groups  [][2]int // calls of one message, by the index of the first and of the one after the last
	open    []bool   // calls without a result
	marked  []bool   // calls whose entry was malformed
	servers map[int]string
	usage   usage
	last    string // what came last: said, calls, result or user
}

// maxWarnings bounds the warnings of one recording.
const maxWarnings = 100

func newBuilder(s *source, position string) *builder {
	b := &builder{opts: &s.opts, rec: &Recording{Index: NoIndex, Source: Source{Format: s.format, File: s.name, Position: position}}}
	b.rec.Trajectory.Channel = tooleval.SelfReported
	return b
}

func (b *builder) warn(format string, args ...any) {
	switch n := len(b.rec.Warnings); {
	case n < maxWarnings:
		b.rec.Warnings = append(b.rec.Warnings, tooleval.Text(fmt.Sprintf("%.500s", fmt.Sprintf(format, args...))))
	case n == maxWarnings:
		b.rec.Warnings = append(b.rec.Warnings, "there are more warnings")
	}
}

// A found is one call as a decoder found it.
type found struct {
	id, tool string
	args     value
	argsText *tooleval.Text // instead of args
	server   string
	caller   string
	// malformed says why the entry is no call; it then has an empty name.
	malformed string
	argsError string // that the format itself states
}

// calls adds the calls of one message.
func (b *builder) calls(list []found) {
	if len(list) == 0 {
		return
	}
	t := &b.rec.Trajectory
	first := len(t.Calls)
	for i, f := range list {
		c := tooleval.Call{Began: b.clock + 1 + i, Ended: b.clock + 1 + len(list) + i, ID: f.id, Tool: f.tool, Caller: f.caller}
		switch {
		case f.malformed != "":
			c.ArgsError = fmt.Sprintf("malformed call at index %d: %s", i, f.malformed)
			c.ArgsText = tooleval.Text(f.args)
			b.warn("call %d: %s", first+i+1, c.ArgsError)
		case f.argsText != nil:
			setArgsText(&c, *f.argsText)
		default:
			setArgs(&c, f.args)
		}
		if c.ArgsError == "" && f.argsError != "" {
			c.ArgsError, c.ArgsText = f.argsError, tooleval.Text(c.Args)
			c.Args = nil
		}
		if f.server != "" {
			if b.servers == nil {
				b.servers = map[int]string{}
			}
			b.servers[first+i] = f.server
		}
		t.Calls = append(t.Calls, c)
		b.open = append(b.open, true)
		b.marked = append(b.marked, f.malformed != "")
	}
	b.clock += 2 * len(list)
	b.groups = append(b.groups, [2]int{first, len(t.Calls)})
	b.last = "calls"
}

// result gives a result to the call that it answers.
func (b *builder) result(id, tool string, text tooleval.Text, isError bool) {
	b.last = "result"
	i := b.answers(id, tool)
	if i < 0 {
		b.warn("a result (id %.100q, tool %.100q) answers no call and is left out", id, tool)
		return
	}
	b.answer(i, text, isError)
}

func (b *builder) answer(i int, text tooleval.Text, isError bool) {
	b.open[i] = false
	if p := b.opts.ErrorPrefix; p != "" && strings.HasPrefix(string(text), p) {
		isError = true
	}
	c := &b.rec.Trajectory.Calls[i]
	c.Result = tooleval.ToolResult{Text: text, IsError: isError}
	c.Status = tooleval.CallOK
	if isError || c.ArgsError != "" { // arguments that can't be read never reach a tool
		c.Status = tooleval.CallToolError
	}
}

// answers finds the unanswered call that a result belongs to, in the newest message that has one; -1 when there is none.
func (b *builder) answers(id, tool string) int {
	search := func(fits func(*tooleval.Call) bool) int {
		for _, g := range slices.Backward(b.groups) {
			for i := g[0]; i < g[1]; i++ {
				if b.open[i] && fits(&b.rec.Trajectory.Calls[i]) {
					return i
				}
			}
		}
		return -1
	}
	if id != "" {
		if i := search(func(c *tooleval.Call) bool { return c.ID == id }); i >= 0 {
			return i
		}
		// An id that no call has can't be told from a missing one only where calls have none either.
		return search(func(c *tooleval.Call) bool { return c.ID == "" && (tool == "" || c.Tool == tool) })
	}
	return search(func(c *tooleval.Call) bool { return tool == "" || c.Tool == tool })
}

// assistant adds what one message of the agent holds: text that was said, or, beside calls, was not.
func (b *builder) assistant(text tooleval.Text, list []found) {
	began := b.clock + 1
	b.calls(list)
	switch {
	case strings.TrimSpace(string(text)) == "":
	case len(list) > 0:
		b.rec.Aside = append(b.rec.Aside, Aside{Call: began, Text: text})
	default:
		b.rec.Said = append(b.rec.Said, text)
		b.last = "said"
	}
}

// user notes that somebody else had the word.
func (b *builder) user() { b.last = "user" }

// finish settles what is still open.
func (b *builder) finish() (*Recording, error) {
	r := b.rec
	unanswered := 0
	for i := range r.Trajectory.Calls {
		c := &r.Trajectory.Calls[i]
		switch {
		case !b.open[i]:
		case b.marked[i]:
			c.Status, c.Error = tooleval.CallRefused, tooleval.Text(c.ArgsError)
			c.Result = tooleval.ErrorResult("%s", c.ArgsError)
		default:
			c.Status, c.Error = tooleval.CallCancelled, "the recording has no result for this call"
			unanswered++
		}
	}
	if unanswered > 0 {
		b.warn("%d of %d calls have no result", unanswered, len(r.Trajectory.Calls))
	}
	if r.Trajectory.Calls == nil {
		r.Trajectory.Calls = []tooleval.Call{}
	}
	if r.Result.Response == "" {
		parts := make([]string, len(r.Said))
		for i, s := range r.Said {
			parts[i] = string(s)
		}
		r.Result.Response = tooleval.Text(strings.Join(parts, "\n\n"))
	}
	if r.Result.Usage == nil {
		r.Result.Usage = b.usage.total(r.Source.Agent)
	}
	if r.Ending == "" && b.opts.Ending != "" {
		r.Ending = b.opts.Ending
	}
	if r.Ending == "" {
		b.warn("the recording does not show how the run ended")
	}
	return r, rename(&r.Trajectory, b.servers, b.opts.Aliases)
}

// settled notes that a conversation that ends with words of the agent is complete. Anything else stays unknown.
func (b *builder) settled() {
	if b.rec.Ending == "" && b.last == "said" {
		b.rec.Ending = tooleval.Completed
	}
}
