package mcpagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/mcpagent"
)

var tools = []tooleval.Tool{
	{Name: "add", Description: "adds", Schema: tooleval.Raw(`{"type":"object","properties":{"b":{},"a":{"maximum":12345678901234567890}}}`)},
	{Name: "bare"},
}

// serve starts an endpoint whose tools are a function.
func serve(t *testing.T, f tooleval.ToolHandlerFunc, opts mcpagent.Options) *mcpagent.Endpoint {
	t.Helper()
	e, err := mcpagent.Serve(t.Context(), tools, f, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// connect is a client of the official library.
func connect(t *testing.T, e *mcpagent.Endpoint) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "7"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: e.URL, HTTPClient: &http.Client{Transport: bearer{e.Token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func echo(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	return tooleval.ToolResult{Text: tooleval.Text(c.Tool + " " + string(c.Args)), Structured: c.Args}, nil
}

// post sends one message by hand and returns the answer's body.
func post(t *testing.T, e *mcpagent.Endpoint, session, body string, header ...string) (*http.Response, string) {
	t.Helper()
	return request(t, "POST", e, session, body, header...)
}

func request(t *testing.T, method string, e *mcpagent.Endpoint, session, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, e.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.Token)
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Del(header[i])
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"by hand","version":"0"}}}`

// open does the handshake by hand.
func open(t *testing.T, e *mcpagent.Endpoint) string {
	t.Helper()
	resp, body := post(t, e, "", hello)
	session := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("%s: %s", resp.Status, body)
	}
	if resp, body := post(t, e, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s", resp.Status, body)
	}
	return session
}

func TestListAndCall(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{Instructions: "be good"})
	if m := e.Status().Missing(); !strings.Contains(m, "never connected") {
		t.Errorf("at first: %q", m)
	}
	s := connect(t, e)
	if m := e.Status().Missing(); !strings.Contains(m, "never asked for the list") {
		t.Errorf("after the handshake: %q", m)
	}
	select {
	case <-e.Listed():
		t.Error("listed too early")
	default:
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	<-e.Listed()
	var got []string
	for _, tool := range list.Tools {
		b, _ := json.Marshal(tool.InputSchema)
		got = append(got, tool.Name+string(b))
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "add") || got[1] != `bare{"properties":{},"type":"object"}` {
		t.Errorf("got %q", got)
	}
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add", Arguments: json.RawMessage(`{"a":1}`)})
	if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != `add {"a":1}` {
		t.Errorf("%+v, %v", r, err)
	}
	status := e.Status()
	if status.Missing() != "" || status.Calls != 1 || status.Client != "tester" || status.ClientVersion != "7" {
		t.Errorf("%+v", status)
	}
	if init := s.InitializeResult(); init.Instructions != "be good" {
		t.Errorf("%+v", init)
	}
}

// TestSchemaBytesStay: what a model sees of a tool is what the suite wrote.
func TestSchemaBytesStay(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	_, body := post(t, e, open(t, e), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if !strings.Contains(body, string(tools[0].Schema)) {
		t.Errorf("the schema was respelt: %s", body)
	}
}

func TestResults(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for _, c := range []struct {
		name, structured, text, wantText, want string
		isError                                bool
	}{
		{name: "text alone", text: "sunny", wantText: "sunny"},
		{name: "bare number", text: "42", wantText: "42", want: `{"result":42}`},
		{name: "array", text: ` [1,2]`, wantText: " [1,2]", want: `{"result":[1,2]}`},
		{name: "null", text: "null", wantText: "null", want: `{"result":null}`},
		{name: "object in the text", text: `{"a":1}`, wantText: `{"a":1}`, want: `{"a":1}`},
		{name: "structured alone", structured: `{"a":12345678901234567890}`, wantText: `{"a":12345678901234567890}`,
			want: `{"a":12345678901234567890}`},
		{name: "structured scalar", structured: `"x"`, text: "x", wantText: "x", want: `{"result":"x"}`},
		{name: "both", structured: `{"a":1.50}`, text: "one and a half", wantText: "one and a half", want: `{"a":1.50}`},
		{name: "not JSON", structured: `{oops`, wantText: "{oops"},
		{name: "too deep", text: deep, wantText: deep},
		{name: "invalid UTF-8", text: "a\xffb", wantText: "a\uFFFDb"},
		{name: "empty", wantText: ""},
		{name: "refusal", text: "no such file", wantText: "no such file", isError: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := serve(t, func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
				return tooleval.ToolResult{Text: tooleval.Text(c.text), Structured: tooleval.Raw(c.structured), IsError: c.isError}, nil
			}, mcpagent.Options{})
			_, body := post(t, e, open(t, e), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{}}}`)
			var answer struct {
				Result struct {
					Content    []struct{ Type, Text string }
					Structured json.RawMessage `json:"structuredContent"`
					IsError    bool
				}
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil || !utf8.ValidString(body) {
				t.Fatalf("%v: %.300s", err, body)
			}
			r := answer.Result
			if len(r.Content) != 1 || r.Content[0].Text != c.wantText || string(r.Structured) != c.want || r.IsError != c.isError {
				t.Errorf("got %.300s", body)
			}
		})
	}
}

