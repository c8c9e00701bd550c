package fakellm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tooleval/tooleval/internal/fakellm"
)

// post sends one body and returns the status and what came back; err is a connection that broke.
func post(t *testing.T, url, body string, header ...string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2026-10-21")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// The same conversation in each dialect: the user asks, the assistant called a tool, its result came back.
var conversations = map[string]struct{ path, body string }{
	fakellm.Anthropic: {"/v1/messages", `{"model":"m","max_tokens":9,"system":"be exact","stream":%t,"messages":[
		{"role":"user","content":"6*7?"},
		{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"c1","name":"mcp__world__calculate","input":{"x":12345678901234567890}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"42"}],"is_error":true}]}],
		"tools":[{"name":"mcp__world__calculate","description":"d","input_schema":{"type":"object"},"strict":true}],
		"tool_choice":{"type":"tool","name":"mcp__world__calculate","disable_parallel_tool_use":true}}`},
	fakellm.Chat: {"/v1/chat/completions", `{"model":"m","max_tokens":9,"stream":%t,"stream_options":{"include_usage":true},"messages":[
		{"role":"system","content":"be exact"},{"role":"user","content":[{"type":"text","text":"6*7?"}]},
		{"role":"assistant","content":"let me see","tool_calls":[{"id":"c1","type":"function","function":{"name":"mcp__world__calculate","arguments":"{\"x\":12345678901234567890}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"42"}],
		"tools":[{"type":"function","function":{"name":"mcp__world__calculate","description":"d","parameters":{"type":"object"},"strict":true}}],
		"tool_choice":{"type":"function","function":{"name":"mcp__world__calculate"}},"parallel_tool_calls":false}`},
	fakellm.Responses: {"/v1/responses", `{"model":"m","max_output_tokens":9,"stream":%t,"instructions":"be exact","input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"6*7?"}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"let me see"}]},
		{"type":"function_call","call_id":"c1","name":"calculate","namespace":"mcp__world","arguments":"{\"x\":12345678901234567890}"},
		{"type":"function_call_output","call_id":"c1","output":"42"}],
		"tools":[{"type":"namespace","name":"mcp__world","tools":[{"type":"function","name":"calculate","description":"d","parameters":{"type":"object"},"strict":true}]},{"type":"web_search"}],
		"tool_choice":{"type":"function","name":"calculate"},"parallel_tool_calls":false}`},
}

func TestOneViewOfThreeDialects(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text("ok")))
	for dialect, c := range conversations {
		if status, body, err := post(t, srv.URL(dialect)+c.path, fmt.Sprintf(c.body, false),
			"Authorization", "Bearer k-1"); err != nil || status != 200 {
			t.Fatalf("%s: status %d, %v: %s", dialect, status, err, body)
		}
		r := srv.Requests(dialect)[0]
		tool, ok := r.Tool("calculate")
		want := `"be exact" "6*7?" turn 1 42 true 9 "k-1"`
		got := fmt.Sprintf("%q %q turn %d %s %t %d %q", r.System, r.LastText(), r.Turn(), r.LastResult().Text, ok, r.MaxTokens, r.Key)
		if got != want || r.Dialect != dialect {
			t.Errorf("%s (%s): got %s\nwant %s", dialect, r.Dialect, got, want)
		}
		if !tool.Strict || string(tool.Schema) != `{"type":"object"}` || tool.Description != "d" {
			t.Errorf("%s: tool is %+v", dialect, tool)
		}
		if r.Choice.Mode != "tool" || r.Choice.Name != tool.Name || !r.Choice.OnlyOne {
			t.Errorf("%s: choice is %+v", dialect, r.Choice)
		}
		call := r.Messages[1].Calls[0]
		if call.Args != `{"x":12345678901234567890}` || r.LastResult().Name != call.Name {
			t.Errorf("%s: call is %+v, result %+v", dialect, call, r.LastResult())
		}
		if isError := dialect == fakellm.Anthropic; r.LastResult().IsError != isError {
			t.Errorf("%s: the result is an error: %t", dialect, r.LastResult().IsError)
		}
	}
}

// The end of a reply, put together from a stream, is the reply that does not stream.
func TestStreamsSayWhatRepliesSay(t *testing.T) {
	script := fakellm.Always(fakellm.Reply{
		Text:  "Grüße, 世界! a longer text that takes several pieces",
		Calls: []fakellm.Call{{Name: "calculate", Args: `{"x":[1,2,3]}`}, {Name: "calculate", Args: `{"broken`}},
		Usage: fakellm.Usage{Input: 100, Output: 20, CacheRead: 30},
	})
	srv := fakellm.New(t, script)
	for dialect, c := range conversations {
		_, plain, err := post(t, srv.URL(dialect)+c.path, fmt.Sprintf(c.body, false))
		if err != nil {
			t.Fatal(err)
		}
		status, stream, err := post(t, srv.URL(dialect)+c.path, fmt.Sprintf(c.body, true))
		if err != nil || status != 200 {
			t.Fatalf("%s: %d, %v", dialect, status, err)
		}
		text, args := assemble(t, dialect, stream)
		if text != "Grüße, 世界! a longer text that takes several pieces" {
			t.Errorf("%s: streamed text %q", dialect, text)
		}
		if len(args) != 2 || args[0] != `{"x":[1,2,3]}` || args[1] != `{"broken` {
			t.Errorf("%s: streamed arguments %q", dialect, args)
		}
		for _, want := range []string{"世界", "20"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: %q is not in %s", dialect, want, plain)
			}
		}
		if dialect == fakellm.Responses && !strings.Contains(stream, `"namespace":"mcp__world"`) {
			t.Errorf("the call has no namespace: %s", stream)
		}
	}
}

