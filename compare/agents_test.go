package compare_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/stats"
	"github.com/tooleval/tooleval/worlds"
)

// randomAgent reaches the goal with a chance, and makes up to three calls on its way.
func randomAgent(seed uint64, chance float64) tooleval.Agent {
	rnd := rand.New(rand.NewPCG(seed, 1))
	return tooleval.AgentFunc(func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		for range 1 + rnd.IntN(3) {
			if _, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step"}); err != nil {
				return tooleval.AgentResult{}, err
			}
		}
		if rnd.Float64() < chance {
			return tooleval.AgentResult{State: tooleval.Raw(`{"done":true}`)}, nil
		}
		return tooleval.AgentResult{State: tooleval.Raw(`{"done":false}`)}, nil
	})
}

// evalAgent runs an agent over 12 tasks, 5 times each, through the engine.
func evalAgent(t testing.TB, id string, agent tooleval.Agent) *compare.Side {
	t.Helper()
	s := &tooleval.Suite{
		Name: "s", Tools: []tooleval.Tool{{Name: "step", Schema: tooleval.Raw(`{"type":"object"}`)}}, EntryPoints: []tooleval.EntryPoint{{Name: "e"}},
		MockWorld: &worlds.Mock{Fixtures: []worlds.Fixture{{Tool: "step", Results: []worlds.Answer{{Result: tooleval.TextResult("ok")}}}}},
	}
	for i := range 12 {
		s.Tasks = append(s.Tasks, tooleval.Task{ID: fmt.Sprintf("t%d", i), Description: "do", EntryPoint: "e", Toolset: []string{"step"}, MinimalCalls: tooleval.Minimum(1),
			Required: []tooleval.CallPattern{{Tool: "step"}}, ExpectedState: tooleval.Match(map[string]any{"done": true})})
	}
	backends := []engine.Backend{{Name: "m", Agent: agent}}
	plan, err := engine.NewPlan([]*tooleval.Suite{s}, backends, engine.Options{Runs: 5})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner([]*tooleval.Suite{s}, backends, plan, engine.RunnerOptions{Eval: id})
	if err != nil {
		t.Fatal(err)
	}
	header := tooleval.Eval{ID: id, Suite: "s", Minds: []string{"m"}, World: "mock", Runs: 5}
	for i := range s.Tasks {
		digest, err := engine.TaskDigest(&s.Tasks[i])
		if err != nil {
			t.Fatal(err)
		}
		header.Tasks = append(header.Tasks, tooleval.EvalTask{ID: s.Tasks[i].ID, Digest: digest})
	}
	g := compare.NewGatherer(header)
	err = engine.Execute(t.Context(), plan, runner.Do, engine.Pool{Concurrency: 1}, engine.Sink{
		Report: func(_ engine.Job, run *tooleval.Run, _ bool) { g.Add(run, "") },
	})
	if err != nil {
		t.Fatal(err)
	}
	return g.Sides()[0]
}

// TestR05SameRandomAgentTwice: of the same agent run twice by the engine "~" is said in at least 95 of 100 seeded repeats;
// of agents that reach the goal in 9 and in 5 of 10 runs the difference is found.
func TestR05SameRandomAgentTwice(t *testing.T) {
	quiet, found := 0, 0
	for i := range uint64(100) {
		base := evalAgent(t, "a", randomAgent(3*i, 0.7))
		same := compare.Compare(base, evalAgent(t, "b", randomAgent(3*i+1, 0.7)), compare.Options{Seed: i})
		if same.Compared != 12 {
			t.Fatalf("compared %d tasks", same.Compared)
		}
		if !same.Shown() {
			quiet++
		}
		if i < 20 {
			good := evalAgent(t, "c", randomAgent(3*i+2, 0.9))
			worse := compare.Compare(good, evalAgent(t, "d", randomAgent(3*i+500, 0.5)), compare.Options{Seed: i})
			if worse.Questions[0].Direction == stats.Lower {
				found++
			}
		}
	}
	t.Logf("~ in %d of 100, the difference in %d of 20", quiet, found)
	if quiet < 95 {
		t.Errorf("~ in %d of 100 repeats, want at least 95", quiet)
	}
	if found < 19 {
		t.Errorf("the difference was found in %d of 20", found)
	}
}
