package openaichat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval/internal/fakellm"
)

var hello = Request{Model: "m", Messages: []Message{{Role: "user", Content: "hi"}}}

// quick is a client whose pauses are written down instead of waited.
func quick(url string, pauses *[]time.Duration) *Client {
	return &Client{BaseURL: url + "/v1", Key: "sk-secret", pause: func(_ context.Context, d time.Duration) error {
		if pauses != nil {
			*pauses = append(*pauses, d)
		}
		return nil
	}}
}

func TestToolLoop(t *testing.T) {
	srv := fakellm.New(t, fakellm.Authorized("sk-secret", fakellm.Turns(
		fakellm.Reply{
			Calls: []fakellm.Call{{Name: "add", Args: `{"a": 12345678901234567890}`}, {Name: "add", Args: `{"a": 1`}},
			Usage: fakellm.Usage{Input: 50, Output: 4, CacheRead: 30},
		},
		fakellm.Func(func(r fakellm.Request) fakellm.Reply {
			return fakellm.Text(fmt.Sprint(r.Results()[0].Text, " ", r.Results()[1].Text))
		}),
	)))
	zero, seven, alone := 0.0, int64(7), false
	req := Request{
		Model:       "m",
		Messages:    []Message{{Role: "system", Content: "<be exact>"}, {Role: "user", Content: "add"}},
		Tools:       []Tool{{Name: "add", Description: "adds", Parameters: json.RawMessage(`{"type":"object","z":1,"a":2}`), Strict: true}},
		ToolChoice:  ToolChoice{Tool: "add"},
		Temperature: &zero, Seed: &seven, Parallel: &alone, MaxTokens: 99,
	}
	c := quick(srv.URL("loop"), nil)
	got, err := c.Chat(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	calls := got.Message.ToolCalls
	if len(calls) != 2 || calls[0].Arguments != `{"a": 12345678901234567890}` || calls[1].Arguments != `{"a": 1` {
		t.Fatalf("arguments changed on their way: %q", calls)
	}
	if *got.Usage.Input != 50 || *got.Usage.Output != 4 || *got.Usage.Cached != 30 || got.Finish != "tool_calls" || got.Tries != 1 {
		t.Errorf("got %+v", got)
	}
	sent := srv.Requests("loop")[0]
	body := string(sent.Raw)
	for _, want := range []string{`"parameters":{"type":"object","z":1,"a":2}`, `"strict":true`, `"temperature":0`, `"seed":7`,
		`"max_tokens":99`, `"parallel_tool_calls":false`, `<be exact>`, `"tool_choice":{"function":{"name":"add"},"type":"function"}`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the request %s", want, body)
		}
	}
	req.ToolChoice = ToolChoice{Mode: "auto"}
	req.Messages = append(req.Messages, got.Message,
		Message{Role: "tool", ToolCallID: calls[0].ID, Content: "one"}, Message{Role: "tool", ToolCallID: calls[1].ID, Content: "two"})
	if got, err = c.Chat(t.Context(), req); err != nil || got.Message.Content != "one two" {
		t.Fatalf("second turn: %+v, %v", got, err)
	}
	if second := string(srv.Requests("loop")[1].Raw); !strings.Contains(second, `"content":null`) {
		t.Errorf("a turn of calls alone needs the content null: %s", second)
	}
}

