package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
)

func TestGoodRunPasses(t *testing.T) {
	run := eval(t, suite(), good, engine.Options{}, engine.RunnerOptions{})[0]
	outcome, _ := run.Score.Outcome.Score.Value()
	process, _ := run.Score.Process.Score.Value()
	if run.Score.Verdict != tooleval.Passed || outcome != 1 || process != 1 || run.Failure != nil || run.Ending != tooleval.Completed {
		t.Errorf("got %s outcome %v process %v failure %+v ending %s", run.Score.Verdict, outcome, process, run.Failure, run.Ending)
	}
	if n := len(run.Trajectory.Calls); n != 3 {
		t.Errorf("got %d recorded calls, want 3", n)
	}
}

// TestWhateverAnAgentDoes: Do returns a Run that names the fault, and the owner is right.
func TestWhateverAnAgentDoes(t *testing.T) {
	quick := engine.RunnerOptions{Timeout: 50 * time.Millisecond, Grace: 50 * time.Millisecond}
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	cases := []struct {
		name    string
		agent   tooleval.AgentFunc
		ending  tooleval.Ending
		verdict tooleval.Verdict
		cat     tooleval.Category
		owner   tooleval.Owner
		why     string
	}{
		{"an error", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, errors.New("no idea")
		}, tooleval.Errored, tooleval.Failed, tooleval.RunError, tooleval.OwnerAgent, "no idea"},
		{"a panic", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			panic("ouch")
		}, tooleval.Errored, tooleval.Failed, tooleval.RunError, tooleval.OwnerAgent, "panic: ouch"},
		{"a rate limit (E01)", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerInfra, "429 from the model")
		}, tooleval.Errored, tooleval.Unscored, tooleval.RunError, tooleval.OwnerInfra, "429 from the model"},
		{"sleeping until its context ends", func(ctx context.Context, _ tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
			<-ctx.Done()
			return tooleval.AgentResult{}, ctx.Err()
		}, tooleval.TimedOut, tooleval.Failed, tooleval.RunError, tooleval.OwnerAgent, "longer than 50ms"},
		{"ignoring its context", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			<-never
			return tooleval.AgentResult{}, nil
		}, tooleval.TimedOut, tooleval.Failed, tooleval.RunError, tooleval.OwnerAgent, "longer than 50ms"},
		{"nothing", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, nil
		}, tooleval.Completed, tooleval.Failed, tooleval.NoTools, tooleval.OwnerAgent, ""},
		{"text about a timeout, without one (E03)", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, errors.New("timeout")
		}, tooleval.Errored, tooleval.Failed, tooleval.RunError, tooleval.OwnerAgent, "timeout"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run := eval(t, suite(), c.agent, engine.Options{}, quick)[0]
			if run.Ending != c.ending || run.Score.Verdict != c.verdict || run.Failure == nil ||
				run.Failure.Category != c.cat || run.Failure.Owner != c.owner || !strings.Contains(string(run.Failure.Why), c.why) {
				t.Errorf("got ending %s verdict %s failure %+v; want %s %s %s %s %q",
					run.Ending, run.Score.Verdict, run.Failure, c.ending, c.verdict, c.cat, c.owner, c.why)
			}
			if c.name == "a panic" && !strings.Contains(string(run.Stack), "do_test.go") {
				t.Errorf("the stack of the panic is missing: %q", run.Stack)
			}
		})
	}
}

// TestE03LimitHit: the enforcer records the limit, and the state is still graded.
func TestE03LimitHit(t *testing.T) {
	s := suite(func(s *tooleval.Suite) { s.Tasks[0].Limits.Calls = 5 })
	loops := func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		for ctx.Err() == nil {
			if _, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step", Args: steps[0]}); err != nil {
				break
			}
		}
		return tooleval.AgentResult{State: tooleval.Raw(`{"done":true}`)}, nil
	}
	run := eval(t, s, loops, engine.Options{}, engine.RunnerOptions{})[0]
	outcome, ok := run.Score.Outcome.Score.Value()
	if run.Ending != tooleval.LimitReached || run.Score.Verdict != tooleval.Failed || !ok || outcome != 1 {
		t.Errorf("got ending %s verdict %s outcome %v", run.Ending, run.Score.Verdict, outcome)
	}
	if run.Failure == nil || run.Failure.Category == tooleval.RunError {
		t.Errorf("a limit is its own kind of failure, got %+v", run.Failure)
	}
}

