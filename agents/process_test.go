package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
)

func agent(t testing.TB, fault string) *agents.Process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &agents.Process{Name: fault, Command: []string{exe}, Env: []string{"AGENTS_TEST=" + fault, "GORACE=atexit_sleep_ms=0"},
		ShutdownGrace: 2 * time.Second}
}

var assignment = tooleval.Assignment{TaskID: "t.1", Description: "do <it> & go", EntryPoint: "t.entry",
	Input: tooleval.Raw(`{"n":12345678901234567890}`), Tools: []tooleval.Tool{{Name: "t"}}}

// recorder keeps the calls and echoes the arguments.
type recorder struct {
	mu    sync.Mutex
	calls []tooleval.ToolCall
}

func (r *recorder) CallTool(ctx context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	return tooleval.ToolResult{Text: tooleval.Text(c.Args), Structured: c.Args}, nil
}

func TestRun(t *testing.T) {
	rec := &recorder{}
	result, err := agent(t, "echo").Run(t.Context(), assignment, rec)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.calls) != 1 || rec.calls[0].ID != "c1" || rec.calls[0].Tool != "t" || string(rec.calls[0].Args) != string(assignment.Input) {
		t.Errorf("calls: %q", rec.calls)
	}
	if string(result.Response) != string(assignment.Input) || string(result.State) != string(assignment.Input) {
		t.Errorf("the digits did not survive: %q, %s", result.Response, result.State)
	}
	if result.Evidence == nil || result.Evidence.Channel != tooleval.OverStdio || len(result.Warnings) > 0 {
		t.Errorf("evidence %+v, warnings %q", result.Evidence, result.Warnings)
	}
}

// TestFaults: one agent a fault, what the error says, and whose fault it is.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		owner tooleval.Owner
		say   []string
	}{
		{"silent", tooleval.OwnerInfra, []string{"initialize", "exit status 0"}}, // E09: exit 0 with nothing said
		{"exits", tooleval.OwnerAgent, []string{"before it answered run", "exit status 3", "503 from upstream"}},
		{"exits at once", tooleval.OwnerInfra, []string{"before it answered initialize", "exit status 7", "no key"}},
		{"dies by SEGV", tooleval.OwnerAgent, []string{"before it answered run"}},
		{"dies by KILL", tooleval.OwnerInfra, []string{"killed by signal 9", "out of memory?"}},
		{"huge line", tooleval.OwnerAgent, []string{"more than 1000000 bytes"}},
		{"partial", tooleval.OwnerAgent, []string{"before it answered run", "exit status 0", `"resu`}},
		{"version 2", tooleval.OwnerInfra, []string{"version 2", "speaks 1"}},
		{"no version", tooleval.OwnerInfra, []string{"no protocol_version"}},
		{"init error", tooleval.OwnerInfra, []string{"initialize with an error", "what?"}},
		{"null result", tooleval.OwnerAgent, []string{"not an object: null"}},
		{"list result", tooleval.OwnerAgent, []string{"not an object: [1]"}},
		{"number result", tooleval.OwnerAgent, []string{"malformed", "got 5"}},
		{"bare error", tooleval.OwnerAgent, []string{"I give up", "-32000"}}, // E21: no reason given, none made up
		{"blames harness", tooleval.OwnerAgent, []string{"not me", `blames its error on "harness"`}},
		{"blames user", tooleval.OwnerUser, []string{"set KEY"}},
		{"odd error", tooleval.OwnerAgent, []string{"(code -32000)"}},
		{"error", tooleval.OwnerInfra, []string{"rate limited: 429"}},
		{"panic", tooleval.OwnerAgent, []string{"panic: boom", "goroutine"}},
		{"closes stdout", tooleval.OwnerAgent, []string{"closed its standard output before it answered run"}},
		{"child holds stdout", tooleval.OwnerAgent, []string{"before it answered run", "exit status 0", "left 1 processes"}},
		{"stderr flood", tooleval.OwnerAgent, []string{"exit status 1", "the tail"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			p := agent(t, c.fault)
			p.MaxLine = 1_000_000
			_, err := p.Run(t.Context(), assignment, &recorder{})
			if err == nil {
				t.Fatal("no error")
			}
			if owner, _ := tooleval.BlamedOn(err); owner != c.owner {
				t.Errorf("blamed on %q, want %q", owner, c.owner)
			}
			for _, say := range append(c.say, fmt.Sprintf("agent %q", c.fault)) {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("%q does not say %q", err, say)
				}
			}
			if len(err.Error()) > 4000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("no single short line: %d bytes", len(err.Error()))
			}
			var pe *agents.ProcessError
			if !errors.As(err, &pe) || len(pe.Stderr) > 70_000 {
				t.Errorf("got %T with %d bytes of stderr", err, len(pe.Stderr))
			}
		})
	}
}

