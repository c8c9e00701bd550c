package acpagent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agents/acpagent"
)

var (
	_ tooleval.Agent         = (*acpagent.Agent)(nil)
	_ tooleval.Preflighter   = (*acpagent.Agent)(nil)
	_ tooleval.Fingerprinter = (*acpagent.Agent)(nil)
)

var assignment = tooleval.Assignment{TaskID: "t", EntryPoint: "e", Description: "What is 6 * 7?", Input: tooleval.Raw(`{"n":1}`),
	Tools: []tooleval.Tool{{Name: "calculate"}}}

var calculate = tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
	return tooleval.JSONResult(map[string]int{"result": 42}), nil
})

func agent(t *testing.T, mode string) *acpagent.Agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &acpagent.Agent{Name: "fake", Command: []string{self, "acp-agent", mode}}
}

func TestRun(t *testing.T) {
	t.Setenv("SECRET", "canary")
	for _, mode := range []string{"good", "stdio", "noise", "stays"} {
		t.Run(mode, func(t *testing.T) {
			a := agent(t, mode)
			a.Shim = []string{a.Command[0], "shim"}
			calls := 0
			got, err := a.Run(t.Context(), assignment, tooleval.ToolHandlerFunc(func(ctx context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
				if calls++; c.Tool != "calculate" || string(c.Args) != `{"expression":"6 * 7"}` {
					t.Errorf("call %+v", c)
				}
				return calculate(ctx, c)
			}))
			if err != nil || got.Response != `It is {"result":42}` || string(got.State) != `{"result":42}` || calls != 1 {
				t.Fatalf("%q, %s, %d calls, %v", got.Response, got.State, calls, err)
			}
			if u := got.Usage; u.Model != "fake-model" || *u.InputTokens != 100 || *u.CachedTokens != 30 || *u.OutputTokens != 5 || u.CostUSD != nil || len(u.Vendor) == 0 {
				t.Errorf("usage %+v", u)
			}
			if *got.Evidence != (tooleval.Evidence{Channel: "mcp"}) {
				t.Errorf("evidence %+v", got.Evidence)
			}
			if noisy := mode == "noise"; noisy != (len(got.Warnings) == 1) || noisy && !strings.Contains(string(got.Warnings[0]), "Welcome") {
				t.Errorf("warnings %q", got.Warnings)
			}
		})
	}
}

// TestWhatTheAgentGets: the task, a home of its own, and nothing of the harness's environment but what it is given.
func TestWhatTheAgentGets(t *testing.T) {
	t.Setenv("SECRET", "canary")
	a := agent(t, "echo")
	got, err := a.Run(t.Context(), assignment, calculate)
	if text := string(got.Response); err != nil || !strings.Contains(text, "\nWhat is 6 * 7?\n\nInput (JSON):\n{\"n\":1}\n") || strings.Contains(text, "canary") ||
		strings.HasSuffix(text, os.Getenv("HOME")) {
		t.Errorf("%q, %v", got.Response, err)
	}
	a.Env = []string{"SECRET"}
	if got, err := a.Run(t.Context(), assignment, calculate); err != nil || !strings.Contains(string(got.Response), "canary") {
		t.Errorf("%q, %v", got.Response, err)
	}
}

