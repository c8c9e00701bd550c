package chatagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/chatagent"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/worlds"
)

var (
	_ tooleval.Agent         = (*chatagent.Agent)(nil)
	_ tooleval.Preflighter   = (*chatagent.Agent)(nil)
	_ tooleval.Fingerprinter = (*chatagent.Agent)(nil)
)

const schema = `{"type":"object","properties":{"z":{"type":"string"},"a":{"maximum":12345678901234567890}}}`

var assignment = tooleval.Assignment{
	TaskID: "t", EntryPoint: "e", Description: "What is 6 * 7?", Input: tooleval.Raw(`{"n": 12345678901234567890}`),
	Tools: []tooleval.Tool{{Name: "calculate", Description: "computes", Schema: tooleval.Raw(schema)}, {Name: "files.read"}},
}

// calculate answers every call with 42.
var calculate = tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
	return tooleval.JSONResult(map[string]int{"result": 42}), nil
})

// agent is one whose model is the fake.
func agent(t *testing.T, srv *fakellm.Server, provider, query string) *chatagent.Agent {
	t.Helper()
	s, err := chatagent.Parse(provider + ":fake-model" + query)
	if err != nil {
		t.Fatal(err)
	}
	a, err := chatagent.New(s, environment(map[string]string{
		"ANTHROPIC_API_KEY": "sk-secret", "OPENAI_API_KEY": "sk-secret",
		"ANTHROPIC_BASE_URL": srv.URL("r"), "OPENAI_BASE_URL": srv.URL("r") + "/v1/",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func environment(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

// both runs a test with either provider.
func both(t *testing.T, test func(t *testing.T, provider string)) {
	for _, p := range []string{"anthropic", "openai"} {
		t.Run(p, func(t *testing.T) { test(t, p) })
	}
}

// recorded runs an agent on the harness's own recorder, as the engine does.
func recorded(t *testing.T, a tooleval.Agent, tools tooleval.ToolHandler) (tooleval.AgentResult, tooleval.Trajectory, error) {
	t.Helper()
	r := worlds.Record(worlds.Guard(tools, assignment.Tools), worlds.RecordOptions{})
	got, err := a.Run(t.Context(), assignment, r)
	r.Close()
	return got, r.Trajectory(), err
}

func TestLoop(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, fakellm.Authorized("sk-secret", fakellm.Turns(
			fakellm.Reply{Text: "Let me see.", Calls: []fakellm.Call{{Name: "calculate", Args: `{"a": 12345678901234567890}`}, {Name: "files_read", Args: `{}`}},
				Usage: fakellm.Usage{Input: 100, Output: 10, CacheRead: 60}},
			fakellm.Func(func(r fakellm.Request) fakellm.Reply {
				return fakellm.Reply{Text: "Got " + r.Results()[0].Text + ".\n```json\n" + r.Results()[1].Text + "\n```", Usage: fakellm.Usage{Input: 200, Output: 20, CacheRead: 90}}
			}))))
		got, seen, err := recorded(t, agent(t, srv, provider, ""), calculate)
		if err != nil {
			t.Fatal(err)
		}
		if want := "Got {\"result\":42}.\n```json\n{\"result\":42}\n```"; string(got.Response) != want || string(got.State) != `{"result":42}` {
			t.Errorf("response %q, state %s", got.Response, got.State)
		}
		args := map[string]string{}
		for _, c := range seen.Calls {
			args[c.Tool] = string(c.Args)
			if c.Status != tooleval.CallOK {
				t.Errorf("%+v", c)
			}
		}
		if len(seen.Calls) != 2 || args["calculate"] != `{"a":12345678901234567890}` || args["files.read"] != `{}` {
			t.Errorf("calls %v", args)
		}
		u := got.Usage
		if *u.InputTokens != 300 || *u.OutputTokens != 30 || *u.CachedTokens != 150 || *u.Turns != 2 || u.Model != "fake-model" || u.CostUSD != nil {
			t.Errorf("usage %+v", u)
		}
		var vendor []map[string]any
		if json.Unmarshal(u.Vendor, &vendor) != nil || len(vendor) != 2 {
			t.Errorf("vendor %s", u.Vendor)
		}
		first := srv.Requests("r")[0]
		if first.System != chatagent.SystemPrompt || first.Messages[0].Text != "What is 6 * 7?\n\nThe input:\n\n{\"n\": 12345678901234567890}" {
			t.Errorf("it was asked %q, %+v", first.System, first.Messages)
		}
		if len(first.Tools) != 2 || string(first.Tools[0].Schema) != schema || first.Tools[1].Name != "files_read" {
			t.Errorf("it was offered %+v", first.Tools)
		}
		if first.Choice.Mode != "" || first.Choice.OnlyOne {
			t.Errorf("choice %+v", first.Choice)
		}
	})
}

func TestParallelCalls(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		var calls []fakellm.Call
		for i := range 10 {
			calls = append(calls, fakellm.Call{Name: "calculate", Args: fmt.Sprintf(`{"a":%d}`, i)})
		}
		srv := fakellm.New(t, fakellm.Turns(fakellm.CallTools(calls...), fakellm.Func(func(r fakellm.Request) fakellm.Reply {
			var texts []string
			for _, res := range r.Results() {
				texts = append(texts, res.Text)
			}
			return fakellm.Text(strings.Join(texts, " "))
		})))
		var mu sync.Mutex
		now, most := 0, 0
		got, err := agent(t, srv, provider, "").Run(t.Context(), assignment, tooleval.ToolHandlerFunc(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
			return tooleval.TextResult(string(c.Args)), nil
		}))
		if err != nil || most < 2 {
			t.Errorf("%d at once, %v", most, err)
		}
		if !strings.HasPrefix(string(got.Response), `{"a":0} {"a":1}`) || !strings.HasSuffix(string(got.Response), `{"a":9}`) {
			t.Errorf("results out of order: %s", got.Response)
		}
	})
}

