package stats

import (
	"math"
	"testing"
)

// scipy 1.17: ttest_1samp(d, -0.05, alternative="greater").
func TestNonInferiority(t *testing.T) {
	r := NonInferiorityTest(pairBefore, pairAfter, 0.05, 0.95)
	near(t, "p", r.P.Value, 0.0013514049626, 1e-12)
	near(t, "bound", r.Bound.Value, 0.0554298613377, 1e-12)
	if r.Verdict != NonInferior {
		t.Errorf("got %+v", r)
	}
	if r := NonInferiorityTest(pairAfter, pairBefore, 0.05, 0.95); r.Verdict != Inferior {
		t.Errorf("turned around: got %+v", r)
	}
	if r := NonInferiorityTest(pairAfter, pairBefore, 0.2, 0.95); r.Verdict != Inconclusive || r.Why == "" {
		t.Errorf("absence of evidence: got %+v", r)
	}
	for name, r := range map[string]NonInferiority{
		"margin 0":   NonInferiorityTest(pairBefore, pairAfter, 0, 0.95),
		"margin NaN": NonInferiorityTest(pairBefore, pairAfter, math.NaN(), 0.95),
		"one":        NonInferiorityTest([]float64{1}, []float64{1}, 0.5, 0.95),
		"all fell":   NonInferiorityTest([]float64{1, 1}, []float64{0, 0}, 0.5, 0.95),
	} {
		if r.Verdict != Inconclusive || r.Why == "" || r.P.OK {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// No fall in K clusters: (1−0.05)^K is 0.05 or less from K = 59 on (0.95^58 = 0.0510, 0.95^59 = 0.0485).
func TestNonInferiorityWithoutAnyChange(t *testing.T) {
	for k, want := range map[int]Verdict{58: Inconclusive, 59: NonInferior} {
		same := make([]float64, k)
		if r := NonInferiorityTest(same, same, 0.05, 0.95); r.Verdict != want {
			t.Errorf("%d clusters: got %s, want %s", k, r.Verdict, want)
		} else if above := r.Bound.Value > -0.05; above != (want == NonInferior) {
			t.Errorf("%d clusters: bound %v and verdict %s disagree", k, r.Bound, r.Verdict)
		}
	}
}

// At a true fall of exactly the margin, non-inferior is said in at most 5 % of repeats.
func TestNonInferiorityFalseVerdicts(t *testing.T) {
	rng := newRand(6)
	wrong := 0
	for range 2000 {
		before, after := make([]float64, 20), make([]float64, 20)
		for i := range before {
			before[i] = rng.NormFloat64()
			after[i] = before[i] - 0.1 + 0.2*rng.NormFloat64()
		}
		if NonInferiorityTest(before, after, 0.1, 0.95).Verdict == NonInferior {
			wrong++
		}
	}
	near(t, "false verdicts", float64(wrong)/2000, 0.05, 0.015)
}
