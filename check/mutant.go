package check

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/statepatch"
	"github.com/tooleval/tooleval/scorers"
)

// Bounds of the mutants of one task.
const (
	mostDropped = 12 // calls left out, one at a time
	mostArgs    = 24 // arguments changed, one at a time, over all calls
	mostPerCall = 4
	mostSwapped = 8
	mostPlaces  = 16 // places of the state changed, one at a time
)

// A script is the calls of a mutant, and its answer.
type script struct {
	calls  []tooleval.ToolCall
	result tooleval.AgentResult
}

type scriptKey struct{}

// A replayer makes the calls of the script in its context, one after the other. The script travels in the context, so
// that one prepared agent serves any number of mutants: the digests of a run's identity, which every agent of a plan
// needs, would cost more than the mutants themselves.
type replayer struct{}

func (replayer) Run(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	s, _ := ctx.Value(scriptKey{}).(*script)
	if s == nil {
		return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerHarness, "there is no script to replay")
	}
	for _, c := range s.calls {
		c.Args = bytes.Clone(c.Args)
		if _, err := tools.CallTool(ctx, c); err != nil {
			return tooleval.AgentResult{}, err
		}
	}
	return s.result, context.Cause(ctx)
}

// replay runs a changed script of the oracle and takes down what it failed.
func (q *inquiry) replay(change string, calls []tooleval.ToolCall) *tooleval.Run {
	result := q.oracle.Result
	result.Usage, result.Evidence = nil, nil
	run := q.run(context.WithValue(q.ctx, scriptKey{}, &script{calls, result}), mutants, false)
	q.kept(change, run)
	return run
}

func (q *inquiry) kept(change string, run *tooleval.Run) {
	q.note(run, change)
	q.out.Mutants = append(q.out.Mutants, Mutant{change, run.Score.Verdict})
}

// mutate makes all mutants of the oracle's run.
func (q *inquiry) mutate() {
	var calls []tooleval.ToolCall
	for _, c := range q.oracle.Trajectory.Calls {
		args := c.Args
		if c.ArgsText != "" {
			args = tooleval.Raw(c.ArgsText)
		}
		calls = append(calls, tooleval.ToolCall{Tool: c.Tool, Args: args})
	}
	same := q.run(context.WithValue(q.ctx, scriptKey{}, &script{calls, q.oracle.Result}), mutants, false)
	if same.Score.Verdict == tooleval.Passed {
		q.mutateCalls(calls)
	} else {
		q.find(OracleNotRepeatable, "the same calls and answer, repeated, give %s: %s", same.Score.Verdict, same.Score.Why)
	}
	q.mutateAnswer()
	q.mutateState()
}

func (q *inquiry) mutateCalls(calls []tooleval.ToolCall) {
	for i := range min(len(calls), mostDropped) {
		q.replay(fmt.Sprintf("call %d (%s) left out", i+1, calls[i].Tool), slices.Delete(slices.Clone(calls), i, i+1))
	}
	if len(calls) > 1 {
		q.replay("all calls left out", nil)
	}
	made := 0
	for i, c := range calls {
		args, err := tooleval.DecodeValue(c.Args)
		if err != nil {
			continue
		}
		tool, _ := q.suite.Tool(c.Tool)
		for _, p := range some(leaves(args), mostPerCall) {
			if made++; made > mostArgs {
				break
			}
			changed := slices.Clone(calls)
			changed[i].Args = tooleval.CanonicalJSON(edit(args, p, func(v any) any { return another(v, enumAt(tool.Schema, p)) }))
			q.replay(fmt.Sprintf("call %d (%s): %s changed", i+1, c.Tool, p), changed)
		}
	}
	swapped := 0
	for i := 0; i+1 < len(calls) && swapped < mostSwapped; i++ {
		if calls[i].Tool == calls[i+1].Tool && bytes.Equal(calls[i].Args, calls[i+1].Args) {
			continue
		}
		swapped++
		changed := slices.Clone(calls)
		changed[i], changed[i+1] = changed[i+1], changed[i]
		q.replay(fmt.Sprintf("calls %d and %d swapped", i+1, i+2), changed)
	}
	if len(calls) > 1 {
		reversed := slices.Clone(calls)
		slices.Reverse(reversed)
		q.replay("calls in reverse", reversed)
	}
	if len(calls) > 0 {
		q.replay(fmt.Sprintf("call 1 (%s) made twice", calls[0].Tool), slices.Insert(slices.Clone(calls), 0, calls[0]))
	}
	for i, f := range q.task.Forbidden {
		args, _, whole := concrete(f.Args, true)
		if !whole {
			q.untried(forbiddenName(i, f.Tool), "no call can be made up that fits its pattern")
			continue
		}
		q.replay(fmt.Sprintf("forbidden call %d (%s) made", i+1, f.Tool),
			slices.Insert(slices.Clone(calls), 0, tooleval.ToolCall{Tool: f.Tool, Args: args}))
	}
}