// TestWrongCallsAreRecordedAsTheyCame: nothing is repaired on the way, and the model is told.
func TestWrongCallsAreRecordedAsTheyCame(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, fakellm.Turns(
			fakellm.CallTool("calculate", `{"a": 1`), fakellm.CallTool("nothing", `{"b":2}`), fakellm.CallTool("calculate", `[1]`), fakellm.CallTool("calculate", ``),
			fakellm.Text("done")))
		got, seen, err := recorded(t, agent(t, srv, provider, ""), calculate)
		if err != nil || got.Response != "done" || len(seen.Calls) != 4 {
			t.Fatalf("%+v, %+v, %v", got, seen, err)
		}
		c := seen.Calls
		if c[0].Status != tooleval.CallToolError || c[0].ArgsError == "" || !strings.Contains(string(c[0].ArgsText)+string(c[0].Args), `{\"a\": 1`) && string(c[0].ArgsText) != `{"a": 1` {
			t.Errorf("broken arguments: %+v", c[0])
		}
		if c[1].Status != tooleval.CallRefused || c[1].Tool != "nothing" || string(c[1].Args) != `{"b":2}` {
			t.Errorf("an unknown tool: %+v", c[1])
		}
		if c[2].ArgsError == "" {
			t.Errorf("an array: %+v", c[2])
		}
		reqs := srv.Requests("r")
		for n, sent := range reqs[1:4] {
			r := sent.Results()[0]
			if !r.IsError && !strings.HasPrefix(r.Text, "Error: ") {
				t.Errorf("call %d: the model was told %+v", n, r)
			}
		}
		if last := reqs[len(reqs)-1]; !json.Valid([]byte(last.Messages[1].Calls[0].Args)) || !strings.Contains(last.Messages[1].Calls[0].Args, `"invalid_arguments":`) {
			t.Errorf("broken arguments were sent back as %s", last.Messages[1].Calls[0].Args)
		}
	})
}

