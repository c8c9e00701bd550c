package profile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agents/profile"
)

var (
	_ tooleval.Agent         = (*profile.Agent)(nil)
	_ tooleval.Preflighter   = (*profile.Agent)(nil)
	_ tooleval.Fingerprinter = (*profile.Agent)(nil)
)

var assignment = tooleval.Assignment{TaskID: "calc.1", EntryPoint: "calc.arithmetic", Description: "What is 6 * 7?",
	Tools: []tooleval.Tool{{Name: "calculate"}}}

// calculate answers every call with 42.
var calculate = tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
	return tooleval.JSONResult(map[string]int{"result": 42}), nil
})

// fake makes an agent of one of the fakes; more is YAML that is added to its profile.
func fake(t *testing.T, name, more string, o profile.Options) *profile.Agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("name: fake\nenv:\n  pass: [BEAT, GORACE]\n  set: {MCP_URL: \"${mcp_url}\", MCP_TOKEN: \"${mcp_token}\"}\n%s\n", more)
	if !strings.Contains(more, "command:") {
		text += fmt.Sprintf("command: [%q, fake-agent, %q, \"${prompt}\"]\n", self, name)
	}
	p, err := profile.Load("fake.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, err := profile.New(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// getenv gives race-built fakes a quick exit.
func getenv(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		switch name {
		case "GORACE":
			return "atexit_sleep_ms=0"
		case "PATH":
			return os.Getenv("PATH")
		}
		return ""
	}
}

func TestGoodRun(t *testing.T) {
	r, err := fake(t, "good", "", profile.Options{Getenv: getenv()}).Run(t.Context(), assignment, calculate)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.State) != `{"result":42}` || r.Response != "It is:\n{\"result\":42}" || r.Evidence.Channel != tooleval.OverMCP ||
		r.Evidence.Incomplete != "" || len(r.Warnings) > 0 || r.Usage != nil {
		t.Errorf("%+v", r)
	}
	r, _ = fake(t, "good", "incomplete: it has a shell", profile.Options{Getenv: getenv()}).Run(t.Context(), assignment, calculate)
	if r.Evidence.Incomplete != "it has a shell" {
		t.Errorf("%+v", r.Evidence)
	}
}

// TestE01WhoseFault: what an exit code says is not what happened.
func TestE01WhoseFault(t *testing.T) {
	for _, c := range []struct {
		fake, more string
		owner      tooleval.Owner // empty for a run that counts
		say        string         // in the error, or in the warnings
		response   string
	}{
		{fake: "silent", owner: tooleval.OwnerInfra, say: "never connected to the tools' MCP server, and so had no tools; it ended with exit status 0"},
		{fake: "connects", owner: tooleval.OwnerInfra, say: "never asked for the list of tools"},
		{fake: "wrong token", owner: tooleval.OwnerInfra, say: "without the run's token", response: "my tools could not be loaded"},
		{fake: "no tools", response: "I would rather not."},
		{fake: "429 with 0", owner: tooleval.OwnerInfra, say: "429 Too Many Requests", response: "API call failed after 3 retries: 429 Too Many Requests"},
		{fake: "mentions 429", response: "HTTP status 429 is Too Many Requests.\n{\"result\":42}"},
		{fake: "503 with 1", owner: tooleval.OwnerInfra, say: "503 Service Unavailable"},
		{fake: "own fault", owner: tooleval.OwnerAgent, say: "exit status 3"},
		{fake: "own fault", more: "faults: [{text: index out, owner: user}]", owner: tooleval.OwnerUser, say: "index out of range"},
		{fake: "own limit", more: "exit: {limit: [53]}", say: "a limit of its own (exit status 53)", response: `{"result":42}`},
		{fake: "infra code", more: "exit: {infra: [75]}", owner: tooleval.OwnerInfra, say: "exit status 75"},
		{fake: "own fault", more: "exit: {ok: [0, 3]}"},
		{fake: "killed", owner: tooleval.OwnerInfra, say: "killed by signal 9"},
		{fake: "hangs", more: "limits: {start: 300ms}", owner: tooleval.OwnerInfra, say: "did not ask for its tools in time (300ms): it never connected"},
		{fake: "lists and hangs", more: "limits: {idle: 500ms}", owner: tooleval.OwnerAgent, say: "idle", response: "so far"},
		{fake: "lists and hangs", more: "limits: {timeout: 1s, start: 900ms}", owner: tooleval.OwnerAgent, say: "limits.timeout of 1s", response: "so far"},
	} {
		t.Run(c.fake+" "+c.more, func(t *testing.T) {
			t.Parallel()
			r, err := fake(t, c.fake, c.more, profile.Options{Getenv: getenv()}).Run(t.Context(), assignment, calculate)
			owner, _ := tooleval.BlamedOn(err)
			said := fmt.Sprint(err, r.Warnings)
			if owner != c.owner || (err == nil) != (c.owner == "") || !strings.Contains(said, c.say) || string(r.Response) != c.response {
				t.Errorf("blamed on %q, %s\nresponse %q", owner, said, r.Response)
			}
			var p *agents.ProcessError
			if err != nil && (!errors.As(err, &p) || p.Agent != "fake") {
				t.Errorf("%T", err)
			}
		})
	}
}

