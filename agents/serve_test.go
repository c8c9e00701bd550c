package agents_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
)

// harness is the other side of a Serve, by hand.
type harness struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func serve(ctx context.Context, t *testing.T, s agents.Server) *harness {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &harness{t, inW, bufio.NewReader(outR), make(chan error, 1)}
	go func() {
		h.done <- agents.Serve(ctx, inR, outW, s)
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return h
}

func (h *harness) say(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// hears fails unless the next line is want.
func (h *harness) hears(want string) {
	h.t.Helper()
	got, err := h.out.ReadString('\n')
	if err != nil {
		h.t.Fatalf("reading: %v, want %s", err, want)
	}
	if strings.TrimSuffix(got, "\n") != want {
		h.t.Fatalf("got  %swant %s", got, want)
	}
}

func (h *harness) ends(want error) {
	h.t.Helper()
	select {
	case err := <-h.done:
		if !errors.Is(err, want) {
			h.t.Errorf("Serve returned %v, want %v", err, want)
		}
	case <-time.After(5 * time.Second):
		h.t.Fatal("Serve does not return")
	}
}

const (
	hello   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":1,"harness":{"name":"x"},"future":[1]}}`
	helloed = `{"jsonrpc":"2.0","id":1,"result":{"protocol_version":1,"name":"n"}}`
)

func TestServe(t *testing.T) {
	h := serve(t.Context(), t, agents.Server{Name: "n", Version: "7", EntryPoints: map[string]tooleval.Agent{
		"b": tooleval.AgentFunc(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			r, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "t", Args: tooleval.Raw("{\"n\":12345678901234567890,\n \"s\":\"\\ud83d<\"}")})
			if err != nil {
				return tooleval.AgentResult{}, err
			}
			return tooleval.AgentResult{Response: r.Text, State: r.Structured}, nil
		}),
		"a": nil,
	}})
	h.say(`{"jsonrpc":"2.0","id":"early","method":"run","params":{"entry_point":"b"}}`)
	h.hears(`{"jsonrpc":"2.0","id":"early","error":{"code":-32600,"message":"initialize comes before run","data":{"owner":"user"}}}`)
	h.say(hello)
	h.hears(`{"jsonrpc":"2.0","id":1,"result":{"protocol_version":1,"name":"n","version":"7","entry_points":["a","b"]}}`)
	h.say(`{"jsonrpc":"2.0","method":"a/notification"}`)
	h.say(`{"jsonrpc":"2.0","method":"cancel"}`) // without a run it means nothing
	h.say(`{"jsonrpc":"2.0","id":99,"result":{}}`)
	h.say(`{"jsonrpc":"2.0","id":2.50,"method":"a/request"}`)
	h.hears(`{"jsonrpc":"2.0","id":2.50,"error":{"code":-32601,"message":"there is no method \"a/request\""}}`)
	h.say(`not JSON`)
	h.hears(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a line that is no message"}}`)
	h.say(`{"jsonrpc":"2.0","id":{},"method":"run"}`)
	h.hears(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id of a request is neither a string nor a number"}}`)
	h.say(`{"jsonrpc":"2.0","id":3,"method":"run","params":{"entry_point":"c"}}`)
	h.hears(`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"there is no entry point \"c\"; there are: a, b","data":{"owner":"user"}}}`)
	h.say(`{"jsonrpc":"2.0","id":4,"method":"run","params":{"entry_point":"b"}}`)
	h.hears(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"tool":"t","args":{"n":12345678901234567890,  "s":"\ud83d<"}}}`)
	h.say(`{"jsonrpc":"2.0","id":"second","method":"run","params":{"entry_point":"b"}}`)
	h.hears(`{"jsonrpc":"2.0","id":"second","error":{"code":-32600,"message":"a run is in progress, and runs come one at a time","data":{"owner":"user"}}}`)
	h.say(`{"jsonrpc":"2.0","id":1.0,"result":{"text":"\ud83d","structured":{"n":1.00}}}`)
	h.hears(`{"jsonrpc":"2.0","id":4,"result":{"response":{"$bytes":"7aC9"},"state":{"n":1.00}}}`)
	h.say(`{"jsonrpc":"2.0","id":5,"method":"shutdown"}`)
	h.hears(`{"jsonrpc":"2.0","id":5,"result":null}`)
	h.ends(nil)
}

// TestServeEndsOfRuns: what becomes of a run that panics, has no JSON form, is cancelled, or loses its harness.
func TestServeEndsOfRuns(t *testing.T) {
	cause := make(chan error, 1)
	entries := map[string]tooleval.Agent{
		"panics": tooleval.AgentFunc(func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			panic("boom")
		}),
		"nan": tooleval.AgentFunc(func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			nan := math.NaN()
			return tooleval.AgentResult{Usage: &tooleval.Usage{CostUSD: &nan}}, nil
		}),
		"calls": tooleval.AgentFunc(func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "t"})
			cause <- context.Cause(ctx)
			return tooleval.AgentResult{}, err
		}),
		"deaf": tooleval.AgentFunc(func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			time.Sleep(time.Minute)
			return tooleval.AgentResult{}, nil
		}),
	}
	log := &bytes.Buffer{}
	open := func(ctx context.Context) *harness {
		h := serve(ctx, t, agents.Server{Name: "n", EntryPoints: entries, Log: log})
		h.say(hello)
		if _, err := h.out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		return h
	}
	run := func(h *harness, id int, entry string) {
		h.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"run","params":{"entry_point":%q}}`, id, entry))
	}
	h := open(t.Context())
	run(h, 2, "panics")
	h.hears(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"panic: boom","data":{"owner":"agent"}}}`)
	if !strings.Contains(log.String(), "serve_test.go") {
		t.Errorf("the stack is not in the log: %s", log)
	}
	run(h, 3, "nan")
	if line, _ := h.out.ReadString('\n'); !strings.Contains(line, `"code":-32000`) || !strings.Contains(line, "NaN") {
		t.Errorf("got %s", line)
	}
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"tool":"t"}}`
	run(h, 4, "calls")
	h.hears(fmt.Sprintf(call, 1))
	h.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"no disk","data":{"owner":"world"}}}`)
	h.hears(`{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"calling tool \"t\": no disk (code -32003)","data":{"owner":"world"}}}`)
	<-cause
	run(h, 5, "calls")
	h.hears(fmt.Sprintf(call, 2))
	h.say(`{"jsonrpc":"2.0","method":"cancel"}`)
	h.hears(`{"jsonrpc":"2.0","id":5,"error":{"code":-32001,"message":"the harness cancelled the run","data":{"owner":"agent"}}}`)
	if err := <-cause; !errors.Is(err, agents.ErrCancelled) {
		t.Errorf("the cause is %v", err)
	}
	run(h, 6, "calls")
	h.hears(fmt.Sprintf(call, 3))
	h.in.Close()
	if err := <-cause; !errors.Is(err, agents.ErrShutdown) {
		t.Errorf("the cause is %v", err)
	}
	_, _ = io.Copy(io.Discard, h.out)
	h.ends(nil)

	h = open(t.Context())
	run(h, 2, "deaf")
	h.say(`{"jsonrpc":"2.0","method":"shutdown"}`)
	h.ends(nil)

	ctx, cancel := context.WithCancel(t.Context())
	h = open(ctx)
	cancel()
	h.ends(context.Canceled)
}

// TestResultFieldsAreKnown: every member of a result is one that the harness does not warn of.
func TestResultFieldsAreKnown(t *testing.T) {
	h := serve(t.Context(), t, agents.Server{Name: "n", Any: tooleval.AgentFunc(
		func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{Response: "r", State: tooleval.Raw("1"), Usage: &tooleval.Usage{},
				Evidence: &tooleval.Evidence{}, Warnings: []tooleval.Text{"w"}}, nil
		})})
	h.say(hello)
	h.hears(helloed)
	h.say(`{"jsonrpc":"2.0","id":2,"method":"run","params":{"entry_point":"x"}}`)
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Result map[string]json.RawMessage }
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	for name := range m.Result {
		if !strings.Contains("response state usage evidence warnings", name) {
			t.Errorf("member %q is new: the harness would warn of it", name)
		}
	}
	if len(m.Result) != 5 {
		t.Errorf("got %s", line)
	}
}