func TestInParallel(t *testing.T) {
	a := agent(t, "good")
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			own := fmt.Sprintf("world %d", i)
			got, err := a.Run(t.Context(), assignment, tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
				return tooleval.TextResult(own), nil
			}))
			if err != nil || string(got.Response) != "It is "+own {
				t.Errorf("%q, %v", got.Response, err)
			}
		})
	}
	wg.Wait()
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		mode  string
		owner tooleval.Owner
		want  string
	}{
		{"exit", tooleval.OwnerInfra, "before there was a session"},
		{"exit2", tooleval.OwnerInfra, "exit status 4 before there was a session"},
		{"version", tooleval.OwnerUser, "version 7 of ACP"},
		{"stdio", tooleval.OwnerUser, "no MCP servers over HTTP"},
		{"login", tooleval.OwnerUser, "wants a login"},
		{"deaf", tooleval.OwnerInfra, "took too long to open a session (1s)"},
		{"slow", tooleval.OwnerInfra, "took too long to open a session"},
		{"no-tools", tooleval.OwnerInfra, "never connected to the tools' MCP server"},
		{"crash", tooleval.OwnerAgent, "exit status 5 in the middle"},
		{"killed", tooleval.OwnerInfra, "from outside"},
		{"error", tooleval.OwnerAgent, "I broke"},
		{"429", tooleval.OwnerInfra, "429"},
		{"429-text", tooleval.OwnerInfra, "text of an error"},
		{"max-tokens", tooleval.OwnerAgent, "cut off"},
		{"long-line", tooleval.OwnerAgent, "more than 10 MiB"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			a := agent(t, c.mode)
			if c.mode == "deaf" || c.mode == "slow" {
				a.StartTimeout = time.Second
			}
			a.ShutdownGrace = time.Second
			got, err := a.Run(t.Context(), assignment, calculate)
			owner, _ := tooleval.BlamedOn(err)
			var p *agents.ProcessError
			if owner != c.owner || !strings.Contains(fmt.Sprint(err), c.want) || !errors.As(err, &p) {
				t.Errorf("blamed on %q: %v", owner, err)
			}
			if c.mode == "exit" && (p == nil || !strings.Contains(string(p.Stderr), "no config") || p.Exit != "exit status 3") {
				t.Errorf("the evidence is %+v", p)
			}
			if c.mode == "max-tokens" && got.Response != "half an ans" {
				t.Errorf("%q", got.Response)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	for mode, want := range map[string]string{"refusal": "refused", "turns": "limit of its own"} {
		got, err := agent(t, mode).Run(t.Context(), assignment, calculate)
		if err != nil || len(got.Warnings) != 1 || !strings.Contains(string(got.Warnings[0]), want) {
			t.Errorf("%s: %+v, %v", mode, got, err)
		}
	}
}

func TestPermissions(t *testing.T) {
	for policy, want := range map[acpagent.Policy]string{
		"":                  "yes yes yes no no no no yes no",
		acpagent.AllowTools: "yes yes yes no no no no yes no",
		acpagent.AllowAll:   "yes yes yes yes yes yes yes yes yes",
		acpagent.AllowNone:  "no no no no no no no no no",
	} {
		a := agent(t, "permissions")
		a.Policy = policy
		got, err := a.Run(t.Context(), assignment, calculate)
		if err != nil || string(got.Response) != want {
			t.Errorf("%q: got  %s\nwant %s, %v", policy, got.Response, want, err)
		}
		if w := fmt.Sprint(got.Warnings); !strings.Contains(w, "read a file") || !strings.Contains(w, "write a file") || !strings.Contains(w, "run a command") {
			t.Errorf("%q: warnings %s", policy, w)
		}
	}
	a := agent(t, "good")
	a.Policy = "tool"
	if _, err := a.Run(t.Context(), assignment, calculate); err == nil || !strings.Contains(err.Error(), `did you mean "tools"`) {
		t.Errorf("got %v", err)
	}
	if err := a.Preflight(t.Context(), nil); err == nil {
		t.Error("preflight says nothing")
	}
}

// TestTimeIsUp: the agent is told, may say what it has, and is gone with all that it started, one way or the other.
func TestTimeIsUp(t *testing.T) {
	over := errors.New("the run's time is over")
	for mode, want := range map[string]string{"hang": "so far so good", "stays-hanging": "so far"} {
		t.Run(mode, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, over)
			defer cancel()
			a := agent(t, mode)
			a.ShutdownGrace = 2 * time.Second
			began := time.Now()
			got, err := a.Run(ctx, assignment, calculate)
			if took := time.Since(began); took > 1500*time.Millisecond+3*time.Second {
				t.Errorf("it took %v", took)
			}
			if owner, owned := tooleval.BlamedOn(err); !errors.Is(err, over) || owned {
				t.Errorf("blamed on %q: %v", owner, err)
			}
			if string(got.Response) != want {
				t.Errorf("response %q", got.Response)
			}
			var p *agents.ProcessError
			if !errors.As(err, &p) {
				t.Fatalf("%v", err)
			}
			m := regexp.MustCompile(`child (\d+)`).FindStringSubmatch(string(p.Stderr))
			if m == nil {
				t.Fatalf("no child in %q", p.Stderr)
			}
			pid, _ := strconv.Atoi(m[1])
			if lives(pid) {
				t.Errorf("its child %d lives on", pid)
			}
		})
	}
}

// lives reports whether there is such a process; one that is dead and waits for its parent does not live.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestFlood: an agent that talks without end costs no more than a bound, and its run still ends.
func TestFlood(t *testing.T) {
	got, err := agent(t, "flood").Run(t.Context(), assignment, calculate)
	if len(got.Response) > 17<<20 {
		t.Errorf("%d bytes were kept", len(got.Response))
	}
	if err != nil { // the library gives up when it is overrun
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerHarness {
			t.Errorf("got %v", err)
		}
	}
}

func TestPreflight(t *testing.T) {
	if err := agent(t, "good").Preflight(t.Context(), nil); err != nil {
		t.Error(err)
	}
	for _, command := range [][]string{nil, {""}, {"no-such-program-anywhere"}} {
		a := &acpagent.Agent{Command: command}
		if owner, _ := tooleval.BlamedOn(a.Preflight(t.Context(), nil)); owner != tooleval.OwnerUser {
			t.Errorf("%q: %v", command, a.Preflight(t.Context(), nil))
		}
		if _, err := a.Run(t.Context(), assignment, calculate); err == nil {
			t.Errorf("%q runs", command)
		}
	}
}
