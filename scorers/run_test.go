package scorers

import (
	"math"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
)

// A change makes a run of a test different from a sound one.
type change func(*tooleval.Run)

// newRun is a run that passes: three required calls made, in a complete trajectory, and the state as expected.
func newRun(changes ...change) *tooleval.Run {
	run := &tooleval.Run{
		Ending: tooleval.Completed,
		Task: tooleval.Task{
			ID:            "shop.buy",
			Toolset:       []string{"search", "add", "pay", "drop"},
			Required:      []tooleval.CallPattern{call("search", `{"q":"boots"}`), call("add", `{"id":7}`), call("pay", ``)},
			Forbidden:     []tooleval.CallPattern{call("drop", ``)},
			MinimalCalls:  tooleval.Minimum(3),
			ExpectedState: tooleval.ParsePattern([]byte(`{"cart":[7],"paid":true}`)),
		},
		State:     tooleval.Raw(`{"paid":true,"cart":[7.0]}`),
		StateFrom: "world",
		Result:    tooleval.AgentResult{Response: "done"},
	}
	for _, name := range run.Task.Toolset {
		schema := `{"type":"object","properties":{"id":{"type":"integer"}}}`
		if name == "search" {
			schema = `{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer","default":10}}}`
		}
		run.Tools = append(run.Tools, tooleval.Tool{Name: name, Schema: tooleval.Raw(schema)})
	}
	calls(`search {"q":"boots"}`, `add {"id":7}`, `pay {}`)(run)
	for _, c := range changes {
		c(run)
	}
	return run
}

func call(tool, args string) tooleval.CallPattern {
	p := tooleval.CallPattern{Tool: tool}
	if args != "" {
		p.Args = tooleval.ParsePattern([]byte(args))
	}
	return p
}

// calls replaces the trajectory by calls one after the other, each written as `tool {args}`.
func calls(list ...string) change {
	return func(run *tooleval.Run) {
		run.Trajectory.Calls = nil
		for _, s := range list {
			addCall(s, tooleval.CallOK)(run)
		}
	}
}

// addCall adds a call at the end.
func addCall(s string, status tooleval.CallStatus) change {
	return func(run *tooleval.Run) {
		n := len(run.Trajectory.Calls)
		tool, args, _ := strings.Cut(s, " ")
		c := tooleval.Call{Began: 2*n + 1, Ended: 2*n + 2, Tool: tool, Args: tooleval.Raw(args), Status: status}
		c.Result.IsError = status == tooleval.CallToolError
		run.Trajectory.Calls = append(run.Trajectory.Calls, c)
	}
}

func state(s string) change { return func(r *tooleval.Run) { r.State = tooleval.Raw(s) } }

func expected(s string) change {
	return func(r *tooleval.Run) { r.Task.ExpectedState = tooleval.ParsePattern([]byte(s)) }
}

func required(list ...tooleval.CallPattern) change {
	return func(r *tooleval.Run) { r.Task.Required = list }
}

func forbidden(list ...tooleval.CallPattern) change {
	return func(r *tooleval.Run) { r.Task.Forbidden = list }
}

func minimum(n int) change { return func(r *tooleval.Run) { r.Task.MinimalCalls = &n } }

func noMinimum(r *tooleval.Run) { r.Task.MinimalCalls = nil }

func incomplete(r *tooleval.Run) { r.Trajectory.Incomplete = "the agent talked to the server directly" }

// ended is an early end.
func ended(e tooleval.Ending, owner tooleval.Owner, why tooleval.Text) change {
	return func(r *tooleval.Run) { r.Ending, r.ErrorOwner, r.Error = e, owner, why }
}

// wantScore checks a score against a number to six digits; NaN stands for unscored, which needs a reason.
func wantScore(t *testing.T, what string, s tooleval.Score, want float64) {
	t.Helper()
	v, ok := s.Value()
	switch {
	case math.IsNaN(want) && (ok || s.Why == ""):
		t.Errorf("%s: got %v (%q), want unscored with a reason", what, v, s.Why)
	case !math.IsNaN(want) && (!ok || math.Abs(v-want) > 5e-7):
		t.Errorf("%s: got %v, scored %v (%q), want %v", what, v, ok, s.Why, want)
	}
}

var unscored = math.NaN()
