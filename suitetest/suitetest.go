// Package suitetest is what the author of a Suite calls from a test of their own:
//
//	func TestSuite(t *testing.T) { suitetest.Run(t, mine.Suite) }
//
// It holds the Suite to what the harness expects of one: it validates, its scripted mind passes every task with a clean
// process in the mock world, and an agent that does nothing passes none. Tasks that need a judge or another outside
// thing come out unscored and are reported as skipped.
package suitetest

import (
	"context"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
)

// Run checks s. It needs a mock world and a mind named "scripted".
func Run(t *testing.T, s *tooleval.Suite) {
	t.Helper()
	noEnv := func(string) string { return "" }
	if err := s.Validate(noEnv); err != nil {
		t.Fatal(err)
	}
	mind, ok := s.Mind("scripted")
	if !ok {
		t.Fatalf(`suite %q has no mind named "scripted"`, s.Name)
	}
	agent, err := mind.New(t.Context(), noEnv)
	if err != nil {
		t.Fatalf("suite %q: making the scripted mind: %v", s.Name, err)
	}
	backends := []engine.Backend{{Name: mind.Name, Agent: agent, Aliases: mind.Aliases}}
	plan, err := engine.NewPlan([]*tooleval.Suite{s}, backends, engine.Options{Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner([]*tooleval.Suite{s}, backends, plan, engine.RunnerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = engine.Execute(context.WithoutCancel(t.Context()), plan, runner.Do, engine.Pool{}, engine.Sink{
		Report: func(job engine.Job, run *tooleval.Run, _ bool) { check(t, job, run) },
	})
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, job engine.Job, run *tooleval.Run) {
	t.Run(job.Task+"/"+job.Baseline+job.Mind, func(t *testing.T) {
		verdict := run.Score.Verdict
		switch {
		case job.Baseline == "" && verdict == tooleval.Unscored:
			t.Skipf("unscored: %s", run.Score.Why)
		case job.Baseline == "" && verdict != tooleval.Passed:
			t.Errorf("the scripted mind does not pass: %s; failure %+v; diff %v", run.Score.Why, run.Failure, run.Score.Outcome.Diff)
		case job.Baseline == "":
			if p, ok := run.Score.Process.Score.Value(); ok && p < 1 {
				t.Errorf("the scripted mind's process is %v, want 1: %+v", p, run.Score.Process.Components)
			}
			for _, c := range run.Trajectory.Calls {
				if c.FixtureGap != "" {
					t.Errorf("no fixture for %s(%s); nearest: %s", c.Tool, c.Args, c.FixtureGap)
				}
			}
		case verdict == tooleval.Passed && run.Task.DoNothingMayPass == "":
			t.Errorf("the baseline %q passes: the task proves nothing", job.Baseline)
		}
	})
}