// TestIntegersKeepDigits both ways.
func TestIntegersKeepDigits(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	_, body := post(t, e, open(t, e),
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"n":12345678901234567890123}}}`)
	if !strings.Contains(body, `"structuredContent":{"n":12345678901234567890123}`) {
		t.Errorf("got %s", body)
	}
}

// TestBigResult: 20 MB get through.
func TestBigResult(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	big := strings.Repeat("é\n", 7_000_000)
	e := serve(t, func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.TextResult(big), nil
	}, mcpagent.Options{})
	r, err := connect(t, e).CallTool(t.Context(), &mcp.CallToolParams{Name: "add"})
	if err != nil || r.Content[0].(*mcp.TextContent).Text != big {
		t.Errorf("the text did not survive: %v", err)
	}
}

// TestOddCallsReachTheRecorder: what is no proper call is recorded by the harness like any other.
func TestOddCallsReachTheRecorder(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	e := serve(t, func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, c.Tool+" "+string(c.Args))
		return tooleval.TextResult("ok"), nil
	}, mcpagent.Options{Prefixes: []string{"mcp__world__"}})
	session := open(t, e)
	for i, params := range []string{`{"name":"nope","arguments":{"a":1}}`, `{"name":"add"}`, `{"name":"add","arguments":"text"}`,
		`{"name":"add","arguments":[1]}`, `{"name":"mcp__world__add","arguments":{}}`, `{"name":"mcp__world__nope"}`} {
		if resp, body := post(t, e, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, 10+i, params)); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", params, resp.Status, body)
		}
	}
	want := `nope {"a":1}, add , add "text", add [1], add {}, mcp__world__nope `
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, broken := range []string{`{`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, `[]`, ``, "\xff"} {
		post(t, e, session, broken)
	}
	if resp, _ := post(t, e, session, `{"jsonrpc":"2.0","id":99,"method":"ping"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("after broken messages: %s", resp.Status)
	}
}

// TestWhatAgentsAskForBesides: everything that was seen of real agents is answered.
func TestWhatAgentsAskForBesides(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	session := open(t, e)
	for method, want := range map[string]string{"ping": `"result":{}`, "resources/list": `"resources":[]`, "prompts/list": `"prompts":[]`,
		"resources/templates/list": `"resourceTemplates":[]`} {
		if _, body := post(t, e, session, `{"jsonrpc":"2.0","id":5,"method":"`+method+`"}`); !strings.Contains(body, want) {
			t.Errorf("%s: %s", method, body)
		}
	}
	late := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"done"}}`
	if resp, body := post(t, e, session, late); resp.StatusCode != http.StatusAccepted {
		t.Errorf("a late cancel: %s %s", resp.Status, body)
	}
	if resp, body := request(t, "DELETE", e, session, "", "Authorization", ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE without the token: %s %s", resp.Status, body)
	}
	if resp, body := post(t, e, session, `{"jsonrpc":"2.0","id":6,"method":"ping"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("it ended the session: %s %s", resp.Status, body)
	}
	if resp, _ := request(t, "DELETE", e, session, ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s", resp.Status)
	}
	connect(t, e) // and another session is no trouble
}

// TestNewestProtocol: version 2026-07-28 has no handshake; a probe for it leads to one.
func TestNewestProtocol(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	probe := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	if resp, body := post(t, e, "", probe, "MCP-Protocol-Version", "2026-07-28"); resp.StatusCode >= 500 || !json.Valid([]byte(body)) {
		t.Errorf("%s %s", resp.Status, body)
	}
	open(t, e)
}

