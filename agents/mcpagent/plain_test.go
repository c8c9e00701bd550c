package mcpagent_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/mcpagent"
)

func plainEndpoint(t *testing.T, f tooleval.ToolHandlerFunc, o mcpagent.Options) *mcpagent.Endpoint {
	t.Helper()
	e, err := mcpagent.Serve(t.Context(), []tooleval.Tool{{Name: "add"}}, f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func plainCall(t *testing.T, url, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(b))
}

func TestPlainCalls(t *testing.T) {
	var seen []tooleval.ToolCall
	e := plainEndpoint(t, func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		seen = append(seen, c)
		switch string(c.Args) {
		case `"broken"`:
			return tooleval.ToolResult{}, tooleval.Blamef(tooleval.OwnerInfra, "the database is gone")
		case `"unowned"`:
			return tooleval.ToolResult{}, errors.New("the database is gone")
		case `"panic"`:
			panic("boom")
		}
		return tooleval.ToolResult{Text: "<\xff>", Structured: c.Args, IsError: c.Tool == "nope"}, nil
	}, mcpagent.Options{PlainCalls: true})
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"tool":"add","args":{"n": 12345678901234567890},"id":"x"}`, 200, `"structured":{"n":12345678901234567890}`},
		{`{"tool":"nope","args":[]}`, 200, `"is_error":true`},
		{`{"tool":"add","args":{"$text":"{\"a"}}`, 200, `{"text":{"$bytes":"PP8+"}`},
		{`{"tool":"add"}`, 200, `"text"`},
		{`{"args":{}}`, 400, `there is no \"tool\"`},
		{`{"tool":7}`, 400, "no call"},
		{`[]`, 400, "no call"},
		{``, 400, "no call"},
		{`{"tool":"add","args":"broken"}`, 500, `{"error":{"message":"the database is gone","owner":"infra"}}`},
		{`{"tool":"add","args":"unowned"}`, 500, `"owner":"world"`},
		{`{"tool":"add","args":"panic"}`, 500, `"owner":"harness"`},
		{`{"tool":"add","args":"` + strings.Repeat("x", 17<<20) + `"}`, 413, "at most"},
	} {
		if status, body := plainCall(t, e.CallURL, e.Token, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%.60s: %d %.200s, want %d %s", c.body, status, body, c.status, c.want)
		}
	}
	if len(seen) != 7 || seen[0].ID != "x" || string(seen[2].Args) != `{"a` || seen[3].Args != nil {
		t.Errorf("the tools saw %q", seen)
	}
	if s := e.Status(); !s.Connected || s.Calls != 7 || len(s.Warnings) != 1 {
		t.Errorf("%+v", s)
	}
	if status, _ := plainCall(t, e.CallURL, "wrong", `{"tool":"add"}`); status != 401 {
		t.Errorf("with a wrong token: %d", status)
	}
	if resp, err := http.Get(e.CallURL); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %v, %v", resp, err)
	}
	if none := plainEndpoint(t, nil, mcpagent.Options{}); none.CallURL != "" {
		t.Errorf("it offers %s unasked", none.CallURL)
	} else if status, _ := plainCall(t, strings.TrimSuffix(none.URL, "/mcp")+"/tools/call", none.Token, `{"tool":"add"}`); status != 404 {
		t.Errorf("plain calls unasked: %d", status)
	}
}