func TestFaults(t *testing.T) {
	long := "the prompt is too long: 300000 tokens > 200000, the maximum context length"
	for _, c := range []struct {
		name  string
		reply fakellm.Reply
		owner tooleval.Owner
		tries int
		want  string
	}{
		{"rate limited", fakellm.RateLimited(time.Millisecond), tooleval.OwnerInfra, 3, "429"},
		{"overloaded", fakellm.Overloaded(), tooleval.OwnerInfra, 3, "529"},
		{"server error", fakellm.ServerError(), tooleval.OwnerInfra, 3, "500"},
		{"bad gateway", fakellm.BadGateway(), tooleval.OwnerInfra, 3, "502"},
		{"wrong key", fakellm.Fail(401, "authentication_error", "invalid key sk-secret"), tooleval.OwnerUser, 1, "invalid key [key]"},
		{"no such model", fakellm.Fail(404, "not_found_error", "model: fake-model"), tooleval.OwnerUser, 1, "404"},
		{"wrong parameter", fakellm.Fail(400, "invalid_request_error", "tools.0: bad schema"), tooleval.OwnerUser, 1, "bad schema"},
		{"E17 context overflow", fakellm.Fail(400, "invalid_request_error", long), tooleval.OwnerAgent, 1, "no longer fits into the model's context window"},
		{"garbage", fakellm.Garbage(), tooleval.OwnerInfra, 1, "asking the model"},
		{"cut off", fakellm.MaxTokens(fakellm.Text(`{"result":4`)), tooleval.OwnerAgent, 1, "cut off"},
		{"cut off in a call", fakellm.MaxTokens(fakellm.CallTool("calculate", `{"a":`)), tooleval.OwnerAgent, 1, "cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, provider string) {
				srv := fakellm.New(t, fakellm.Always(c.reply))
				got, seen, err := recorded(t, agent(t, srv, provider, "?retries=2"), calculate)
				owner, _ := tooleval.BlamedOn(err)
				if owner != c.owner || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sk-secret") {
					t.Errorf("blamed on %q: %v", owner, err)
				}
				if n := len(srv.Requests("r")); n != c.tries {
					t.Errorf("%d requests, want %d", n, c.tries)
				}
				if len(seen.Calls) != 0 || got.State != nil {
					t.Errorf("calls %v, state %s", seen.Calls, got.State)
				}
			})
		})
	}
}

// TestNoServer: a connection that fails is infra's.
func TestNoServer(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, nil)
		srv.Close()
		_, err := agent(t, srv, provider, "?retries=0").Run(t.Context(), assignment, calculate)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra {
			t.Errorf("got %v", err)
		}
		srv = fakellm.New(t, fakellm.Always(fakellm.Truncated(fakellm.Text(strings.Repeat("word ", 1000)))))
		_, err = agent(t, srv, provider, "?retries=0").Run(t.Context(), assignment, calculate)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra {
			t.Errorf("got %v", err)
		}
	})
}

// TestTransientFault: a fault that passes leaves no trace but time.
func TestTransientFault(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, fakellm.Turns(fakellm.Overloaded(), fakellm.RateLimited(time.Millisecond), fakellm.CallTool("calculate", `{}`), fakellm.ServerError(), fakellm.Text("42")))
		got, seen, err := recorded(t, agent(t, srv, provider, ""), calculate)
		if err != nil || got.Response != "42" || len(seen.Calls) != 1 || *got.Usage.Turns != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestRefusal(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, fakellm.Always(fakellm.Refusal("I won't.")))
		got, err := agent(t, srv, provider, "").Run(t.Context(), assignment, calculate)
		if err != nil || got.Response != "I won't." || len(got.Warnings) != 1 || !strings.Contains(string(got.Warnings[0]), "refused") {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestPausedTurn(t *testing.T) {
	srv := fakellm.New(t, fakellm.Turns(fakellm.Reply{Text: "One moment… ", Stop: "pause_turn"}, fakellm.Reply{Stop: "pause_turn"}, fakellm.Text("42")))
	got, err := agent(t, srv, "anthropic", "").Run(t.Context(), assignment, calculate)
	if err != nil || got.Response != "One moment… 42" || *got.Usage.Turns != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if last := srv.Requests("r")[2]; len(last.Messages) != 2 || last.Messages[1].Role != "assistant" {
		t.Errorf("it went on with %+v", last.Messages)
	}
	srv = fakellm.New(t, fakellm.Always(fakellm.Reply{Text: "half", Stop: "model_context_window_exceeded"}))
	_, err = agent(t, srv, "anthropic", "").Run(t.Context(), assignment, calculate)
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerAgent || !strings.Contains(err.Error(), "context window") {
		t.Errorf("got %v", err)
	}
}

// TestTurnsAreBounded: a model that calls for ever is stopped, and what it used is known.
func TestTurnsAreBounded(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, fakellm.Always(fakellm.CallTool("calculate", `{}`)))
		got, seen, err := recorded(t, agent(t, srv, provider, "?max_turns=3"), calculate)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerAgent || !strings.Contains(err.Error(), "3 turns") {
			t.Errorf("got %v", err)
		}
		if len(seen.Calls) != 3 || *got.Usage.Turns != 3 || len(srv.Requests("r")) != 3 {
			t.Errorf("%d calls, %+v", len(seen.Calls), got.Usage)
		}
		srv = fakellm.New(t, fakellm.Always(fakellm.CallTool("calculate", `{}`)))
		agent(t, srv, provider, "").Run(t.Context(), assignment, calculate)
		if n := len(srv.Requests("r")); n != chatagent.DefaultMaxTurns {
			t.Errorf("%d turns by default", n)
		}
	})
}

