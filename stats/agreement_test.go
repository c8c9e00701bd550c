package stats

import (
	"math"
	"testing"
)

// Both tables with statsmodels 0.15 (cohens_kappa). The first by hand: agreement 0.7, by chance 0.5·0.6 + 0.5·0.4 = 0.5,
// so κ = 0.2/0.5 = 0.4.
func TestKappaAgainstReference(t *testing.T) {
	r := Kappa([][]int{{20, 5}, {10, 15}}, 0.95)
	near(t, "kappa", r.Kappa.Value.Value, 0.4, 1e-12)
	near(t, "error", r.Kappa.Error.Value, 0.12699606293110033, 1e-12)
	near(t, "observed", r.Observed.Value.Value, 0.7, 1e-15)
	r = Kappa([][]int{{44, 5, 1}, {7, 20, 3}, {9, 5, 6}}, 0.95)
	near(t, "kappa", r.Kappa.Value.Value, 0.49152542372881347, 1e-12)
	near(t, "error", r.Kappa.Error.Value, 0.07212745929334068, 1e-12)
}

func TestKappaUndefined(t *testing.T) {
	r := Kappa([][]int{{10, 0}, {0, 0}}, 0.95)
	if r.Kappa.Value.OK || !r.Observed.Interval.OK {
		t.Errorf("one category: got %+v", r)
	}
	r = Kappa([][]int{{5, 0}, {0, 5}}, 0.95)
	if r.Kappa.Value.Value != 1 || r.Kappa.Error.OK || r.Kappa.Interval.OK || r.Observed.Interval.Low > 0.73 {
		t.Errorf("all agree: got %+v", r)
	}
	for _, bad := range [][][]int{nil, {{1}}, {{1, 2}, {3}}, {{1, -2}, {3, 4}}, {{0, 0}, {0, 0}}, {{math.MaxInt, 1}, {1, 1}}} {
		if r := Kappa(bad, 0.95); r.Kappa.Value.OK || r.Kappa.Value.Why == "" || r.Observed.Value.OK {
			t.Errorf("%v: got %+v", bad, r)
		}
	}
}

// By hand: p = 0.4, sensitivity 0.9, specificity 0.8: (0.4+0.8−1)/(0.7) = 2/7.
func TestCorrectedRate(t *testing.T) {
	known := Confusion{TruePositives: 90, FalseNegatives: 10, TrueNegatives: 80, FalsePositives: 20}
	m := CorrectedRate(80, 200, known, 0.95)
	near(t, "rate", m.Value.Value, 2.0/7, 1e-15)
	if !m.Interval.Contains(2.0/7) || m.Interval.Width().Value <= Wilson(57, 200, 0.95).Width().Value {
		t.Errorf("got %v: it must be wider than without the rater's errors", m.Interval)
	}
	// Ends computed separately from the paper's formula.
	near(t, "low", m.Interval.Low, 0.14880527921, 1e-10)
	near(t, "high", m.Interval.High, 0.40894520570, 1e-10)
	few := CorrectedRate(150, 200, Confusion{TruePositives: 18, FalseNegatives: 2, TrueNegatives: 16, FalsePositives: 4}, 0.95)
	near(t, "low", few.Interval.Low, 0.62372590524, 1e-10)
	near(t, "high", few.Interval.High, 1, 0)
	if m := CorrectedRate(10, 200, known, 0.95); m.Value.Value != 0 || len(m.Warnings) == 0 || !m.Interval.Contains(0) {
		t.Errorf("below the rater's false positives: got %+v", m)
	}
	if m := CorrectedRate(10, 200, Confusion{5, 5, 5, 5}, 0.95); m.Value.OK {
		t.Errorf("a coin: got %+v", m)
	}
	if m := CorrectedRate(10, 200, Confusion{TruePositives: 5}, 0.95); m.Value.OK || m.Value.Why == "" {
		t.Errorf("nothing known of negatives: got %+v", m)
	}
	near(t, "sensitivity", known.Sensitivity(0.95).Value.Value, 0.9, 1e-15)
	near(t, "specificity", known.Specificity(0.95).Value.Value, 0.8, 1e-15)
}

func TestCorrectedRateCoverage(t *testing.T) {
	rng := newRand(12)
	draw := func(n int, p float64) (c int) {
		for range n {
			if rng.Float64() < p {
				c++
			}
		}
		return c
	}
	const repeats, se, sp = 2000, 0.9, 0.85
	for _, truth := range []float64{0.05, 0.2, 0.5, 0.8, 0.95} {
		hits := 0
		for range repeats {
			tp, tn := draw(60, se), draw(80, sp)
			pos := draw(200, truth*se+(1-truth)*(1-sp))
			m := CorrectedRate(pos, 200, Confusion{tp, 60 - tp, tn, 80 - tn}, 0.95)
			if m.Interval.Contains(truth) {
				hits++
			}
		}
		if c := float64(hits) / repeats; c < 0.935 || c > 0.985 {
			t.Errorf("rate %v: coverage %.3f", truth, c)
		}
	}
}
