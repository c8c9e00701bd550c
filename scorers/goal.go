package scorers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tooleval/tooleval"
)

// A Goal judges a run by what it left behind and what it said: the final state against a pattern or against the state
// after ground-truth actions, everything else being as it was, and required statements. Each part is a Check of its
// own; all that are not marked Info must hold.
//
//	&scorers.Goal{World: world, After: []scorers.Action{{Tool: "cancel", Args: tooleval.Raw(`{"id":"Z7"}`)}},
//		Said: []scorers.Statement{{Number: "42"}}}
//
// The outcome is the share of expectations met: each place where the ground truth changes the state (or each
// expectation of the pattern), "nothing else changed", and each statement count as one. A Goal must not be changed
// once it is in use; it is then safe for concurrent use.
type Goal struct {
	// World makes the fresh world in which the ground truth is played, with the run's own seed, and from which the initial
	// state is known. It is the world factory of the suite. Without one only State and Said can be judged.
	World tooleval.WorldFactory
	// After are the ground-truth actions: the final state must be the one that they lead to. Nil asks for nothing; an
	// empty list asks that nothing changes.
	After []Action
	// State is what the final state has to meet, instead of After. {"$subset": …} leaves the rest open.
	State tooleval.Pattern
	// Ignore are places where the state may be anything, as $.orders.*.updated_at or $.log[*].time; * and [*] stand for
	// every key or element. They hold for After and for what else changed.
	Ignore []string
	// Unordered are lists whose order does not matter, compared element by element: by the value of a key, or, with an
	// empty key, as a multiset. They hold for After and for what else changed.
	Unordered []List
	// Lenient lets other changes count for nothing: they are shown, but the agent may make them.
	Lenient bool

	// Said are statements of the final answer or of a message to the user.
	Said []Statement
	// Tells says which tools carry words to the user. The final answer always counts.
	Tells []Telling

	// Answer is an answer that says all that Said asks for, for [Goal.Oracle]. Empty stands for the statements themselves,
	// which will do unless there are patterns among them.
	Answer string
}

// An Action is one call of the ground truth.
type Action struct {
	Tool string       `json:"tool"`
	Args tooleval.Raw `json:"args,omitempty"`
	// MayFail says that this call is known to return an error. Without it a call that does makes the task invalid.
	MayFail bool `json:"may_fail,omitempty"`
}

// A List is a list in the state whose order does not matter.
type List struct {
	Path string `json:"path"`
	// Key is the key of the elements that tells them apart; empty compares whole elements.
	Key string `json:"key,omitempty"`
}

// A Telling is a tool argument that the user gets to read.
type Telling struct {
	Tool string `json:"tool"`
	Arg  string `json:"arg"`
}

// The names of a Goal's checks; statements have names of their own.
const (
	CheckState       = "state"
	CheckNothingElse = "nothing_else_changed"
)

var (
	_ tooleval.Scorer        = (*Goal)(nil)
	_ tooleval.Checker       = (*Goal)(nil)
	_ tooleval.Fingerprinter = (*Goal)(nil)
)

// Score judges a run. A ground truth that can't be played is an error of the task, a state that is not JSON one of the
// world.
func (g *Goal) Score(ctx context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	paths, err := g.rules()
	if err != nil {
		return tooleval.Outcome{}, tooleval.Blame(tooleval.OwnerTask, err)
	}
	t := &tally{}
	if g.After != nil || !g.State.IsZero() {
		if err := g.judgeState(ctx, run, paths, t); err != nil {
			return tooleval.Outcome{Checks: t.checks}, err
		}
	}
	messages := g.messages(run)
	for i := range g.Said {
		if err := t.statement(&g.Said[i], messages); err != nil {
			return tooleval.Outcome{Checks: t.checks}, tooleval.Blame(tooleval.OwnerTask, err)
		}
	}
	if t.total == 0 {
		return tooleval.Outcome{Checks: t.checks}, tooleval.Blamef(tooleval.OwnerTask,
			"the goal checks nothing: the ground truth changes nothing, other changes are allowed, and nothing has to be said")
	}
	out := tooleval.Outcome{Score: Fraction(t.met, t.total), Checks: t.checks, Diff: t.diff}
	if len(out.Diff) > mostDifferences {
		out.Diff = out.Diff[:mostDifferences:mostDifferences]
	}
	return out, nil
}

// A tally counts what was expected and what was met.
type tally struct {
	met, total int
	checks     []tooleval.Check
	diff       []tooleval.Difference
}

func (t *tally) check(name string, holds, info bool, note string) {
	c := tooleval.Check{Name: name, Verdict: tooleval.Failed, Info: info, Note: tooleval.Text(note)}
	if holds {
		c.Verdict = tooleval.Passed
	}
	t.checks = append(t.checks, c)
}