// TestTimeIsUp: the run's own reason comes back, whether the model or a tool was slow.
func TestTimeIsUp(t *testing.T) {
	over := errors.New("the run's time is over")
	both(t, func(t *testing.T, provider string) {
		for name, script := range map[string]fakellm.Script{"model": fakellm.Always(fakellm.Hang()), "tool": fakellm.Always(fakellm.CallTool("calculate", `{}`)),
			"rate limit": fakellm.Always(fakellm.RateLimited(30 * time.Second))} {
			srv := fakellm.New(t, script)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, over)
			defer cancel()
			began := time.Now()
			_, err := agent(t, srv, provider, "").Run(ctx, assignment, tooleval.ToolHandlerFunc(func(ctx context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) {
				<-ctx.Done()
				return tooleval.ToolResult{}, ctx.Err()
			}))
			if !errors.Is(err, over) || time.Since(began) > 5*time.Second {
				t.Errorf("a slow %s: %v after %v", name, err, time.Since(began))
			}
		}
	})
}

// TestBrokenWorld: an error of the tools ends the run with its owner; a panic is the harness's.
func TestBrokenWorld(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		srv := fakellm.New(t, fakellm.Always(fakellm.CallTool("calculate", `{}`)))
		_, err := agent(t, srv, provider, "").Run(t.Context(), assignment, tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			return tooleval.ToolResult{}, tooleval.Blamef(tooleval.OwnerWorld, "the database is gone")
		}))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
			t.Errorf("got %v", err)
		}
		_, err = agent(t, srv, provider, "").Run(t.Context(), assignment, tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) { panic("boom") }))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerHarness {
			t.Errorf("got %v", err)
		}
	})
}

// TestOddContents: nothing that a task or a tool holds makes a request that can't be sent.
func TestOddContents(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		for _, text := range []string{"", " ", "\xff\xfe", strings.Repeat("x", 3<<20), "\x00"} {
			srv := fakellm.New(t, fakellm.Turns(fakellm.CallTool("calculate", `{}`), fakellm.Func(func(r fakellm.Request) fakellm.Reply {
				return fakellm.Text(fmt.Sprint(len(r.Results()[0].Text)))
			})))
			odd := assignment
			odd.Description, odd.Input = text, nil
			got, err := agent(t, srv, provider, "").Run(t.Context(), odd, tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
				return tooleval.TextResult(text), nil
			}))
			if err != nil || got.Response == "0" {
				t.Errorf("%.10q: %+v, %v", text, got.Response, err)
			}
			if long := len(text) > 1<<20; long != (len(got.Warnings) == 1) {
				t.Errorf("%.10q: warnings %q", text, got.Warnings)
			}
		}
		bad := assignment
		bad.Tools = []tooleval.Tool{{Name: "x", Schema: tooleval.Raw(`[1`)}}
		_, err := agent(t, fakellm.New(t, nil), provider, "").Run(t.Context(), bad, calculate)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerTask {
			t.Errorf("a broken schema: %v", err)
		}
	})
}

