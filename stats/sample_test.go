package stats

import (
	"math"
	"testing"
)

func TestT02NotANumberIsRefused(t *testing.T) {
	var s Sample
	for _, x := range []float64{1, math.NaN(), 0.5, math.Inf(1)} {
		s.Add(x)
	}
	near(t, "mean", s.Mean().Value, 0.75, 0)
	if s.N() != 2 || s.Refused() != 2 {
		t.Errorf("got n=%d refused=%d, want 2 and 2", s.N(), s.Refused())
	}
	var none Sample
	none.Add(math.NaN())
	if e := none.Mean(); e.OK || e.Why == "" {
		t.Errorf("all NaN: got %v, want undefined", e)
	}
}

func TestSampleByHand(t *testing.T) {
	var s Sample
	s.Add(2)
	if e := s.Deviation(); e.OK {
		t.Errorf("one value: got deviation %v, want undefined", e)
	}
	for _, x := range []float64{4, 4, 4, 5, 5, 7, 9} {
		s.Add(x)
	}
	near(t, "mean", s.Mean().Value, 5, 1e-15)
	near(t, "variance", s.Variance().Value, 32.0/7, 1e-14) // squares of the deviations sum to 32
}

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 2.5, 1: 4} {
		near(t, "quantile", Quantile(v, q).Value, want, 1e-15)
	}
	if v[0] != 4 {
		t.Error("the input was sorted")
	}
	for _, e := range []Estimate{Quantile(nil, 0.5), Quantile(v, 2), Quantile(v, math.NaN()), Quantile([]float64{math.NaN()}, 0.5)} {
		if e.OK || e.Why == "" {
			t.Errorf("got %v, want undefined", e)
		}
	}
}

func TestSampleOverflowIsNotANumber(t *testing.T) {
	var s Sample
	s.Add(math.MaxFloat64)
	s.Add(-math.MaxFloat64)
	if e := s.Deviation(); e.OK {
		t.Errorf("got %v, want undefined", e)
	}
}
