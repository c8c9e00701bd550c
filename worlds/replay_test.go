package worlds

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

func recordedCall(tool, args, text string) tooleval.Call {
	return tooleval.Call{Tool: tool, Args: tooleval.Raw(args), Status: tooleval.CallOK, Result: tooleval.TextResult(text)}
}

var replayTools = []tooleval.Tool{{Name: "get", Schema: tooleval.Raw(`{"type":"object","properties":{"page":{"type":"integer","default":1}}}`)}, {Name: "put"}}

func recordedRun(index int, calls ...tooleval.Call) *tooleval.Run {
	return &tooleval.Run{Suite: "s", TaskID: "t", Index: index, World: "live", Ending: tooleval.Completed, Tools: replayTools,
		Trajectory: tooleval.Trajectory{Calls: calls}}
}

func replay(t *testing.T, rec Recording, redact func(string) string) tooleval.World {
	t.Helper()
	w, err := (&Replay{Recordings: []Recording{rec}, Redact: redact}).NewWorld(t.Context(),
		tooleval.WorldSpec{Task: tooleval.Task{ID: "t"}, Tools: replayTools})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// say is what a call is answered: the text, or the nearest recorded call of a gap.
func say(t *testing.T, w tooleval.World, tool, args string) string {
	t.Helper()
	r := Record(w, RecordOptions{})
	_, _ = r.CallTool(t.Context(), tooleval.ToolCall{Tool: tool, Args: tooleval.Raw(args)})
	c := r.Trajectory().Calls[0]
	if c.FixtureGap != "" {
		return "gap: " + c.FixtureGap
	}
	if c.Result.IsError {
		return "error: " + string(c.Result.Text)
	}
	return string(c.Result.Text)
}

func TestReplayAnswersInOrder(t *testing.T) {
	var r Recorded
	r.Add(recordedRun(0, recordedCall("get", `{"page":1,"q":"a"}`, "first"), recordedCall("put", `{}`, "ok"),
		recordedCall("get", `{"q":"a"}`, "second"), recordedCall("get", `{"q":"b"}`, "other")))
	for policy, last := range map[Policy]string{RepeatLast: "second", Cycle: "first", Fail: `gap: recorded call 1: get({"page":1,"q":"a"}) was made 2 times`} {
		rec := r.Recordings()[0]
		rec.WhenExhausted = policy
		if err := rec.Err(); err != nil {
			t.Fatal(err)
		}
		w := replay(t, rec, nil)
		// Arguments are compared as JSON, with the schema's defaults filled in.
		got := []string{say(t, w, "get", `{"q":"a"}`), say(t, w, "get", `{"q":"b"}`), say(t, w, "get", `{"q":"a", "page":1.0}`), say(t, w, "get", `{"q":"a"}`)}
		if diff := cmp.Diff([]string{"first", "other", "second", last}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", policy, diff)
		}
	}
	// Another run begins anew.
	if got := say(t, replay(t, r.Recordings()[0], nil), "get", `{"q":"a"}`); got != "first" {
		t.Errorf("got %q", got)
	}
}

func TestReplayMisses(t *testing.T) {
	var r Recorded
	r.Add(recordedRun(0, recordedCall("get", `{"q":"herons"}`, "x"), recordedCall("get", `{"q":"storks"}`, "y")))
	rec := r.Recordings()[0]
	for call, want := range map[[2]string]string{
		{"get", `{"q":"stork"}`}: `gap: recorded call 2: get({"q":"storks"})`,
		{"put", `{}`}:            `gap: no call of "put" was recorded`,
	} {
		if got := say(t, replay(t, rec, nil), call[0], call[1]); got != want {
			t.Errorf("%v: got %q, want %q", call, got, want)
		}
	}
	rec.WhenMissing = MissIsToolError
	if got, want := say(t, replay(t, rec, nil), "put", `{"a":1}`), `error: no recorded answer for put({"a":1})`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestX03ReplayedSecrets: what was redacted when it was recorded is found again by the secret itself.
func TestX03ReplayedSecrets(t *testing.T) {
	var r Recorded
	r.Add(recordedRun(0, recordedCall("get", `{"key":"[redacted:KEY]"}`, "x")))
	redact := func(s string) string { return strings.ReplaceAll(s, "s3cret", "[redacted:KEY]") }
	if got := say(t, replay(t, r.Recordings()[0], redact), "get", `{"key":"s3cret"}`); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestRecordedTakesOnlyAnswers(t *testing.T) {
	calls := make([]tooleval.Call, 8)
	for i := range calls {
		calls[i] = recordedCall("get", `{"q":`+string(rune('0'+i))+`}`, "x")
	}
	calls[0].Status, calls[1].Status, calls[2].Status = tooleval.CallRefused, tooleval.CallProtocolError, tooleval.CallTimeout
	calls[3].FixtureGap, calls[4].Fault, calls[5].ArgsError = "none", "error of get, call 1", "no object"
	calls[6].Status, calls[6].Result = tooleval.CallToolError, tooleval.ErrorResult("no")
	var r Recorded
	r.Add(recordedRun(0, calls...))
	r.Add(&tooleval.Run{Suite: "s", TaskID: "t", Baseline: "do-nothing", Trajectory: tooleval.Trajectory{Calls: calls}})
	if r.Kept != 2 || r.LeftOut != 6 || len(r.Recordings()) != 1 || r.Recordings()[0].Runs != 1 {
		t.Errorf("kept %d, left out %d, %d recordings", r.Kept, r.LeftOut, len(r.Recordings()))
	}
}

func TestRecordedRunsAddCalls(t *testing.T) {
	var r Recorded
	r.Add(recordedRun(0, recordedCall("get", `{"q":1}`, "a"), recordedCall("get", `{"q":1}`, "b")))
	r.Add(recordedRun(1, recordedCall("get", `{"q":1}`, "c"), recordedCall("get", `{"q":2}`, "d"), recordedCall("get", `{"q":2}`, "e")))
	rec := r.Recordings()[0]
	var got []string
	for _, c := range rec.Calls {
		for _, result := range c.Results {
			got = append(got, string(c.Args)+string(result.Text))
		}
	}
	if diff := cmp.Diff([]string{`{"q":1}a`, `{"q":1}b`, `{"q":2}d`, `{"q":2}e`}, got); diff != "" || rec.Runs != 2 {
		t.Errorf("%d runs\n%s", rec.Runs, diff)
	}
}

// TestReplayKnowsTheStateOnlyAtTheEnd: who does nothing does not get the state that others worked for.
func TestReplayKnowsTheStateOnlyAtTheEnd(t *testing.T) {
	run := recordedRun(0, recordedCall("put", `{"a":1}`, "ok"), recordedCall("put", `{"a":1}`, "ok"))
	run.StateFrom, run.State = "world", tooleval.Raw(`{"saved":[1,1]}`)
	var r Recorded
	r.Add(run)
	r.Add(recordedRun(1, recordedCall("get", `{}`, "x"))) // no part of what led to the state
	w := replay(t, r.Recordings()[0], nil)
	for n := range 2 {
		if s, err := w.State(); err == nil || s != nil {
			t.Errorf("after %d of 2 calls: got %s", n, s)
		} else if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
			t.Errorf("blamed on %q", owner)
		}
		say(t, w, "put", `{"a":1}`)
	}
	if s, err := w.State(); err != nil || string(s) != `{"saved":[1,1]}` {
		t.Errorf("got %s, %v", s, err)
	}
}

func TestReplayPreflight(t *testing.T) {
	f := &Replay{Recordings: []Recording{{TaskID: "convert"}}}
	specs := []tooleval.WorldSpec{{Task: tooleval.Task{ID: "convert"}}, {Task: tooleval.Task{ID: "convrt"}}}
	err := f.PreflightWorlds(t.Context(), specs)
	if err == nil || !strings.Contains(err.Error(), `task "convrt" has no recording (did you mean "convert"?)`) {
		t.Errorf("got %v", err)
	}
	if _, err := f.NewWorld(t.Context(), specs[1]); err == nil {
		t.Error("a world of a task without a recording")
	}
	if err := f.PreflightWorlds(t.Context(), specs[:1]); err != nil {
		t.Error(err)
	}
}

func TestLoadRecordings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadRecordings(dir); err == nil || !strings.Contains(err.Error(), "no recordings") {
		t.Errorf("an empty folder: %v", err)
	}
	var r Recorded
	run := recordedRun(0, recordedCall("get", `{"n":12345678901234567890}`, "caf\xe9"))
	run.Trajectory.Calls[0].Result.Structured = tooleval.Raw(`{"n":[1,2.0]}`)
	r.Add(run)
	b, err := json.MarshalIndent(r.Recordings()[0], "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	write("a.json", string(b))
	got, err := LoadRecordings(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Recordings(), got); diff != "" {
		t.Errorf("read back (-want +got)\n%s", diff)
	}
	write("b.json", string(b))
	write("c.json", "{\n\"suite\": 3}")
	write("d.json", `{"schema_version": 2, "suite": "s", "task_id": "x", "world": "moon", "when_exhausted": "cycl", "when_missing": "", "runs": 1,
		"calls": [{"tool": "get", "args": [], "results": []}, {"tool": "get", "args": {"a": 1}, "results": []}, {"tool": "get", "args": {"a": 1.0}, "results": [{}]}]}`)
	write("e.json", string(b)+"{}")
	_, err = LoadRecordings(dir)
	for _, want := range []string{`b.json: it is of task "t"`, "c.json:2: ", `d.json: schema_version is 2`, `d.json: world is "moon"`,
		`d.json: when_exhausted is "cycl"; it is repeat_last, cycle, fail (did you mean "cycle"?)`, "d.json: when_missing", "d.json: call 1: arguments are not",
		"d.json: call 2: it has no results", "d.json: call 3 is the same as call 2", "e.json:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}