func TestX08LocalServer(t *testing.T) {
	var called bool
	e := serve(t, func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		called = true
		return tooleval.ToolResult{}, nil
	}, mcpagent.Options{})
	other := serve(t, echo, mcpagent.Options{})
	session := open(t, e)
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{}}}`
	for name, c := range map[string]struct {
		header []string
		status int
	}{
		"foreign host":      {[]string{"Host", "evil.example"}, 403},
		"foreign host:port": {[]string{"Host", "evil.example:80"}, 403},
		"foreign origin":    {[]string{"Origin", "https://evil.example"}, 403},
		"null origin":       {[]string{"Origin", "null"}, 403},
		"no token":          {[]string{"Authorization", ""}, 401},
		"wrong token":       {[]string{"Authorization", "Bearer " + other.Token}, 401},
		"basic":             {[]string{"Authorization", "Basic " + e.Token}, 401},
	} {
		if resp, body := post(t, e, session, call, c.header...); resp.StatusCode != c.status {
			t.Errorf("%s: %s %s", name, resp.Status, body)
		}
	}
	if called {
		t.Error("a tool was called")
	}
	if resp, _ := post(t, e, session, call, "Origin", "http://localhost:3000"); resp.StatusCode != http.StatusOK {
		t.Errorf("an origin of loopback: %s", resp.Status)
	}
	// The session of one run is none of another's, whose path is random besides.
	if resp, _ := post(t, other, session, call); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another run's session: %s", resp.Status)
	}
	elsewhere := &mcpagent.Endpoint{URL: "http://" + e.Addr() + "/mcp", Token: e.Token}
	if resp, _ := post(t, elsewhere, session, call); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %s", resp.Status)
	}
	if !strings.HasPrefix(e.Addr(), "127.0.0.1:") {
		t.Errorf("it listens on %s", e.Addr())
	}
	if s := e.Status(); s.Unauthorized != 3 {
		t.Errorf("%+v", s)
	}
	if s := other.Status(); s.Missing() == "" {
		t.Errorf("%+v", s)
	}
}

func TestWithoutTokenIsSaid(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	post(t, e, "", hello, "Authorization", "")
	if m := e.Status().Missing(); !strings.Contains(m, "1 times without the run's token") {
		t.Errorf("got %q", m)
	}
}

func TestTooBigRequest(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	session := open(t, e)
	body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":"` + strings.Repeat("x", 17<<20) + `"}}}`
	if resp, _ := post(t, e, session, body); resp.StatusCode < 400 {
		t.Errorf("got %s", resp.Status)
	}
	if s := e.Status(); s.Calls != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTooManySessions(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	last := 0
	for range 300 {
		resp, _ := post(t, e, "", hello)
		last = resp.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("got %d", last)
	}
}

// TestBrokenHandler: trouble of the harness is a JSON-RPC error, and a panic ends one call alone.
func TestBrokenHandler(t *testing.T) {
	e := serve(t, func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		if c.Tool == "add" {
			panic("boom")
		}
		return tooleval.ToolResult{}, errors.New("the database is gone")
	}, mcpagent.Options{})
	s := connect(t, e)
	for tool, want := range map[string]string{"add": "boom", "bare": "the database is gone"} {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || !strings.Contains(rpc.Message, want) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if w := e.Status().Warnings; len(w) != 1 || !strings.Contains(string(w[0]), "boom") {
		t.Errorf("%q", w)
	}
}

// TestClose: it ends calls in flight, gives them its reason, and returns whatever they do.
func TestClose(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		release := make(chan struct{})
		started, cause := make(chan struct{}), make(chan error, 1)
		e := serve(t, func(ctx context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) {
			close(started)
			<-ctx.Done()
			cause <- context.Cause(ctx)
			if stuck {
				<-release
			}
			return tooleval.ToolResult{}, ctx.Err()
		}, mcpagent.Options{})
		s := connect(t, e)
		go func() { _, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add"}) }()
		<-started
		began := time.Now()
		e.Close()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("Close took %v", took)
		}
		if err := <-cause; !errors.Is(err, mcpagent.ErrClosed) {
			t.Errorf("the cause was %v", err)
		}
		if _, err := s.ListTools(t.Context(), nil); err == nil {
			t.Error("it still answers")
		}
		if w := e.Status().Warnings; stuck != (len(w) == 1) {
			t.Errorf("stuck %v: %q", stuck, w)
		}
		close(release)
	}
}

