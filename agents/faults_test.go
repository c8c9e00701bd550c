package agents_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
)

// TestMain makes the test binary the agent that AGENTS_TEST names.
func TestMain(m *testing.M) {
	if name := os.Getenv("AGENTS_TEST"); name != "" {
		fault, ok := faults[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "no agent %q; there are %v\n", name, slices.Sorted(maps.Keys(faults)))
			os.Exit(99)
		}
		fault()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// peer is an agent by hand.
type peer struct{ in *bufio.Reader }

func newPeer() *peer { return &peer{bufio.NewReaderSize(os.Stdin, 1<<20)} }

func (p *peer) read() map[string]json.RawMessage {
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		os.Exit(0) // the harness has gone
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		panic(err)
	}
	return m
}

func say(format string, args ...any) {
	if _, err := fmt.Printf(format+"\n", args...); err != nil {
		os.Exit(0)
	}
}

// start answers initialize and returns the id of the run.
func (p *peer) start() string {
	m := p.read()
	say(`{"jsonrpc":"2.0","id":%s,"result":{"protocol_version":1,"name":"by hand"}}`, m["id"])
	return string(p.read()["id"])
}

// answer answers the run and waits for the end.
func (p *peer) answer(id, result string) {
	say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	for {
		if string(p.read()["method"]) == `"shutdown"` {
			return
		}
	}
}

func (p *peer) fail(id, e string) {
	say(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id, e)
	p.read()
}

// answering makes an agent of the answer that it gives.
func answering(result string) func() {
	return func() { p := newPeer(); p.answer(p.start(), result) }
}

func failing(e string) func() { return func() { p := newPeer(); p.fail(p.start(), e) } }

// serving makes an agent of a function.
func serving(f tooleval.AgentFunc) func() {
	return func() { agents.Main(agents.Server{Name: "served", Version: "1.2", Any: f}) }
}

func sh(script string) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}

