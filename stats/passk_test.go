package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// By hand: n=4, c=3. Pairs: 6, all-success pairs 3. Triples: 4, all-success 1.
func TestT06PassHatK(t *testing.T) {
	for _, c := range []struct {
		n, c, k   int
		hat, atLo float64
	}{
		{4, 3, 1, 0.75, 0.75}, {4, 3, 2, 0.5, 1}, {4, 3, 3, 0.25, 1}, {4, 3, 4, 0, 1}, {4, 1, 2, 0, 0.5}, {5, 2, 2, 0.1, 0.7},
	} {
		near(t, "pass^k", PassHatK(c.n, c.c, c.k).Value, c.hat, 1e-15)
		near(t, "pass@k", PassAtK(c.n, c.c, c.k).Value, c.atLo, 1e-15)
	}
}

func TestT04OnlyKThatTrialsAllow(t *testing.T) {
	for _, f := range []func(n, c, k int) Estimate{PassAtK, PassHatK} {
		if e := f(1, 1, 10); e.OK || e.Why == "" {
			t.Errorf("k=10 of one trial: got %v, want undefined", e)
		}
		if e := f(1, 1, 1); !e.OK || e.Value != 1 {
			t.Errorf("k=1 of one trial: got %v, want 1", e)
		}
		for _, bad := range [][3]int{{0, 0, 1}, {-1, 0, 1}, {3, 4, 1}, {3, -1, 1}, {3, 1, 0}, {3, 1, math.MinInt}} {
			if e := f(bad[0], bad[1], bad[2]); e.OK || e.Why == "" {
				t.Errorf("%v: got %v, want undefined", bad, e)
			}
		}
	}
}

// Computed with whole numbers: 1 − C(188,10)/C(200,10) and C(150,20)/C(200,20).
func TestPassKLarge(t *testing.T) {
	near(t, "pass@10", PassAtK(200, 12, 10).Value, 0.4693236492660334, 1e-14)
	near(t, "pass^20", PassHatK(200, 150, 20).Value, 0.00225052084330242, 1e-16)
	// Both ways of multiplying, and logarithms, give one result.
	near(t, "by logarithms", PassHatK(4_000_000, 3_999_999, 1_500_000).Value, 1-1.5/4, 1e-9)
	near(t, "shorter product", PassHatK(1000, 999, 400).Value, 0.6, 1e-12)
	if e := PassAtK(1_000_000, 999_000, 1000); e.Value >= 1 {
		t.Errorf("got %v, want below 1: it is not certain", e.Value)
	}
}

// Unbiased: averaged over all counts of n trials with their binomial chances, pass^k is p^k and pass@k is 1−(1−p)^k.
func TestPassKIsUnbiased(t *testing.T) {
	for _, p := range []float64{0.1, 0.5, 0.8} {
		for n := 1; n <= 8; n++ {
			for k := 1; k <= n; k++ {
				var hat, at float64
				b := distuv.Binomial{N: float64(n), P: p}
				for c := 0; c <= n; c++ {
					hat += b.Prob(float64(c)) * PassHatK(n, c, k).Value
					at += b.Prob(float64(c)) * PassAtK(n, c, k).Value
				}
				near(t, "pass^k", hat, math.Pow(p, float64(k)), 1e-12)
				near(t, "pass@k", at, 1-math.Pow(1-p, float64(k)), 1e-12)
			}
		}
	}
}

func TestMeanPassKRagged(t *testing.T) {
	r := MeanPassHatK([]Count{{3, 4}, {1, 1}, {2, 3}, {0, 0}}, 2, 0.95)
	near(t, "mean of 1/2 and 1/3", r.Value.Value, 5.0/12, 1e-15)
	if r.N != 2 || r.Skipped != 2 || r.Trials != 7 || r.Groups[1].OK || r.Groups[1].Why == "" || len(r.Warnings) == 0 {
		t.Errorf("got %+v", r)
	}
	// T04: 164 groups of one trial have no pass@10, whatever their sum.
	one := make([]Count, 164)
	for i := range one {
		one[i] = Count{Successes: i % 3 / 2, Trials: 1}
	}
	if r := MeanPassAtK(one, 10, 0.95); r.Value.OK || r.Value.Why == "" || r.Skipped != 164 {
		t.Errorf("got %+v, want undefined", r.Value)
	}
	if r := MeanPassAtK(nil, 1, 0.95); r.Value.OK {
		t.Errorf("no groups: got %v", r.Value)
	}
}