// TestWarnings: trouble that does not stop an agent is kept beside its answer.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		fault string
		say   []string
	}{
		{"noise", []string{"4 lines on its standard output were ignored", "ready"}}, // H01
		{"noise flood", []string{"2000000 lines"}},
		{"prints", nil},
		{"no last LF", nil},
		{"empty result", nil},
		{"misspelt", []string{`unknown member "resposne"`, "response"}},
		{"own evidence", []string{"mine"}},
		{"second answer", []string{"a second answer to request 2", "a request that was never made"}},
		{"late call", []string{"a tool call after the run's end was refused (2 times)"}},
		{"unanswered call", []string{"1 of its tool calls had no answer"}},
		{"exits 3 at the end", []string{"exit status 3 after its answer"}},
		{"ignores shutdown", []string{"did not exit within 1s of shutdown"}},
		{"leaves a child", []string{"left 2 processes behind"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			slow := tooleval.ToolHandlerFunc(func(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
				if call.Tool != "slow" {
					t.Errorf("tool %q was called", call.Tool)
				}
				time.Sleep(50 * time.Millisecond)
				return tooleval.ToolResult{}, ctx.Err()
			})
			result, err := agent(t, c.fault).Run(t.Context(), assignment, slow)
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, w := range result.Warnings {
				all += string(w) + "\n"
			}
			if (len(c.say) == 0) != (all == "") || len(all) > 3000 {
				t.Errorf("warnings: %.3000s", all)
			}
			for _, say := range c.say {
				if !strings.Contains(all, say) {
					t.Errorf("%q does not say %q", all, say)
				}
			}
			if c.fault == "late call" && (result.Response != "ok" || len(result.Warnings) != 1) {
				t.Errorf("got %+v", result)
			}
			if c.fault == "second answer" && result.Response != "first" {
				t.Errorf("the answer is %q, want the first", result.Response)
			}
			if c.fault == "own evidence" && *result.Evidence != (tooleval.Evidence{Channel: "stdio", Incomplete: "my own shell"}) {
				t.Errorf("evidence %+v", result.Evidence)
			}
		})
	}
}

// TestM19OddCalls: what an agent sends reaches the record as it is, and a call that can't be read is answered.
func TestM19OddCalls(t *testing.T) {
	rec := &recorder{}
	result, err := agent(t, "odd calls").Run(t.Context(), assignment, rec)
	if err != nil {
		t.Fatal(err)
	}
	want := []tooleval.ToolCall{
		{Tool: "t", Args: tooleval.Raw(`{"q":"a "b""}`)},
		{Tool: "t"},
		{Tool: "t", Args: tooleval.Raw(`{"n":12345678901234567890, "f":1.00,"s":"\ud83d"}`)},
		{ID: "a\xed\xa0\xbd", Tool: "t\xed\xa0\xbd", Args: tooleval.Raw(`[null]`)},
	}
	if fmt.Sprintf("%q", rec.calls) != fmt.Sprintf("%q", want) || rec.calls[1].Args != nil {
		t.Errorf("got  %q\nwant %q", rec.calls, want)
	}
	if got := string(result.State); got != `["1 ok","2 ok","3 ok","\"4\" ok","5 -32602","6 -32602","7 -32602","8 -32601","null -32600"]` {
		t.Errorf("answers: %s", got)
	}
}