func (g *Goal) judgeState(ctx context.Context, run *tooleval.Run, rules *pathRules, t *tally) error {
	var final any
	missing := noState(run)
	if !missing {
		var err error
		if final, err = g.expand(run.State, run.StateFrom == "world"); err != nil {
			owner := tooleval.OwnerAgent
			if run.StateFrom == "world" {
				owner = tooleval.OwnerWorld
			}
			return tooleval.Blamef(owner, "the final state: %w", err)
		}
	}
	var initial, expected any
	if g.World != nil {
		var err error
		if initial, expected, err = g.play(ctx, run); err != nil {
			return err
		}
	}
	c := &treeComparison{rules: rules}
	if g.After != nil {
		c.compare("$", nil, place{initial, true}, place{expected, true}, place{final, !missing})
		t.met, t.total, t.diff = c.met, c.total, c.diff
		if c.total > 0 {
			t.check(CheckState, c.met == c.total, false, fmt.Sprintf("%d of %d expected changes are there", c.met, c.total))
		}
	} else {
		p := g.State.Compare(final)
		if missing {
			p = g.State.CompareMissing()
		}
		t.met, t.total, t.diff = p.Met, p.Total, p.Diff
		t.check(CheckState, p.OK(), false, fmt.Sprintf("%d of %d expectations met", p.Met, p.Total))
		if g.World == nil {
			return nil
		}
		named, err := patternShape(g.State)
		if err != nil {
			return tooleval.Blame(tooleval.OwnerTask, err)
		}
		c.changes("$", nil, place{initial, true}, place{final, !missing}, named)
	}
	if missing && len(c.others) == 0 { // the one difference says it all, but nothing of what was there is there
		c.others = append(c.others, tooleval.Difference{Path: "$", Want: place{initial, true}.raw(), Why: "there is no final state"})
	}
	note := "nothing"
	if len(c.others) > 0 {
		note = fmt.Sprintf("%d other places changed; the first: %s", len(c.others), c.others[0])
	}
	t.check(CheckNothingElse, len(c.others) == 0, g.Lenient, note)
	if !g.Lenient {
		t.total++
		if len(c.others) == 0 {
			t.met++
		}
		t.diff = append(t.diff, c.others...)
	}
	return nil
}

// expand is a state as a value.
func (g *Goal) expand(state tooleval.State, ofWorld bool) (any, error) {
	if e, ok := g.World.(tooleval.StateExpander); ok && ofWorld {
		return e.ExpandState(state)
	}
	return tooleval.DecodeValue(state)
}

// play is the initial state, and the one after the ground truth, of a fresh world for this run.
func (g *Goal) play(ctx context.Context, run *tooleval.Run) (initial, expected any, err error) {
	w, err := g.World.NewWorld(ctx, tooleval.WorldSpec{Task: run.Task, Tools: run.Tools, Seed: run.Seed})
	if err != nil {
		return nil, nil, tooleval.Blamef(tooleval.OwnerWorld, "making the world of the ground truth: %w", err)
	}
	defer func() {
		if closing := w.Close(); err == nil && closing != nil {
			err = tooleval.Blamef(tooleval.OwnerWorld, "closing the world of the ground truth: %w", closing)
		}
	}()
	if initial, err = g.snapshot(w); err != nil {
		return nil, nil, tooleval.Blamef(tooleval.OwnerWorld, "the initial state: %w", err)
	}
	if len(g.After) == 0 {
		return initial, initial, nil
	}
	for i, a := range g.After {
		r, err := w.CallTool(ctx, tooleval.ToolCall{Tool: a.Tool, Args: bytes.Clone(a.Args)})
		if err != nil {
			return nil, nil, tooleval.Blamef(tooleval.OwnerWorld, "ground-truth action %d (%s): %w", i+1, a.Tool, err)
		}
		if r.IsError && !a.MayFail {
			return nil, nil, tooleval.Blamef(tooleval.OwnerTask, "ground-truth action %d (%s) returned an error: %.300s; "+
				"correct it, or mark it with may_fail", i+1, a.Tool, r.Text)
		}
	}
	if expected, err = g.snapshot(w); err != nil {
		return nil, nil, tooleval.Blamef(tooleval.OwnerWorld, "the state after the ground truth: %w", err)
	}
	return initial, expected, nil
}

func (g *Goal) snapshot(w tooleval.World) (any, error) {
	s, err := w.State()
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("the world keeps no state")
	}
	return g.expand(s, true)
}

// messages are what the user could read: the words of the tools that tell, and the final answer.
func (g *Goal) messages(run *tooleval.Run) []string {
	var out []string
	for i := range run.Trajectory.Calls {
		c := &run.Trajectory.Calls[i]
		if c.Status == tooleval.CallRefused {
			continue
		}
		for _, tell := range g.Tells {
			if tell.Tool != c.Tool {
				continue
			}
			var args map[string]json.RawMessage
			var text tooleval.Text
			if json.Unmarshal(c.Args, &args) == nil && json.Unmarshal(args[tell.Arg], &text) == nil && text != "" {
				out = append(out, string(text))
			}
		}
	}
	if run.Result.Response != "" {
		out = append(out, string(run.Result.Response))
	}
	return out
}
