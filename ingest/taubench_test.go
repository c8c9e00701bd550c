package ingest_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/ingest"
	"github.com/tooleval/tooleval/stats"
)

// tauBench is the folder of the reference data, which is no part of this repository.
func tauBench(t testing.TB) string {
	dir := os.Getenv("TAUBENCH_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "taubench")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the τ-bench reference data is not here; name its folder in TAUBENCH_DIR")
	}
	return dir
}

type estimate struct {
	Value float64
	SE    float64 `json:"se_task_clustered_ddof1"`
}

type distribution struct {
	Sum       int
	Histogram map[string]int
}

// TestTauBenchAirline reproduces every figure of the 200 recorded GPT-4o runs that concerns trajectories, from the runs as
// they were recorded.
func TestTauBenchAirline(t *testing.T) {
	dir := tauBench(t)
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Statistics struct {
			PerTask     []int               `json:"successes_per_task"`
			Matrix      [][]int             `json:"success_matrix_task_by_trial"`
			PassHatK    map[string]estimate `json:"pass_hat_k"`
			PassAtK     map[string]estimate `json:"pass_at_k"`
			Uncertainty map[string]float64  `json:"pass_1_uncertainty"`
			Intervals   map[string]any      `json:"pass_1_intervals_95"`
			Calls       distribution        `json:"tool_calls_per_run"`
			Steps       distribution        `json:"assistant_steps_per_run"`
			ByName      map[string]int      `json:"tool_calls_by_name"`
			Errors      struct {
				Count int
				Runs  int `json:"runs_with_any"`
			} `json:"tool_error_results"`
		}
		ReplaySummary struct {
			Ended   map[string]int
			TooLong [][2]int `json:"max_steps_runs"`
		} `json:"replay_summary"`
		Check struct{ Calls int } `json:"argument_schema_check"`
	}
	if err := json.Unmarshal(b, &expected); err != nil {
		t.Fatal(err)
	}
	want := expected.Statistics
	list := readAll(t, filepath.Join(dir, "airline", "gpt-4o-airline.json"), ingest.Options{})
	if len(list) != 200 {
		t.Fatalf("got %d runs, want 200", len(list))
	}
	matrix := make([][]int, 50)
	counts := make([]stats.Count, 50)
	calls, steps, byName := distribution{Histogram: map[string]int{}}, distribution{Histogram: map[string]int{}}, map[string]int{}
	failed, runsFailed, without, broken, asides := 0, 0, 0, 0, 0
	ended := map[tooleval.Ending]int{}
	for i := range matrix {
		matrix[i] = make([]int, 4)
	}
	for _, r := range list {
		task, err := strconv.Atoi(r.TaskID)
		if err != nil || r.Index < 0 || r.Index > 3 || r.Given.Reward == nil {
			t.Fatalf("run %q %d: reward %v", r.TaskID, r.Index, r.Given.Reward)
		}
		matrix[task][r.Index] = int(*r.Given.Reward)
		counts[task].Trials++
		counts[task].Successes += int(*r.Given.Reward)
		n := len(r.Trajectory.Calls)
		calls.Sum += n
		calls.Histogram[strconv.Itoa(n)]++
		steps.Sum += n + len(r.Said)
		steps.Histogram[strconv.Itoa(n+len(r.Said))]++
		if n == 0 {
			without++
		}
		before := failed
		for _, c := range r.Trajectory.Calls {
			byName[c.Tool]++
			switch c.Status {
			case tooleval.CallToolError:
				failed++
			case tooleval.CallOK:
			default:
				t.Errorf("run %s %d: %s is %s", r.TaskID, r.Index, c.Tool, c.Status)
			}
			if c.ArgsError != "" {
				broken++
			}
		}
		if failed > before {
			runsFailed++
		}
		ended[r.Ending]++
		asides += len(r.Aside)
		if len(r.Warnings) > 0 {
			t.Errorf("run %s %d: %q", r.TaskID, r.Index, r.Warnings)
		}
	}
	for what, d := range map[string]string{
		"successes":        cmp.Diff(want.Matrix, matrix),
		"calls":            cmp.Diff(want.Calls, calls),
		"steps":            cmp.Diff(want.Steps, steps),
		"calls by name":    cmp.Diff(want.ByName, byName),
		"errors":           cmp.Diff([2]int{want.Errors.Count, want.Errors.Runs}, [2]int{failed, runsFailed}),
		"without a call":   cmp.Diff(18, without),
		"calls in all":     cmp.Diff(expected.Check.Calls, calls.Sum),
		"broken arguments": cmp.Diff(0, broken),
		"asides":           cmp.Diff(90, asides),
		"endings": cmp.Diff(map[tooleval.Ending]int{tooleval.Completed: expected.ReplaySummary.Ended["stop"] + expected.ReplaySummary.Ended["transfer"],
			tooleval.LimitReached: expected.ReplaySummary.Ended["max_steps"]}, ended),
	} {
		if d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	near := func(what string, got stats.Estimate, want float64) {
		if v, ok := got.Get(); !ok || math.Abs(v-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	for k := 1; k <= 4; k++ {
		hat, at := stats.MeanPassHatK(counts, k, 0.95), stats.MeanPassAtK(counts, k, 0.95)
		near("pass^k", hat.Value, want.PassHatK[strconv.Itoa(k)].Value)
		near("error of pass^k", hat.Error, want.PassHatK[strconv.Itoa(k)].SE)
		near("pass@k", at.Value, want.PassAtK[strconv.Itoa(k)].Value)
		near("error of pass@k", at.Error, want.PassAtK[strconv.Itoa(k)].SE)
	}
	c := stats.ClusterCounts(counts, 0.95)
	near("clustered error", c.Mean.Error, want.Uncertainty["se_clustered_by_task_ddof1"])
	near("unclustered error", c.Unclustered, want.Uncertainty["se_unclustered_sqrt(p(1-p)/N)"])
	w := stats.Wilson(84, 200, 0.95)
	ends, _ := want.Intervals["wilson"].([]any)
	near("low end", stats.Number(w.Low), ends[0].(float64))
	near("high end", stats.Number(w.High), ends[1].(float64))
}