// assemble puts a stream together.
func assemble(t *testing.T, dialect, stream string) (text string, args []string) {
	t.Helper()
	at := map[int]*string{}
	add := func(i int, s string) {
		if at[i] == nil {
			at[i] = new(string)
		}
		*at[i] += s
	}
	for _, line := range strings.Split(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e struct {
			Type        string          `json:"type"`
			Index       int             `json:"index"`
			OutputIndex int             `json:"output_index"`
			Delta       json.RawMessage `json:"delta"`
			Choices     []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []struct {
						Index    int `json:"index"`
						Function struct {
							Arguments string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v in %s", dialect, err, data)
		}
		var delta struct {
			Text    string `json:"text"`
			Partial string `json:"partial_json"`
		}
		var piece string
		_ = json.Unmarshal(e.Delta, &delta)
		_ = json.Unmarshal(e.Delta, &piece)
		switch e.Type {
		case "content_block_delta":
			text += delta.Text
			if delta.Partial != "" {
				add(e.Index, delta.Partial)
			}
		case "response.output_text.delta":
			text += piece
		case "response.function_call_arguments.delta":
			add(e.OutputIndex, piece)
		}
		for _, c := range e.Choices {
			text += c.Delta.Content
			for _, tc := range c.Delta.ToolCalls {
				add(tc.Index, tc.Function.Arguments)
			}
		}
	}
	for i := range 10 {
		if at[i] != nil {
			args = append(args, *at[i])
		}
	}
	return text, args
}

func TestTurnsAndRunsAreApart(t *testing.T) {
	srv := fakellm.New(t, fakellm.Turns(fakellm.Text("first"), fakellm.Func(func(r fakellm.Request) fakellm.Reply {
		return fakellm.Text(fmt.Sprintf("second of %s", r.Run))
	})))
	ask := func(run string) string {
		_, body, err := post(t, srv.URL(run)+"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`)
		if err != nil {
			t.Error(err)
		}
		return body
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			run := fmt.Sprintf("r%d", i)
			if got := ask(run); !strings.Contains(got, `"first"`) {
				t.Errorf("%s: %s", run, got)
			}
			if got := ask(run); !strings.Contains(got, "second of "+run) {
				t.Errorf("%s: %s", run, got)
			}
			if got := ask(run); !strings.Contains(got, "the script has 2 turns and this is request 3") {
				t.Errorf("%s: %s", run, got)
			}
		})
	}
	wg.Wait()
	if got := len(srv.Runs()); got != 8 {
		t.Errorf("%d runs, want 8", got)
	}
}

// What the real servers refuse is refused before the script sees it, so that a broken agent loop does not pass here.
func TestRefusedRequests(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text("ok")))
	for _, c := range []struct{ path, body, want string }{
		{"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, "model: field required"},
		{"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens: field required"},
		{"/v1/messages", `{"model":"m","max_tokens":1,"temperature":0,"messages":[{"role":"user","content":"x"}]}`, "temperature"},
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"z"}]}]}`, "no tool call before it"},
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]},{"role":"user","content":"and?"}]}`, `\"a\" has no result`},
		{"/v1/messages", `{"model":"m","max_tokens":1,"tool_choice":{"type":"tool","name":"t"},"messages":[{"role":"user","content":"x"}]}`, "not found in provided tools"},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, "model"},
		{"/v1/chat/completions", `{"model":"m","messages":[]}`, "at least one message"},
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]}]}`, "has no result"},
		{"/v1/responses", `{"model":"m","input":[]}`, "'input'"},
		{"/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"q","output":"1"}]}`, "no tool call before it"},
		{"/v1/responses", `not json`, "not JSON"},
	} {
		status, body, err := post(t, srv.URL("bad")+c.path, c.body)
		if err != nil || status != 400 || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: got %d %v %s; want 400 with %q", c.path, c.body, status, err, body, c.want)
		}
	}
	for _, r := range srv.Requests("bad") {
		if r.Problem == "" {
			t.Errorf("request %d has no problem noted", r.N)
		}
	}
}

func TestAuthorizedAndStrays(t *testing.T) {
	srv := fakellm.New(t, fakellm.Authorized("secret", fakellm.Always(fakellm.Text("in"))))
	const ask = `{"model":"m","input":"hi"}`
	if status, body, _ := post(t, srv.URL("")+"/v1/responses", ask, "Authorization", "Bearer wrong"); status != 401 {
		t.Errorf("wrong key: %d %s", status, body)
	}
	if status, body, _ := post(t, srv.URL("")+"/responses", ask, "Authorization", "Bearer secret"); status != 200 {
		t.Errorf("right key, no /v1: %d %s", status, body)
	}
	if status, _, _ := post(t, srv.URL("r")+"/v1/telemetry", "{}"); status != 404 {
		t.Errorf("telemetry: %d", status)
	}
	if got := srv.Strays(); len(got) != 1 || got[0] != "POST /run/r/v1/telemetry" {
		t.Errorf("strays: %q", got)
	}
	req, _ := http.NewRequest(http.MethodPost, srv.URL("")+"/v1/responses", strings.NewReader(ask))
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("foreign host: %d", resp.StatusCode)
	}
}
