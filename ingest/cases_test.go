package ingest_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/ingest"
)

const toolSays = `,{"role":"tool","tool_call_id":"","content":"ok"}`

func TestM18MalformedCallEntries(t *testing.T) {
	tests := []struct{ calls, want string }{
		{`[{}]`, "malformed call at index 0: its function is missing"},
		{`["x"]`, "malformed call at index 0: it is a string, want an object"},
		{`[{"function":null}]`, "malformed call at index 0: its function is null"},
		{`[{"function":{}}]`, "malformed call at index 0: it names no function"},
		{`[null]`, "malformed call at index 0: it is null, want an object"},
		{`"x"`, "malformed call at index 0: it is a string, want an object"},
		{`[]`, ""},
		{`null`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.calls, func(t *testing.T) {
			r := one(t, `[{"role":"user","content":"x"},{"role":"assistant","content":"hi","tool_calls":`+tt.calls+`}]`, ingest.OpenAIChat)
			if tt.want == "" {
				if len(r.Trajectory.Calls) != 0 || len(r.Said) != 1 {
					t.Errorf("got %d calls, said %q", len(r.Trajectory.Calls), r.Said)
				}
				return
			}
			c := r.Trajectory.Calls[0]
			if c.ArgsError != tt.want || c.Status != tooleval.CallRefused || c.Args != nil {
				t.Errorf("got %+v, want the arguments' error %q", c, tt.want)
			}
			if len(r.Warnings) == 0 || !strings.Contains(string(r.Warnings[0]), tt.want) {
				t.Errorf("warnings %q", r.Warnings)
			}
			if len(r.Said) != 0 {
				t.Errorf("text beside a malformed call was taken as said: %q", r.Said)
			}
		})
	}
	// The same in the other dialects, with a sound call beside it that is kept.
	for format, text := range map[ingest.Format]string{
		ingest.Anthropic:       `[{"role":"assistant","content":[{"type":"tool_use","id":"1"},{"type":"tool_use","id":"2","name":"f","input":{}}]}]`,
		ingest.Gemini:          `[{"role":"model","parts":[{"functionCall":null},{"functionCall":{"name":"f"}}]}]`,
		ingest.OpenAIResponses: `[{"type":"function_call"},{"type":"function_call","name":"f","arguments":"{}"}]`,
		ingest.Tau2Bench:       `{"simulations":[{"messages":[{"role":"assistant","tool_calls":["x",{"name":"f","arguments":{}}]}]}]}`,
		ingest.Inspect:         `{"samples":[{"messages":[{"role":"assistant","content":"","tool_calls":[{},{"function":"f","arguments":{}}]}]}]}`,
		ingest.MCP:             `[{"jsonrpc":"2.0","id":1,"method":"tools/call"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"f"}}]`,
	} {
		r := one(t, text, format)
		if n := len(r.Trajectory.Calls); n != 2 {
			t.Errorf("%s: got %d calls, want 2", format, n)
			continue
		}
		if c := r.Trajectory.Calls[0]; !strings.HasPrefix(c.ArgsError, "malformed call at index 0") {
			t.Errorf("%s: got %+v", format, c)
		}
		if c := r.Trajectory.Calls[1]; c.Tool != "f" || c.ArgsError != "" || string(c.Args) != "{}" {
			t.Errorf("%s: got %+v", format, c)
		}
	}
}

func TestM19BrokenArgumentsAreKept(t *testing.T) {
	tests := []struct{ field, text, want string }{
		{`,"arguments":"{\"q\":\"a \"b\"\"}"`, `{"q":"a "b""}`, "arguments are not JSON: "},
		{`,"arguments":"{\"q\":\"abc"`, `{"q":"abc`, "arguments are not JSON: "},
		{``, ``, "the call has no arguments"},
		{`,"arguments":"[1]"`, `[1]`, "arguments are an array, want an object"},
		{`,"arguments":null`, `null`, "arguments are null, want an object"},
		{`,"arguments":"{} {}"`, `{} {}`, "arguments are not JSON: "},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			r := one(t, `[{"role":"assistant","content":null,"tool_calls":[{"id":"","function":{"name":"f"`+tt.field+`}}]}`+toolSays+`]`, ingest.OpenAIChat)
			c := r.Trajectory.Calls[0]
			if !strings.HasPrefix(c.ArgsError, tt.want) || string(c.ArgsText) != tt.text {
				t.Errorf("got error %q text %q, want %q %q", c.ArgsError, c.ArgsText, tt.want, tt.text)
			}
			if c.Status == tooleval.CallOK || string(c.Args) == "{}" {
				t.Errorf("it could satisfy a requirement: %+v", c)
			}
			if c.Result.Text != "ok" {
				t.Errorf("the recorded result is lost: %+v", c.Result)
			}
		})
	}
}

