package profile_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/profile"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/calcmind"
	"github.com/tooleval/tooleval/suites/calc"
)

// realAgents is the folder of the agents that scripts/install-test-agents.sh installed.
func realAgents(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("TOOLEVAL_TEST_AGENTS")
	if folder == "" {
		t.Skip("TOOLEVAL_TEST_AGENTS is not set: no real agents here (see scripts/install-test-agents.sh)")
	}
	if testing.Short() {
		t.Skip("real agents are slow")
	}
	return folder
}

// environment is a user's environment with the real agents and a fake model.
func environment(folder, url string, more ...string) func(string) string {
	env := map[string]string{
		"PATH":            filepath.Join(folder, "bin") + ":" + os.Getenv("PATH"),
		"OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "key", "TOOLEVAL_MODEL": "fake-model",
	}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return func(name string) string { return env[name] }
}

func builtIn(t *testing.T, name string, o profile.Options) *profile.Agent {
	t.Helper()
	p, err := profile.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := profile.New(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// evaluate runs calc's tasks with an agent and returns the runs.
func evaluate(t *testing.T, agent tooleval.Agent, runs, parallel int, tasks ...string) []*tooleval.Run {
	t.Helper()
	suites := []*tooleval.Suite{calc.Suite}
	backends := []engine.Backend{{Name: "real", Agent: agent}}
	plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: runs, Tasks: tasks})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner(suites, backends, plan, engine.RunnerOptions{Timeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Preflight(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallel)
	out := make([]*tooleval.Run, plan.Len()-plan.Baselines())
	for i := range out {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i] = runner.Do(context.WithoutCancel(t.Context()), plan.Job(plan.Baselines()+i))
		})
	}
	wg.Wait()
	return out
}

// TestRealAgents: real agents, unchanged, on calc, five runs at a time.
func TestRealAgents(t *testing.T) {
	folder := realAgents(t)
	for _, c := range []struct {
		agent, version string
		env            []string
		anthropic      bool
	}{
		{agent: "codex", version: "0.171.0"},
		{agent: "pi", version: "1.6.0"},
		{agent: "pi", version: "1.6.0", env: []string{"TOOLEVAL_PI_API", "openai-responses"}},
		{agent: "pi", version: "1.6.0", env: []string{"TOOLEVAL_PI_API", "anthropic-messages"}, anthropic: true},
	} {
		t.Run(strings.Join(append([]string{c.agent}, c.env...), " "), func(t *testing.T) {
			llm := fakellm.New(t, fakellm.Authorized("key", calcmind.Script))
			env := c.env
			if c.anthropic { // this API's base has no version
				env = append(env, "OPENAI_BASE_URL", llm.URL(""))
			}
			agent := builtIn(t, c.agent, profile.Options{Getenv: environment(folder, llm.URL(""), env...)})
			if !strings.Contains(agent.Version(), c.version) {
				t.Errorf("version %q", agent.Version())
			}
			runs, tasks := 5, []string(nil)
			if len(c.env) > 0 { // another dialect of the model's API says nothing about the rest
				runs, tasks = 1, []string{"calc.arithmetic"}
			}
			for _, run := range evaluate(t, agent, runs, 5, tasks...) {
				s := run.Score
				if s.Verdict != tooleval.Passed || s.Process.Score != tooleval.Scored(1) || len(run.Trajectory.Calls) != 1 {
					t.Errorf("%s %d: %s %+v, %d calls, error %q, response %q", run.TaskID, run.Index, s.Verdict, s.Process,
						len(run.Trajectory.Calls), run.Error, run.Result.Response)
					continue
				}
				if run.Trajectory.Channel != tooleval.OverMCP || len(run.Warnings)+len(run.Result.Warnings) > 0 {
					t.Errorf("channel %s, warnings %q %q", run.Trajectory.Channel, run.Warnings, run.Result.Warnings)
				}
				u := run.Result.Usage
				if u == nil || u.Model != "fake-model" || u.InputTokens == nil || *u.InputTokens == 0 || u.OutputTokens == nil {
					t.Errorf("usage %+v", u)
				}
			}
			if strays := llm.Strays(); len(strays) > 0 {
				t.Errorf("it asked for %q", strays)
			}
		})
	}
}
