package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/jobmind"
)

// pages plays the tools for the mind of the fake model.
func pages(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	switch c.Tool {
	case "fetch_webpage":
		return tooleval.TextResult("Title: Engineer\n\n**Company:** Acme\n\n## Requirements\n\n- Go\n"), nil
	case "web_search":
		found := []map[string]string{{"title": "t", "url": "https://acme.example", "snippet": "Acme"}}
		return tooleval.JSONResult(map[string]any{"results": found}), nil
	case "read_resume":
		return tooleval.TextResult("I have written Go for seven years, in a team of twenty people."), nil
	}
	return tooleval.TextResult("saved"), nil
}

// The pipeline asks the model exactly what the steps ask by themselves.
func TestPipelineIsItsSteps(t *testing.T) {
	a, srv := testAgent(t, jobmind.Script(jobmind.Options{}))
	whole, err := runEntry(t, a, tooleval.ToolHandlerFunc(pages), "job_search.pipeline", posting)
	if err != nil {
		t.Fatal(err)
	}
	piped := bodies(srv)
	var p map[string]json.RawMessage
	if err := json.Unmarshal(whole.State, &p); err != nil {
		t.Fatal(err)
	}
	both := fmt.Sprintf(`{"job_details":%s,"company_briefing":%s}`, p["job_details"], p["company_briefing"])
	b, srv := testAgent(t, jobmind.Script(jobmind.Options{}))
	for _, s := range []struct{ entry, input string }{
		{"job_search.extract", posting}, {"job_search.research", `{"company":"Acme"}`}, {"job_search.analyze", both},
		{"job_search.synthesize", string(whole.State)},
	} {
		if _, err := runEntry(t, b, tooleval.ToolHandlerFunc(pages), s.entry, s.input); err != nil {
			t.Fatal(s.entry, err)
		}
	}
	if diff := cmp.Diff(bodies(srv), piped); diff != "" || len(piped) != 8 {
		t.Errorf("%d requests:\n%s", len(piped), diff)
	}
	if *whole.Usage.Turns != 8 || whole.Response == "" {
		t.Errorf("usage %+v, response %q", whole.Usage, whole.Response)
	}
}

// bodies are what was sent, without the ids of calls, which count the requests of a run.
func bodies(srv *fakellm.Server) []string {
	var all []string
	for _, r := range srv.Requests("") {
		text := string(r.Raw)
		for i := range 10 {
			for k := range 3 {
				text = strings.ReplaceAll(text, fmt.Sprintf("_%d_%d", i, k), "")
			}
		}
		all = append(all, text)
	}
	return all
}

// A posting that can't be read ends the pipeline with an honest answer.
func TestPipelineEndsEarly(t *testing.T) {
	a, _ := testAgent(t, jobmind.Script(jobmind.Options{}))
	box := &toolbox{text: "Sign in to read on."}
	got, err := runEntry(t, a, box, "job_search.pipeline", posting)
	if err != nil || len(box.calls) != 1 || !strings.Contains(string(got.Response), "could not read") ||
		!strings.HasSuffix(string(got.State), `"company_briefing":null,"fit_analysis":null}`) {
		t.Errorf("got %s, %q, error %v, calls %q", got.State, got.Response, err, box.calls)
	}
}

// A report that was never saved is no report.
func TestReportMustBeSaved(t *testing.T) {
	refuse := tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.ErrorResult("the disk is full"), nil
	})
	save := fakellm.CallTool("save_output", `{"filename":"r.md","content":"x"}`)
	done := fakellm.CallTool("submit", `{"output":{"filename":"r.md"},"answer":"Saved."}`)
	a, _ := testAgent(t, fakellm.Turns(save, done, done))
	_, err := runEntry(t, a, refuse, "job_search.synthesize", `{"job_details":{"title":"T"}}`)
	if err == nil || !strings.Contains(err.Error(), "save_output has not succeeded yet") {
		t.Errorf("got %v", err)
	}
}
