package stats

import "testing"

// Newcombe's own example (a) 56/70 against 48/80: 0.0524 to 0.3339; Fisher's p from scipy 1.17.
func TestCompareRatesPublished(t *testing.T) {
	r := CompareRates(Count{48, 80}, Count{56, 70}, 0.95)
	near(t, "low", r.Interval.Low, 0.0524, 5e-5)
	near(t, "high", r.Interval.High, 0.3339, 5e-5)
	if r.Direction != Higher {
		t.Errorf("got %s %s", r.Direction, r.Why)
	}
	for _, c := range []struct {
		a, b Count
		p    float64
	}{
		{Count{8, 10}, Count{3, 10}, 0.06977851869}, {Count{1, 10}, Count{11, 14}, 0.002759456185},
		{Count{5, 5}, Count{0, 5}, 0.007936507937}, {Count{3, 3}, Count{3, 3}, 1},
	} {
		near(t, "fisher", CompareRates(c.a, c.b, 0.95).P.Value, c.p, 1e-9)
	}
	if r := CompareRates(Count{1, 1}, Count{0, 9}, 0.95); r.Direction != CannotTell || r.Why == "" {
		t.Errorf("single trial: got %+v", r)
	}
	// 3 of 3 against 2 of 3 is noise.
	if r := CompareRates(Count{3, 3}, Count{2, 3}, 0.95); r.Direction != CannotTell {
		t.Errorf("got %+v", r)
	}
}