// TestRunsLimit: an agent that hangs, with a child in a session of its own, ends within the limit plus 2 s, leaves no
// process, and is nobody's fault as far as the agent's package can tell.
func TestRunsLimit(t *testing.T) {
	over := errors.New("the run's time is over")
	for _, name := range []string{"ignores TERM", "answers TERM with 0", "lists and hangs", "loops"} {
		t.Run(name, func(t *testing.T) {
			beat := filepath.Join(t.TempDir(), "beat")
			agent := fake(t, name, "", profile.Options{Getenv: getenv("BEAT", beat)})
			const limit = 1500 * time.Millisecond
			ctx, cancel := context.WithTimeoutCause(t.Context(), limit, over)
			defer cancel()
			began := time.Now()
			r, err := agent.Run(ctx, assignment, calculate)
			if took := time.Since(began); took > limit+2*time.Second {
				t.Errorf("it took %v", took)
			}
			if _, blamed := tooleval.BlamedOn(err); !errors.Is(err, over) || blamed {
				t.Errorf("got %v", err)
			}
			if name == "lists and hangs" && r.Response != "so far" {
				t.Errorf("the output is lost: %+v", r)
			}
			if name == "ignores TERM" {
				stillWrites(t, beat)
			}
		})
	}
}

// stillWrites fails the test when a process that writes into a file is alive, or never was.
func stillWrites(t *testing.T, path string) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatalf("the child never ran: %v", err)
	}
	time.Sleep(100 * time.Millisecond)
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the child is still there: %v", err)
	}
}

func TestStraysAreEnded(t *testing.T) {
	beat := filepath.Join(t.TempDir(), "beat")
	r, err := fake(t, "strays", "", profile.Options{Getenv: getenv("BEAT", beat)}).Run(t.Context(), assignment, calculate)
	if err != nil || string(r.State) != `{"result":42}` || len(r.Warnings) != 1 || !strings.Contains(string(r.Warnings[0]), "left 1 processes") {
		t.Errorf("%+v, %v", r, err)
	}
	stillWrites(t, beat)
}

func TestBoundedOutput(t *testing.T) {
	r, err := fake(t, "floods", "", profile.Options{Getenv: getenv()}).Run(t.Context(), assignment, calculate)
	if err != nil || string(r.State) != `{"result":42}` || len(r.Response) > 17<<20 {
		t.Errorf("%d bytes, %s, %v", len(r.Response), r.State, err)
	}
}

func TestJSONLines(t *testing.T) {
	more := `
output:
  format: jsonl
  answer: {where: {kind: text}, path: parts.*.text}
  usage: {where: {kind: usage}, sum: true, input_tokens: in, output_tokens: out, cost_usd: cost}
`
	r, err := fake(t, "jsonl", more, profile.Options{Getenv: getenv()}).Run(t.Context(), assignment, calculate)
	if err != nil {
		t.Fatal(err)
	}
	u := r.Usage
	if r.Response != `It is {"result":42}` || u == nil || *u.InputTokens != 7 || *u.OutputTokens != 2 || u.CachedTokens != nil || *u.CostUSD != 0.75 {
		t.Errorf("%+v %+v", r, u)
	}
}

