package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

// testAgent is an agent whose model is a script, with four turns a step.
func testAgent(t *testing.T, script fakellm.Script) (*Agent, *fakellm.Server) {
	t.Helper()
	srv := fakellm.New(t, script)
	return newAgent("test-model", 4, option.WithoutEnvironmentDefaults(), option.WithAPIKey("k"), option.WithBaseURL(srv.URL(""))), srv
}

// toolbox answers every tool by a text, and records the calls.
type toolbox struct {
	text   string
	before func()
	mu     sync.Mutex
	calls  []string
}

func (b *toolbox) CallTool(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	if b.before != nil {
		b.before()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, c.Tool+" "+string(c.Args))
	return tooleval.TextResult(strings.ReplaceAll(b.text, "ARGS", string(c.Args))), nil
}

func runEntry(t *testing.T, a *Agent, tools tooleval.ToolHandler, entry, input string) (tooleval.AgentResult, error) {
	t.Helper()
	as := tooleval.Assignment{EntryPoint: entry, Input: tooleval.Raw(input), Tools: localSpecs}
	return a.entryPoints()[entry].Run(t.Context(), as, tools)
}

const (
	extractEntry = "job_search.extract"
	posting      = `{"url":"https://a.example/1"}`
	fetchArgs    = `{"url":"https://a.example/1"}`
	goodJob      = `{"output":{"title":"T","company":"C","location":null,"salary":null,"employment_type":null,` +
		`"responsibilities":["r"],"requirements":["q"],"conflicts":[]},"answer":"Read."}`
)

var (
	fetches = fakellm.CallTool("fetch_webpage", fetchArgs)
	submits = fakellm.CallTool("submit", goodJob)
)

