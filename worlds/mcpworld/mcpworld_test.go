package mcpworld_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
	"github.com/tooleval/tooleval/worlds/mcpworld"
)

// TestMain makes this binary the server that the tests start.
func TestMain(m *testing.M) {
	if kind := os.Getenv("SERVE"); kind != "" {
		if kind == "refuse" {
			fmt.Fprintln(os.Stderr, "no licence")
			os.Exit(3)
		}
		_ = server(kind, "").Run(context.Background(), &mcp.StdioTransport{})
		if kind == "deaf" { // does not end when its input does, nor when it is told to
			signal.Ignore(syscall.SIGTERM)
			select {}
		}
		return
	}
	os.Exit(m.Run())
}

const big = `{"n":12345678901234567890,"list":[1.0,{"a":"b"}]}`

// server is the world of the tests. What it was sent in the header X-Key it says back.
func server(kind, key string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "birds", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	if kind == "empty" {
		return s
	}
	counted := 0
	add := func(name string, f func(args string) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return f(string(r.Params.Arguments))
		})
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add("echo", func(args string) (*mcp.CallToolResult, error) { return text(args), nil })
	add("count", func(string) (*mcp.CallToolResult, error) { counted++; return text(fmt.Sprint(counted)), nil })
	add("exact", func(string) (*mcp.CallToolResult, error) {
		r := text("first")
		r.Content = append(r.Content, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")}, &mcp.TextContent{Text: "last"})
		r.StructuredContent = json.RawMessage(big)
		return r, nil
	})
	add("fails", func(string) (*mcp.CallToolResult, error) { r := text("no such bird"); r.IsError = true; return r, nil })
	add("prose", func(string) (*mcp.CallToolResult, error) { return text("Error: no such bird"), nil })
	add("notok", func(string) (*mcp.CallToolResult, error) { return text(`{"ok":false}`), nil })
	add("invalid", func(string) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "bird is missing"}
	})
	add("internal", func(string) (*mcp.CallToolResult, error) { return nil, fmt.Errorf("the disk is full, key %s", key) })
	add("leak", func(string) (*mcp.CallToolResult, error) {
		r := text("your header was " + key)
		r.StructuredContent = map[string]any{"key": key}
		return r, nil
	})
	add("hang", func(string) (*mcp.CallToolResult, error) { select {} })
	add("die", func(string) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
		return nil, nil
	})
	return s
}

func command(kind string) mcpworld.Config {
	return mcpworld.Config{Command: []string{os.Args[0]}, Env: []string{"SERVE=" + kind}}
}

func overHTTP(t *testing.T, sse bool) mcpworld.Config {
	t.Helper()
	servers := http.NewServeMux()
	servers.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return server("", r.Header.Get("X-Key")) },
		&mcp.StreamableHTTPOptions{JSONResponse: !sse}))
	servers.HandleFunc("/locked", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "bad key "+r.Header.Get("X-Key"), http.StatusUnauthorized)
	})
	s := httptest.NewServer(servers)
	t.Cleanup(s.Close)
	return mcpworld.Config{URL: s.URL + "/mcp", Headers: map[string]string{"X-Key": "canary-12345678"}}
}

func tools(names ...string) []tooleval.Tool {
	out := make([]tooleval.Tool, len(names))
	for i, n := range names {
		out[i] = tooleval.Tool{Name: n}
	}
	return out
}

var all = tools("echo", "count", "exact", "fails", "prose", "notok", "invalid", "internal", "leak", "hang", "die")

func open(t *testing.T, c mcpworld.Config) *worlds.Recorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	w, err := mcpworld.New(c).NewWorld(ctx, tooleval.WorldSpec{Tools: all})
	cancel() // as the engine does: the setup's context ends before the run begins
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return worlds.Record(w, worlds.RecordOptions{})
}

func ask(t *testing.T, r *worlds.Recorder, tool, args string) tooleval.Call {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, _ = r.CallTool(ctx, tooleval.ToolCall{Tool: tool, Args: tooleval.Raw(args)})
	calls := r.Trajectory().Calls
	return calls[len(calls)-1]
}

// TestH02StatusOfResults: what the server says is what the record says, over every transport.
func TestH02StatusOfResults(t *testing.T) {
	for name, config := range map[string]func() mcpworld.Config{
		"stdio": func() mcpworld.Config { return command("birds") },
		"json":  func() mcpworld.Config { return overHTTP(t, false) },
		"sse":   func() mcpworld.Config { return overHTTP(t, true) },
	} {
		t.Run(name, func(t *testing.T) {
			c := config()
			c.ErrorWhen = tooleval.Match(map[string]any{"ok": false})
			r := open(t, c)
			for _, test := range []struct {
				tool, args string
				status     tooleval.CallStatus
				text       string
			}{
				{"echo", `{"n":12345678901234567890}`, tooleval.CallOK, `{"n":12345678901234567890}`},
				{"fails", `{}`, tooleval.CallToolError, "no such bird"},
				{"prose", `{}`, tooleval.CallOK, "Error: no such bird"},
				{"notok", `{}`, tooleval.CallToolError, `{"ok":false}`},
				{"invalid", `{}`, tooleval.CallToolError, "bird is missing"},
				{"internal", `{}`, tooleval.CallProtocolError, ""},
				{"exact", `{}`, tooleval.CallOK, "first\n[image, image/png, 3 bytes]\nlast"},
			} {
				got := ask(t, r, test.tool, test.args)
				if got.Status != test.status || string(got.Result.Text) != test.text {
					t.Errorf("%s: got %s %q (%s), want %s %q", test.tool, got.Status, got.Result.Text, got.Error, test.status, test.text)
				}
				if test.tool == "exact" && string(got.Result.Structured) != big {
					t.Errorf("structured: got %s, want %s", got.Result.Structured, big)
				}
			}
		})
	}
}