func TestMCPOverStdio(t *testing.T) {
	more := "mcp: {transport: stdio}\n"
	self, _ := os.Executable()
	more += fmt.Sprintf("command: [env, \"MCP_SHIM=${mcp_shim}\", MCP_URL=, %q, fake-agent, good, \"${prompt}\"]", self)
	r, err := fake(t, "good", more, profile.Options{Getenv: getenv()}).Run(t.Context(), assignment, calculate)
	if err != nil || string(r.State) != `{"result":42}` {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPrompts(t *testing.T) {
	self, _ := os.Executable()
	a := assignment
	a.Input = tooleval.Raw(`{"n":1}`)
	for _, c := range []struct{ description, more, want string }{
		{"What?", "", "What?\n\nInput (JSON):\n{\"n\":1}"},
		{"--help", "prompt: {template: \"${description}\"}", "--help"},
		{"${home} $x", "prompt: {template: \"do ${description} with ${tools} at ${entry_point}, $${home}\"}",
			"do ${home} $x with calculate at calc.arithmetic, ${home}"},
		{strings.Repeat("long ", 60_000), fmt.Sprintf("prompt: {by: stdin, template: \"${description}\"}\ncommand: [%q, fake-agent, prompt]", self),
			strings.TrimSpace(strings.Repeat("long ", 60_000))},
		{"in a file", fmt.Sprintf("prompt: {by: file, file: \"${work}/sub/TASK.md\", template: \"${description}\"}\n"+
			"command: [env, \"PROMPT_FILE=${prompt_file}\", %q, fake-agent, prompt]", self), "file:in a file"},
	} {
		a.Description = c.description
		r, err := fake(t, "prompt", c.more, profile.Options{Getenv: getenv()}).Run(t.Context(), a, calculate)
		if got := strings.TrimSpace(string(r.Response)); err != nil || got != c.want {
			t.Errorf("got %.200q, %v, want %.200q", got, err, c.want)
		}
	}
	for _, description := range []string{strings.Repeat("x", 200_000), "a\x00b"} {
		a.Description = description
		_, err := fake(t, "prompt", "", profile.Options{Getenv: getenv()}).Run(t.Context(), a, calculate)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser || !strings.Contains(err.Error(), "prompt.by: stdin") {
			t.Errorf("%.300v", err)
		}
	}
}

// TestH10FreshFoldersAndX04Environment: nothing of the user's environment gets in but what the profile names, and no run
// finds another one's files.
func TestH10FreshFoldersAndX04Environment(t *testing.T) {
	t.Setenv("CANARY_DATABASE_URL", "x")
	more := `
files:
  - path: ${home}/.config/a.json
    content: '{"token": "${mcp_token}", "odd": "${odd}"}'
variables: {odd: {default: "a\"\nb"}}
`
	agent := fake(t, "environment", more, profile.Options{Getenv: getenv("CANARY_DATABASE_URL", "x", "BEAT", "passed")})
	var folders []string
	for range 2 {
		r, err := agent.Run(t.Context(), assignment, calculate)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Env []string
			WD  string
		}
		if err := json.Unmarshal(r.State, &got); err != nil {
			t.Fatal(err)
		}
		for _, e := range got.Env {
			if name, _, _ := strings.Cut(e, "="); !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LANG", "TERM", "PWD", "MCP_URL",
				"MCP_TOKEN", "BEAT", "GORACE", "TOOLEVAL_RUN_TOKEN"}, name) {
				t.Errorf("the agent got %s", e)
			}
		}
		if !slices.Contains(got.Env, "BEAT=passed") {
			t.Errorf("what env.pass names is missing: %q", got.Env)
		}
		folders = append(folders, got.WD)
		if _, err := os.Stat(filepath.Dir(got.WD)); !os.IsNotExist(err) {
			t.Errorf("the run's folder is still there: %v", err)
		}
	}
	if folders[0] == folders[1] {
		t.Error("both runs had one folder")
	}
}

func TestPreflightAndVariables(t *testing.T) {
	text := `
name: mine
command: [no-such-agent-anywhere, "${model}", "${prompt}"]
variables:
  model: {env: TOOLEVAL_MODEL, description: the model's name}
`
	p, err := profile.Load("mine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, err := profile.New(t.Context(), p, profile.Options{Getenv: getenv()})
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error, say ...string) {
		t.Helper()
		owner, _ := tooleval.BlamedOn(err)
		for _, s := range say {
			if err == nil || !strings.Contains(err.Error(), s) || owner != tooleval.OwnerUser {
				t.Errorf("%v (blamed on %s) does not say %q", err, owner, s)
			}
		}
	}
	check(a.Preflight(t.Context(), nil), "it needs a value for model (the model's name): set TOOLEVAL_MODEL, or write --agent mine:MODEL")
	_, err = a.Run(t.Context(), assignment, calculate)
	check(err, "needs a value for model")
	a, err = profile.New(t.Context(), p, profile.Options{Getenv: getenv(), Set: map[string]string{"model": "m"}})
	if err != nil {
		t.Fatal(err)
	}
	check(a.Preflight(t.Context(), nil), "no-such-agent-anywhere", "not found", "install it")
	_, err = a.Run(t.Context(), assignment, calculate)
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra {
		t.Errorf("blamed on %s: %v", owner, err)
	}
	if _, err := profile.New(t.Context(), p, profile.Options{Set: map[string]string{"models": "m"}}); err == nil || !strings.Contains(err.Error(), `did you mean "model"?`) {
		t.Errorf("got %v", err)
	}
	if _, err := profile.New(t.Context(), p, profile.Options{Sandbox: "bwarp"}); err == nil || !strings.Contains(err.Error(), `did you mean "bwrap"?`) {
		t.Errorf("got %v", err)
	}
	b, _ := profile.New(t.Context(), p, profile.Options{Getenv: getenv(), Set: map[string]string{"model": "n"}})
	one, _ := json.Marshal(a.Fingerprint())
	two, _ := json.Marshal(b.Fingerprint())
	if string(one) == string(two) {
		t.Errorf("two models have one fingerprint: %s", one)
	}
}

func TestE16CancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fake(t, "good", "", profile.Options{Getenv: getenv()}).Run(ctx, assignment, calculate); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