func TestStep(t *testing.T) {
	a, srv := testAgent(t, fakellm.UnforcedOnly(fakellm.Turns(
		fakellm.Reply{Text: "Let me look.", Calls: fetches.Calls, Usage: fakellm.Usage{Input: 100, Output: 7, CacheWrite: 90}},
		fakellm.Reply{Calls: submits.Calls, Usage: fakellm.Usage{Input: 300, Output: 50, CacheRead: 90, CacheWrite: 200}},
	)))
	box := &toolbox{text: "the page"}
	got, err := runEntry(t, a, box, extractEntry, posting)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"title":"T","company":"C","location":null,"salary":null,"employment_type":null,` +
		`"responsibilities":["r"],"requirements":["q"],"conflicts":[]}`
	if string(got.State) != want || got.Response != "Read." {
		t.Errorf("got state %s, response %q", got.State, got.Response)
	}
	if u := got.Usage; u == nil || *u.InputTokens != 400 || *u.CachedTokens != 90 || *u.OutputTokens != 57 || *u.Turns != 2 ||
		u.Model != "test-model" {
		t.Errorf("usage: %+v", got.Usage)
	}
	if diff := cmp.Diff([]string{"fetch_webpage " + fetchArgs}, box.calls); diff != "" {
		t.Errorf("calls:\n%s", diff)
	}
	requests := srv.Requests("")
	if got := requests[1].LastResult(); got.Text != "the page" || got.IsError {
		t.Errorf("the model was told %+v", got)
	}
	var names []string
	for _, tool := range requests[0].Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"fetch_webpage", "submit"}) || requests[0].System != extractPrompt {
		t.Errorf("tools %q, system %q", names, requests[0].System)
	}
	// The schema goes out as it was written, and the parts that stay the same are marked for the cache.
	var wire struct {
		CacheControl any `json:"cache_control"`
		System       []struct {
			CacheControl any `json:"cache_control"`
		}
		Tools []struct {
			CacheControl any             `json:"cache_control"`
			InputSchema  json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(requests[1].Raw, &wire); err != nil {
		t.Fatal(err)
	}
	if wire.CacheControl == nil || wire.System[0].CacheControl == nil || wire.Tools[1].CacheControl == nil ||
		wire.Tools[0].CacheControl != nil {
		t.Errorf("cache marks: %s", requests[1].Raw)
	}
	if string(wire.Tools[1].InputSchema) != submitSchema(jobSchema) {
		t.Errorf("schema: %s", wire.Tools[1].InputSchema)
	}
}

// The calls of one turn are served at the same time, and each answer goes to its call.
func TestParallelToolUse(t *testing.T) {
	both := sync.WaitGroup{}
	both.Add(2)
	box := &toolbox{text: "about ARGS", before: func() { both.Done(); both.Wait() }}
	a, srv := testAgent(t, fakellm.Turns(
		fakellm.CallTools(fakellm.Call{ID: "one", Name: "fetch_webpage", Args: `{"url":"1"}`},
			fakellm.Call{ID: "two", Name: "fetch_webpage", Args: `{"url":"2"}`}),
		submits,
	))
	if _, err := runEntry(t, a, box, extractEntry, posting); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range srv.Requests("")[1].Results() {
		got = append(got, r.ID+": "+r.Text)
	}
	if diff := cmp.Diff([]string{`one: about {"url":"1"}`, `two: about {"url":"2"}`}, got); diff != "" {
		t.Error(diff)
	}
}

// A call outside the step's tools is answered by the agent itself, though the task would allow it.
func TestOutsideTheStepsTools(t *testing.T) {
	box := &toolbox{text: "page"}
	a, srv := testAgent(t, fakellm.Turns(fakellm.CallTool("save_output", `{"filename":"x","content":"y"}`), fetches, submits))
	if _, err := runEntry(t, a, box, extractEntry, posting); err != nil {
		t.Fatal(err)
	}
	if len(box.calls) != 1 {
		t.Errorf("forwarded: %q", box.calls)
	}
	if r := srv.Requests("")[1].LastResult(); !r.IsError || !strings.Contains(r.Text, "there are: fetch_webpage, submit") {
		t.Errorf("the model was told %+v", r)
	}
}

// One output that can't be used is answered with the reason; a second one ends the run.
func TestCorrection(t *testing.T) {
	bad := fakellm.CallTool("submit", `{"output":{"responsibilities":[{"a":1}]},"answer":"x"}`)
	tests := []struct {
		name  string
		turns []fakellm.Turn
		told  string // in the request after the problem
		err   string
	}{
		{"a call with the submit", []fakellm.Turn{fakellm.CallTools(fetches.Calls[0], submits.Calls[0]), submits}, "call submit alone", ""},
		{"nothing was called", []fakellm.Turn{submits, fetches, submits}, "call fetch_webpage before", ""},
		{"wrong types", []fakellm.Turn{fetches, bad, submits}, "doesn't fit its schema", ""},
		{"words alone", []fakellm.Turn{fetches, fakellm.Text("All done!"), submits}, "End with one call of submit", ""},
		{"nothing at all", []fakellm.Turn{fetches, fakellm.Text(""), submits}, "End with one call of submit", ""},
		{"words with JSON", []fakellm.Turn{fetches, fakellm.Text("Here it is:\n```json\n" + goodJob + "\n```")}, "", ""},
		{"twice", []fakellm.Turn{fetches, bad, bad}, "", "no usable output, after one correction"},
		{"two different ones", []fakellm.Turn{submits, fetches, fakellm.Text("?"), submits}, "", "no usable output, after one correction"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, srv := testAgent(t, fakellm.Turns(test.turns...))
			got, err := runEntry(t, a, &toolbox{text: "page"}, extractEntry, posting)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q", err, test.err)
				}
				if owner, _ := tooleval.BlamedOn(err); owner != "" && owner != tooleval.OwnerAgent {
					t.Errorf("blamed on %s", owner)
				}
				return
			}
			if err != nil || !strings.Contains(string(got.State), `"title":"T"`) {
				t.Fatalf("got %s, error %v", got.State, err)
			}
			all := ""
			for _, r := range srv.Requests("") {
				all += string(r.Raw)
			}
			if !strings.Contains(all, test.told) {
				t.Errorf("the model was never told %q", test.told)
			}
		})
	}
}

func TestWrongInput(t *testing.T) {
	a, srv := testAgent(t, submitsAlways)
	for entry, input := range map[string]string{
		"job_search.extract": `{"url":" "}`, "job_search.research": `{}`, "job_search.analyze": ``, "job_search.synthesize": `{"job_details":null}`,
		"job_search.pipeline": `[1]`,
	} {
		_, err := runEntry(t, a, &toolbox{}, entry, input)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser || !strings.Contains(err.Error(), "input") {
			t.Errorf("%s: got %v, blamed on %q", entry, err, owner)
		}
	}
	_, err := a.entryPoints()[extractEntry].Run(t.Context(), tooleval.Assignment{Input: tooleval.Raw(posting)}, &toolbox{})
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser || !strings.Contains(err.Error(), "fetch_webpage is needed") {
		t.Errorf("without tools: got %v, blamed on %q", err, owner)
	}
	if n := len(srv.Requests("")); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// What the harness or the world broke ends the run, with its owner.
func TestBrokenWorld(t *testing.T) {
	a, _ := testAgent(t, fakellm.Always(fetches))
	_, err := runEntry(t, a, tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.ToolResult{}, tooleval.Blamef(tooleval.OwnerWorld, "the disk is full")
	}), extractEntry, posting)
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
		t.Errorf("got %v, blamed on %q", err, owner)
	}
}

func TestCancelled(t *testing.T) {
	stop := errors.New("time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	a, _ := testAgent(t, fakellm.Always(fakellm.Func(func(fakellm.Request) fakellm.Reply {
		cancel(stop)
		return fakellm.Hang()
	})))
	_, err := a.entryPoints()[extractEntry].Run(ctx, tooleval.Assignment{Input: tooleval.Raw(posting), Tools: localSpecs}, &toolbox{})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