// TestE04LateCalls: an agent that is left behind can't touch the world while it is graded.
func TestE04LateCalls(t *testing.T) {
	refused := make(chan error, 1)
	late := func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		<-ctx.Done()
		time.Sleep(150 * time.Millisecond)
		result, err := tools.CallTool(context.WithoutCancel(ctx), tooleval.ToolCall{Tool: "bomb"})
		if err == nil && !result.IsError {
			err = errors.New("the late call went through")
		} else {
			err = nil
		}
		refused <- err
		return tooleval.AgentResult{}, nil
	}
	run := eval(t, suite(), late, engine.Options{}, engine.RunnerOptions{Timeout: 20 * time.Millisecond, Grace: 20 * time.Millisecond})[0]
	if len(run.Trajectory.Calls) != 0 || len(run.Warnings) == 0 {
		t.Errorf("got %d calls and warnings %q", len(run.Trajectory.Calls), run.Warnings)
	}
	if err := <-refused; err != nil {
		t.Error(err)
	}
}

// TestScorers: a scorer may abstain, break, panic, hang or lie; each costs its run's score, never the eval.
func TestScorers(t *testing.T) {
	cases := []struct {
		name   string
		scorer tooleval.ScorerFunc
		owner  tooleval.Owner // of the run_error; empty when there is none
		why    string
	}{
		{"abstains", func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{Score: tooleval.Unscoredf("a person has to look")}, nil
		}, "", "a person has to look"},
		{"gives nothing", func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{}, nil
		}, "", "no score and no reason"},
		{"is off the scale", func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{Score: tooleval.Scored(7)}, nil
		}, "", "not in 0..1"},
		{"lacks a key", func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerInfra, "set THE_KEY")
		}, tooleval.OwnerInfra, "set THE_KEY"},
		{"breaks", func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{}, errors.New("index out of range")
		}, tooleval.OwnerTask, "index out of range"},
		{"panics", func(context.Context, *tooleval.Run) (tooleval.Outcome, error) { panic("scorer") }, tooleval.OwnerTask, "panic: scorer"},
		{"hangs (E18)", func(ctx context.Context, _ *tooleval.Run) (tooleval.Outcome, error) {
			<-ctx.Done()
			return tooleval.Outcome{}, context.Cause(ctx)
		}, tooleval.OwnerTask, "longer than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := suite(func(s *tooleval.Suite) { s.Scorers = map[string]tooleval.Scorer{"t0": c.scorer} })
			run := eval(t, s, good, engine.Options{}, engine.RunnerOptions{Scoring: 50 * time.Millisecond})[0]
			if run.Score.Verdict != tooleval.Unscored || !strings.Contains(string(run.Score.Why), c.why) {
				t.Errorf("got verdict %s, why %q; want unscored, %q", run.Score.Verdict, run.Score.Why, c.why)
			}
			if c.owner == "" && run.Failure != nil {
				t.Errorf("got failure %+v, want none", run.Failure)
			}
			if c.owner != "" && (run.Failure == nil || run.Failure.Category != tooleval.RunError || run.Failure.Owner != c.owner) {
				t.Errorf("got failure %+v, want run_error of %s", run.Failure, c.owner)
			}
			if c.name == "panics" && run.Stack == "" {
				t.Error("the stack of the panic is missing")
			}
		})
	}
}