func TestL07OddBytesInAResult(t *testing.T) {
	result, err := agent(t, "odd bytes").Run(t.Context(), assignment, &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Response != "a\xed\xa0\xbd\x00\xff" {
		t.Errorf("response %q", result.Response)
	}
	if string(result.State) != "{\"s\":\"\\ud83d\xff\",\"n\":12345678901234567890.10}" {
		t.Errorf("state %q", result.State)
	}
	b, err := json.Marshal(result)
	var back tooleval.AgentResult
	if err != nil || json.Unmarshal(b, &back) != nil || string(back.State) != string(result.State) || back.Response != result.Response {
		t.Errorf("the record changed: %s, %v", b, err)
	}
}

// TestE04TimedOutTreeIsGone: whatever an agent does when its time is over, Run returns in time and nothing goes on.
func TestE04TimedOutTreeIsGone(t *testing.T) {
	for _, fault := range []string{"hangs", "never starts", "never reads", "waits", "setsid child writes", "many at once", "only noise"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			state := filepath.Join(t.TempDir(), "state")
			p := agent(t, fault)
			p.Env = append(p.Env, "STATE="+state)
			p.ShutdownGrace = 600 * time.Millisecond
			a := assignment
			a.Description = strings.Repeat("x", 1<<20) // more than a pipe holds
			errLimit := errors.New("the run's time is over")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errLimit)
			defer cancel()
			big := tooleval.ToolHandlerFunc(func(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
				return tooleval.TextResult(strings.Repeat("y", 10_000)), nil
			})
			began := time.Now()
			result, err := p.Run(ctx, a, big)
			if took := time.Since(began); took > 1500*time.Millisecond+p.ShutdownGrace+time.Second {
				t.Errorf("Run took %v", took)
			}
			if !errors.Is(err, errLimit) {
				t.Errorf("got %v, want the cause of the context", err)
			}
			// A program that never spoke the protocol was no agent at all.
			spoke := fault != "only noise" && fault != "never starts"
			if owner, ok := tooleval.BlamedOn(err); ok == spoke || !spoke && owner != tooleval.OwnerInfra {
				t.Errorf("blamed on %q", owner)
			}
			if fault == "waits" && result.Response != "what I have" {
				t.Errorf("the last words are lost: %+v", result)
			}
			if fault == "setsid child writes" {
				before, err := os.Stat(state)
				time.Sleep(100 * time.Millisecond)
				after, err2 := os.Stat(state)
				if err != nil || err2 != nil || before.ModTime() != after.ModTime() {
					t.Errorf("the child never wrote or still does: %v", err)
				}
			}
		})
	}
}

// TestE16CancelBeforeAndDuringStart: a cancelled eval starts nothing and waits for nothing.
func TestE16CancelBeforeAndDuringStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := agent(t, "echo").Run(ctx, assignment, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := agent(t, "never starts").Run(ctx, assignment, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestE05HandlerThatNeverReturns: not even a tool that ignores its context holds a run up.
func TestE05HandlerThatNeverReturns(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	release := make(chan struct{})
	defer close(release)
	stuck := tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		<-release
		return tooleval.ToolResult{}, nil
	})
	began := time.Now()
	_, err := agent(t, "echo").Run(ctx, assignment, stuck)
	if took := time.Since(began); took > 3500*time.Millisecond {
		t.Errorf("took %v", took)
	}
	if err == nil || !strings.Contains(err.Error(), "1 tool calls had not returned") {
		t.Errorf("got %v", err)
	}
}

func TestParallelCalls(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	seen := map[string]bool{}
	tools := tooleval.ToolHandlerFunc(func(ctx context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		mu.Lock()
		now++
		most = max(most, now)
		seen[string(c.Args)] = true
		mu.Unlock()
		time.Sleep(50 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return tooleval.ToolResult{}, nil
	})
	if _, err := agent(t, "parallel").Run(t.Context(), assignment, tools); err != nil {
		t.Fatal(err)
	}
	if most < 2 || len(seen) != 20 {
		t.Errorf("%d at once, %d calls", most, len(seen))
	}
}

// TestBrokenWorldKeepsItsOwner: an agent that hands on the harness's own trouble is believed.
func TestBrokenWorldKeepsItsOwner(t *testing.T) {
	for _, c := range []struct {
		tools tooleval.ToolHandlerFunc
		owner tooleval.Owner
		say   string
	}{
		{func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			return tooleval.ToolResult{}, errors.New("the database is gone")
		}, tooleval.OwnerWorld, "the database is gone"},
		{func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) { panic("oops") }, tooleval.OwnerHarness, "oops"},
	} {
		_, err := agent(t, "tool error").Run(t.Context(), assignment, c.tools)
		if owner, _ := tooleval.BlamedOn(err); owner != c.owner || !strings.Contains(err.Error(), c.say) {
			t.Errorf("blamed on %q: %v", owner, err)
		}
	}
}

// TestH10FreshFoldersAndX04Environment: a run finds nothing of the run before it, and nothing of the harness's
// environment.
func TestH10FreshFoldersAndX04Environment(t *testing.T) {
	t.Setenv("CANARY_DATABASE_URL", "x")
	p := agent(t, "environment")
	var first string
	for range 2 {
		result, err := p.Run(t.Context(), assignment, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.Response != "" {
			t.Errorf("the run found %s", result.Response)
		}
		var got struct {
			Env []string
			WD  string
		}
		if err := json.Unmarshal(result.State, &got); err != nil {
			t.Fatal(err)
		}
		for _, e := range got.Env {
			if name, _, _ := strings.Cut(e, "="); !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LANG", "TERM", "PWD",
				"AGENTS_TEST", "GORACE", "TOOLEVAL_RUN_TOKEN"}, name) {
				t.Errorf("the agent got %s", e)
			}
		}
		if got.WD == first {
			t.Error("both runs had one folder")
		}
		first = got.WD
		if _, err := os.Stat(filepath.Dir(got.WD)); !os.IsNotExist(err) {
			t.Errorf("the folder of the run is still there: %v", err)
		}
	}
}

