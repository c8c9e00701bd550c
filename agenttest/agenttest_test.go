package agenttest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agenttest"
)

// TestMain makes the test binary the agent that AGENTTEST names.
func TestMain(m *testing.M) {
	if name := os.Getenv("AGENTTEST"); name != "" {
		programs[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cooperates does what a probe asks for.
var cooperates = tooleval.AgentFunc(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	var input struct {
		Calls []struct {
			Tool string
			Args tooleval.Raw
		}
		Parallel bool
	}
	if err := json.Unmarshal(a.Input, &input); err != nil {
		return tooleval.AgentResult{}, err
	}
	var mu sync.Mutex
	var last tooleval.ToolResult
	var broke error
	var wg sync.WaitGroup
	for _, call := range input.Calls {
		do := func() {
			r, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: call.Tool, Args: call.Args})
			mu.Lock()
			defer mu.Unlock()
			if last = r; err != nil {
				broke = err
			}
		}
		if wg.Go(do); !input.Parallel {
			wg.Wait()
		}
	}
	wg.Wait()
	return tooleval.AgentResult{Response: last.Text}, broke
})

// byHand is an agent of a few lines, with one habit of its own: handle returns true when it took the message.
func byHand(handle func(m map[string]json.RawMessage, say func(string)) bool) func() {
	return func() {
		say := func(line string) { fmt.Println(line) }
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m map[string]json.RawMessage
			if json.Unmarshal(line, &m) != nil || handle(m, say) {
				continue
			}
			id := string(m["id"])
			switch method := string(m["method"]); {
			case method == `"initialize"`:
				say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"protocol_version":1,"name":"by hand","version":"2"}}`)
			case method == `"run"`:
				say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			case method == `"shutdown"`:
				if id != "" {
					say(`{"jsonrpc":"2.0","id":` + id + `,"result":null}`)
				}
				return
			case id != "" && method != "":
				say(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no"}}`)
			}
		}
	}
}

type message = map[string]json.RawMessage

// on answers one method by a line in which ID stands for the id.
func on(method, line string) func() {
	return byHand(func(m message, say func(string)) bool {
		if string(m["method"]) != `"`+method+`"` {
			return false
		}
		if line != "" && m["id"] != nil {
			say(strings.ReplaceAll(line, "ID", string(m["id"])))
		}
		return true
	})
}

