package stats

import (
	"math"
	"slices"
	"testing"
)

var (
	pairBefore = []float64{0.2, 0.5, 0.1, 0.9, 0.4, 0.6, 0.3, 0.75}
	pairAfter  = []float64{0.4, 0.6, 0.3, 0.95, 0.35, 0.9, 0.5, 0.8}
)

// scipy 1.17: ttest_rel with confidence_interval, permutation_test of samples with all 2^8 sign changes.
func TestCompareAgainstReference(t *testing.T) {
	r := Compare(pairBefore, pairAfter, CompareOptions{Seed: 1})
	near(t, "difference", r.Difference.Value.Value, 0.13125, 1e-15)
	near(t, "low", r.Difference.Interval.Low, 0.03661885713878, 1e-12)
	near(t, "high", r.Difference.Interval.High, 0.2258811428612, 1e-12)
	near(t, "p", r.P.Value, 0.03125, 1e-15)
	if r.Direction != Higher || r.PMethod != "sign_flip_exact" || !r.Bootstrap.OK || r.N != 8 {
		t.Errorf("got %+v", r)
	}
	if back := Compare(pairAfter, pairBefore, CompareOptions{Seed: 1}); back.Direction != Lower || back.P != r.P {
		t.Errorf("turned around: got %+v", back)
	}
}

// The exact test against plain enumeration, and the seeded one against the exact one.
func TestSignFlip(t *testing.T) {
	rng := newRand(2)
	for range 50 {
		d := make([]float64, 1+rng.IntN(9))
		for i := range d {
			d[i] = float64(rng.IntN(7)-3) / 4
		}
		var sum float64
		for _, v := range d {
			sum += v
		}
		hits := 0
		for mask := range 1 << len(d) {
			var s float64
			for i, v := range d {
				if mask>>i&1 == 1 {
					v = -v
				}
				s += v
			}
			if math.Abs(s) >= math.Abs(sum)-1e-12 {
				hits++
			}
		}
		got, _ := signFlip(d, 99, 1)
		near(t, "exact", got.Value, float64(hits)/float64(int(1)<<len(d)), 1e-15)
	}
	long := slices.Concat(pairBefore, pairAfter, []float64{-0.3, -0.4, -0.5, -0.6, -0.9, -0.8, -0.2, -0.1, -0.7, -0.35})
	got, method := signFlip(long, 9999, 1)
	if method != "sign_flip_monte_carlo" || got.Value <= 0 || got.Value >= 1 {
		t.Errorf("got %v by %s", got, method)
	}
	all := make([]float64, 30)
	for i := range all {
		all[i] = 1
	}
	got, _ = signFlip(all, 999, 1)
	near(t, "never zero", got.Value, 1.0/1000, 1e-15)
}

// R05: noise is no regression. Two measurements of the same thing, clusters of 3 trials: false differences in at most
// about 5 % of 1,000 seeded repeats; and a real difference is seen.
func TestR05FalseDifferences(t *testing.T) {
	rng := newRand(9)
	measure := func(rates []float64) []float64 {
		means := make([]float64, len(rates))
		for i, p := range rates {
			for range 3 {
				if rng.Float64() < p {
					means[i] += 1.0 / 3
				}
			}
		}
		return means
	}
	for _, k := range []int{5, 8, 16, 40} {
		wrong, found := 0, 0
		for seed := range uint64(1000) {
			rates, better := make([]float64, k), make([]float64, k)
			for i := range rates {
				rates[i] = 0.6 * rng.Float64()
				better[i] = rates[i] + 0.4
			}
			before := measure(rates)
			o := CompareOptions{Resamples: 199, Seed: seed}
			if Compare(before, measure(rates), o).Direction != CannotTell {
				wrong++
			}
			if Compare(before, measure(better), o).Direction == Higher {
				found++
			}
		}
		if wrong > 64 { // 5 % and two standard errors
			t.Errorf("k=%d: %d false differences in 1000", k, wrong)
		}
		if k == 5 && found != 0 {
			t.Errorf("k=5: %d differences shown, though p can't be below 2/32", found)
		}
		if k >= 16 && found < 900 {
			t.Errorf("k=%d: a difference of 0.4 was seen only %d times in 1000", k, found)
		}
	}
}

func TestCompareCannotTell(t *testing.T) {
	for name, r := range map[string]Comparison{
		"one cluster":  Compare([]float64{0}, []float64{1}, CompareOptions{}),
		"no clusters":  Compare(nil, nil, CompareOptions{}),
		"no pairs":     Compare([]float64{1, 2}, []float64{1}, CompareOptions{}),
		"NaN":          Compare([]float64{1, math.NaN()}, []float64{1, 1}, CompareOptions{}),
		"no change":    Compare(pairBefore, pairBefore, CompareOptions{}),
		"bad level":    Compare(pairBefore, pairAfter, CompareOptions{Level: 2}),
		"stricter":     Compare(pairBefore, pairAfter, CompareOptions{Level: 0.99}),
		"single trial": {Direction: CompareRates(Count{0, 1}, Count{9, 9}, 0.95).Direction, Why: "as it says"},
	} {
		if r.Direction != CannotTell || r.Why == "" {
			t.Errorf("%s: got %s %q, want cannot_tell and why", name, r.Direction, r.Why)
		}
	}
	if iv := Compare([]float64{0, 0}, []float64{1, 0.5}, CompareOptions{}).Difference.Interval; !iv.OK || iv.Low < -1 || iv.High > 1 {
		t.Errorf("rates can't differ by more than 1: got %v", iv)
	}
	same := make([]float64, 8)
	one := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	if r := Compare(same, one, CompareOptions{}); r.Direction != Higher || r.Difference.Interval.OK {
		t.Errorf("all clusters rose alike: got %+v, want higher by the exact p alone", r)
	}
}

func BenchmarkSignFlipExact20(b *testing.B) {
	for b.Loop() {
		signFlip(slices.Concat(pairBefore, pairAfter, []float64{1, 2, 3, 4}), 9999, 1)
	}
}

func BenchmarkSignFlipMonteCarlo50(b *testing.B) {
	d := make([]float64, 50)
	for i := range d {
		d[i] = float64(i%9-3) / 4
	}
	for b.Loop() {
		signFlip(d, 9999, 1)
	}
}