func TestM21NamesOnlyByExplicitAlias(t *testing.T) {
	call := func(names ...string) string {
		text := `[{"role":"user","content":"x"}`
		for _, n := range names {
			text += `,{"role":"assistant","tool_calls":[{"function":{"name":"` + n + `","arguments":"{}"}}]}` + toolSays
		}
		return text + `]`
	}
	aliases, err := ingest.ParseAliases([]string{"mcp__my_docs__*=*", "mcp_my_docs_search=search", "my_docs-search=search"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mcp__my_docs__search", "mcp_my_docs_search", "my_docs-search", "search"} {
		list, errs := readText(t, call(name), ingest.Options{Aliases: aliases})
		if len(errs) > 0 || list[0].Trajectory.Calls[0].Tool != "search" {
			t.Errorf("%s: got %+v, %v", name, list, errs)
		}
		list, errs = readText(t, call(name), ingest.Options{})
		if len(errs) > 0 || list[0].Trajectory.Calls[0].Tool != name {
			t.Errorf("%s without an alias: got %+v, %v", name, list, errs)
		}
	}
	// Two servers with the same tool.
	both, err := ingest.ParseAliases([]string{"mcp__a__search=search", "mcp__b__search=search"})
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := readText(t, call("mcp__a__search", "mcp__b__search"), ingest.Options{Aliases: both}); len(errs) != 1 ||
		!strings.Contains(errs[0].Error(), `"mcp__a__search" and "mcp__b__search" are both called`) {
		t.Errorf("two tools became one: %v", errs)
	}
	items := `[{"type":"mcp_call","name":"search","server_label":"a","arguments":"{}","output":"1"},
		{"type":"mcp_call","name":"search","server_label":"b","arguments":"{}","error":"no"}]`
	if _, errs := readText(t, items, ingest.Options{}); len(errs) != 1 {
		t.Errorf("two servers' tools became one: %v", errs)
	}
	apart, _ := ingest.ParseAliases([]string{"a/search=search_a", "b/*=b_*"})
	list, errs := readText(t, items, ingest.Options{Aliases: apart})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if c := list[0].Trajectory.Calls; c[0].Tool != "search_a" || c[1].Tool != "b_search" || c[0].Status != tooleval.CallOK || c[1].Status != tooleval.CallToolError {
		t.Errorf("got %+v", c)
	}
	for _, bad := range [][]string{{"x"}, {"=y"}, {"a=b", "a=c"}, {"a*=b"}, {"*a*=b*"}} {
		if _, err := ingest.ParseAliases(bad); err == nil {
			t.Errorf("aliases %q: want an error", bad)
		}
	}
}

func TestE21EndingsAreNeverGuessed(t *testing.T) {
	tests := []struct {
		name, text string
		format     ingest.Format
		ending     tooleval.Ending
		owner      tooleval.Owner
	}{
		{"chat ends with words", `[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]`, ingest.OpenAIChat, tooleval.Completed, ""},
		{"chat ends with the user", `[{"role":"assistant","content":"y"},{"role":"user","content":"x"}]`, ingest.OpenAIChat, "", ""},
		{"chat ends with a result", `[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}` + toolSays + `]`, ingest.OpenAIChat, "", ""},
		{"chat was cut off", `{"messages":[],"choices":[{"message":{"role":"assistant","content":"y"},"finish_reason":"length"}]}`, ingest.OpenAIChat, tooleval.LimitReached, ""},
		{"a word that is not known", `{"ending":"fine","messages":[{"role":"user","content":"x"}]}`, ingest.OpenAIChat, "", ""},
		{"responses failed", `{"object":"response","status":"failed","error":{"message":"429"},"output":[]}`, ingest.OpenAIResponses, tooleval.Errored, tooleval.OwnerInfra},
		{"anthropic was cut off", `[{"role":"assistant","content":"y","stop_reason":"max_tokens"}]`, ingest.Anthropic, tooleval.LimitReached, ""},
		{"tau: too long", `[{"task_id":1,"reward":0,"traj":[{"role":"user","content":"x"}],"info":{"reward_info":null}}]`, ingest.TauBench, tooleval.LimitReached, tooleval.OwnerAgent},
		{"tau: nothing said about it", `[{"task_id":1,"reward":0,"traj":[{"role":"user","content":"x"}],"info":{}}]`, ingest.TauBench, "", ""},
		{"tau: crashed", `[{"task_id":1,"reward":0,"traj":[],"info":{"error":"rate limit"}}]`, ingest.TauBench, tooleval.Errored, tooleval.OwnerInfra},
		{"tau2: errors", `{"simulations":[{"messages":[],"termination_reason":"too_many_errors"}]}`, ingest.Tau2Bench, tooleval.LimitReached, tooleval.OwnerAgent},
		{"tau2: infra", `{"simulations":[{"messages":[],"termination_reason":"infrastructure_error"}]}`, ingest.Tau2Bench, tooleval.Errored, tooleval.OwnerInfra},
		{"tau2: new word", `{"simulations":[{"messages":[],"termination_reason":"sunspots"}]}`, ingest.Tau2Bench, "", ""},
		{"tau2: no word", `{"simulations":[{"messages":[]}]}`, ingest.Tau2Bench, "", ""},
		{"inspect: error", `{"samples":[{"messages":[],"error":{"message":"boom"}}]}`, ingest.Inspect, tooleval.Errored, tooleval.OwnerInfra},
		{"inspect: time", `{"samples":[{"messages":[],"limit":{"type":"time","limit":3}}]}`, ingest.Inspect, tooleval.TimedOut, tooleval.OwnerAgent},
		{"neutral: none", `{"recording":1,"task_id":"t"}`, ingest.Neutral, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, tt.text, tt.format)
			if r.Ending != tt.ending || r.ErrorOwner != tt.owner {
				t.Errorf("got %q of %q (%s), want %q of %q", r.Ending, r.ErrorOwner, r.Error, tt.ending, tt.owner)
			}
			if warned := strings.Contains(fmt.Sprint(r.Warnings), "does not show how the run ended"); warned != (tt.ending == "") {
				t.Errorf("warnings %q", r.Warnings)
			}
			if tt.ending != "" {
				return
			}
			list, _ := readText(t, tt.text, ingest.Options{Format: tt.format, Ending: tooleval.Completed})
			if list[0].Ending != tooleval.Completed {
				t.Errorf("a declared ending is not taken: %q", list[0].Ending)
			}
		})
	}
}

