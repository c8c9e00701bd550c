package taxonomy_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/taxonomy"
)

type change func(*tooleval.Run)

// failed is a run that failed although nothing is wrong with its path: search and pay were required, and called.
func failed(changes ...change) *tooleval.Run {
	run := &tooleval.Run{
		Ending: tooleval.Completed,
		Task: tooleval.Task{
			Toolset:       []string{"search", "pay", "drop"},
			Required:      []tooleval.CallPattern{{Tool: "search"}, {Tool: "pay", Args: tooleval.Match(map[string]any{"id": 7})}},
			Forbidden:     []tooleval.CallPattern{{Tool: "drop"}},
			MinimalCalls:  tooleval.Minimum(2),
			ExpectedState: tooleval.Match(map[string]any{"paid": true, "id": 7}),
		},
		Result:    tooleval.AgentResult{Response: "done"},
		State:     tooleval.Raw(`{"paid":false,"id":8}`),
		StateFrom: "world",
		Score: tooleval.TaskScore{
			Verdict: tooleval.Failed,
			Outcome: tooleval.Outcome{Score: tooleval.Scored(0), Diff: []tooleval.Difference{
				{Path: "$.id", Want: tooleval.Raw("7"), Got: tooleval.Raw("8")},
				{Path: "$.paid", Want: tooleval.Raw("true"), Got: tooleval.Raw("false")},
			}},
			Process: tooleval.Process{Score: tooleval.Scored(1)},
		},
	}
	calls(`search {"q":"boots"}`, `pay {"id":7}`)(run)
	run.Score.Process.Score = tooleval.Scored(1)
	for _, c := range changes {
		c(run)
	}
	return run
}

// calls replaces the trajectory by calls one after the other, each written as `tool {args}`.
func calls(list ...string) change {
	return func(run *tooleval.Run) {
		run.Trajectory.Calls = nil
		for _, s := range list {
			add(s, tooleval.CallOK)(run)
		}
		partly(run)
	}
}

// add adds a call at the end.
func add(s string, status tooleval.CallStatus) change {
	return func(run *tooleval.Run) {
		n := len(run.Trajectory.Calls)
		tool, args, _ := strings.Cut(s, " ")
		run.Trajectory.Calls = append(run.Trajectory.Calls, tooleval.Call{
			Began: 10 + 2*n, Ended: 11 + 2*n, Tool: tool, Args: tooleval.Raw(args), Status: status,
			Result: tooleval.ToolResult{Text: tooleval.Text(string(status) + " of " + tool), IsError: status == tooleval.CallToolError}})
	}
}

func last(f func(*tooleval.Call)) change {
	return func(run *tooleval.Run) { f(&run.Trajectory.Calls[len(run.Trajectory.Calls)-1]) }
}

func ended(e tooleval.Ending, owner tooleval.Owner) change {
	return func(run *tooleval.Run) { run.Ending, run.ErrorOwner, run.Error = e, owner, "what happened" }
}

// partly is a process that is not perfect.
func partly(run *tooleval.Run) { run.Score.Process.Score = tooleval.Scored(0.5) }

func noState(run *tooleval.Run) {
	run.State, run.Score.Outcome.Diff = nil, nil
}

func silent(run *tooleval.Run) { run.Result.Response = " " }

func incomplete(run *tooleval.Run) { run.Trajectory.Incomplete = "not all seen" }

// lacking is a final state with nothing in it that was expected.
func lacking(from string) change {
	return func(run *tooleval.Run) {
		run.State, run.StateFrom = tooleval.Raw(`{}`), from
		run.Score.Outcome.Diff = []tooleval.Difference{{Path: "$.id", Want: tooleval.Raw("7")}, {Path: "$.paid", Want: tooleval.Raw("true")}}
	}
}

func gap(run *tooleval.Run) {
	last(func(c *tooleval.Call) { c.FixtureGap = `search {"q":"boot"}` })(run)
}

