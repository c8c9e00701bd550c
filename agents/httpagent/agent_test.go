package httpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/httpagent"
	"github.com/tooleval/tooleval/worlds"
)

var (
	_ tooleval.Agent         = (*httpagent.Agent)(nil)
	_ tooleval.Fingerprinter = (*httpagent.Agent)(nil)
)

var assignment = tooleval.Assignment{
	TaskID: "t", EntryPoint: "e", Description: "What is <6 * 7>?", Input: tooleval.Raw(`{"n":12345678901234567890}`),
	Tools: []tooleval.Tool{{Name: "calculate", Description: "computes", Schema: tooleval.Raw(`{"type":"object"}`)}},
}

var calculate = tooleval.ToolHandlerFunc(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	return tooleval.JSONResult(map[string]any{"result": 42, "args": json.RawMessage(c.Args)}), nil
})

// A task is the request as an agent reads it.
type task struct {
	ProtocolVersion int `json:"protocol_version"`
	Run             string
	Assignment      struct {
		TaskID      string `json:"task_id"`
		Description string
		Input       json.RawMessage
		Tools       []struct{ Name string }
	}
	TimeLimitMS int64 `json:"time_limit_ms"`
	MCP, Calls  struct{ URL, Token string }
}

// service is an agent: what it answers to a task.
func service(t *testing.T, f func(w http.ResponseWriter, r *http.Request, q task)) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q task
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Errorf("the request can't be read: %v", err)
		}
		f(w, r, q)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func answering(status int, body string) func(http.ResponseWriter, *http.Request, task) {
	return func(w http.ResponseWriter, _ *http.Request, _ task) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func agent(t *testing.T, url string, o httpagent.Options) *httpagent.Agent {
	t.Helper()
	a, err := httpagent.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// callTool calls a tool without MCP.
func callTool(ctx context.Context, q task, body string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.Calls.URL, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+q.Calls.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func TestPlainCalls(t *testing.T) {
	srv := service(t, func(w http.ResponseWriter, r *http.Request, q task) {
		if q.ProtocolVersion != 1 || q.Assignment.Description != "What is <6 * 7>?" || string(q.Assignment.Input) != `{"n":12345678901234567890}` ||
			len(q.Assignment.Tools) != 1 || q.TimeLimitMS < 1 || q.TimeLimitMS > 60_000 {
			t.Errorf("the agent was asked %+v", q)
		}
		if r.Header.Get("X-ToolEval-Run") != q.Run || r.Header.Get("Idempotency-Key") != q.Run || len(q.Run) < 20 || r.Header.Get("Authorization") != "Bearer mine" {
			t.Errorf("headers %v", r.Header)
		}
		status, body := callTool(r.Context(), q, `{"tool":"calculate","args":{"a": 12345678901234567890}}`)
		if status != 200 || !strings.Contains(body, `"structured":{"args":{"a":12345678901234567890},"result":42}`) {
			t.Errorf("the tool answered %d %s", status, body)
		}
		if _, body := callTool(r.Context(), q, `{"tool":"other"}`); !strings.Contains(body, `"is_error":true`) {
			t.Errorf("an unknown tool: %s", body)
		}
		callTool(r.Context(), q, `{"tool":"calculate","args":{"$text":"{\"a"}}`)
		_, _ = io.WriteString(w, `{"response":"42","state":{"result":42.0},"usage":{"turns":2},"evidence":{"channel":"in_process","incomplete":"a shell"},"responsse":1}`)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rec := worlds.Record(worlds.Guard(calculate, assignment.Tools), worlds.RecordOptions{})
	got, err := agent(t, srv.URL, httpagent.Options{Token: "mine"}).Run(ctx, assignment, rec)
	if err != nil || got.Response != "42" || string(got.State) != `{"result":42.0}` || *got.Usage.Turns != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if *got.Evidence != (tooleval.Evidence{Channel: "http", Incomplete: "a shell"}) {
		t.Errorf("evidence %+v", got.Evidence)
	}
	if len(got.Warnings) != 1 || !strings.Contains(string(got.Warnings[0]), `did you mean "response"`) {
		t.Errorf("warnings %q", got.Warnings)
	}
	calls := rec.Trajectory().Calls
	if len(calls) != 3 || calls[1].Status != tooleval.CallRefused || calls[2].ArgsError == "" || string(calls[2].ArgsText) != `{"a` {
		t.Errorf("calls %+v", calls)
	}
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPInParallel: five runs at a time, each with tools of its own.
func TestMCPInParallel(t *testing.T) {
	srv := service(t, func(w http.ResponseWriter, r *http.Request, q task) {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(r.Context(), &mcp.StreamableClientTransport{
			Endpoint: q.MCP.URL, HTTPClient: &http.Client{Transport: bearer{q.MCP.Token}}}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close()
		res, err := s.CallTool(r.Context(), &mcp.CallToolParams{Name: "calculate", Arguments: map[string]any{}})
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(w, `{"response":%q}`, res.Content[0].(*mcp.TextContent).Text)
	})
	a := agent(t, srv.URL, httpagent.Options{})
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			own := fmt.Sprintf("world %d", i)
			got, err := a.Run(t.Context(), assignment, tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
				return tooleval.TextResult(own), nil
			}))
			if err != nil || string(got.Response) != own || len(got.Warnings) != 0 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	wg.Wait()
}

func TestResponses(t *testing.T) {
	big := strings.Repeat("x", 5000)
	for _, c := range []struct {
		name   string
		status int
		body   string
		owner  tooleval.Owner
		want   string
	}{
		{"rate limited", 429, "slow down", tooleval.OwnerInfra, `answered 429: "slow down"`},
		{"unavailable", 503, "", tooleval.OwnerInfra, "answered 503"},
		{"gateway", 502, "<html>" + big + "bad gateway</html>", tooleval.OwnerInfra, "bad gateway</html>"},
		{"not found", 404, "no route", tooleval.OwnerUser, "no route"},
		{"unauthorised", 401, "", tooleval.OwnerUser, "TOOLEVAL_HTTP_TOKEN"},
		{"bad request", 400, `{"detail":"x"}`, tooleval.OwnerAgent, `answered 400`},
		{"crash", 500, "Traceback" + big + "ZeroDivisionError", tooleval.OwnerAgent, "ZeroDivisionError"},
		{"its provider", 500, `{"error":{"message":"the model is overloaded","owner":"infra"}}`, tooleval.OwnerInfra, "overloaded"},
		{"its key", 400, `{"error":{"message":"no key","owner":"user"}}`, tooleval.OwnerUser, "no key"},
		{"a claim about others", 500, `{"error":{"message":"the harness is bad","owner":"harness"}}`, tooleval.OwnerAgent, "is bad"},
		{"error as text", 500, `{"error":"boom"}`, tooleval.OwnerAgent, "boom"},
		{"other success", 204, "", tooleval.OwnerAgent, "204"},
		{"no JSON", 200, "42", tooleval.OwnerAgent, "not an object"},
		{"empty", 200, "", tooleval.OwnerAgent, "not an object"},
		{"wrong type", 200, `{"response":42}`, tooleval.OwnerAgent, "malformed"},
		{"too big", 200, `{"response":"` + big + big + `"}`, tooleval.OwnerAgent, "more than 6000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := service(t, answering(c.status, c.body))
			_, err := agent(t, srv.URL, httpagent.Options{MaxResponse: 6000}).Run(t.Context(), assignment, calculate)
			if owner, _ := tooleval.BlamedOn(err); owner != c.owner || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1500 {
				t.Errorf("blamed on %q: %v", owner, err)
			}
		})
	}
}

// TestRedirectIsNotFollowed: the run's token goes where the user said and nowhere else.
func TestRedirectIsNotFollowed(t *testing.T) {
	other := service(t, func(http.ResponseWriter, *http.Request, task) { t.Error("it was followed") })
	srv := service(t, func(w http.ResponseWriter, r *http.Request, _ task) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := agent(t, srv.URL, httpagent.Options{}).Run(t.Context(), assignment, calculate)
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("got %v", err)
	}
}

// TestNeverAskedTwice: once the agent has a request, it gets no second one, whatever happens.
func TestNeverAskedTwice(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"closed": func(c net.Conn) { c.Close() },
		"reset":  func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() },
		"half an answer": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"resp")
			c.Close()
		},
		"noise": func(c net.Conn) { _, _ = io.WriteString(c, "hello\r\n\r\n"); c.Close() },
	} {
		var n atomic.Int32
		srv := service(t, func(w http.ResponseWriter, _ *http.Request, _ task) {
			n.Add(1)
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			end(c)
		})
		_, err := agent(t, srv.URL, httpagent.Options{}).Run(t.Context(), assignment, calculate)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra || n.Load() != 1 {
			t.Errorf("%s: asked %d times, %v", name, n.Load(), err)
		}
	}
}

