package profile_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/profile"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/calcmind"
	"github.com/tooleval/tooleval/suites/calc"
)

// changed is a built-in agent whose profile has one text replaced by another.
func changed(t *testing.T, name, old, by string, o profile.Options) *profile.Agent {
	t.Helper()
	p, err := profile.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := p.Text()
	if old != "" {
		if !strings.Contains(text, old) {
			t.Fatalf("the profile of %s has no %q", name, old)
		}
		text = strings.ReplaceAll(text, old, by)
	}
	if p, err = profile.Load(name+".yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	a, err := profile.New(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRealAgentFaults: what really goes wrong with real agents, and whose fault that is.
func TestRealAgentFaults(t *testing.T) {
	folder := realAgents(t)
	always := func(r fakellm.Reply) fakellm.Script { return fakellm.Always(r) }
	loop := func(fakellm.Request) fakellm.Reply { return fakellm.CallTool("calculate", `{"expression":"6 * 7"}`) }
	for _, c := range []struct {
		name, agent string
		script      fakellm.Script
		old, by     string
		timeout     time.Duration
		ending      tooleval.Ending
		category    tooleval.Category // empty for a run that passes
		owner       tooleval.Owner
		say         string
	}{
		{name: "rate limited", agent: "codex", script: always(fakellm.RateLimited(-1)), ending: tooleval.Errored,
			category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "429"},
		{name: "server errors, retried", agent: "codex", script: always(fakellm.ServerError()), ending: tooleval.Errored,
			category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "high demand"},
		{name: "one server error", agent: "codex", ending: tooleval.Completed, script: func(r fakellm.Request) fakellm.Reply {
			if r.N == 0 {
				return fakellm.ServerError()
			}
			return calcmind.Script(r)
		}},
		{name: "wrong key", agent: "codex", script: fakellm.Authorized("another", calcmind.Script), ending: tooleval.Errored,
			category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "401"},
		{name: "wrong key", agent: "pi", script: fakellm.Authorized("another", calcmind.Script), ending: tooleval.Errored,
			category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "api key"},
		{name: "error as the answer", agent: "pi", script: always(fakellm.Text("API call failed after 3 retries: 429 Too Many Requests")),
			ending: tooleval.Errored, category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "429"},
		{name: "no call", agent: "codex", script: always(fakellm.Text("It is 41.\n{\"result\": 41}")), ending: tooleval.Completed,
			category: tooleval.NoTools, owner: tooleval.OwnerAgent},
		{name: "no call", agent: "pi", script: always(fakellm.Text("I can't compute.")), ending: tooleval.Completed,
			category: tooleval.NoTools, owner: tooleval.OwnerAgent},
		{name: "hung model", agent: "codex", script: always(fakellm.Hang()), timeout: 4 * time.Second, ending: tooleval.TimedOut,
			category: tooleval.RunError, owner: tooleval.OwnerAgent},
		{name: "looping model", agent: "codex", script: loop, ending: tooleval.LimitReached, category: tooleval.ExcessiveCalls, owner: tooleval.OwnerAgent},
		// Exit code 0 without tools: what the agent does when the server of its tools refuses it.
		{name: "tools out of reach", agent: "pi", script: always(fakellm.Text(`{"result": 42}`)), old: "Bearer ${mcp_token}", by: "Bearer wrong",
			ending: tooleval.Errored, category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "without the run's token"},
		{name: "tools out of reach", agent: "codex", script: calcmind.Script, old: "${mcp_url}", by: "http://127.0.0.1:9/mcp",
			ending: tooleval.Errored, category: tooleval.RunError, owner: tooleval.OwnerInfra, say: "never connected"},
		{name: "unknown tool", agent: "codex", ending: tooleval.Completed, script: func(r fakellm.Request) fakellm.Reply {
			if r.N == 0 {
				return fakellm.CallTool("no_such_tool", `{}`)
			}
			if r.N == 1 {
				return fakellm.CallTool("calculate", `{"expression":"6 * 7"}`)
			}
			return fakellm.Text(`{"result": 42}`)
		}},
	} {
		t.Run(c.agent+" "+c.name, func(t *testing.T) {
			t.Parallel()
			llm := fakellm.New(t, c.script)
			agent := changed(t, c.agent, c.old, c.by, profile.Options{Getenv: environment(folder, llm.URL(""))})
			run := once(t, agent, c.timeout)
			if run.Ending != c.ending || !strings.Contains(strings.ToLower(string(run.Error)), c.say) {
				t.Errorf("ending %s, error %q", run.Ending, run.Error)
			}
			switch f := run.Failure; {
			case f == nil && c.category != "" || f != nil && (f.Category != c.category || f.Owner != c.owner):
				t.Errorf("failure %+v, response %q", f, run.Result.Response)
			case c.owner == tooleval.OwnerInfra && run.Score.Verdict != tooleval.Unscored:
				t.Errorf("an infrastructure fault is scored: %s", run.Score.Verdict)
			}
			if wall := time.Duration(run.WallMS) * time.Millisecond; c.timeout > 0 && wall > c.timeout+2*time.Second {
				t.Errorf("it took %v", wall)
			}
		})
	}
}

// once runs calc.arithmetic once, with at most 20 calls.
func once(t *testing.T, agent tooleval.Agent, timeout time.Duration) *tooleval.Run {
	t.Helper()
	suite := *calc.Suite
	suite.Tasks = append([]tooleval.Task(nil), suite.Tasks...)
	for i := range suite.Tasks {
		suite.Tasks[i].Limits.Calls = 20
	}
	suites := []*tooleval.Suite{&suite}
	backends := []engine.Backend{{Name: "real", Agent: agent}}
	plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 1, Tasks: []string{"calc.arithmetic"}, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner(suites, backends, plan, engine.RunnerOptions{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return runner.Do(t.Context(), plan.Job(plan.Baselines()))
}