func TestErrorWhenOfProse(t *testing.T) {
	c := command("birds")
	c.ErrorWhen = tooleval.Match(tooleval.Contains("Error:"))
	r := open(t, c)
	if got := ask(t, r, "prose", ""); got.Status != tooleval.CallToolError {
		t.Errorf("got %s", got.Status)
	}
	if got := ask(t, r, "echo", ""); got.Status != tooleval.CallOK || got.Result.Text != "{}" {
		t.Errorf("got %s %q", got.Status, got.Result.Text)
	}
}

// TestH03Preflight: a server that can't serve is found out before any run.
func TestH03Preflight(t *testing.T) {
	locked := overHTTP(t, false)
	locked.URL = strings.TrimSuffix(locked.URL, "/mcp") + "/locked"
	gone := overHTTP(t, false)
	gone.URL = "http://127.0.0.1:1/mcp"
	for name, test := range map[string]struct {
		config mcpworld.Config
		want   string
	}{
		"no program":  {mcpworld.Config{Command: []string{"no-such-server"}}, `the MCP server "no-such-server" can't be started`},
		"401":         {locked, "answered 401 Unauthorized; see whether its headers carry the right credential"},
		"unreachable": {gone, "the MCP server at http://127.0.0.1:1/mcp"},
		"no tools":    {command("empty"), "can be reached but lists no tools"},
		"ends":        {command("refuse"), `ended (exit status 3); it said: "no licence"`},
		"lacks":       {command("birds"), `lacks the tool "exat", which task "t" may call (did you mean "exact"?)`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			f := mcpworld.New(test.config)
			if err := f.Check(nil); err != nil {
				t.Fatal(err)
			}
			spec := tooleval.WorldSpec{Task: tooleval.Task{ID: "t"}, Tools: tools("exat")}
			err := f.PreflightWorlds(ctx, []tooleval.WorldSpec{spec})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("preflight: got %v, want %q in it", err, test.want)
			}
			_, err = f.NewWorld(ctx, spec)
			if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra {
				t.Errorf("a run that starts all the same is blamed on %q: %v", owner, err)
			}
		})
	}
	if err := mcpworld.New(command("birds")).PreflightWorlds(t.Context(), []tooleval.WorldSpec{{Tools: all}}); err != nil {
		t.Errorf("a sound server: %v", err)
	}
}

// TestH03ServerDies: the death of a server in the middle of a run is the world's, and is recorded.
func TestH03ServerDies(t *testing.T) {
	r := open(t, command("birds"))
	ask(t, r, "echo", "{}")
	for _, tool := range []string{"die", "echo"} {
		got := ask(t, r, tool, "{}")
		if got.Status != tooleval.CallProtocolError || !strings.Contains(string(got.Error), `ended (exit status 7); it said: "out of memory"`) {
			t.Errorf("%s: got %s: %s", tool, got.Status, got.Error)
		}
	}
	_, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "echo"})
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
		t.Errorf("blamed on %q: %v", owner, err)
	}
}

// TestHungServer: a server that does not answer costs the run's time and no more, and is gone afterwards.
func TestHungServer(t *testing.T) {
	w, err := mcpworld.New(command("deaf")).NewWorld(t.Context(), tooleval.WorldSpec{Tools: all})
	if err != nil {
		t.Fatal(err)
	}
	r := worlds.Record(w, worlds.RecordOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _ = r.CallTool(ctx, tooleval.ToolCall{Tool: "hang"})
	if got := r.Trajectory().Calls[0]; got.Status != tooleval.CallTimeout {
		t.Errorf("got %s: %s", got.Status, got.Error)
	}
	start := time.Now()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closing took %v", took)
	}
	if err := w.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestEveryRunHasAServerOfItsOwn(t *testing.T) {
	for range 2 {
		if got := ask(t, open(t, command("birds")), "count", ""); got.Result.Text != "1" {
			t.Errorf("got %q: the server has seen another run", got.Result.Text)
		}
	}
}

// TestX03Headers: the value of a header is in no result, no error and no fingerprint.
func TestX03Headers(t *testing.T) {
	c := overHTTP(t, false)
	r := open(t, c)
	got := ask(t, r, "leak", "")
	if got.Result.Text != "your header was [redacted:X-Key]" {
		t.Errorf("got %q", got.Result.Text)
	}
	ask(t, r, "internal", "")
	record, err := json.Marshal(r.Trajectory())
	if err != nil {
		t.Fatal(err)
	}
	print, err := json.Marshal(mcpworld.New(c).Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(record), "canary") || strings.Contains(string(print), "canary") {
		t.Errorf("%s\n%s", record, print)
	}
	if !strings.Contains(string(print), "X-Key") {
		t.Errorf("the fingerprint does not name the header: %s", print)
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		config mcpworld.Config
		want   string
	}{
		{mcpworld.Config{}, "give a command or a url"},
		{mcpworld.Config{Command: []string{"a"}, URL: "http://b"}, "exclude each other"},
		{mcpworld.Config{Command: []string{""}}, "program is empty"},
		{mcpworld.Config{URL: "ftp://b"}, "begin with http"},
		{mcpworld.Config{URL: "http://b", Env: []string{"A=b"}}, "env is for a command"},
		{mcpworld.Config{Command: []string{"a"}, Headers: map[string]string{"A": "b"}}, "headers are for a url"},
		{mcpworld.Config{Command: []string{"a"}, ErrorWhen: tooleval.Match(tooleval.Any())}, "fits every result"},
	} {
		if err := mcpworld.New(test.config).Check(nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q in it", test.config, err, test.want)
		}
	}
}