func TestErrorKinds(t *testing.T) {
	html := fakellm.BadGateway()
	for _, c := range []struct {
		name  string
		reply fakellm.Reply
		kind  Kind
		tries int
		want  string
	}{
		{"rate limited", fakellm.RateLimited(time.Second), RateLimited, 3, "too many requests"},
		{"overloaded", fakellm.Overloaded(), Overloaded, 3, "overloaded"},
		{"server error", fakellm.ServerError(), ServerFault, 3, "internal server error"},
		{"a proxy's page", html, ServerFault, 3, "502 Bad Gateway"},
		{"wrong key, echoed", fakellm.Fail(401, "invalid_api_key", "bad key sk-secret given"), Auth, 1, "bad key [key] given"},
		{"no such model", fakellm.Fail(404, "model_not_found", "no model m"), ModelNotFound, 1, "no model m"},
		{"no such model, status 400", fakellm.Fail(400, "model_not_found", "no model m"), ModelNotFound, 1, "no model m"},
		{"too long", fakellm.Fail(400, "context_length_exceeded", "maximum context length is 8"), ContextOverflow, 1, "maximum context"},
		{"refused", fakellm.Fail(400, "invalid_request_error", "no"), BadRequest, 1, "no"},
		{"conflict", fakellm.Fail(409, "x", "wait"), BadRequest, 3, "wait"},
		{"error is a string", fakellm.Reply{Status: 400, Body: `{"error":"plain words"}`}, BadRequest, 1, "plain words"},
		{"detail", fakellm.Reply{Status: 422, Body: `{"detail":[{"msg":"bad field"}]}`}, BadRequest, 1, "bad field"},
		{"error with status 200", fakellm.Reply{Body: `{"error":{"code":429,"message":"slow down"}}`}, RateLimited, 3, "slow down"},
		{"garbage", fakellm.Garbage(), BadReply, 1, "can't be read"},
		{"no choices", fakellm.Reply{Body: `{"choices":[]}`}, BadReply, 1, "no message"},
		{"null", fakellm.Reply{Body: `null`}, BadReply, 1, "no message"},
		{"cut off", fakellm.Truncated(fakellm.Text("a long enough text")), Network, 3, "unexpected EOF"},
		{"a redirect", fakellm.Reply{Status: 307, Body: "x", Header: map[string]string{"Location": "http://127.0.0.1:1/"}}, BadReply, 1, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakellm.New(t, fakellm.Always(c.reply))
			_, err := quick(srv.URL(""), nil).Chat(t.Context(), hello)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if !errors.Is(err, c.kind) || e.Tries != c.tries || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v (kind %q, %d tries), want kind %q, %d tries, %q", err, e.Kind, e.Tries, c.kind, c.tries, c.want)
			}
			if got := len(srv.Requests("")); got != c.tries {
				t.Errorf("%d requests arrived, want %d", got, c.tries)
			}
			if s := fmt.Sprintf("%v %s", err, e.Body); strings.Contains(s, "sk-secret") {
				t.Errorf("the key is in the error: %s", s)
			}
		})
	}
}

func TestRetryWaitsAsTold(t *testing.T) {
	var pauses []time.Duration
	srv := fakellm.New(t, fakellm.Turns(
		fakellm.RateLimited(1500*time.Millisecond),
		fakellm.Reply{Status: 503, Body: "x", Header: map[string]string{"Retry-After": "2"}},
		fakellm.Text("at last"),
	))
	got, err := quick(srv.URL(""), &pauses).Chat(t.Context(), hello)
	if err != nil || got.Message.Content != "at last" || got.Tries != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if len(pauses) != 2 || pauses[0] != 1500*time.Millisecond || pauses[1] != 2*time.Second {
		t.Errorf("paused %v", pauses)
	}

	pauses = nil
	srv.Script("plain", fakellm.Always(fakellm.RateLimited(-1)))
	c := quick(srv.URL("plain"), &pauses)
	c.Retries = 7
	if _, err := c.Chat(t.Context(), hello); !errors.Is(err, RateLimited) {
		t.Fatal(err)
	}
	for i, d := range pauses {
		most := min(8*time.Second, 500*time.Millisecond<<i)
		if d > most || d < most*3/4 {
			t.Errorf("pause %d is %v, want %v to %v", i, d, most*3/4, most)
		}
	}
	if len(pauses) != 7 {
		t.Errorf("%d pauses, want 7", len(pauses))
	}

	pauses = nil
	srv.Script("long", fakellm.Always(fakellm.RateLimited(time.Hour)))
	_, err = quick(srv.URL("long"), &pauses).Chat(t.Context(), hello)
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter == nil || *e.RetryAfter != time.Hour || len(pauses) != 0 {
		t.Errorf("a server that wants an hour: %v, paused %v", err, pauses)
	}
}

