package fakellm_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval/internal/fakellm"
)

func TestFaults(t *testing.T) {
	const ask = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`
	for _, c := range []struct {
		name   string
		reply  fakellm.Reply
		status int
		want   string
		broken bool
	}{
		{"rate limited", fakellm.RateLimited(1500 * time.Millisecond), 429, "rate_limit_error", false},
		{"overloaded", fakellm.Overloaded(), 529, "overloaded_error", false},
		{"server error", fakellm.ServerError(), 500, "api_error", false},
		{"bad gateway", fakellm.BadGateway(), 502, "<h1>502", false},
		{"garbage", fakellm.Garbage(), 200, "\x00\xff", false},
		{"refusal", fakellm.Refusal("no"), 200, `"stop_reason":"refusal"`, false},
		{"max tokens", fakellm.MaxTokens(fakellm.Text("cut")), 200, `"stop_reason":"max_tokens"`, false},
		{"malformed arguments", fakellm.CallTool("x", `{"a`), 200, `"input":"{\"a"`, false},
		{"truncated", fakellm.Truncated(fakellm.Text("a long text to cut")), 200, `"id"`, true},
		{"delayed", fakellm.Delayed(time.Millisecond, fakellm.Text("late")), 200, "late", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakellm.New(t, fakellm.Always(c.reply))
			status, body, err := post(t, srv.URL("")+"/v1/messages", ask)
			if status != c.status || !strings.Contains(body, c.want) || (err != nil) != c.broken {
				t.Errorf("got status %d, error %v, body %q; want %d, broken %t, %q", status, err, body, c.status, c.broken, c.want)
			}
		})
	}
}

func TestHangEndsWithTheClientAndWithTheServer(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Hang()))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL("")+"/v1/messages",
		bytes.NewBufferString(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`))
	req.Header.Set("Anthropic-Version", "2026-10-21")
	if _, err := http.DefaultClient.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := post(t, srv.URL("x")+"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`)
		done <- err
	}()
	for len(srv.Requests("x")) == 0 {
		time.Sleep(time.Millisecond)
	}
	srv.Close()
	if err := <-done; err == nil {
		t.Error("a hanging request was answered")
	}
}
