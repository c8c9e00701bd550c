package cli_test

import (
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/examples/airline"
	"github.com/tooleval/tooleval/ingest"
)

// TestScoreTauBenchByReplay scores the 200 recorded runs by the airline suite: every final state comes from replaying the
// calls in its world, and every verdict is the recorded reward.
func TestScoreTauBenchByReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 200 runs over 3 MB of state")
	}
	dir, file := tauBench(t)
	s, err := airline.Load(airline.Options{Dir: dir, Users: "users.trajectories.json"}) // the users as they were then
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	code, out, errs := command(t, results, []*tooleval.Suite{s}, "score", "--format", "tau-bench", "--suite", "airline", file)
	if code != 0 {
		t.Fatal(errs)
	}
	if !strings.Contains(errs, "replayed 200 recordings with 1164 calls for their final state; every result was as recorded") {
		t.Errorf("stderr: %s", errs)
	}
	for _, row := range publishedTable {
		if !strings.Contains(out, row) {
			t.Errorf("the report lacks %q", row)
		}
	}
	reward := map[string]float64{}
	for r, err := range ingest.Read(file, ingest.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		reward[runName(r.TaskID, r.Index)] = *r.Given.Reward
	}
	_, runs := latest(t, results)
	if len(runs) != 200 {
		t.Fatalf("%d runs are stored, want 200", len(runs))
	}
	for _, r := range runs {
		want := tooleval.Failed
		if reward[runName(r.TaskID, r.Index)] == 1 {
			want = tooleval.Passed
		}
		if r.Score.Verdict != want {
			t.Errorf("task %s, run %d: %s (%s), recorded %s", r.TaskID, r.Index, r.Score.Verdict, r.Score.Why, want)
		}
	}
	// With today's users the world differs in one key of one tool's answers, which is said, and no verdict does.
	if s, err = airline.Suite(dir); err != nil {
		t.Fatal(err)
	}
	code, out, errs = command(t, results, []*tooleval.Suite{s}, "score", "--suite", "airline", file)
	if code != 0 || !strings.Contains(errs, "120 results were not as recorded: get_user_details 120") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, row := range publishedTable {
		if !strings.Contains(out, row) {
			t.Errorf("the report lacks %q", row)
		}
	}
}