// TestConnectionIsRetried: a service that is still starting is waited for, one that never comes is infra's.
func TestConnectionIsRetried(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	began := time.Now()
	_, err = agent(t, "http://"+addr, httpagent.Options{ConnectWithin: 500 * time.Millisecond}).Run(t.Context(), assignment, calculate)
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra || !strings.Contains(err.Error(), "can't be reached") || time.Since(began) > 5*time.Second {
		t.Errorf("got %v after %v", err, time.Since(began))
	}
	var late http.Server
	go func() {
		time.Sleep(400 * time.Millisecond)
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return
		}
		late.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"response":"here"}`) })
		_ = late.Serve(l)
	}()
	defer late.Close()
	got, err := agent(t, "http://"+addr, httpagent.Options{}).Run(t.Context(), assignment, calculate)
	if err != nil || got.Response != "here" {
		t.Errorf("%+v, %v", got, err)
	}
	if len(got.Warnings) != 1 || !strings.Contains(string(got.Warnings[0]), "without connecting to its tools") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestTimeIsUp(t *testing.T) {
	over := errors.New("the run's time is over")
	hung := make(chan struct{})
	srv := service(t, func(_ http.ResponseWriter, r *http.Request, _ task) { <-r.Context().Done(); close(hung) })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, over)
	defer cancel()
	_, err := agent(t, srv.URL, httpagent.Options{}).Run(ctx, assignment, calculate)
	if !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
	select {
	case <-hung: // the service was told
	case <-time.After(5 * time.Second):
		t.Error("the request goes on")
	}
}

// TestLateCalls: what the agent calls after its answer belongs to no run.
func TestLateCalls(t *testing.T) {
	answered, tried := make(chan struct{}), make(chan struct{})
	srv := service(t, func(w http.ResponseWriter, _ *http.Request, q task) {
		go func() {
			defer close(tried)
			<-answered
			if status, body := callTool(context.Background(), q, `{"tool":"calculate"}`); status == 200 {
				t.Errorf("a late call was served: %s", body)
			}
		}()
		_, _ = io.WriteString(w, `{}`)
	})
	if _, err := agent(t, srv.URL, httpagent.Options{}).Run(t.Context(), assignment, calculate); err != nil {
		t.Error(err)
	}
	close(answered)
	<-tried
}

// TestFarAgent: an agent that can't reach its tools is no bad agent.
func TestFarAgent(t *testing.T) {
	srv := service(t, answering(200, `{"response":"I have no tools"}`))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(srv.URL, "http://"))
	_, err := agent(t, "http://0.0.0.0:"+port, httpagent.Options{}).Run(t.Context(), assignment, calculate)
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra || !strings.Contains(err.Error(), "without reaching its tools") {
		t.Errorf("got %v", err)
	}
}

func TestAddress(t *testing.T) {
	for _, url := range []string{"", "localhost:1", "ftp://h", "http://", "http://user:secret@h/", "http://h/#x", "http://%zz"} {
		if _, err := httpagent.New(url, httpagent.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
