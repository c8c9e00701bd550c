package engine_test

import (
	"context"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/worlds"
)

var emptySchema = tooleval.Raw(`{"type":"object","properties":{"n":{"type":"integer"}}}`)

// suite is a Suite of n tasks t0, t1, … that each want three calls of "step" and the state {"done": true}.
func suite(change ...func(*tooleval.Suite)) *tooleval.Suite {
	s := &tooleval.Suite{
		Name:        "s",
		Tools:       []tooleval.Tool{{Name: "step", Schema: emptySchema}, {Name: "bomb", Schema: emptySchema}},
		EntryPoints: []tooleval.EntryPoint{{Name: "e"}},
		Tasks: []tooleval.Task{{
			ID: "t0", EntryPoint: "e", Toolset: []string{"step", "bomb"}, MinimalCalls: tooleval.Minimum(3),
			Required: []tooleval.CallPattern{
				{Tool: "step", Args: tooleval.Match(map[string]any{"n": 1})},
				{Tool: "step", Args: tooleval.Match(map[string]any{"n": 2})},
				{Tool: "step", Args: tooleval.Match(map[string]any{"n": 3})},
			},
			Forbidden:     []tooleval.CallPattern{{Tool: "bomb"}},
			ExpectedState: tooleval.Match(map[string]any{"done": true}),
		}},
		MockWorld: &worlds.Mock{Fixtures: []worlds.Fixture{
			{Tool: "step", Results: []worlds.Answer{{Result: tooleval.TextResult("ok")}}},
			{Tool: "bomb", Results: []worlds.Answer{{Result: tooleval.TextResult("boom")}}},
		}},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

var steps = []tooleval.Raw{tooleval.Raw(`{"n":1}`), tooleval.Raw(`{"n":2}`), tooleval.Raw(`{"n":3}`)}

func good(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	for _, args := range steps {
		if _, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step", Args: args}); err != nil {
			return tooleval.AgentResult{}, err
		}
	}
	return tooleval.AgentResult{Response: "done", State: tooleval.Raw(`{"done":true}`)}, nil
}

// eval runs one agent over a suite and returns its runs, without the baselines.
func eval(t testing.TB, s *tooleval.Suite, agent tooleval.AgentFunc, o engine.Options, r engine.RunnerOptions) []*tooleval.Run {
	t.Helper()
	o.Runs = max(o.Runs, 1)
	plan, runner := prepare(t, s, agent, o, r)
	var runs []*tooleval.Run
	err := engine.Execute(t.Context(), plan, runner.Do, engine.Pool{Concurrency: 4}, engine.Sink{
		Report: func(job engine.Job, run *tooleval.Run, _ bool) {
			if job.Baseline == "" {
				runs = append(runs, run)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func prepare(t testing.TB, s *tooleval.Suite, agent tooleval.Agent, o engine.Options, r engine.RunnerOptions) (*engine.Plan, *engine.Runner) {
	t.Helper()
	backends := []engine.Backend{{Name: "m", Agent: agent}}
	plan, err := engine.NewPlan([]*tooleval.Suite{s}, backends, o)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner([]*tooleval.Suite{s}, backends, plan, r)
	if err != nil {
		t.Fatal(err)
	}
	return plan, runner
}