func TestL12UsageIsCountedOnce(t *testing.T) {
	step := func(id string) string {
		return `{"id":"` + id + `","role":"assistant","content":"x","usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5}}`
	}
	u := one(t, `[`+step("a")+`,`+step("a")+`,{"role":"user","content":"y"},`+step("b")+`]`, ingest.Anthropic).Result.Usage
	if *u.InputTokens != 200 || *u.CachedTokens != 180 || *u.OutputTokens != 10 || *u.Turns != 2 || u.CostUSD != nil {
		t.Errorf("anthropic: got %d %d %d %d %v", *u.InputTokens, *u.CachedTokens, *u.OutputTokens, *u.Turns, u.CostUSD)
	}
	if got, want := string(u.Vendor), `[{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5},{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5}]`; got != want {
		t.Errorf("the vendor's own records: got %s", got)
	}
	ten := strings.Repeat(`{"role":"assistant","content":"x","usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":90}}},`, 10)
	u = one(t, `[{"role":"system","content":"s"},`+strings.TrimSuffix(ten, ",")+`]`, ingest.OpenAIChat).Result.Usage
	if *u.InputTokens != 1000 || *u.CachedTokens != 900 || *u.OutputTokens != 50 || *u.Turns != 10 {
		t.Errorf("openai: got %d %d %d %d", *u.InputTokens, *u.CachedTokens, *u.OutputTokens, *u.Turns)
	}
	if u := one(t, `[{"role":"system","content":"s"}]`, ingest.OpenAIChat).Result.Usage; u != nil {
		t.Errorf("nothing was reported: %+v", u)
	}
}

