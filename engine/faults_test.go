package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/worlds"
)

// gaveUp stops at the first error of a tool.
func gaveUp(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	for _, args := range steps {
		if r, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step", Args: args}); err != nil || r.IsError {
			return tooleval.AgentResult{Response: "it does not work"}, err
		}
	}
	return tooleval.AgentResult{Response: "done", State: tooleval.Raw(`{"done":true}`)}, nil
}

func withFault(s *tooleval.Suite) {
	s.Tasks[0].Faults = []tooleval.Fault{{Kind: tooleval.FaultError, Tool: "step", Call: 2}}
}

func TestFaultsOfATask(t *testing.T) {
	for _, test := range []struct {
		name  string
		wants bool
		owner tooleval.Owner
	}{{"a fault excuses", false, tooleval.OwnerWorld}, {"the task wants recovery", true, tooleval.OwnerAgent}} {
		t.Run(test.name, func(t *testing.T) {
			s := suite(withFault)
			s.Tasks[0].WantsRecovery = test.wants
			run := eval(t, s, gaveUp, engine.Options{}, engine.RunnerOptions{})[0]
			if run.LandedFaults() != 1 || run.Trajectory.Calls[1].Fault != "error of step, call 2" {
				t.Fatalf("calls: %+v", run.Trajectory.Calls)
			}
			if run.Failure == nil || run.Failure.Owner != test.owner {
				t.Fatalf("got %+v, want owner %s", run.Failure, test.owner)
			}
			noted := false
			for _, e := range run.Failure.Evidence {
				noted = noted || strings.Contains(string(e.Note), "was injected into the last call")
			}
			if !noted {
				t.Errorf("the fault is not in the evidence: %+v", run.Failure.Evidence)
			}
		})
	}
}

func TestFaultsAreKeptFromBaselines(t *testing.T) {
	s := suite(func(s *tooleval.Suite) { s.Tasks[0].Faults = []tooleval.Fault{{Kind: tooleval.FaultError}} })
	plan, runner := prepare(t, s, tooleval.AgentFunc(good), engine.Options{Runs: 1}, engine.RunnerOptions{})
	seen := 0
	for i := range plan.Baselines() {
		run := runner.Do(t.Context(), plan.Job(i))
		seen += len(run.Trajectory.Calls)
		if run.LandedFaults() > 0 {
			t.Errorf("%s: a fault landed", run.Baseline)
		}
	}
	if seen == 0 {
		t.Error("no baseline called anything, so nothing was tested")
	}
}

func TestFaultsAreOfTheIdentity(t *testing.T) {
	plain, _ := ids(t, suite(), engine.RunnerOptions{})
	faulted, _ := ids(t, suite(withFault), engine.RunnerOptions{})
	if plain == faulted {
		t.Error("runs with and without faults have one identity, so one would be reused for the other")
	}
}

// picky is a world that can't serve.
type picky struct{ worlds.Mock }

func (picky) PreflightWorlds(_ context.Context, specs []tooleval.WorldSpec) error {
	if len(specs) != 1 || specs[0].Task.ID != "t0" || len(specs[0].Tools) != 2 {
		return errors.New("these are not the planned tasks")
	}
	return errors.New("no server")
}

func TestH03WorldsArePreflighted(t *testing.T) {
	for name, wrap := range map[string]func(tooleval.WorldFactory) tooleval.WorldFactory{
		"plain":       func(f tooleval.WorldFactory) tooleval.WorldFactory { return f },
		"with a user": func(f tooleval.WorldFactory) tooleval.WorldFactory { return worlds.User{World: f} },
	} {
		t.Run(name, func(t *testing.T) {
			s := suite(func(s *tooleval.Suite) { s.MockWorld = picky{*s.MockWorld.(*worlds.Mock)} })
			plan, runner := prepare(t, s, tooleval.AgentFunc(good), engine.Options{Runs: 1}, engine.RunnerOptions{})
			if name != "plain" { // the user's own tool is not in this suite, which is none of Preflight's business
				s.MockWorld = wrap(s.MockWorld)
			}
			err := runner.Preflight(t.Context(), plan)
			if err == nil || err.Error() != `suite "s": the mock world: no server` {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReplayIsAWorldOfItsOwnName(t *testing.T) {
	run := eval(t, suite(), good, engine.Options{World: engine.Replay}, engine.RunnerOptions{})[0]
	if run.World != "replay" || run.Score.Verdict != tooleval.Passed {
		t.Errorf("got world %q, %s", run.World, run.Score.Verdict)
	}
	mock := eval(t, suite(), good, engine.Options{}, engine.RunnerOptions{})[0]
	if run.Identity == mock.Identity {
		t.Error("replayed and mock runs have one identity")
	}
}
