package stats

import (
	"math"
	"testing"
)

func near(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.10g, want %.10g ± %g", name, got, want, tol)
	}
}

// Published: R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Stat. Med. 17 (1998), table I.
func TestWilsonPublished(t *testing.T) {
	for _, c := range []struct {
		s, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
		{8, 10, 0.4902, 0.9433},
	} {
		iv := Wilson(c.s, c.n, 0.95)
		near(t, "low", iv.Low, c.low, 5e-5)
		near(t, "high", iv.High, c.high, 5e-5)
	}
}

func TestT09NoZeroWidth(t *testing.T) {
	iv := Wilson(5, 5, 0.95)
	near(t, "5/5 low", iv.Low, 0.5655, 5e-5)
	if iv.High != 1 {
		t.Errorf("5/5 high: got %v, want exactly 1", iv.High)
	}
	iv = Wilson(0, 10, 0.95)
	near(t, "0/10 high", iv.High, 0.2775, 5e-5)
	if iv.Low != 0 {
		t.Errorf("0/10 low: got %v, want exactly 0", iv.Low)
	}
	iv = Wilson(19, 20, 0.95)
	near(t, "19/20 low", iv.Low, 0.7639, 5e-5)
	near(t, "19/20 high", iv.High, 0.9911, 5e-5)
}

// Computed with statsmodels 0.15 (proportion_confint beta, jeffreys) and scipy 1.17 (binomtest wilsoncc). Jeffreys' ends at
// 0 and 1 follow Brown, Cai and DasGupta, which statsmodels does not.
func TestIntervalsAgainstReference(t *testing.T) {
	for _, c := range []struct {
		s, n               int
		cp, jeffreys, wccs [2]float64
	}{
		{8, 10, [2]float64{0.4439045377, 0.9747892737}, [2]float64{0.4972255036, 0.9559405864}, [2]float64{0.4421814243, 0.9645730563}},
		{0, 10, [2]float64{0, 0.3084971078}, [2]float64{0, 0.2171962675}, [2]float64{0, 0.3445372183}},
		{5, 5, [2]float64{0.4781762499, 1}, [2]float64{0.6206228577, 1}, [2]float64{0.4629439825, 1}},
		{1, 3, [2]float64{0.0084037587, 0.9057006759}, [2]float64{0.0387476178, 0.8232639029}, [2]float64{0.0176527928, 0.8746655281}},
		{81, 263, [2]float64{0.2527367456, 0.3676219226}, [2]float64{0.2545219350, 0.3656474992}, [2]float64{0.2535086823, 0.3681762010}},
	} {
		for f, want := range map[*Interval][2]float64{
			ptr(ClopperPearson(c.s, c.n, 0.95)): c.cp, ptr(Jeffreys(c.s, c.n, 0.95)): c.jeffreys,
			ptr(WilsonCorrected(c.s, c.n, 0.95)): c.wccs,
		} {
			near(t, f.Method+" low", f.Low, want[0], 1e-8)
			near(t, f.Method+" high", f.High, want[1], 1e-8)
		}
	}
	iv := ClopperPearson(3, 1_000_000, 0.95)
	near(t, "low of 3 in a million", iv.Low, 6.186725502e-7, 1e-14)
	near(t, "high of 3 in a million", iv.High, 8.767247788e-6, 1e-13)
	near(t, "99 %", ClopperPearson(8, 10, 0.99).Low, 0.3517988337, 1e-8)
}

func ptr[T any](v T) *T { return &v }

// Every interval lies in 0..1, contains the rate, has a width, moves up with the successes and widens with the level.
func TestIntervalProperties(t *testing.T) {
	for name, f := range intervals {
		for _, n := range []int{1, 2, 3, 7, 50, 1000} {
			var last Interval
			for s := 0; s <= n; s += max(1, n/50) {
				iv := f(s, n, 0.95)
				rate := float64(s) / float64(n)
				if !iv.OK || iv.Low < 0 || iv.High > 1 || !iv.Contains(rate) || iv.High <= iv.Low || iv.N != n {
					t.Fatalf("%s %d/%d: %v", name, s, n, iv)
				}
				if s > 0 && (iv.Low < last.Low || iv.High < last.High) {
					t.Errorf("%s %d/%d: %v is below %v of fewer successes", name, s, n, iv, last)
				}
				if wide := f(s, n, 0.99); wide.Low > iv.Low || wide.High < iv.High {
					t.Errorf("%s %d/%d: 99 %% %v is inside of 95 %% %v", name, s, n, wide, iv)
				}
				last = iv
			}
		}
		for _, bad := range []Interval{
			f(0, 0, 0.95), f(-1, 3, 0.95), f(4, 3, 0.95), f(1, -3, 0.95), f(1, 3, 0), f(1, 3, 1), f(1, 3, math.NaN()),
			f(1, math.MaxInt, 0.95), f(math.MinInt, math.MaxInt, 0.95),
		} {
			if bad.OK || bad.Why == "" {
				t.Errorf("%s: got %v, want none", name, bad)
			}
		}
	}
}

// 0 < p < 1 and n > 1 always has an error above 0, over trials and over clusters, equal clusters included.
func TestT10ErrorIsNeverZero(t *testing.T) {
	for n := 2; n <= 30; n++ {
		for s := 1; s < n; s++ {
			if m := Rate(s, n, 0.95); !m.Error.OK || m.Error.Value <= 0 {
				t.Errorf("%d/%d: error %v", s, n, m.Error)
			}
		}
	}
	rng := newRand(10)
	for range 2000 {
		counts := make([]Count, 2+rng.IntN(6))
		for i := range counts {
			counts[i].Trials = 1 + rng.IntN(4)
			counts[i].Successes = rng.IntN(counts[i].Trials + 1)
		}
		r := ClusterCounts(counts, 0.95)
		for _, m := range []Mean{r.Mean, r.Pooled} {
			p := m.Value.Value
			if p > 0 && p < 1 && !(m.Error.OK && m.Error.Value > 0) {
				t.Fatalf("%v %s: rate %v has error %v", counts, m.Method, p, m.Error)
			}
			if !m.Interval.OK || !m.Interval.Contains(p) || m.Interval.Low < 0 || m.Interval.High > 1 ||
				m.Interval.High <= m.Interval.Low {
				t.Fatalf("%v %s: rate %v has interval %v", counts, m.Method, p, m.Interval)
			}
		}
	}
}

func TestClamp(t *testing.T) {
	iv := Interval{Low: -0.2, High: 0.5, Level: 0.95, OK: true}
	if got := iv.Clamp(0, 1); got.Low != 0 || got.High != 0.5 || len(got.Warnings) != 1 || len(iv.Warnings) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := iv.Clamp(0.6, 1); got.OK || got.Why == "" {
		t.Errorf("disjoint: got %+v, want none", got)
	}
}