func TestM27TheCallerIsKept(t *testing.T) {
	text := `{"resourceSpans":[{"scopeSpans":[{"spans":[
		{"traceId":"t","spanId":"p","startTimeUnixNano":"0","endTimeUnixNano":"9","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"planner"}}]},
		{"traceId":"t","spanId":"w","parentSpanId":"p","startTimeUnixNano":"1","endTimeUnixNano":"8","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"worker"}}]},
		{"traceId":"t","spanId":"1","parentSpanId":"p","startTimeUnixNano":"2","endTimeUnixNano":"3","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"plan"}}]},
		{"traceId":"t","spanId":"2","parentSpanId":"w","startTimeUnixNano":"4","endTimeUnixNano":"5","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"write"}}]}
	]}]}]}`
	c := one(t, text, ingest.OTLP).Trajectory.Calls
	if c[0].Caller != "planner" || c[1].Caller != "worker" || c[1].Tool != "write" {
		t.Errorf("got %+v", c)
	}
	if c[0].ArgsError != "the call has no arguments" {
		t.Errorf("arguments that were not captured: got %q", c[0].ArgsError)
	}
	r := one(t, `{"recording":1,"task_id":"t","calls":[{"tool":"write","args":{},"caller":"worker","result":"ok"}]}`, ingest.Neutral)
	if r.Trajectory.Calls[0].Caller != "worker" {
		t.Errorf("got %+v", r.Trajectory.Calls)
	}
}

// TestRepeatedIDsPairByPosition: one id for all calls; a result belongs to the newest message that waits for one.
func TestRepeatedIDsPairByPosition(t *testing.T) {
	call := func(args string) string {
		return `{"role":"assistant","tool_calls":[{"id":"same","function":{"name":"f","arguments":"` + args + `"}}]}`
	}
	r := one(t, `[`+call("{}")+`,`+call("{}")+`,{"role":"tool","tool_call_id":"same","content":"second"},`+call("{}")+
		`,{"role":"tool","tool_call_id":"same","content":"third"},{"role":"tool","tool_call_id":"other","content":"lost"}]`, ingest.OpenAIChat)
	var got []string
	for _, c := range r.Trajectory.Calls {
		got = append(got, string(c.Status)+" "+string(c.Result.Text))
	}
	if d := cmp.Diff([]string{"cancelled ", "ok second", "ok third"}, got); d != "" {
		t.Error(d)
	}
	if !strings.Contains(fmt.Sprint(r.Warnings), `answers no call`) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestTextIsNeverACall(t *testing.T) {
	prose := `I call {\"name\":\"add\",\"arguments\":{\"a\":1}} <tool_call>{\"name\":\"add\"}</tool_call>`
	r := one(t, `[{"role":"system","content":"x"},{"role":"assistant","content":"`+prose+`"}]`, ingest.OpenAIChat)
	if len(r.Trajectory.Calls) != 0 || len(r.Said) != 1 {
		t.Errorf("got %+v", r.Trajectory.Calls)
	}
}

func TestErrorsOnlyByTheFormatsRule(t *testing.T) {
	r := one(t, `[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"Error: it looks like one"}]`, ingest.OpenAIChat)
	if c := r.Trajectory.Calls[0]; c.Status != tooleval.CallOK {
		t.Errorf("guessed: %+v", c)
	}
	for _, f := range ingest.Formats() {
		if f.What() == "" || f.ErrorRule() == "" {
			t.Errorf("%s has no words", f)
		}
	}
}

func TestDetectSaysWhatItMayBe(t *testing.T) {
	tests := []struct{ text, want string }{
		{`[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]`, "it may be any of: openai-chat, anthropic; name one with --format"},
		{`{"a":1}`, "it is of no format that is known"},
		{`{"messages":[]}`, "it is of no format that is known"},
		{`hello`, `it is neither JSON nor a zip archive: it begins with 'h'`},
		{``, "the file is empty"},
		{`[1,2`, "line 1: the file stops in the middle"},
		{`{"a":1`, "stops in the middle"},
	}
	for _, tt := range tests {
		_, errs := readText(t, tt.text, ingest.Options{})
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.text, errs, tt.want)
		}
	}
	var d *ingest.DetectError
	_, errs := readText(t, tests[0].text, ingest.Options{})
	if !errors.As(errs[0], &d) || len(d.Candidates) != 2 {
		t.Errorf("got %v", errs)
	}
	if list, errs := readText(t, tests[0].text, ingest.Options{Format: ingest.Anthropic}); len(errs) > 0 || len(list) != 1 {
		t.Errorf("a named format: got %v", errs)
	}
	if _, err := ingest.ParseFormat("taubench"); err == nil || !strings.Contains(err.Error(), `did you mean "tau-bench"`) {
		t.Errorf("got %v", err)
	}
}

