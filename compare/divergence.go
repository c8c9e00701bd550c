package compare

import (
	"bytes"
	"fmt"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
)

// A Divergence is the first call at which a run that passed and one that failed part.
type Divergence struct {
	Passing Example `json:"passing"`
	Failing Example `json:"failing"`
	// Call is the place of that call among the run's calls, from 1; 0 when all calls are the same.
	Call int `json:"call,omitempty"`
	// What says what differs: tool, args, status, answer, ended (one of them made no further call) or nothing.
	What string `json:"what"`
	// Passed and Failed are the calls there; nil where that run made none.
	Passed *CallBrief `json:"passed,omitempty"`
	Failed *CallBrief `json:"failed,omitempty"`
	// Why says it in words.
	Why string `json:"why"`
}

// Words of Divergence.What.
const (
	OtherTool   = "tool"
	OtherArgs   = "args"
	OtherStatus = "status"
	OtherAnswer = "answer"
	OneEnded    = "ended"
	NoneDiffers = "nothing"
)

// An Example names a run.
type Example struct {
	Eval  string `json:"eval"`
	Mind  string `json:"mind"`
	Index int    `json:"index"`
	Ref   string `json:"file,omitempty"`
}

// A CallBrief is a call in short.
type CallBrief struct {
	Tool   string              `json:"tool"`
	Args   tooleval.Text       `json:"args,omitempty"`
	Status tooleval.CallStatus `json:"status"`
	Answer tooleval.Text       `json:"answer,omitempty"`
}

const maxBrief = 300 // bytes of arguments and answers that are kept

// Diverge finds the first call at which two runs part: another tool, other arguments (by JSON meaning), another status,
// or another answer to the same question. Calls are taken in the order in which they began.
func Diverge(passing, failing *tooleval.Run) Divergence {
	d := Divergence{Passing: exampleOf(passing), Failing: exampleOf(failing)}
	p, f := passing.Trajectory.Calls, failing.Trajectory.Calls
	for i := range max(len(p), len(f)) {
		d.Call = i + 1
		switch {
		case i == len(p):
			d.What, d.Failed = OneEnded, brief(&f[i])
			d.Why = fmt.Sprintf("call %d: the run that passed was done, the one that failed called %s", i+1, quoted(f[i].Tool))
			return d
		case i == len(f):
			d.What, d.Passed = OneEnded, brief(&p[i])
			d.Why = fmt.Sprintf("call %d: the run that failed made no more calls, the one that passed called %s", i+1, quoted(p[i].Tool))
			return d
		}
		a, b := &p[i], &f[i]
		switch {
		case a.Tool != b.Tool:
			d.What = OtherTool
			d.Why = fmt.Sprintf("call %d: %s passed, %s failed", i+1, quoted(a.Tool), quoted(b.Tool))
		case !sameArgs(a, b):
			d.What = OtherArgs
			d.Why = fmt.Sprintf("call %d: both called %s, with other arguments", i+1, quoted(a.Tool))
		case a.Status != b.Status:
			d.What = OtherStatus
			d.Why = fmt.Sprintf("call %d: the same call of %s ended %s in the run that passed and %s in the one that failed", i+1, quoted(a.Tool), a.Status, b.Status)
		case !sameAnswer(&a.Result, &b.Result):
			d.What = OtherAnswer
			d.Why = fmt.Sprintf("call %d: the same call of %s got another answer", i+1, quoted(a.Tool))
		default:
			continue
		}
		d.Passed, d.Failed = brief(a), brief(b)
		return d
	}
	d.Call, d.What = 0, NoneDiffers
	d.Why = fmt.Sprintf("all %d calls are the same: the runs differ only in what was returned or how it was judged", len(p))
	return d
}

func quoted(s string) string { return plain.Text(plain.Clip(s, maxName)) }

func exampleOf(r *tooleval.Run) Example { return Example{Eval: r.Eval, Mind: r.Mind, Index: r.Index} }

func brief(c *tooleval.Call) *CallBrief {
	args := tooleval.Text(c.Args)
	if c.ArgsText != "" {
		args = c.ArgsText
	}
	return &CallBrief{Tool: plain.Clip(c.Tool, maxName), Args: clip(args), Status: c.Status, Answer: clip(c.Result.Text)}
}

func clip(t tooleval.Text) tooleval.Text { return tooleval.Text(plain.Clip(string(t), maxBrief)) }

func sameArgs(a, b *tooleval.Call) bool {
	if bytes.Equal(a.Args, b.Args) {
		return a.ArgsError == b.ArgsError && (a.ArgsError == "" || a.ArgsText == b.ArgsText)
	}
	return sameJSON(a.Args, b.Args)
}

func sameAnswer(a, b *tooleval.ToolResult) bool {
	return a.IsError == b.IsError && (a.Text == b.Text || sameJSON(tooleval.Raw(a.Text), tooleval.Raw(b.Text))) &&
		(bytes.Equal(a.Structured, b.Structured) || sameJSON(a.Structured, b.Structured))
}

func sameJSON(a, b tooleval.Raw) bool {
	va, err := tooleval.DecodeValue(a)
	if err != nil {
		return false
	}
	vb, err := tooleval.DecodeValue(b)
	return err == nil && tooleval.Equal(va, vb)
}

// divergences looks at the tasks of which a run passed and a run failed: those that got worse first, then those that got
// better, flipped or are flaky.
func (c *comparison) divergences() {
	if c.o.Load == nil {
		return
	}
	left := c.o.MaxDivergences
	if left == 0 {
		left = 20
	}
	rank := func(t *Task) int {
		switch {
		case t.Status == Worse:
			return 0
		case t.Status == Better:
			return 1
		case t.Flipped:
			return 2
		case t.Status == Flaky:
			return 3
		}
		return 4
	}
	for want := range 4 {
		for i := range c.matched {
			m := &c.matched[i]
			t := &c.pair.Tasks[m.at]
			if rank(t) != want || left == 0 {
				continue
			}
			if d := c.divergence(m); d != nil {
				t.Divergence = d
				left--
			}
		}
	}
}

// divergence compares a run that passed with one that failed: from different sides where it can.
func (c *comparison) divergence(m *matched) *Divergence {
	type choice struct {
		pass, fail         *example
		passSide, failSide *Side
	}
	choices := []choice{
		{&m.base.pass, &m.candidate.fail, c.base, c.candidate}, {&m.candidate.pass, &m.base.fail, c.candidate, c.base},
		{&m.candidate.pass, &m.candidate.fail, c.candidate, c.candidate}, {&m.base.pass, &m.base.fail, c.base, c.base},
	}
	if m.after.Passed*m.before.Scored > m.before.Passed*m.after.Scored { // it got better
		choices[0], choices[1] = choices[1], choices[0]
	}
	for _, ch := range choices {
		if !ch.pass.ok || !ch.fail.ok {
			continue
		}
		passing, err := c.o.Load(ch.pass.ref)
		var failing *tooleval.Run
		if err == nil {
			failing, err = c.o.Load(ch.fail.ref)
		}
		if err != nil {
			c.pair.Warnings = append(c.pair.Warnings, fmt.Sprintf("task %q: where its runs part can't be told: %v", m.base.id, err))
			return nil
		}
		d := Diverge(passing, failing)
		d.Passing.Ref, d.Failing.Ref = ch.pass.ref, ch.fail.ref
		return &d
	}
	return nil
}