func (q *inquiry) untried(check, why string) {
	if i, ok := q.at[check]; ok {
		q.checks[i].Untried = why
	}
}

// regrade judges the oracle's run with something changed in its record. Nothing is run again.
func (q *inquiry) regrade(change string, edit func(run *tooleval.Run)) {
	run := *q.oracle
	run.Trajectory.Calls = slices.Clone(run.Trajectory.Calls)
	edit(&run)
	scorer := q.suite.Scorers[q.task.ID]
	if b, ok := scorer.(tooleval.Binder); ok {
		bound, err := b.Bind(q.resources)
		if err != nil { // the runner, which bound it first, would have said so
			return
		}
		scorer = bound
	}
	ctx, cancel := context.WithTimeout(q.ctx, q.options.Timeout)
	defer cancel()
	run.Score, _ = scorers.Grade(ctx, &run, scorer) // the error is in the score as its reason
	q.kept(change, &run)
}

func (q *inquiry) mutateAnswer() {
	if q.oracle.Result.Response != "" {
		q.regrade("answer left out", func(run *tooleval.Run) { run.Result.Response = "" })
	}
	if q.goal == nil {
		return
	}
	for _, s := range q.goal.Said {
		if !s.Not || s.Info {
			continue
		}
		said := s.Words + string(s.Number) + s.Text
		if said == "" {
			name := s.Name
			if name == "" {
				name = "does not say: " + s.Pattern
			}
			q.untried(name, "no words can be made up that fit its pattern")
			continue
		}
		q.regrade("answer also says "+said, func(run *tooleval.Run) { run.Result.Response += tooleval.Text("\n" + said) })
	}
}

// mutateState changes places of the final state, and adds one.
func (q *inquiry) mutateState() {
	if len(q.oracle.State) == 0 {
		return
	}
	change := func(what string, state tooleval.State) {
		q.regrade(what, func(run *tooleval.Run) {
			run.State = state
			if run.StateFrom == "agent" {
				run.Result.State = state
			}
		})
	}
	if patch, err := statepatch.Parse(q.oracle.State); err == nil && q.oracle.StateFrom == "world" {
		for i := range patch.Ops[:min(len(patch.Ops), mostPlaces)] {
			without := patch
			without.Ops = slices.Delete(slices.Clone(patch.Ops), i, i+1)
			change(fmt.Sprintf("state: %s %s left out", patch.Ops[i].Op, patch.Ops[i].Path), encode(without))
		}
		more := patch
		more.Ops = append(slices.Clone(patch.Ops), statepatch.Op{Op: "add", Path: "/mutant", Value: tooleval.Raw("true")})
		change("state: $.mutant added", encode(more))
		return
	}
	v, err := tooleval.DecodeValue(q.oracle.State)
	if err != nil {
		return
	}
	places := leaves(v)
	if q.oracle.StateFrom == "world" { // what the oracle changed comes first
		if before, err := tooleval.DecodeValue(q.runs[doNothing].State); err == nil {
			places = slices.Concat(slices.DeleteFunc(slices.Clone(places), func(p path) bool { return tooleval.Equal(at(before, p), at(v, p)) }), places)
		}
	}
	for _, p := range some(places, mostPlaces) {
		change(fmt.Sprintf("state: %s changed", p), tooleval.CanonicalJSON(edit(v, p, func(v any) any { return another(v, nil) })))
	}
	for _, p := range some(containers(v), mostPlaces) {
		change(fmt.Sprintf("state: %s left out", p), tooleval.CanonicalJSON(edit(v, p, nil)))
	}
	if m, ok := v.(map[string]any); ok && m["mutant"] == nil {
		change("state: $.mutant added", tooleval.CanonicalJSON(edit(v, path{"mutant"}, func(any) any { return true })))
	}
	if q.oracle.StateFrom == "agent" {
		q.regrade("state left out", func(run *tooleval.Run) { run.State, run.Result.State, run.StateFrom = nil, nil, "" })
	}
}