func TestPreflight(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "agent.py")
	if err := os.WriteFile(plain, []byte("print(1)"), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := func(names ...string) (list []tooleval.Assignment) {
		for _, n := range names {
			list = append(list, tooleval.Assignment{EntryPoint: n})
		}
		return list
	}
	var _ tooleval.Preflighter = (*agents.Process)(nil)
	if err := agent(t, "entries").Preflight(t.Context(), entry("calc.add", "calc.mul", "calc.add")); err != nil {
		t.Error(err)
	}
	if err := agent(t, "echo").Preflight(t.Context(), entry("anything")); err != nil {
		t.Error(err)
	}
	slow := agent(t, "only noise")
	slow.StartTimeout = 300 * time.Millisecond
	for _, c := range []struct {
		p   *agents.Process
		say []string
	}{
		{&agents.Process{}, []string{"the command is empty"}},
		{&agents.Process{Command: []string{"no-such-agent"}}, []string{"no-such-agent", "not found", "PATH="}},
		{&agents.Process{Command: []string{"/no/such/agent"}}, []string{"/no/such/agent", "not exist"}},
		{&agents.Process{Command: []string{plain}}, []string{plain, "not executable", "chmod +x"}},
		{agent(t, "exits at once"), []string{"before it answered initialize", "exit status 7", "no key"}},
		{slow, []string{"did not answer initialize within 300ms", "Welcome to my agent!"}},
		{agent(t, "version 2"), []string{"version 2"}},
		{agent(t, "entries"), []string{`lacks entry point "calc.ad"`, "did you mean", "it serves: calc.add, calc.mul", `"other"`}},
		{&agents.Process{Command: []string{"sh", "process_test.go"}}, []string{`"process_test.go" is a file here`, "absolute path"}},
	} {
		err := c.p.Preflight(t.Context(), entry("calc.ad", "other", "calc.ad"))
		if err == nil {
			t.Errorf("%v: no error, want %q", c.p.Command, c.say)
			continue
		}
		for _, say := range c.say {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%q does not say %q", err, say)
			}
		}
		if _, ok := tooleval.BlamedOn(err); !ok {
			t.Errorf("nobody is blamed for %q", err)
		}
	}
	if _, err := agent(t, "entries").Run(t.Context(), assignment, nil); err == nil || !strings.Contains(err.Error(), "lacks entry point") {
		t.Errorf("a run of an entry point that is not served: %v", err)
	}
}

func TestFingerprintHidesValues(t *testing.T) {
	one := &agents.Process{Command: []string{"a"}, Env: []string{"KEY", "MODEL=m1"}}
	two := &agents.Process{Command: []string{"a"}, Env: []string{"KEY", "MODEL=m2"}}
	a, _ := json.Marshal(one.Fingerprint())
	b, _ := json.Marshal(two.Fingerprint())
	if string(a) == string(b) || strings.Contains(string(a), "m1") {
		t.Errorf("%s\n%s", a, b)
	}
}

// TestPythonAgent: an agent that was written from docs/protocol.md alone, with Python's standard library.
func TestPythonAgent(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	script, err := filepath.Abs("testdata/agent.py")
	if err != nil {
		t.Fatal(err)
	}
	p := &agents.Process{Name: "python", Command: []string{python, script}}
	if err := p.Preflight(t.Context(), []tooleval.Assignment{{EntryPoint: "shop.total"}}); err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	a := tooleval.Assignment{TaskID: "shop.1", EntryPoint: "shop.total", Description: "Add 2 and 40.",
		Input: tooleval.Raw(`{"numbers":[2,40]}`), Tools: []tooleval.Tool{{Name: "add"}}}
	result, err := p.Run(t.Context(), a, rec)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.calls) != 1 || rec.calls[0].Tool != "add" || string(result.Response) != `{"a": 2, "b": 40}` || len(result.Warnings) > 0 {
		t.Errorf("calls %q, result %+v", rec.calls, result)
	}
	a.Input = nil
	if _, err := p.Run(t.Context(), a, rec); err == nil || !strings.Contains(err.Error(), "input") {
		t.Errorf("a run that raises: %v", err)
	}
}
