package starlark

import (
	"context"
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/tooleval/tooleval"
)

// Scorer makes a scorer of a function score(run, ctx). run is a struct: task (the id), input, response, state, calls (a
// list of structs with tool, args, status, text, data, error), ending. All of it is frozen.
//
// ctx.check("name", ok, note = "…") adds a check that counts, and returns ok; with info = True it is only shown. The
// function returns None, and the outcome is the share of checks that hold; or it returns True, False or a number in
// 0..1, and that is the outcome, the checks being shown beside it. ctx.unscored("why") ends it without an outcome.
// fail("…") and mistakes of the script are errors of the task.
//
// Where the world's State is more than it says (Config.Changes), world expands it; it may be nil.
func (p *Program) Scorer(function string, world tooleval.StateExpander) (tooleval.Scorer, error) {
	f, err := p.function(function, 2)
	if err != nil {
		return nil, err
	}
	return &scorer{p, f, world}, nil
}

type scorer struct {
	program *Program
	f       *starlark.Function
	world   tooleval.StateExpander
}

// Fingerprint is the script.
func (s *scorer) Fingerprint() any {
	return map[string]any{"scorer": "starlark", "source_sha256": s.program.sha256, "function": s.f.Name()}
}

// An abstention is what ctx.unscored raises.
type abstention struct{ why string }

func (a *abstention) Error() string { return a.why }

func (s *scorer) Score(ctx context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	record, err := s.record(run)
	if err != nil {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerTask, "%s: %w", s.program.name, err)
	}
	c := &checks{}
	v, err := s.program.call(ctx, s.f, record, c)
	out := tooleval.Outcome{Checks: c.list}
	if a, ok := errors.AsType[*abstention](err); ok {
		out.Score = tooleval.Unscoredf("%s", a.why)
		return out, nil
	}
	if err != nil {
		return out, tooleval.Blamef(tooleval.OwnerTask, "%s: %w", s.program.name, err)
	}
	switch x := v.(type) {
	case starlark.NoneType:
		if c.total == 0 {
			return out, tooleval.Blamef(tooleval.OwnerTask, "%s: %s made no check that counts and returned nothing",
				s.program.name, s.f.Name())
		}
		out.Score = tooleval.Scored(float64(c.met) / float64(c.total))
	case starlark.Bool:
		out.Score = tooleval.Scored(0)
		if x {
			out.Score = tooleval.Scored(1)
		}
	case starlark.Int, starlark.Float:
		f, _ := starlark.AsFloat(x)
		out.Score = tooleval.Scored(f)
	default:
		return out, tooleval.Blamef(tooleval.OwnerTask, "%s: %s returned a %s; want None, a bool or a number in 0..1",
			s.program.name, s.f.Name(), v.Type())
	}
	return out, nil
}

// record is a run as scripts see it, frozen.
func (s *scorer) record(run *tooleval.Run) (starlark.Value, error) {
	state := run.State
	if s.world != nil && run.StateFrom == "world" && state != nil {
		v, err := s.world.ExpandState(state)
		if err != nil {
			return nil, tooleval.Blame(tooleval.OwnerWorld, err)
		}
		state = tooleval.CanonicalJSON(v)
	}
	orNone := func(raw tooleval.Raw) (starlark.Value, error) {
		if len(raw) == 0 {
			return starlark.None, nil
		}
		return parseJSON(raw)
	}
	finalState, err := orNone(state)
	if err != nil {
		return nil, fmt.Errorf("the state: %w", err)
	}
	input, err := orNone(run.Task.Input)
	if err != nil {
		return nil, fmt.Errorf("the task's input: %w", err)
	}
	calls := make([]starlark.Value, len(run.Trajectory.Calls))
	for i := range run.Trajectory.Calls {
		c := &run.Trajectory.Calls[i]
		args, err := orNone(c.Args)
		if err != nil { // the agent's text, which need not be JSON
			args = starlark.None
		}
		result := resultStruct(c.Result).(*starlarkstruct.Struct)
		fields := starlark.StringDict{}
		result.ToStringDict(fields)
		fields["tool"], fields["args"] = starlark.String(c.Tool), args
		fields["status"] = starlark.String(c.Status)
		calls[i] = starlarkstruct.FromStringDict(starlarkstruct.Default, fields)
	}
	record := starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{
		"task": starlark.String(run.TaskID), "input": input, "response": starlark.String(run.Result.Response),
		"state": finalState, "calls": starlark.NewList(calls), "ending": starlark.String(run.Ending),
	})
	record.Freeze()
	return record, nil
}

// A checks is the ctx of a scorer.
type checks struct {
	list       []tooleval.Check
	met, total int
}

func (c *checks) String() string        { return "ctx" }
func (c *checks) Type() string          { return "ctx" }
func (c *checks) Freeze()               {}
func (c *checks) Truth() starlark.Bool  { return true }
func (c *checks) Hash() (uint32, error) { return 0, errUnhashable("ctx") }
func (c *checks) AttrNames() []string   { return []string{"check", "unscored"} }

func (c *checks) Attr(name string) (starlark.Value, error) { return attr(checkMethods, name, c) }

var checkMethods = map[string]*starlark.Builtin{
	"check": starlark.NewBuiltin("check", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		var name, note string
		var holds, info bool
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "ok", &holds, "note?", &note, "info?", &info); err != nil {
			return nil, err
		}
		c := b.Receiver().(*checks)
		verdict := tooleval.Failed
		if holds {
			verdict = tooleval.Passed
		}
		c.list = append(c.list, tooleval.Check{Name: name, Verdict: verdict, Info: info, Note: tooleval.Text(note)})
		if !info {
			c.total++
			if holds {
				c.met++
			}
		}
		return starlark.Bool(holds), nil
	}),
	"unscored": starlark.NewBuiltin("unscored", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		var why string
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "why", &why); err != nil {
			return nil, err
		}
		return nil, &abstention{why}
	}),
}
