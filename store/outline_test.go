package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

// outlined is what is left of a run in its outline.
func outlined(r *tooleval.Run) tooleval.Run {
	o := tooleval.Run{Eval: r.Eval, Suite: r.Suite, TaskID: r.TaskID, Index: r.Index, Mind: r.Mind, World: r.World, Identity: r.Identity,
		Ending: r.Ending, ErrorOwner: r.ErrorOwner, Started: r.Started}
	o.Score.Verdict = r.Score.Verdict
	o.Score.Outcome.Score, o.Score.Process.Score = r.Score.Outcome.Score, r.Score.Process.Score
	o.Score.Outcome.Score.Why, o.Score.Process.Score.Why = "", ""
	for _, c := range r.Score.Outcome.Checks {
		o.Score.Outcome.Checks = append(o.Score.Outcome.Checks, tooleval.Check{Name: c.Name, Verdict: c.Verdict, Info: c.Info})
	}
	if r.Failure != nil {
		o.Failure = &tooleval.Failure{Category: r.Failure.Category, Owner: r.Failure.Owner}
	}
	for _, c := range r.Trajectory.Calls {
		o.Trajectory.Calls = append(o.Trajectory.Calls, tooleval.Call{Tool: c.Tool, Status: c.Status, TookMS: c.TookMS})
	}
	o.Provenance.Attempts = r.Provenance.Attempts
	return o
}

// TestOutlines: an outline says the same as the whole run, for every file and in the order of the names.
func TestOutlines(t *testing.T) {
	e := create(t, header("calc.add", `odd "task"\`), Options{})
	for i := range 300 {
		run := sampleRun([]string{"calc.add", `odd "task"\`}[i%2], i)
		run.Eval, run.Seed, run.Provenance.Attempts = "", uint64(i), i%3
		run.Result.Response = tooleval.Text(strings.Repeat(`{"score":{"verdict":"passed"}}\"`, i%5))
		run.Score.Outcome.Checks = []tooleval.Check{{Name: "naïve ✓", Verdict: tooleval.Passed, Note: `"}`}, {Name: "b", Verdict: tooleval.Unscored, Info: true}}
		switch i % 4 {
		case 1:
			run.Failure, run.Score.Verdict = nil, tooleval.Passed
		case 2:
			run.Score.Outcome.Score, run.Trajectory.Calls = tooleval.Unscoredf("no judge"), nil
		case 3:
			run.ErrorOwner, run.Error = tooleval.OwnerInfra, "429 \x1b\xff"
		}
		if _, err := e.Put(run); err != nil {
			t.Fatal(err)
		}
	}
	b := sampleRun("calc.add", 0)
	b.Baseline = "do-nothing"
	if _, err := e.Put(b); err != nil {
		t.Fatal(err)
	}
	r, err := Open(e.Path())
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]tooleval.Run{}
	for f, err := range r.Files() {
		if err != nil {
			t.Fatal(err)
		}
		whole[f.Path] = outlined(f.Run)
	}
	n, last := 0, ""
	for f, err := range r.Outlines() {
		if err != nil {
			t.Fatal(err)
		}
		got := *f.Run
		if len(got.Trajectory.Calls) == 0 {
			got.Trajectory.Calls = nil
		}
		got.SchemaVersion = 0
		want, _ := json.MarshalIndent(whole[f.Path], "", " ")
		have, _ := json.MarshalIndent(got, "", " ")
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Fatalf("%s (-whole +outline):\n%s", f.Path, diff)
		}
		if f.Path <= last {
			t.Errorf("%s comes after %s", f.Path, last)
		}
		last = f.Path
		n++
	}
	if n != 300 {
		t.Errorf("got %d outlines, want 300 without the baseline", n)
	}
}

// TestL01OutlinesOfBadFiles: a damaged file is set aside and named; the others are not affected.
func TestL01OutlinesOfBadFiles(t *testing.T) {
	e := create(t, header("calc.add"), Options{})
	name, err := e.Put(sampleRun("calc.add", 0))
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(e.Path(), name))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(e.Path(), runsDir)
	bad := map[string]string{
		"a-empty": "", "b-cut": string(good[:len(good)/2]), "c-list": "[]", "d-text": `"x"`, "e-number": "7", "f-words": "broken\n",
		"g-twice": string(good) + string(good), "h-newer": strings.Replace(string(good), `"schema_version": 1`, `"schema_version": 99`, 1),
		"i-other": strings.Replace(string(good), `"eval": "`, `"eval": "x`, 1), "j-anonymous": strings.Replace(string(good), `"task_id"`, `"task"`, 1),
		"k-index": strings.Replace(string(good), `"index": 0`, `"index": "zero"`, 1), "l-no-version": `{"eval":"x"}`,
		"m-open": `{"a":"\"`, "n-open": `{"a":[{`, "o-colon": `{"a"}`, "p-value": `{"a":}`,
	}
	for n, text := range bad {
		if err := os.WriteFile(filepath.Join(dir, n+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(e.Path())
	if err != nil {
		t.Fatal(err)
	}
	n, broken := 0, 0
	for f, err := range r.Outlines() {
		if err != nil {
			broken++
			t.Log(err)
			continue
		}
		n++
		if f.Run.TaskID != "calc.add" {
			t.Errorf("%s: task %q", f.Path, f.Run.TaskID)
		}
	}
	if n != 1 || broken != len(bad) {
		t.Errorf("got %d good and %d bad, want 1 and %d", n, broken, len(bad))
	}
	for range r.Outlines() {
		break // leaving early must not hang
	}
}

// FuzzOutline: whatever the bytes, the skim ends, and what the whole decoder takes the outline takes too.
func FuzzOutline(f *testing.F) {
	f.Add(encodeRun(nil, sampleRun("calc.add", 0), nil))
	f.Add([]byte(`{"task_id":"a","index":0,"mind":"m","schema_version":1,"eval":"","score":{"outcome":{"checks":[{"name":"\ud83d"}]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := outliner{words: map[string]string{}, skim: skim{b: b}}
		var run tooleval.Run
		err := o.outline(&run)
		whole, wholeErr := decodeRun(b)
		if wholeErr == nil && whole.Eval == "" && err != nil && len(whole.Warnings) == 0 {
			t.Skipf("the outline is stricter: %v", err)
		}
		if err == nil && wholeErr == nil && (run.TaskID != whole.TaskID || run.Index != whole.Index) {
			t.Errorf("got run %q %d, want %q %d", run.TaskID, run.Index, whole.TaskID, whole.Index)
		}
	})
}

// BenchmarkOutlines reads 20,000 stored runs of about 4 kB without their bulk.
func BenchmarkOutlines(b *testing.B) {
	e := create(b, header("calc.add"), Options{})
	data := encodeRun(nil, func() *tooleval.Run { r := sampleRun("calc.add", 0); r.Eval = e.Header().ID; return r }(), nil)
	const files = 20_000
	for i := range files {
		text := strings.Replace(string(data), `"index": 0`, fmt.Sprintf(`"index": %d`, i), 1)
		if err := os.WriteFile(filepath.Join(e.Path(), runsDir, fmt.Sprintf("calc.add.%d.json", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r, err := Open(e.Path())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)) * files)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range r.Outlines() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != files {
			b.Fatalf("%d outlines", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/files, "µs/run")
}