var faults = map[string]func(){
	"echo": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		r, err := tools.CallTool(ctx, tooleval.ToolCall{ID: "c1", Tool: a.Tools[0].Name, Args: a.Input})
		return tooleval.AgentResult{Response: r.Text, State: r.Structured}, err
	}),
	"entries": func() {
		agents.Main(agents.Server{Name: "e", EntryPoints: map[string]tooleval.Agent{"calc.add": nil, "calc.mul": nil}})
	},
	"parallel": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				_, _ = tools.CallTool(ctx, tooleval.ToolCall{Tool: "t", Args: tooleval.Raw(fmt.Sprintf(`{"i":%d}`, i))})
			})
		}
		wg.Wait()
		return tooleval.AgentResult{Response: "done"}, nil
	}),
	"error": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerInfra, "rate limited: 429")
	}),
	"tool error": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "t"})
		return tooleval.AgentResult{}, err
	}),
	"panic": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		panic("boom")
	}),
	"waits": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		<-ctx.Done()
		return tooleval.AgentResult{Response: "what I have"}, nil
	}),
	"many": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		for range 1_000_000 {
			if _, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "t", Args: tooleval.Raw(`{"q":"abc"}`)}); err != nil {
				return tooleval.AgentResult{}, err
			}
		}
		return tooleval.AgentResult{}, nil
	}),
	"prints": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		fmt.Println("a stray print")
		return tooleval.AgentResult{Response: "ok"}, nil
	}),
	"environment": serving(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		var found []string
		for _, dir := range []string{".", os.Getenv("HOME"), os.TempDir()} {
			list, err := os.ReadDir(dir)
			if err != nil {
				return tooleval.AgentResult{}, err
			}
			for _, f := range list {
				found = append(found, dir+"/"+f.Name())
			}
			if err := os.WriteFile(dir+"/canary.txt", nil, 0o600); err != nil {
				return tooleval.AgentResult{}, err
			}
		}
		wd, _ := os.Getwd()
		return tooleval.AgentResult{Response: tooleval.Text(strings.Join(found, " ")),
			State: tooleval.JSONResult(map[string]any{"env": os.Environ(), "wd": wd}).Structured}, nil
	}),

	"silent":        func() {},
	"exits":         func() { p := newPeer(); p.start(); fmt.Fprintln(os.Stderr, "503 from upstream"); os.Exit(3) },
	"exits at once": func() { fmt.Fprintln(os.Stderr, "no key"); os.Exit(7) },
	"dies by SEGV":  func() { p := newPeer(); p.start(); _ = syscall.Kill(os.Getpid(), syscall.SIGSEGV); select {} },
	"dies by KILL":  func() { p := newPeer(); p.start(); _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
	"noise":         func() { say("ready"); say(`{"level":"info"}`); say("[]"); say("x"); answering(`{"response":"ok"}`)() },
	"only noise":    func() { say("Welcome to my agent!"); time.Sleep(time.Minute) },
	"noise flood":   func() { sh("yes | head -c 4000000"); answering(`{"response":"ok"}`)() },
	"hangs":         func() { newPeer().start(); signal.Ignore(syscall.SIGTERM); time.Sleep(time.Minute) },
	"never starts":  func() { time.Sleep(time.Minute) },
	"never reads":   func() { say(`{"jsonrpc":"2.0","id":1,"result":{"protocol_version":1}}`); time.Sleep(time.Minute) },
	"huge line":     func() { newPeer().start(); sh("yes | tr -d '\\n' | head -c 3000000"); time.Sleep(time.Minute) },
	"partial":       func() { newPeer().start(); fmt.Print(`{"jsonrpc":"2.0","id":2,"resu`) },
	"no last LF":    func() { p := newPeer(); fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"response":"ok"}}`, p.start()) },
	"version 2": func() {
		p := newPeer()
		say(`{"jsonrpc":"2.0","id":%s,"result":{"protocol_version":2}}`, p.read()["id"])
		p.read()
	},
	"no version": func() {
		p := newPeer()
		say(`{"jsonrpc":"2.0","id":%s,"result":{"name":"x"}}`, p.read()["id"])
		p.read()
	},
	"init error":     func() { newPeer().fail("1", `{"code":-32601,"message":"what?"}`) },
	"null result":    answering(`null`),
	"list result":    answering(`[1]`),
	"number result":  answering(`{"response":5}`),
	"empty result":   answering(`{}`),
	"misspelt":       answering(`{"resposne":"42"}`),
	"own evidence":   answering(`{"evidence":{"channel":"in_process","incomplete":"my own shell"},"warnings":["mine"]}`),
	"odd bytes":      answering("{\"response\":\"a\\ud83d\\u0000\xff\",\"state\":{\"s\":\"\\ud83d\xff\",\"n\":12345678901234567890.10}}"),
	"bare error":     failing(`{"code":-32000,"message":"I give up"}`),
	"blames harness": failing(`{"code":-32000,"message":"not me","data":{"owner":"harness"}}`),
	"blames user":    failing(`{"code":-32000,"message":"no key: set KEY","data":{"owner":"user"}}`),
	"odd error":      failing(`{"code":-32000,"message":"x","data":[1]}`),
	"second answer": func() {
		p := newPeer()
		id := p.start()
		say(`{"jsonrpc":"2.0","id":%s,"result":{"response":"first"}}`, id)
		say(`{"jsonrpc":"2.0","id":77,"result":{}}`)
		p.answer(id, `{"response":"second"}`)
	},
	"late call": func() {
		p := newPeer()
		say(`{"jsonrpc":"2.0","id":"early","method":"tools/call","params":{"tool":"t","args":{}}}`)
		p.answerCall() // and initialize
		id := string(p.read()["id"])
		say(`{"jsonrpc":"2.0","id":%s,"result":{"response":"ok"}}`+"\n"+ // in one write
			`{"jsonrpc":"2.0","id":"late","method":"tools/call","params":{"tool":"t","args":{}}}`, id)
		p.answerCall()
	},
	"odd calls": func() {
		p := newPeer()
		id := p.start()
		var got []string
		for _, call := range []string{
			`"id":1,"method":"tools/call","params":{"tool":"t","args":{"$text":"{\"q\":\"a \"b\"\"}"}}`,
			`"id":2,"method":"tools/call","params":{"tool":"t"}`,
			`"id":3,"method":"tools/call","params":{"tool":"t","args":{"n":12345678901234567890, "f":1.00,"s":"\ud83d"}}`,
			`"id":"4","method":"tools/call","params":{"id":"a\ud83d","tool":"t\ud83d","args":[null]}`,
			`"id":5,"method":"tools/call","params":{"args":{}}`,
			`"id":6,"method":"tools/call","params":[1]`,
			`"id":7,"method":"tools/call"`,
			`"id":8,"method":"tools/list"`,
			`"id":null,"method":"tools/call"`,
		} {
			say(`{"jsonrpc":"2.0",%s}`, call)
			m := p.read()
			got = append(got, string(m["id"])+map[bool]string{true: " ok", false: " " + code(m["error"])}[m["result"] != nil])
		}
		say(`{"jsonrpc":"2.0","method":"log","params":"not known, ignored"}`)
		b, _ := json.Marshal(got)
		p.answer(id, fmt.Sprintf(`{"state":%s}`, b))
	},
	"unanswered call": func() {
		p := newPeer()
		id := p.start()
		say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"tool":"slow","args":{}}}`)
		p.answer(id, `{"response":"ok"}`)
	},
	"exits 3 at the end": func() { p := newPeer(); p.answer(p.start(), `{"response":"ok"}`); os.Exit(3) },
	"ignores shutdown": func() {
		p := newPeer()
		say(`{"jsonrpc":"2.0","id":%s,"result":{"response":"ok"}}`, p.start())
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
	},
	"leaves a child": func() {
		p := newPeer()
		id := p.start()
		sh(`setsid sleep 61 & sleep 61 &`)
		p.answer(id, `{"response":"ok"}`)
	},
	"child holds stdout": func() { newPeer().start(); sh(`sleep 62 &`) },
	"setsid child writes": func() {
		newPeer().start()
		sh(`setsid sh -c 'while :; do date >` + os.Getenv("STATE") + `; sleep 0.02; done' &`)
		time.Sleep(time.Minute)
	},
	"closes stdout": func() { newPeer().start(); os.Stdout.Close(); time.Sleep(time.Minute) },
	"stderr flood": func() {
		p := newPeer()
		p.start()
		fmt.Fprintln(os.Stderr, "the head")
		sh("yes | head -c 5000000 >&2")
		fmt.Fprintln(os.Stderr, "the tail")
		os.Exit(1)
	},
	"many at once": func() {
		p := newPeer()
		id := p.start()
		for i := range 3000 { // more than the pipe holds the answers of, and none is read
			say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"tool":"big","args":{}}}`, i)
		}
		p.answer(id, `{"response":"ok"}`)
	},
}

// answerCall reads until an answer with an error comes.
func (p *peer) answerCall() {
	for {
		if m := p.read(); m["error"] != nil {
			return
		} else if m["method"] != nil && string(m["method"]) == `"initialize"` {
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocol_version":1}}`, m["id"])
		}
	}
}

func code(e json.RawMessage) string {
	var v struct{ Code int }
	_ = json.Unmarshal(e, &v)
	return fmt.Sprint(v.Code)
}
