package stats

import (
	"math"
	"testing"
)

// T08: ten clusters of ten trials that all agree are ten observations, not a hundred.
func TestT08TrialsAreNotIndependent(t *testing.T) {
	counts := make([]Count, 10)
	for i := range counts {
		counts[i] = Count{Trials: 10, Successes: 10 * (i % 2)}
	}
	r := ClusterCounts(counts, 0.95)
	near(t, "within", r.Within.Value, 0, 0)
	near(t, "icc", r.ICC.Value, 1, 1e-15)
	near(t, "design effect", r.DesignEffect.Value, 10, 1e-12)
	near(t, "error over clusters", r.Mean.Error.Value, math.Sqrt(10*0.25/9/10), 1e-15)
	near(t, "unclustered error", r.Unclustered.Value, 0.05, 1e-15) // √(0.25/100)
	near(t, "pooled error", r.Pooled.Error.Value, r.Mean.Error.Value, 1e-15)
	if r.Repeat.OK || r.K != 10 || r.N != 100 {
		t.Errorf("got %+v", r)
	}
}

// T10: the mean of groups and the mean of all are two estimates, each with its own error.
// By hand: groups of 5 (all succeed) and 50 (25 succeed): macro 0.75 with error √(0.125/2) = 0.25; micro 30/55; residual
// sums ±25/11, so CR1 is √(2·2·(25/11)²)/55 = 2·(25/11)/55.
func TestT10TwoMeansTwoErrors(t *testing.T) {
	r := ClusterCounts([]Count{{5, 5}, {25, 50}}, 0.95)
	near(t, "macro", r.Mean.Value.Value, 0.75, 1e-15)
	near(t, "macro error", r.Mean.Error.Value, 0.25, 1e-15)
	near(t, "micro", r.Pooled.Value.Value, 30.0/55, 1e-15)
	near(t, "micro error", r.Pooled.Error.Value, 2*(25.0/11)/55, 1e-15)
}

// Ragged clusters, computed with statsmodels 0.15 (OLS, cov_type cluster) and a separate analysis of variance in numpy.
func TestClusterValuesAgainstReference(t *testing.T) {
	r := ClusterValues([][]float64{{1, 0, 1}, {0, 0}, {}, {1, 1, 1, 1}, {0, 1, 0, 0, 0}, {2, 3.5}}, 0.95)
	near(t, "pooled", r.Pooled.Value.Value, 0.78125, 1e-15)
	near(t, "CR1", r.Pooled.Error.Value, 0.3649392, 5e-8)
	near(t, "within", r.Within.Value, 0.23560606060606, 1e-13)
	near(t, "between", r.Between.Value, 0.80406336088154, 1e-13)
	near(t, "icc", r.ICC.Value, 0.77338367779544, 1e-13)
	near(t, "design effect", r.DesignEffect.Value, 3.03013215421304, 1e-13)
	if r.K != 5 || r.N != 16 || len(r.Warnings) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestClustersUndefined(t *testing.T) {
	r := ClusterValues([][]float64{{0.1, 0.1, 0.1}, {0.1}}, 0.95)
	if r.ICC.OK || r.Unclustered.OK || r.Mean.Error.OK || r.Pooled.Error.OK || !r.Mean.Value.OK {
		t.Errorf("constant: got %+v", r)
	}
	// Here the mean of all, as computed, is not quite the value that all have.
	if r := ClusterValues([][]float64{{0.1, 0.1}, {0.1, 0.1}, {0.1, 0.1}}, 0.95); r.ICC.OK || r.DesignEffect.OK {
		t.Errorf("constant, rounded: got %+v", r)
	}
	r = ClusterCounts([]Count{{1, 1}, {0, 1}, {1, 1}}, 0.95)
	if r.ICC.OK || r.Within.OK || r.Repeat.OK || !r.Mean.Error.OK {
		t.Errorf("single trials: got %+v", r)
	}
	r = ClusterCounts([]Count{{1, 2}}, 0.95)
	if r.ICC.OK || !r.Within.OK || r.Mean.Error.OK || r.Pooled.Error.OK || !r.Repeat.OK {
		t.Errorf("one cluster: got %+v", r)
	}
	r = ClusterCounts([]Count{{1, 2}, {1, 2}, {1, 2}}, 0.95)
	if !r.ICC.OK || r.ICC.Value >= 0 || r.Between.Value != 0 || len(r.Warnings) == 0 {
		t.Errorf("negative between: got %+v", r)
	}
	if r := ClusterCounts([]Count{{1, 2}, {3, 2}}, 0.95); r.Mean.Value.OK || r.Mean.Value.Why == "" {
		t.Errorf("impossible count: got %+v", r)
	}
}

// The error over repeats is how much the mean of the same clusters really varies.
func TestRepeatErrorSimulated(t *testing.T) {
	rates := []float64{0, 0.2, 0.5, 0.5, 0.7, 0.9, 1, 1, 0.3, 0.6}
	rng := newRand(5)
	var means, variance Sample
	for range 5000 {
		counts := make([]Count, len(rates))
		for i, p := range rates {
			counts[i].Trials = 5
			for range 5 {
				if rng.Float64() < p {
					counts[i].Successes++
				}
			}
		}
		r := ClusterCounts(counts, 0.95)
		means.Add(r.Mean.Value.Value)
		variance.Add(r.Repeat.Value * r.Repeat.Value)
	}
	near(t, "variance of repeats", variance.Mean().Value/means.Variance().Value, 1, 0.06)
}