// TestOneBadLineSparesTheOthers: a line that was cut off by a kill is an error with its place.
func TestOneBadLineSparesTheOthers(t *testing.T) {
	good := `{"recording":1,"task_id":"t"}` + "\n"
	list, errs := readText(t, good+`{"recording":1,"task`+"\n"+good+"\n"+`{"recording":1,"task_id":"t","cals":[]}`+"\n"+good, ingest.Options{})
	if len(list) != 3 || len(errs) != 2 {
		t.Fatalf("got %d recordings, errors %v", len(list), errs)
	}
	if got := errs[0].Error(); !strings.HasPrefix(got, "test: recording 2: not JSON") {
		t.Errorf("got %q", got)
	}
	if got := errs[1].Error(); !strings.Contains(got, `recording 4: unknown key "cals" (did you mean "calls"?)`) {
		t.Errorf("got %q", got)
	}
}

func TestNeutralIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		`{"recording":2}`:                                                 "update tooleval",
		`{"recording":"1"}`:                                               "recording is a string, want a whole number",
		`{"recording":1,"trial":-1}`:                                      "trial is -1, want a whole number from 0 on",
		`{"recording":1,"ending":"done"}`:                                 `ending "done" is not known`,
		`{"recording":1,"ending":"error"}`:                                "needs error_owner",
		`{"recording":1,"calls":[{"args":{}}]}`:                           "calls[0]: it names no tool",
		`{"recording":1,"calls":[{"tool":"f","arg":{}}]}`:                 `calls[0]: unknown key "arg" (did you mean "args"?)`,
		`{"recording":1,"calls":{}}`:                                      "calls is an object, want a list of calls",
		`{"recording":1,"calls":[{"tool":"f","status":"x"}]}`:             `status "x" is not known`,
		`{"recording":1,"calls":[{"tool":"f","args":{},"args_text":""}]}`: "give one",
		`{"recording":1,"task_id":"a","task_id":"b"}`:                     "written twice",
		`{"recording":1,"said":[1]}`:                                      "said[0] is a number, want a string",
		`[]`:                                                              "there is no recording",
		`{"recording":1,"error_owner":"me"}`:                              `error_owner "me" is not known`,
	} {
		_, errs := readText(t, text, ingest.Options{Format: ingest.Neutral})
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%s: got %v, want %q", text, errs, want)
		}
	}
}

