package store

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
)

var started = time.Date(2026, 12, 1, 11, 18, 36, 123_456_789, time.UTC)

// sampleRun is a run as a small suite gives it: about 4 KiB in its file.
func sampleRun(task string, index int) *tooleval.Run {
	run := &tooleval.Run{
		SchemaVersion: 1, Suite: "calc", TaskID: task, Index: index, Mind: "scripted", World: "mock",
		Identity: "sha256:4c5d0c7a0f2a7b7c", Seed: 7, Ending: tooleval.Completed, EntryPoint: "calc.run",
		Score: tooleval.TaskScore{Verdict: tooleval.Failed, Why: "the outcome is 0.5",
			Outcome: tooleval.Outcome{Score: tooleval.Scored(0.5),
				Diff: []tooleval.Difference{{Path: "$.total", Want: tooleval.Raw("12"), Got: tooleval.Raw("13")}}},
			Process: tooleval.Process{Score: tooleval.Scored(0.857), Components: []tooleval.Component{
				{Name: "required", Score: tooleval.Scored(1)}, {Name: "forbidden", Score: tooleval.Unscoredf("none in reach")},
				{Name: "efficiency", Score: tooleval.Scored(0.714)}}}},
		Failure:    &tooleval.Failure{Category: tooleval.WrongArgs, Owner: tooleval.OwnerAgent, Why: "b was 6"},
		Trajectory: tooleval.Trajectory{Channel: tooleval.InProcess},
		Result:     tooleval.AgentResult{Response: "The total is 13 <&>.", State: tooleval.Raw(`{"total":13}`)},
		State:      tooleval.Raw(`{"total":13,"steps":[1,2,3]}`), StateFrom: "world",
		Task: tooleval.Task{ID: task, Description: "Add the numbers and store the total.", EntryPoint: "calc.run",
			Toolset: []string{"add", "store"}, MinimalCalls: tooleval.Minimum(2),
			Required: []tooleval.CallPattern{{Tool: "add", Args: tooleval.Match(map[string]any{"a": 5,
				"b": tooleval.Near(7, 0.1)})}},
			ExpectedState: tooleval.Match(map[string]any{"total": 12})},
		Tools: []tooleval.Tool{{Name: "add", Description: "Adds two numbers.",
			Schema: tooleval.Raw(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`)}},
		Provenance: tooleval.Provenance{Tool: "v0.1.0", Go: "go1.26.8", SuiteDigest: "sha256:00"},
		Started:    started, WallMS: 12.5, AgentMS: 11.25,
	}
	for i := range 5 {
		run.Trajectory.Calls = append(run.Trajectory.Calls, tooleval.Call{Began: 2 * i, Ended: 2*i + 1, Tool: "add",
			Args: tooleval.Raw(fmt.Sprintf(`{"a":%d,"b":7}`, i)), Status: tooleval.CallOK, StartMS: 1.5, TookMS: 0.25,
			Result: tooleval.ToolResult{Text: tooleval.Text(fmt.Sprintf("the sum\nis %d", i+7)),
				Structured: tooleval.Raw(`{"sum":12}`)}})
	}
	return run
}

func header(tasks ...string) tooleval.Eval {
	h := tooleval.Eval{ID: "20261201T111836Z-calc-3f9a1c", Suite: "calc", Minds: []string{"scripted"}, World: "mock",
		Runs: 1, Started: started}
	for _, id := range tasks {
		h.Tasks = append(h.Tasks, tooleval.EvalTask{ID: id, Digest: "sha256:" + id})
	}
	return h
}

// create makes an eval that is closed at the end of the test.
func create(t testing.TB, h tooleval.Eval, opts Options) *Eval {
	t.Helper()
	e, err := Create(t.TempDir(), h, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func put(t testing.TB, e *Eval, run *tooleval.Run) string {
	t.Helper()
	name, err := e.Put(run)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(e.Path(), filepath.FromSlash(name))
}

func mustOpen(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// collect names the runs as mind/task.index#attempts, and the bad files.
func collect(runs iter.Seq2[*tooleval.Run, error]) (got []string, bad []error) {
	for run, err := range runs {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		got = append(got, fmt.Sprintf("%s%s/%s.%d#%d", run.Baseline, run.Mind, run.TaskID, run.Index,
			run.Provenance.Attempts))
	}
	return got, bad
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}