var programs = map[string]func(){
	"good": func() {
		agents.Main(agents.Server{Name: "good", Version: "1", EntryPoints: map[string]tooleval.Agent{"e": cooperates}})
	},
	"idle":         byHand(func(message, func(string)) bool { return false }),
	"mute":         func() { time.Sleep(time.Minute) },
	"nameless":     on("initialize", `{"jsonrpc":"2.0","id":ID,"result":{"protocol_version":1}}`),
	"version":      on("initialize", `{"jsonrpc":"2.0","id":ID,"result":{"protocol_version":"one","name":"x"}}`),
	"no entries":   on("initialize", `{"jsonrpc":"2.0","id":ID,"result":{"protocol_version":1,"name":"x","entry_points":[]}}`),
	"refuses":      on("initialize", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"no"}}`),
	"serves all":   on("agenttest/unknown", `{"jsonrpc":"2.0","id":ID,"result":{}}`),
	"wrong code":   on("agenttest/unknown", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"no"}}`),
	"null result":  on("run", `{"jsonrpc":"2.0","id":ID,"result":null}`),
	"list result":  on("run", `{"jsonrpc":"2.0","id":ID,"result":{"response":[]}}`),
	"run ignored":  on("run", ""),
	"bad call":     on("run", `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"probe"}}`),
	"args list":    on("run", `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"tool":"probe","args":[]}}`),
	"answers 2":    on("run", `{"jsonrpc":"2.0","id":ID,"result":{}}`+"\n"+`{"jsonrpc":"2.0","id":ID,"result":{}}`),
	"call outside": on("agenttest/unknown", `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"tool":"probe"}}`+"\n"+`{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}`),
	"float": byHand(func(m message, say func(string)) bool {
		switch {
		case string(m["method"]) == `"run"`:
			say(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"tool":"probe","args":{"i":0,"n":12345678901234567000}}}`)
			say(`{"jsonrpc":"2.0","id":` + string(m["id"]) + `,"result":{}}`)
			return true
		}
		return false
	}),
	"prints": byHand(func(m message, say func(string)) bool { say("debug: got a message"); return false }),
	"dies of it": byHand(func(m message, say func(string)) bool {
		if string(m["method"]) == `"agenttest/unknown"` && m["id"] == nil {
			fmt.Fprintln(os.Stderr, "what is agenttest/unknown?")
			os.Exit(1)
		}
		return false
	}),
	"small lines": byHand(func(m message, say func(string)) bool {
		if len(m["params"]) > 65536 {
			os.Exit(1)
		}
		return false
	}),
	"stays": func() {
		signal.Ignore(syscall.SIGTERM)
		byHand(func(m message, say func(string)) bool { return string(m["method"]) == `"shutdown"` })()
		time.Sleep(time.Minute)
	},
	"exits 3": byHand(func(m message, say func(string)) bool {
		if string(m["method"]) == `"shutdown"` {
			os.Exit(3)
		}
		return false
	}),
}

func quick(name string) agenttest.Options {
	return agenttest.Options{Env: []string{"AGENTTEST=" + name, "GORACE=atexit_sleep_ms=0"}, StartTimeout: 20 * time.Second, RunTimeout: 20 * time.Second,
		Grace: 10 * time.Second}
}

func exe(t *testing.T) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

func names(r agenttest.Report, s agenttest.Status) (list []string) {
	for _, f := range r.Findings {
		if f.Status == s {
			list = append(list, f.Name)
		}
	}
	return list
}

func TestGoodAgentPassesEverything(t *testing.T) {
	r := agenttest.Check(t.Context(), exe(t), quick("good"))
	if passed := names(r, agenttest.Passed); len(passed) != len(r.Findings) || len(passed) < 20 {
		t.Errorf("not everything passed:\n%s", r)
	}
	if r.Err() != nil || r.Agent != "good 1" {
		t.Errorf("agent %q, %v", r.Agent, r.Err())
	}
}

// TestIdleAgentIsNotPassed: an agent that makes no call has not shown how it takes one.
func TestIdleAgentIsNotPassed(t *testing.T) {
	r := agenttest.Check(t.Context(), exe(t), quick("idle"))
	want := []string{"unknown_entry_point", "tool_call", "big_integers", "tool_error", "parallel_calls", "big_result", "cancel", "eof_in_run"}
	if got := names(r, agenttest.NotExercised); !slices.Equal(got, want) || r.Err() != nil {
		t.Errorf("not exercised: %v\n%s", got, r)
	}
	o := quick("idle")
	o.NoRuns = true
	r = agenttest.Check(t.Context(), exe(t), o)
	if f, _ := r.Finding("run"); f.Status != agenttest.NotExercised || r.Err() != nil {
		t.Errorf("without runs:\n%s", r)
	}
}

func TestBadAgents(t *testing.T) {
	for _, c := range []struct {
		name string
		fail []string
		note string
	}{
		{"mute", []string{"initialize"}, "no answer"},
		{"nameless", []string{"initialize"}, "name is missing"},
		{"version", []string{"initialize"}, "malformed"},
		{"no entries", []string{"initialize"}, "empty list"},
		{"refuses", []string{"initialize"}, "error"},
		{"serves all", []string{"unknown_request"}, "with a result"},
		{"wrong code", []string{"unknown_request"}, "-32603"},
		{"null result", []string{"run", "second_run"}, "null"},
		{"list result", []string{"run", "second_run"}, "malformed"},
		{"run ignored", []string{"run", "cancel"}, "no answer"},
		{"bad call", []string{"run", "tool_call", "tool_error", "big_result", "cancel"}, "no answer"},
		{"args list", []string{"run", "tool_call", "tool_error", "big_result", "cancel"}, "no answer"},
		{"answers 2", []string{"answers"}, "answered twice"},
		{"call outside", []string{"answers"}, "outside a run"},
		{"float", []string{"big_integers"}, "12345678901234567000"},
		{"prints", []string{"only_messages"}, "debug: got"},
		{"dies of it", []string{"unknown_notification", "big_message"}, "what is agenttest/unknown?"},
		{"small lines", []string{"big_message"}, "ended"},
		{"stays", []string{"shutdown", "shutdown_request", "eof"}, "still runs"},
		{"exits 3", []string{"shutdown", "shutdown_request"}, "exit status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := quick(c.name)
			if slices.Contains([]string{"mute", "run ignored", "bad call", "args list", "stays"}, c.name) {
				o.StartTimeout, o.RunTimeout, o.Grace = 2*time.Second, time.Second, time.Second
			}
			r := agenttest.Check(t.Context(), exe(t), o)
			if got := names(r, agenttest.Failed); !slices.Equal(got, c.fail) {
				t.Errorf("failed: %v, want %v\n%s", got, c.fail, r)
			}
			if f, _ := r.Finding(c.fail[0]); !strings.Contains(string(f.Note), c.note) {
				t.Errorf("%q does not say %q", f.Note, c.note)
			}
			if r.Err() == nil || !strings.Contains(r.String(), "failed") {
				t.Errorf("the report hides it:\n%s", r)
			}
		})
	}
}

func TestNoSuchProgram(t *testing.T) {
	r := agenttest.Check(t.Context(), []string{"/no/such/agent"}, agenttest.Options{})
	if got := names(r, agenttest.Failed); !slices.Equal(got, []string{"start"}) {
		t.Errorf("failed: %v\n%s", got, r)
	}
}

// TestStoppedChecksFailNothing: whoever presses Ctrl-C has shown nothing about the agent.
func TestStoppedChecksFailNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r := agenttest.Check(ctx, exe(t), quick("mute"))
	if r.Err() != nil || len(names(r, agenttest.NotExercised)) < 10 {
		t.Errorf("%s", r)
	}
}

// fake is a TB that keeps what it is told.
type fake struct {
	testing.TB
	errors, logs int
}

func (f *fake) Helper()                           {}
func (f *fake) Errorf(format string, args ...any) { f.errors++ }
func (f *fake) Logf(format string, args ...any)   { f.logs++ }

func TestConformance(t *testing.T) {
	agenttest.Conformance(t, exe(t), quick("good"))
	agenttest.ConformanceOf(t, func() tooleval.Agent { return cooperates }, agenttest.Options{})
	f := &fake{TB: t}
	if agenttest.Conformance(f, exe(t), quick("prints")); f.errors != 1 || f.logs == 0 {
		t.Errorf("%d errors, %d logs", f.errors, f.logs)
	}
	f = &fake{TB: t}
	deaf := tooleval.AgentFunc(func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
		time.Sleep(600 * time.Millisecond)
		return tooleval.AgentResult{}, nil
	})
	agenttest.ConformanceOf(f, func() tooleval.Agent { return deaf }, agenttest.Options{RunTimeout: 200 * time.Millisecond, Grace: 200 * time.Millisecond})
	if f.errors == 0 {
		t.Error("an agent that does not stop passes")
	}
}

func TestPythonAgent(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	script, err := filepath.Abs("../agents/testdata/agent.py")
	if err != nil {
		t.Fatal(err)
	}
	agenttest.Conformance(t, []string{python, script}, agenttest.Options{})
}