// TestRunsTimeShows: a call whose run is over ends with the run's deadline, not as cancelled.
func TestRunsTimeShows(t *testing.T) {
	over := errors.New("the run's time is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, over)
	defer cancel()
	got := make(chan error, 2)
	e, err := mcpagent.Serve(ctx, tools, tooleval.ToolHandlerFunc(func(ctx context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) {
		<-ctx.Done()
		got <- ctx.Err()
		got <- context.Cause(ctx)
		return tooleval.ToolResult{}, ctx.Err()
	}), mcpagent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, _ = connect(t, e).CallTool(t.Context(), &mcp.CallToolParams{Name: "add"})
	if err := <-got; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if cause := <-got; !errors.Is(cause, over) {
		t.Errorf("got %v", cause)
	}
}

// TestClientCancels: a client's cancel reaches the tool.
func TestClientCancels(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	e := serve(t, func(ctx context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return tooleval.ToolResult{}, ctx.Err()
	}, mcpagent.Options{})
	s := connect(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, _ = s.CallTool(ctx, &mcp.CallToolParams{Name: "add"})
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the tool was not told")
	}
}

func TestParallelCalls(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	e := serve(t, func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(50 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return tooleval.TextResult("ok"), nil
	}, mcpagent.Options{})
	s := connect(t, e)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most < 2 {
		t.Errorf("%d at once", most)
	}
}

func TestPlainNames(t *testing.T) {
	odd := []tooleval.Tool{{Name: "files.read"}, {Name: "files_read"}, {Name: "datei-lesen-ü"}, {Name: strings.Repeat("long_", 20)},
		{Name: strings.Repeat("long_", 21)}, {Name: "1"}}
	var seen []string
	e, err := mcpagent.Serve(t.Context(), odd, tooleval.ToolHandlerFunc(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		seen = append(seen, c.Tool)
		return tooleval.TextResult("ok"), nil
	}), mcpagent.Options{PlainNames: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := connect(t, e)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, tool := range list.Tools {
		if len(tool.Name) > 40 || strings.ContainsAny(tool.Name, ".-ü") {
			t.Errorf("offered as %q", tool.Name)
		}
		want[e.Name(tool.Name)] = tool.Name
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name}); err != nil {
			t.Error(err)
		}
	}
	if len(want) != len(odd) || len(seen) != len(odd) {
		t.Fatalf("names %v, calls %q", want, seen)
	}
	for _, tool := range odd {
		if want[tool.Name] == "" {
			t.Errorf("%q is not offered: %v", tool.Name, want)
		}
	}
	if want["files_read"] != "files_read" {
		t.Errorf("a plain name was changed: %v", want)
	}
}

func TestToolThatCanNotBeOffered(t *testing.T) {
	for _, schema := range []string{`{"type":"string"}`, `[]`, `{`, `7`} {
		_, err := mcpagent.Serve(t.Context(), []tooleval.Tool{{Name: "odd", Schema: tooleval.Raw(schema)}}, tooleval.ToolHandlerFunc(echo), mcpagent.Options{})
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerTask || !strings.Contains(err.Error(), `"odd"`) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestPagination(t *testing.T) {
	var many []tooleval.Tool
	for i := range 2500 {
		many = append(many, tooleval.Tool{Name: fmt.Sprintf("tool_%04d", i)})
	}
	e, err := mcpagent.Serve(t.Context(), many, tooleval.ToolHandlerFunc(echo), mcpagent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	n := 0
	for tool, err := range connect(t, e).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name != many[n].Name {
			t.Fatalf("%d is %s", n, tool.Name)
		}
		n++
	}
	if n != len(many) {
		t.Errorf("%d tools", n)
	}
}

// TestH01ShimWritesFramesOnly: whatever comes in and goes wrong, each line of output is one message.
func TestH01ShimWritesFramesOnly(t *testing.T) {
	e := serve(t, func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.TextResult("line 1\nline 2 " + string(c.Args)), nil
	}, mcpagent.Options{})
	in := strings.Join([]string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `not JSON`, ``, `[]`,
		`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"n":12345678901234567890}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"no/such"}`, `{"jsonrpc":"2.0","id":5,"method":"ping"}`}, "\n")
	var out, log bytes.Buffer
	shim := mcpagent.Shim{URL: e.URL, Token: e.Token, Log: &log}
	if err := shim.Run(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v: %q", err, line)
		}
		answers[string(m.ID)] = line
	}
	for id, want := range map[string]string{"1": "2025-06-18", `"list"`: `"bare"`, "3": `line 1\nline 2 {\"n\":12345678901234567890}`, "4": "error", "5": `{}`} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("%s: %q, want %q", id, answers[id], want)
		}
	}
	if s := e.Status(); s.Missing() != "" || s.Client != "by hand" {
		t.Errorf("%+v", s)
	}
	if log.Len() == 0 {
		t.Error("the broken line is not in the log")
	}
}

// TestShimWithoutEndpoint: the client is told, instead of waiting for ever.
func TestShimWithoutEndpoint(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	e.Close()
	var out, log bytes.Buffer
	if err := (&mcpagent.Shim{URL: e.URL, Token: e.Token, Log: &log}).Run(t.Context(), strings.NewReader(hello+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id":1`) || !strings.Contains(out.String(), "refused") || log.Len() == 0 {
		t.Errorf("%s\n%s", out.String(), log.String())
	}
	if err := (&mcpagent.Shim{}).Run(t.Context(), strings.NewReader(hello), &out); err == nil {
		t.Error("a shim without an address started")
	}
}

// TestShimWithSDKClient: the official client works through the shim.
func TestShimWithSDKClient(t *testing.T) {
	e := serve(t, echo, mcpagent.Options{})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- (&mcpagent.Shim{URL: e.URL, Token: e.Token, Log: io.Discard}).Run(t.Context(), inR, outW)
		outW.Close()
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "through", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add", Arguments: json.RawMessage(`{"x":1}`)})
	if err != nil || r.Content[0].(*mcp.TextContent).Text != `add {"x":1}` {
		t.Errorf("%+v, %v", r, err)
	}
	_ = s.Close()
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