func TestContextEndsEverything(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Hang()))
	why := errors.New("the run is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, why)
	defer cancel()
	if _, err := (&Client{BaseURL: srv.URL("") + "/v1"}).Chat(ctx, hello); !errors.Is(err, why) || !errors.Is(err, Network) {
		t.Errorf("while waiting for a reply: %v", err)
	}
	if n := len(srv.Requests("")); n != 1 {
		t.Errorf("%d requests after the end", n)
	}
	srv.Script("wait", fakellm.Always(fakellm.RateLimited(30*time.Second)))
	ctx, cancel = context.WithTimeoutCause(t.Context(), 30*time.Millisecond, why)
	defer cancel()
	if _, err := (&Client{BaseURL: srv.URL("wait") + "/v1"}).Chat(ctx, hello); !errors.Is(err, why) {
		t.Errorf("in a pause: %v", err)
	}
	c := &Client{BaseURL: srv.URL("slow") + "/v1", Timeout: 20 * time.Millisecond, Retries: -1}
	if _, err := c.Chat(t.Context(), hello); !errors.Is(err, Network) || !strings.Contains(err.Error(), "took too long") {
		t.Errorf("one try too long: %v", err)
	}
}

func TestOddReplies(t *testing.T) {
	for body, want := range map[string]string{
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`:                      "ab ",
		`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":{"x": 1}}}]}}]}`:           ` {"x": 1}`,
		`{"choices":[{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":"not json"}}]}}]}`:           " not json",
		`{"choices":[{"message":{"content":"t","reasoning_content":"r"},"finish_reason":"stop"}],"usage":null,"error":null}`: "t ",
	} {
		srv := fakellm.New(t, fakellm.Always(fakellm.Reply{Body: body}))
		got, err := quick(srv.URL(""), nil).Chat(t.Context(), hello)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		args := ""
		for _, c := range got.Message.ToolCalls {
			args += c.Arguments
		}
		if s := got.Message.Content + " " + args; s != want {
			t.Errorf("%s: got %q, want %q", body, s, want)
		}
		if got.Usage.Input != nil {
			t.Errorf("%s: tokens that nobody counted: %d", body, *got.Usage.Input)
		}
	}
}

func TestBounds(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text(strings.Repeat("x", 5000))))
	c := quick(srv.URL(""), nil)
	c.MaxBody = 1000
	if _, err := c.Chat(t.Context(), hello); !errors.Is(err, BadReply) || !strings.Contains(err.Error(), "more than 1000 bytes") {
		t.Errorf("a long reply: %v", err)
	}
	for _, base := range []string{"", "localhost:1", "file:///etc/passwd", "http://"} {
		if _, err := (&Client{BaseURL: base}).Chat(t.Context(), hello); !errors.Is(err, BadRequest) {
			t.Errorf("base %q: %v", base, err)
		}
	}
	body, err := (&Client{BaseURL: "https://api.openai.com/v1"}).Body(Request{Model: "m", MaxTokens: 5})
	if err != nil || !strings.Contains(string(body), `"max_completion_tokens":5`) || strings.Contains(string(body), `"max_tokens"`) {
		t.Errorf("OpenAI's own name for the limit: %s, %v", body, err)
	}
}

func TestParallelUse(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text("ok")))
	c := quick(srv.URL(""), nil)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := c.Chat(t.Context(), hello); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// No key, no header: servers of one's own may refuse an empty bearer token.
func TestNoKeyNoHeader(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Header["Authorization"]; ok {
			t.Errorf("authorization was sent: %v", r.Header)
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":"ok"}}]}`)
	}))
	defer s.Close()
	if _, err := (&Client{BaseURL: s.URL}).Chat(t.Context(), hello); err != nil {
		t.Error(err)
	}
}