// TestBrokenWorlds: what the world breaks is not the agent's fault.
func TestBrokenWorlds(t *testing.T) {
	for name, factory := range map[string]tooleval.WorldFunc{
		"error": func(context.Context, tooleval.WorldSpec) (tooleval.World, error) {
			return nil, errors.New("no database")
		},
		"panic": func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { panic("no database") },
		"nil":   func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { return nil, nil },
		"hang": func(ctx context.Context, _ tooleval.WorldSpec) (tooleval.World, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := suite(func(s *tooleval.Suite) { s.MockWorld = factory })
			run := eval(t, s, good, engine.Options{}, engine.RunnerOptions{Setup: 50 * time.Millisecond})[0]
			if run.Ending != tooleval.NotStarted || run.Score.Verdict != tooleval.Unscored || run.Failure == nil || run.Failure.Owner != tooleval.OwnerWorld {
				t.Errorf("got ending %s verdict %s failure %+v", run.Ending, run.Score.Verdict, run.Failure)
			}
		})
	}
}

// TestWorldSettings: a world can look up its settings, and an empty environment is no nil.
func TestWorldSettings(t *testing.T) {
	for _, getenv := range []func(string) string{nil, func(name string) string { return "value of " + name }} {
		s, want := suite(), ""
		if getenv != nil {
			want = getenv("SETTING")
		}
		inner := s.MockWorld
		var mu sync.Mutex
		got := "the world was not made"
		s.MockWorld = tooleval.WorldFunc(func(ctx context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
			mu.Lock() // baselines and runs are done at once
			got = spec.Getenv("SETTING")
			mu.Unlock()
			return inner.NewWorld(ctx, spec)
		})
		eval(t, s, good, engine.Options{}, engine.RunnerOptions{Getenv: getenv})
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAgentCantChangeTheTask: what an agent does to its assignment stays in its run.
func TestAgentCantChangeTheTask(t *testing.T) {
	var runs atomic.Int32
	vandal := func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		runs.Add(1)
		for i := range a.Tools {
			if !strings.Contains(string(a.Tools[i].Schema), "object") {
				t.Error("an earlier run changed this run's tools")
			}
			clear(a.Tools[i].Schema)
			a.Tools[i].Name = "x"
		}
		return good(ctx, a, tools)
	}
	for _, run := range eval(t, suite(), vandal, engine.Options{Runs: 5}, engine.RunnerOptions{}) {
		if run.Score.Verdict != tooleval.Passed {
			t.Errorf("run %d: %s", run.Index, run.Score.Why)
		}
	}
	if runs.Load() != 5 {
		t.Errorf("got %d runs, want 5", runs.Load())
	}
}

// TestWhoseFault: what a tool, a record or an agent's own error type does is blamed on the one who did it.
func TestWhoseFault(t *testing.T) {
	call := func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		result, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step", Args: steps[0]})
		return tooleval.AgentResult{State: result.Structured}, err
	}
	world := func(f tooleval.ToolHandlerFunc) func(*tooleval.Suite) {
		return func(s *tooleval.Suite) {
			s.MockWorld = tooleval.WorldFunc(func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { return toolWorld{f}, nil })
		}
	}
	cases := []struct {
		name    string
		suite   *tooleval.Suite
		agent   tooleval.AgentFunc
		verdict tooleval.Verdict
		owner   tooleval.Owner
	}{
		{"a tool that hangs", suite(world(func(ctx context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) {
			<-ctx.Done()
			return tooleval.ToolResult{}, ctx.Err()
		})), call, tooleval.Unscored, tooleval.OwnerWorld},
		{"a structured result that is not JSON", suite(world(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			return tooleval.ToolResult{Structured: tooleval.Raw("{bad")}, nil
		})), call, tooleval.Unscored, tooleval.OwnerWorld},
		{"an error that panics", suite(), func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, (*badError)(nil)
		}, tooleval.Failed, tooleval.OwnerAgent},
		{"a result without end", suite(), func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{Response: tooleval.Text(make([]byte, 65<<20))}, nil
		}, tooleval.Failed, tooleval.OwnerAgent},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run := eval(t, c.suite, c.agent, engine.Options{}, engine.RunnerOptions{Timeout: 100 * time.Millisecond, Grace: time.Second})[0]
			if run.Score.Verdict != c.verdict || run.Failure == nil || run.Failure.Owner != c.owner {
				t.Errorf("got %s, failure %+v, error %.100q; want %s of %s", run.Score.Verdict, run.Failure, run.Error, c.verdict, c.owner)
			}
		})
	}
}