func fault(run *tooleval.Run) { last(func(c *tooleval.Call) { c.Fault = "slow_500" })(run) }

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name     string
		changes  []change
		category tooleval.Category
		owner    tooleval.Owner
		says     []string // in the reason or the evidence
	}{
		{"the agent crashed", []change{ended(tooleval.Errored, "")}, "run_error", "agent", []string{"what happened"}},
		{"timeout", []change{ended(tooleval.TimedOut, "")}, "run_error", "agent", []string{"time was over"}},
		{"another limit", []change{ended(tooleval.LimitReached, "")}, "run_error", "agent", []string{"limit"}},
		{"error and nothing called", []change{ended(tooleval.Errored, "agent"), calls()}, "run_error", "agent", nil},
		{"error and forbidden call", []change{ended(tooleval.Errored, "agent"), add("drop {}", "ok")},
			"run_error", "agent", nil},
		{"rate limit after a forbidden call", []change{ended(tooleval.Errored, "infra"), add("drop {}", "ok")},
			"called_forbidden", "agent", nil},
		{"rate limit", []change{ended(tooleval.Errored, "infra")}, "run_error", "infra", nil},

		{"nothing called", []change{calls()}, "no_tools", "agent", []string{"2 required"}},
		{"nothing called or said", []change{calls(), silent, noState}, "no_tools", "agent", nil},
		{"nothing called, some needed", []change{calls(), func(r *tooleval.Run) { r.Task.Required = nil }},
			"no_tools", "agent", []string{"at least 2"}},

		{"forbidden call", []change{add(`drop {"id":3}`, "ok")},
			"called_forbidden", "agent", []string{"drop", `{"id":3}`, "call 14"}},
		{"forbidden call and a wrong tool", []change{calls("drop {}")}, "called_forbidden", "agent", nil},
		{"forbidden call that was refused", []change{add("drop {}", "refused")},
			"called_forbidden", "agent", []string{"refused"}},

		{"wrong tool", []change{calls("search {}", "search {}")},
			"wrong_tool", "agent", []string{`"pay" was never called`, "search", "call 10"}},
		{"wrong tool and no output", []change{calls("search {}"), silent, noState}, "wrong_tool", "agent", nil},
		{"misspelt tool", []change{calls("search {}"), add("pai {}", "refused")},
			"wrong_tool", "agent", []string{"pai", "refused", "pay"}},

		{"said nothing, no state", []change{silent, noState}, "missing_output", "agent", []string{"neither"}},
		{"words but no state", []change{noState}, "missing_output", "agent", []string{"no state"}},
		{"said nothing and did nothing", []change{silent, noState, calls(),
			func(r *tooleval.Run) { r.Task.Required, r.Task.MinimalCalls = nil, nil }}, "missing_output", "agent", []string{"did nothing"}},
		{"nothing expected in the agent's state", []change{lacking("agent")},
			"missing_output", "agent", []string{"$.id", "$.paid"}},
		{"nothing expected in the world's state", []change{lacking("world")}, "missing_output", "agent", nil},
		{"no output and wrong arguments", []change{calls("search {}", `pay {"id":8}`), silent, noState},
			"missing_output", "agent", nil},
		{"empty output of a custom scorer", []change{silent, noState, func(r *tooleval.Run) { r.Task.ExpectedState = tooleval.Pattern{} }},
			"missing_output", "agent", nil},

		{"wrong arguments", []change{calls("search {}", `pay {"id":8}`)},
			"wrong_args", "agent", []string{"call 12 $.id", "want 7, got 8"}},
		{"wrong arguments explain the world's state", []change{calls("search {}", `pay {"id":8}`), lacking("world")},
			"wrong_args", "agent", nil},
		{"wrong arguments and too many calls", []change{calls("search {}", `pay {"id":8}`, `pay {"id":9}`)},
			"wrong_args", "agent", nil},
		{"only errors", []change{calls("search {}"), add(`pay {"id":7}`, "tool_error")},
			"wrong_args", "agent", []string{"only with errors", "tool_error of pay"}},
		{"only a broken transport", []change{calls("search {}"), add(`pay {"id":7}`, "protocol_error")},
			"wrong_args", "world", nil},
		{"wrong arguments in an incomplete trajectory", []change{calls("search {}", `pay {"id":8}`), incomplete},
			"wrong_args", "agent", nil},

		{"too many calls", []change{add("search {}", "ok"), partly},
			"excessive_calls", "agent", []string{"3 calls were made, 2 are needed"}},
		{"limit of calls", []change{add("search {}", "refused"), ended(tooleval.LimitReached, "")},
			"excessive_calls", "agent", []string{"limit", "call 14"}},
		{"limit of calls, as stated", []change{ended(tooleval.LimitReached, ""), func(r *tooleval.Run) { r.Task.Limits.Calls = 2 }},
			"excessive_calls", "agent", nil},
		{"limit of calls, so no answer", []change{add("search {}", "refused"), ended(tooleval.LimitReached, ""), silent, noState},
			"excessive_calls", "agent", nil},
		{"too many calls seen, others missing", []change{add("search {}", "ok"), partly, incomplete},
			"excessive_calls", "agent", nil},

		{"only the outcome is bad", nil,
			"good_process_bad_outcome", "agent", []string{"$.id", "want 7, got 8", "$.paid"}},
		{"no process was asked for", []change{func(r *tooleval.Run) {
			r.Task.Required, r.Task.Forbidden, r.Task.MinimalCalls = nil, nil, nil
			r.Score.Process.Score = tooleval.Unscoredf("no component applies")
		}, incomplete}, "good_process_bad_outcome", "agent", nil},
		{"a failed check of a custom scorer", []change{func(r *tooleval.Run) {
			r.Score.Outcome = tooleval.Outcome{Score: tooleval.Scored(0.5), Checks: []tooleval.Check{
				{Name: "shown", Verdict: tooleval.Failed, Info: true}, {Name: "title", Verdict: tooleval.Failed, Note: "is empty"}}}
		}}, "good_process_bad_outcome", "agent", []string{`"title" failed: is empty`}},

		{"a repeat is lacking", []change{partly, func(r *tooleval.Run) { r.Task.Required[0] = r.Task.Required[1] }},
			"unknown", "agent", []string{"$.id"}},
		{"calls may be missing", []change{incomplete, calls()}, "unknown", "agent", nil},
		{"no claim from a call that was not seen", []change{incomplete, calls("search {}")}, "unknown", "agent", nil},
		{"a process that can't be told is not good", []change{incomplete, func(r *tooleval.Run) {
			r.Score.Process.Score = tooleval.Unscoredf("not evaluable")
		}}, "unknown", "agent", nil},

		{"a hole in the mock", []change{gap},
			"good_process_bad_outcome", "world", []string{"nearest", `"boot"`, "call 12"}},
		{"a hole in the mock, wrong tool", []change{calls("search {}"), gap}, "wrong_tool", "world", nil},
		{"a hole in the mock, forbidden call", []change{add("drop {}", "ok"), gap},
			"called_forbidden", "agent", []string{"nearest"}},
		{"a hole in the mock, crash", []change{gap, ended(tooleval.Errored, "")},
			"run_error", "agent", []string{"nearest"}},
		{"an injected fault at the end", []change{fault}, "good_process_bad_outcome", "world", []string{"slow_500"}},
		{"an injected fault, crash", []change{fault, ended(tooleval.Errored, "")},
			"run_error", "agent", []string{"slow_500"}},
		{"an injected fault long before", []change{fault, add("search {}", "ok"), partly},
			"excessive_calls", "agent", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := taxonomy.Classify(failed(c.changes...))
			if f == nil {
				t.Fatal("no failure")
			}
			text := string(f.Why)
			for _, p := range f.Evidence {
				if p.Call != nil {
					text += fmt.Sprintf("\ncall %d", *p.Call)
				}
				text += " " + p.Path + " " + string(p.Note)
			}
			if f.Category != c.category || f.Owner != c.owner || f.Why == "" {
				t.Errorf("got %s of %s, want %s of %s:\n%s", f.Category, f.Owner, c.category, c.owner, text)
			}
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in:\n%s", want, text)
				}
			}
		})
	}
}

