package stats

import (
	"math"
	"testing"
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