// TestL07OddBytesAreKept: bytes that are no UTF-8 and lone surrogates come through.
func TestL07OddBytesAreKept(t *testing.T) {
	r := one(t, `[{"role":"system","content":"x"},{"role":"assistant","tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"a`+"\xff"+`\ud83d"},{"role":"assistant","content":"`+"\xfe"+`"}]`, ingest.OpenAIChat)
	if got := string(r.Trajectory.Calls[0].Result.Text); got != "a\xff\xed\xa0\xbd" {
		t.Errorf("got %q", got)
	}
	if r.Said[0] != "\xfe" {
		t.Errorf("got %q", r.Said[0])
	}
}

func TestBounds(t *testing.T) {
	big := `[{"role":"system","content":"` + strings.Repeat("x", 5000) + `"}]`
	_, errs := readText(t, big, ingest.Options{MaxRecord: 1000})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "more than 1000 bytes") {
		t.Errorf("got %v", errs)
	}
	// An archive that unpacks to more than its size says.
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	w, _ := z.Create("samples/a_epoch_1.json")
	w.Write([]byte(`{"id":"a","messages":[],"x":"` + strings.Repeat(" ", 1<<20) + `"}`))
	w, _ = z.Create("samples/b_epoch_1.json")
	w.Write([]byte(`{"id":"b","messages":[]}`))
	z.Close()
	list, errs := readText(t, buf.String(), ingest.Options{MaxRecord: 10000})
	if len(errs) != 1 || len(list) != 1 || list[0].TaskID != "b" {
		t.Errorf("got %v, %v", list, errs)
	}
	// Deep nesting costs no stack.
	deep := strings.Repeat("[", 200000) + strings.Repeat("]", 200000)
	if _, errs := readText(t, deep, ingest.Options{}); len(errs) == 0 {
		t.Error("nesting of 200000: want an error")
	}
}

// TestOwnRunsAreKept: a stored run comes back whole, with its own channel, and of two attempts the newest.
func TestOwnRunsAreKept(t *testing.T) {
	run := tooleval.Run{SchemaVersion: 1, Eval: "e", Suite: "s", TaskID: "t", Index: 3, Mind: "m", Ending: tooleval.Completed,
		State: tooleval.Raw(`{"a":1}`), StateFrom: "world", Result: tooleval.AgentResult{Response: "hi"},
		Score: tooleval.TaskScore{Verdict: tooleval.Passed, Outcome: tooleval.Outcome{Score: tooleval.Scored(1)}}, Started: time.Unix(100, 0).UTC(),
		Trajectory: tooleval.Trajectory{Channel: tooleval.OverMCP, Calls: []tooleval.Call{{Began: 1, Ended: 2, Tool: "f", Args: tooleval.Raw(`{"x":[1]}`), Status: tooleval.CallOK}}}}
	dir := t.TempDir()
	write := func(name string, v any) {
		b, err := json.MarshalIndent(v, "", "  ")
		if err == nil {
			os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("eval.json", tooleval.Eval{SchemaVersion: 1, ID: "e"})
	write("runs/z.json", run)
	old := run
	old.Started, old.Result.Response = time.Unix(50, 0).UTC(), "old"
	write("runs/a.json", old)
	write("runs/.tmp.json", "x")
	trivial := run
	trivial.Baseline = "do-nothing"
	write("runs/b.json", trivial)
	for _, path := range []string{dir, filepath.Join(dir, "runs", "z.json")} {
		list := readAll(t, path, ingest.Options{})
		if len(list) != 1 {
			t.Fatalf("%s: got %d recordings", path, len(list))
		}
		r := list[0]
		if r.Run == nil || r.Result.Response != "hi" || r.Trajectory.Channel != tooleval.OverMCP || string(r.Trajectory.Calls[0].Args) != `{"x":[1]}` ||
			string(r.State) != `{"a":1}` || r.Index != 3 || r.Given.Passed == nil || !*r.Given.Passed {
			t.Errorf("%s: got %+v", path, r)
		}
	}
	newer := run
	newer.SchemaVersion = 99
	write("runs/c.json", newer)
	n := 0
	for _, err := range ingest.Read(dir, ingest.Options{}) {
		if err != nil && strings.Contains(err.Error(), "runs/c.json: schema version 99 is newer") {
			n++
		}
	}
	if n != 1 {
		t.Error("a file of a newer version is not named")
	}
}
