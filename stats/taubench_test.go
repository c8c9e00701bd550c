package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// read decodes one file of the reference data, or skips the test.
func read(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("TAUBENCH_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "taubench")
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no τ-bench reference data: %v; set TAUBENCH_DIR to its folder", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

type trial struct {
	TaskID int     `json:"task_id"`
	Trial  int     `json:"trial"`
	Reward float64 `json:"reward"`
	Traj   []struct {
		Role      string            `json:"role"`
		ToolCalls []json.RawMessage `json:"tool_calls"`
	} `json:"traj"`
}

type passK map[string]struct {
	Value float64 `json:"value"`
	Error float64 `json:"se_task_clustered_ddof1"`
}

type spread struct {
	Sum    float64 `json:"sum"`
	Mean   float64 `json:"mean"`
	SD     float64 `json:"sd_ddof1"`
	Min    float64 `json:"min"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	Max    float64 `json:"max"`
}

type expectation struct {
	Statistics struct {
		Successes   []int                 `json:"successes_per_task"`
		PassHatK    passK                 `json:"pass_hat_k"`
		PassAtK     passK                 `json:"pass_at_k"`
		Uncertainty map[string]float64    `json:"pass_1_uncertainty"`
		Intervals   map[string]json.Token `json:"pass_1_intervals_95"`
		Calls       spread                `json:"tool_calls_per_run"`
		Steps       spread                `json:"assistant_steps_per_run"`
	} `json:"statistics"`
}

// The published record of 50 tasks × 4 trials leads to the published figures, from the raw rewards on.
func TestTauBenchAirline(t *testing.T) {
	var trials []trial
	var want expectation
	read(t, filepath.Join("airline", "gpt-4o-airline.json"), &trials)
	read(t, "expected.json", &want)
	counts := make([]Count, 50)
	values := make([][]float64, 50)
	var calls, steps []float64
	for _, r := range trials {
		counts[r.TaskID].Trials++
		if r.Reward == 1 {
			counts[r.TaskID].Successes++
		}
		values[r.TaskID] = append(values[r.TaskID], r.Reward)
		var c, s float64
		for _, m := range r.Traj {
			if m.Role == "assistant" {
				s++
				c += float64(len(m.ToolCalls))
			}
		}
		calls, steps = append(calls, c), append(steps, s)
	}
	st := want.Statistics
	for i, c := range counts {
		if c.Trials != 4 || c.Successes != st.Successes[i] {
			t.Fatalf("task %d: got %+v, want %d of 4", i, c, st.Successes[i])
		}
	}
	for k := 1; k <= 4; k++ {
		key := fmt.Sprint(k)
		hat, at := MeanPassHatK(counts, k, 0.95), MeanPassAtK(counts, k, 0.95)
		near(t, "pass^"+key, hat.Value.Value, st.PassHatK[key].Value, 1e-14)
		near(t, "error of pass^"+key, hat.Error.Value, st.PassHatK[key].Error, 1e-14)
		near(t, "pass@"+key, at.Value.Value, st.PassAtK[key].Value, 1e-14)
		near(t, "error of pass@"+key, at.Error.Value, st.PassAtK[key].Error, 1e-14)
	}
	// The four figures that the paper prints, so that the file alone is not trusted.
	for k, v := range map[int]float64{1: 0.420, 2: 0.273, 3: 0.220, 4: 0.200} {
		near(t, "pass^k as printed", MeanPassHatK(counts, k, 0.95).Value.Value, v, 5e-4)
	}

	u := st.Uncertainty
	r, byValue := ClusterCounts(counts, 0.95), ClusterValues(values, 0.95)
	near(t, "p", r.Mean.Value.Value, u["p"], 1e-14)
	near(t, "clustered error", r.Mean.Error.Value, u["se_clustered_by_task_ddof1"], 1e-14)
	near(t, "pooled error, balanced", r.Pooled.Error.Value, u["se_clustered_by_task_ddof1"], 1e-14)
	near(t, "CR0", r.Pooled.Error.Value*0.98994949366116653, u["se_clustered_by_task_CR0"], 1e-14) // ·√(49/50)
	near(t, "unclustered", r.Unclustered.Value, u["se_unclustered_sqrt(p(1-p)/N)"], 1e-14)
	near(t, "unclustered, n−1", byValue.Unclustered.Value, u["se_unclustered_sqrt(p(1-p)/(N-1))"], 1e-14)
	for _, r := range []Clusters{r, byValue} {
		near(t, "within", r.Within.Value, u["mean_within_task_variance_ddof1"], 1e-14)
		near(t, "icc", r.ICC.Value, u["anova_icc"], 1e-13)
		near(t, "design effect", r.DesignEffect.Value, u["design_effect_1+(n-1)icc"], 1e-13)
	}

	near(t, "z", zQuantile(0.95), number(t, st.Intervals["z"]), 1e-12)
	e, z := r.Mean.Error.Value, zQuantile(0.95)
	for key, iv := range map[string]Interval{
		"wilson": Wilson(84, 200, 0.95), "wilson_continuity_corrected": WilsonCorrected(84, 200, 0.95),
		"clopper_pearson":        ClopperPearson(84, 200, 0.95),
		"normal_clustered_ddof1": {Low: 0.42 - z*e, High: 0.42 + z*e},
	} {
		ends := st.Intervals[key].([]any)
		near(t, key+" low", iv.Low, number(t, ends[0]), 1e-12)
		near(t, key+" high", iv.High, number(t, ends[1]), 1e-12)
	}
	checkSpread(t, "calls", calls, st.Calls)
	checkSpread(t, "steps", steps, st.Steps)
}

func checkSpread(t *testing.T, name string, values []float64, want spread) {
	t.Helper()
	var s Sample
	for _, v := range values {
		s.Add(v)
	}
	near(t, name+" sum", s.Mean().Value*float64(s.N()), want.Sum, 1e-9)
	near(t, name+" mean", s.Mean().Value, want.Mean, 1e-12)
	near(t, name+" deviation", s.Deviation().Value, want.SD, 1e-12)
	near(t, name+" min", s.Min().Value, want.Min, 0)
	near(t, name+" max", s.Max().Value, want.Max, 0)
	near(t, name+" q1", Quantile(values, 0.25).Value, want.Q1, 1e-12)
	near(t, name+" median", Quantile(values, 0.5).Value, want.Median, 1e-12)
	near(t, name+" q3", Quantile(values, 0.75).Value, want.Q3, 1e-12)
}

func number(t *testing.T, v any) float64 {
	t.Helper()
	f, ok := v.(float64)
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return f
}
