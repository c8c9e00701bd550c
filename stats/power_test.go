package stats

import (
	"math"
	"testing"
)

// scipy 1.17: (t.ppf(.975, 49) + t.ppf(.8, 49))·√(2·0.25·(0.6/4 + 0.4)/50).
func TestMinimalDifferenceAgainstReference(t *testing.T) {
	r := MinimalDifference(Design{Clusters: 50, Repeats: 4, Rate: 0.5, ICC: 0.4})
	near(t, "difference", r.Difference.Value, 0.21199897796057243, 1e-10)
	near(t, "error", r.Error.Value, math.Sqrt(2*0.25*(0.6/4+0.4)/50), 1e-15)
	if r.N != 200 {
		t.Errorf("n: got %d", r.N)
	}
}

// What is planned is what happens: a true difference of the minimal size is shown in about 80 % of repeats.
func TestMinimalDifferenceSimulated(t *testing.T) {
	d := Design{Clusters: 30, Repeats: 3, Variance: 1, ICC: 0.5, Pairing: 0.6}
	want := MinimalDifference(d).Difference.Value
	rng := newRand(8)
	shown := 0
	const repeats = 4000
	for range repeats {
		diffs := make([]float64, d.Clusters)
		for i := range diffs {
			shared := math.Sqrt(d.ICC*d.Pairing) * rng.NormFloat64()
			for side, sign := range []float64{-1, 1} {
				v := shared + math.Sqrt(d.ICC*(1-d.Pairing))*rng.NormFloat64() + float64(side)*want
				diffs[i] += sign * (v + math.Sqrt((1-d.ICC)/float64(d.Repeats))*rng.NormFloat64())
			}
		}
		if iv := ClusterMean(diffs, 0.95).Interval; iv.Low > 0 {
			shown++
		}
	}
	near(t, "power", float64(shown)/repeats, 0.8, 0.02)
}

func TestNeeded(t *testing.T) {
	d := Design{Clusters: 50, Repeats: 4, Rate: 0.5, ICC: 0.4}
	r := ClustersNeeded(d, 0.1)
	if !r.Difference.OK || r.Difference.Value > 0.1 {
		t.Fatalf("got %+v", r)
	}
	d.Clusters = r.Clusters - 1
	if less := MinimalDifference(d); less.Difference.Value <= 0.1 {
		t.Errorf("%d clusters are enough too", d.Clusters)
	}
	d = Design{Clusters: 50, Rate: 0.5, ICC: 0.4, Pairing: 0.9}
	r = RepeatsNeeded(d, 0.12)
	if !r.Difference.OK || r.Repeats < 2 {
		t.Fatalf("got %+v", r)
	}
	d.Repeats = r.Repeats - 1
	if less := MinimalDifference(d); less.Difference.Value <= 0.12 {
		t.Errorf("%d repeats are enough too", d.Repeats)
	}
	d.Pairing = 0 // the clusters themselves differ by more than this shows, however often each is repeated
	if r := RepeatsNeeded(d, 0.12); r.Difference.OK || r.Difference.Why == "" {
		t.Errorf("got %+v, want none", r)
	}
	for _, bad := range []Design{
		{}, {Clusters: 1, Repeats: 1, Rate: 0.5}, {Clusters: 5, Rate: 0.5}, {Clusters: 5, Repeats: 1, Rate: 1},
		{Clusters: 5, Repeats: 1, Rate: 0.5, ICC: 2}, {Clusters: 5, Repeats: 1, Variance: math.Inf(1)},
		{Clusters: 5, Repeats: 1, Rate: 0.5, Power: 2}, {Clusters: 5, Repeats: 1, Rate: 0.5, ICC: 1, Pairing: 1},
	} {
		if r := MinimalDifference(bad); r.Difference.OK || r.Difference.Why == "" {
			t.Errorf("%+v: got %+v", bad, r)
		}
	}
}