// TestNamesOfTools: whatever tools are called, each reaches the model under a name of its own that providers take.
func TestNamesOfTools(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		odd := assignment
		odd.Tools = nil
		for _, name := range []string{"a.b", "a_b", "a b", "", "ü", strings.Repeat("n", 70), strings.Repeat("n", 71), "_"} {
			odd.Tools = append(odd.Tools, tooleval.Tool{Name: name, Schema: tooleval.Raw(`{"x":1}`)})
		}
		srv := fakellm.New(t, fakellm.Turns(fakellm.Func(func(r fakellm.Request) fakellm.Reply {
			var calls []fakellm.Call
			for _, tool := range r.Tools {
				if string(tool.Schema) != `{"type":"object","x":1}` || len(tool.Name) > 64 || tool.Name == "" || strings.ContainsAny(tool.Name, ". ü") {
					t.Errorf("offered %q %s", tool.Name, tool.Schema)
				}
				calls = append(calls, fakellm.Call{Name: tool.Name, Args: `{}`})
			}
			return fakellm.CallTools(calls...)
		}), fakellm.Text("done")))
		var mu sync.Mutex
		seen := map[string]bool{}
		_, err := agent(t, srv, provider, "").Run(t.Context(), odd, tooleval.ToolHandlerFunc(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
			mu.Lock()
			defer mu.Unlock()
			seen[c.Tool] = true
			return tooleval.TextResult("ok"), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range odd.Tools {
			if !seen[tool.Name] {
				t.Errorf("%q was not reached: %v", tool.Name, seen)
			}
		}
	})
}

func TestParameters(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text("ok")))
	if _, err := agent(t, srv, "openai", "?temperature=0&seed=7&max_tokens=99").Run(t.Context(), assignment, calculate); err != nil {
		t.Fatal(err)
	}
	raw := string(srv.Requests("r")[0].Raw)
	for _, want := range []string{`"temperature":0`, `"seed":7`, `"max_tokens":99`} {
		if !strings.Contains(raw, want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
	srv = fakellm.New(t, fakellm.Always(fakellm.Text("ok")))
	if _, err := agent(t, srv, "openai", "").Run(t.Context(), assignment, calculate); err != nil {
		t.Fatal(err)
	}
	if raw := string(srv.Requests("r")[0].Raw); strings.Contains(raw, "temperature") || strings.Contains(raw, "seed") || strings.Contains(raw, "max_tokens") {
		t.Errorf("it was sent %s", raw)
	}
	if _, err := agent(t, srv, "anthropic", "?max_tokens=64000").Run(t.Context(), assignment, calculate); err != nil {
		t.Errorf("many tokens: %v", err)
	}
	if n := srv.Requests("r")[1].MaxTokens; n != 64000 {
		t.Errorf("max_tokens %d", n)
	}
}

func TestL12CostCountsEachTokenOnce(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		model := "claude-sonnet-4-5-20250929"
		var want float64
		use := fakellm.Usage{Input: 1000, Output: 100, CacheRead: 600, CacheWrite: 200}
		if provider == "openai" {
			model, use.CacheWrite = "gpt-4o-2024-08-06", 0
			want = 2 * (400*2.5 + 600*1.25 + 100*10) / 1e6
		} else {
			want = 2 * (200*3 + 600*0.3 + 200*3.75 + 100*15) / 1e6
		}
		srv := fakellm.New(t, fakellm.Turns(fakellm.Reply{Calls: []fakellm.Call{{Name: "calculate", Args: "{}"}}, Usage: use}, fakellm.Reply{Text: "42", Usage: use}))
		s, _ := chatagent.Parse(provider + ":" + model)
		s.BaseURL = srv.URL("r")
		a, err := chatagent.New(s, environment(map[string]string{"ANTHROPIC_API_KEY": "k"}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Run(t.Context(), assignment, calculate)
		if err != nil || got.Usage.CostUSD == nil || math.Abs(*got.Usage.CostUSD-want) > 1e-12 {
			t.Errorf("cost %v, want %v; %v", got.Usage.CostUSD, want, err)
		}
		if *got.Usage.InputTokens != 2000 || *got.Usage.CachedTokens != 1200 {
			t.Errorf("%+v", got.Usage)
		}
	})
}

// TestUnknownUsage: a server that counts nothing costs an unknown sum, not 0.
func TestUnknownUsage(t *testing.T) {
	for _, usage := range []string{``, `,"usage":null`, `,"usage":{"prompt_tokens":5}`, `,"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}`} {
		srv := fakellm.New(t, fakellm.Always(fakellm.Reply{Body: `{"model":"gpt-4o","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]` + usage + `}`}))
		s, _ := chatagent.Parse("openai:gpt-4o?base_url=" + srv.URL("r"))
		a, err := chatagent.New(s, environment(nil))
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Run(t.Context(), assignment, calculate)
		if err != nil || got.Usage.CostUSD != nil || *got.Usage.Turns != 1 {
			t.Errorf("%s: %+v, %v", usage, got.Usage, err)
		}
	}
}
