package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata, or rewrites it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func header(runs int, tasks ...string) tooleval.Eval {
	e := tooleval.Eval{SchemaVersion: 1, ID: "e1", Suite: "calc", Minds: []string{"scripted"}, World: "mock", Runs: runs, Seed: 7}
	for _, id := range tasks {
		e.Tasks = append(e.Tasks, tooleval.EvalTask{ID: id, Digest: "d-" + id})
	}
	return e
}

func call(tool, args, text string, status tooleval.CallStatus, began, ended int) tooleval.Call {
	return tooleval.Call{Began: began, Ended: ended, Tool: tool, Args: tooleval.Raw(args), Status: status, TookMS: 0.2,
		Result: tooleval.ToolResult{Text: tooleval.Text(text), IsError: status == tooleval.CallToolError}}
}

// passedRun is a run of 7 calls that reached the goal of 5 calls with nothing forbidden in reach.
func passedRun(task string, index int) *tooleval.Run {
	r := &tooleval.Run{SchemaVersion: 1, Eval: "e1", Suite: "calc", TaskID: task, Index: index, Mind: "scripted", World: "mock",
		Ending: tooleval.Completed, WallMS: 12, EntryPoint: "calc.solve", StateFrom: "agent"}
	r.Score.Verdict = tooleval.Passed
	r.Score.Outcome.Score = tooleval.Scored(1)
	r.Score.Process = tooleval.Process{Score: tooleval.Scored(0.857142857), Components: []tooleval.Component{
		{Name: "required", Score: tooleval.Scored(1)},
		{Name: "forbidden", Score: tooleval.Unscoredf("not applicable: no forbidden call is in reach")},
		{Name: "efficiency", Score: tooleval.Scored(0.714285714), Notes: []tooleval.Pointer{{Note: "7 calls made, 5 are enough"}}},
	}}
	for i := range 7 {
		r.Trajectory.Calls = append(r.Trajectory.Calls, call("add", `{"a":1,"b":2}`, "3", tooleval.CallOK, 2*i, 2*i+1))
	}
	return r
}

func failedRun(task string, index int) *tooleval.Run {
	r := passedRun(task, index)
	n := 2
	r.Score.Verdict, r.Score.Why = tooleval.Failed, "outcome 0.5 is below the pass mark 1: $.total: want 42, got 41"
	r.Score.Outcome = tooleval.Outcome{Score: tooleval.Scored(0.5),
		Checks: []tooleval.Check{{Name: "total", Verdict: tooleval.Failed, Note: "41 is not 42"}, {Name: "currency", Verdict: tooleval.Passed},
			{Name: "style", Verdict: tooleval.Failed, Info: true, Note: "no greeting"}},
		Diff: []tooleval.Difference{{Path: "$.total", Want: tooleval.Raw("42"), Got: tooleval.Raw("41"), Why: "off by 1"}}}
	r.Failure = &tooleval.Failure{Category: tooleval.WrongArgs, Owner: tooleval.OwnerAgent, Why: "add was called with b=11 where 12 is required",
		Evidence: []tooleval.Pointer{{Call: &n, Path: "$.b", Note: "want 12, got 11"}, {Path: "$.total", Note: "want 42, got 41"}}}
	return r
}

func unscoredRun(task string, index int, why string) *tooleval.Run {
	r := passedRun(task, index)
	r.Score.Verdict, r.Score.Why = tooleval.Unscored, tooleval.Text(why)
	r.Score.Outcome.Score = tooleval.Score{Why: tooleval.Text(why)}
	r.Failure = &tooleval.Failure{Category: tooleval.RunError, Owner: tooleval.OwnerInfra, Why: tooleval.Text(why)}
	r.Ending = tooleval.Errored
	return r
}

func baselineRun(task, name string, verdict tooleval.Verdict, mayPass string) *tooleval.Run {
	r := &tooleval.Run{Suite: "calc", TaskID: task, Baseline: name, World: "mock"}
	r.Score.Verdict = verdict
	r.Score.Why = "the reason"
	r.Task.DoNothingMayPass = mayPass
	return r
}

func build(e tooleval.Eval, o Options, runs ...*tooleval.Run) Report {
	b := NewBuilder(e, o)
	for _, r := range runs {
		b.Add(r)
	}
	return b.Report()
}

func show(t *testing.T, r Report, o TermOptions) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Terminal(&buf, r, o); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// calc is an eval of 2 tasks × 3 runs: one stable, one flaky.
func calc(o Options) Report {
	e := header(3, "calc.arithmetic", "calc.convert")
	var runs []*tooleval.Run
	for _, t := range e.Tasks {
		runs = append(runs, baselineRun(t.ID, DoNothing, tooleval.Failed, ""), baselineRun(t.ID, Random, tooleval.Failed, ""))
	}
	for i := range 3 {
		runs = append(runs, passedRun("calc.arithmetic", i))
	}
	return build(e, o, append(runs, passedRun("calc.convert", 0), failedRun("calc.convert", 1), passedRun("calc.convert", 2))...)
}

// troubled is an eval with everything that can go wrong.
func troubled(o Options) Report {
	e := header(10, "orders.cancel", "orders.list", "orders.refund")
	e.Suite, e.Minds = "orders", []string{"scripted", "real"}
	var runs []*tooleval.Run
	add := func(r *tooleval.Run) { runs = append(runs, r) }
	add(baselineRun("orders.cancel", DoNothing, tooleval.Passed, ""))
	add(baselineRun("orders.list", DoNothing, tooleval.Passed, "the list is empty at the start"))
	add(baselineRun("orders.refund", DoNothing, tooleval.Unscored, ""))
	add(baselineRun("orders.cancel", Random, tooleval.Failed, ""))
	add(baselineRun("orders.list", Random, tooleval.Failed, ""))
	for i := range 10 {
		if i < 5 {
			add(passedRun("orders.cancel", i))
		} else {
			add(unscoredRun("orders.cancel", i, "the judge has no key"))
		}
	}
	for i := range 8 {
		r := failedRun("orders.list", i)
		r.Provenance.Attempts = i % 2
		r.Warnings = []tooleval.Text{"the world could not be closed"}
		r.Trajectory.Calls[3].Status = tooleval.CallToolError
		in, cost := int64(1000), 0.0125
		r.Result.Usage = &tooleval.Usage{Model: "m-1", InputTokens: &in, CostUSD: &cost}
		add(r)
	}
	for _, r := range runs {
		r.Suite = "orders"
	}
	for i := range 10 {
		r := passedRun("orders.list", i)
		r.Mind, r.Suite = "real", "orders"
		add(r)
	}
	return build(e, o, runs...)
}
