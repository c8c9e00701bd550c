package stats

import "testing"

// statsmodels 0.15 (mcnemar exact); by hand 2·(1+6)/64 = 0.21875 and 2/64 = 0.03125.
func TestMcNemarAgainstReference(t *testing.T) {
	for _, c := range []struct {
		b, c   int
		p, mid float64
	}{
		{1, 5, 0.21875, 0.125}, {5, 1, 0.21875, 0.125}, {3, 12, 0.03515625, 0.02127075195}, {0, 6, 0.03125, 0.015625},
		{4, 4, 1, 1}, {0, 0, 1, 1},
	} {
		r := McNemarTest(c.b, c.c)
		near(t, "p", r.P.Value, c.p, 1e-12)
		near(t, "mid-p", r.MidP.Value, c.mid, 1e-10)
		if r.N != c.b+c.c {
			t.Errorf("n: got %d", r.N)
		}
	}
	if r := McNemarTest(-1, 2); r.P.OK {
		t.Errorf("got %+v", r)
	}
}