type badError struct{ text string }

func (e *badError) Error() string { return e.text }

type toolWorld struct{ tooleval.ToolHandler }

func (toolWorld) Tools() []tooleval.Tool         { return nil }
func (toolWorld) State() (tooleval.State, error) { return nil, nil }
func (toolWorld) Close() error                   { return nil }

// TestScorerCantForge: a scorer that writes into the run it is given changes neither the record nor the Suite.
func TestScorerCantForge(t *testing.T) {
	s := suite(func(s *tooleval.Suite) {
		s.Scorers = map[string]tooleval.Scorer{"t0": tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
			run.TaskID, run.Index, run.Eval, run.Identity = "other", 7, "other", "other"
			run.Task.Required[0].Tool = "zz"
			run.Trajectory.Calls[0].Args[1] = 'X'
			clear(run.State)
			return tooleval.Outcome{Score: tooleval.Scored(1)}, nil
		})}
	})
	for i, run := range eval(t, s, good, engine.Options{Runs: 2}, engine.RunnerOptions{Eval: "mine"}) {
		if run.TaskID != "t0" || run.Index != i || run.Eval != "mine" || run.Task.Required[0].Tool != "step" ||
			string(run.Trajectory.Calls[0].Args) != `{"n":1}` || string(run.State) != `{"done":true}` {
			t.Errorf("the scorer changed the record: %+v", run)
		}
	}
	if s.Tasks[0].Required[0].Tool != "step" {
		t.Error("the scorer changed the Suite")
	}
}

// TestE16CancelWhileScoring: a scorer that hangs does not hold up a cancellation, and its run can be done again.
func TestE16CancelWhileScoring(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := suite(func(s *tooleval.Suite) {
		s.Scorers = map[string]tooleval.Scorer{"t0": tooleval.ScorerFunc(func(ctx context.Context, _ *tooleval.Run) (tooleval.Outcome, error) {
			cancel()
			<-ctx.Done()
			return tooleval.Outcome{}, ctx.Err()
		})}
	})
	p, runner := prepare(t, s, tooleval.AgentFunc(good), engine.Options{Runs: 1}, engine.RunnerOptions{Grace: 50 * time.Millisecond})
	start := time.Now()
	run := runner.Do(ctx, p.Job(p.Baselines()))
	if run.Ending != tooleval.Cancelled || run.Score.Verdict != tooleval.Unscored || time.Since(start) > 20*time.Second {
		t.Errorf("got ending %s, verdict %s after %v", run.Ending, run.Score.Verdict, time.Since(start))
	}
}

// TestE20WaitingOutALimit: time that ran out while an agent waited for its provider is not the agent's.
func TestE20WaitingOutALimit(t *testing.T) {
	waits := func(ctx context.Context, _ tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
		<-ctx.Done()
		return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerInfra, "429 from the model: %w", context.Cause(ctx))
	}
	run := eval(t, suite(), waits, engine.Options{}, engine.RunnerOptions{Timeout: 20 * time.Millisecond, Grace: time.Second})[0]
	if run.Ending != tooleval.TimedOut || run.Score.Verdict != tooleval.Unscored || run.ErrorOwner != tooleval.OwnerInfra ||
		!strings.Contains(string(run.Error), "429") {
		t.Errorf("got %s, %s, owner %s, error %q", run.Ending, run.Score.Verdict, run.ErrorOwner, run.Error)
	}
}