func TestM19MalformedArguments(t *testing.T) {
	for _, raw := range []string{`{"q":"a "b""}`, `{"q":"abc`, ``} {
		run := failed(calls("search {}", "pay"), last(func(c *tooleval.Call) {
			c.Args, c.ArgsText, c.ArgsError = nil, tooleval.Text(raw), "not JSON"
		}), func(r *tooleval.Run) { r.Task.Required[1].Args = tooleval.Match(map[string]any{}) })
		f := taxonomy.Classify(run)
		if f == nil || f.Category != tooleval.WrongArgs || !strings.Contains(string(f.Why), "malformed arguments") ||
			!strings.Contains(string(f.Evidence[0].Note), raw) {
			t.Errorf("%q: got %+v", raw, f)
		}
	}
}

func TestOnlyRunsThatDidNotPass(t *testing.T) {
	verdict := func(v tooleval.Verdict) change { return func(r *tooleval.Run) { r.Score.Verdict = v } }
	for _, c := range []struct {
		name    string
		changes []change
		want    tooleval.Owner
	}{
		{"passed", []change{verdict(tooleval.Passed)}, ""},
		{"unscored", []change{verdict(tooleval.Unscored)}, ""},
		{"not judged", []change{verdict("")}, ""},
		{"rate limit", []change{verdict(tooleval.Unscored), ended(tooleval.Errored, "infra")}, "infra"},
		{"never started", []change{verdict(tooleval.Unscored), func(r *tooleval.Run) { r.Ending = tooleval.NotStarted }}, "harness"},
		{"cancelled", []change{verdict(tooleval.Unscored), ended(tooleval.Cancelled, "")}, "user"},
		{"the judge broke", []change{verdict(tooleval.Unscored), ended(tooleval.Completed, "judge")}, "judge"},
		{"forbidden call, unscored", []change{verdict(tooleval.Unscored), add("drop {}", "ok")}, ""},
	} {
		f := taxonomy.Classify(failed(c.changes...))
		switch {
		case c.want == "" && f != nil:
			t.Errorf("%s: got %+v, want none", c.name, f)
		case c.want != "" && (f == nil || f.Category != tooleval.RunError || f.Owner != c.want || f.Why == ""):
			t.Errorf("%s: got %+v, want a run_error of %s", c.name, f, c.want)
		}
	}
	if f := taxonomy.Classify(&tooleval.Run{}); f != nil {
		t.Errorf("the zero run: got %+v", f)
	}
	if f := taxonomy.Classify(&tooleval.Run{Score: tooleval.TaskScore{Verdict: tooleval.Failed}}); f == nil {
		t.Error("a failed run without anything has no failure")
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	run := failed(calls())
	for range 500 {
		add("drop "+strings.Repeat("\xff世", 5000), "ok")(run)
		gap(run)
	}
	f := taxonomy.Classify(run)
	if f.Category != tooleval.CalledForbidden || len(f.Evidence) != 12 || f.Evidence[11].Note != "and 494 more" {
		t.Errorf("%s with %d pieces of evidence, the last %+v", f.Category, len(f.Evidence), f.Evidence[len(f.Evidence)-1])
	}
	for _, p := range f.Evidence {
		if len(p.Note) > 400 {
			t.Errorf("a note of %d bytes", len(p.Note))
		}
	}
	run.Trajectory.Calls[0].Began = 99
	if *f.Evidence[0].Call == 99 {
		t.Error("evidence changes with the record")
	}
}

func TestChainIsTheTableOfTheDocs(t *testing.T) {
	want := []tooleval.Category{tooleval.RunError, tooleval.NoTools, tooleval.CalledForbidden, tooleval.WrongTool, tooleval.MissingOutput,
		tooleval.WrongArgs, tooleval.ExcessiveCalls, tooleval.GoodProcessBadOutcome, tooleval.UnknownFailure}
	var chain []tooleval.Category
	var rows []string
	for _, l := range taxonomy.Chain {
		chain = append(chain, l.Category)
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", l.Category, l.Owner, l.What))
	}
	if diff := cmp.Diff(want, chain); diff != "" {
		t.Error(diff)
	}
	doc, err := os.ReadFile("../docs/taxonomy.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile("(?m)^\\| `\\w+` \\| [a-z]+ \\| .*\\|$").FindAllString(string(doc), -1)
	if diff := cmp.Diff(rows, table); diff != "" {
		t.Errorf("docs/taxonomy.md differs from the chain (-chain +docs):\n%s", diff)
	}
}
