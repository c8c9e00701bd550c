package stats

import "testing"

// Roots computed with scipy 1.17 (brentq) of products taken with 50 digits.
func TestConfidenceSequenceAgainstReference(t *testing.T) {
	for _, c := range []struct {
		s, n      int
		low, high float64
	}{
		{8, 10, 0.342478608418, 0.990606240233}, {50, 100, 0.338257552646, 0.661742447354},
		{420, 1000, 0.363867185373, 0.477551241418},
	} {
		iv := ConfidenceSequence(c.s, c.n, 0.95)
		near(t, "low", iv.Low, c.low, 1e-10)
		near(t, "high", iv.High, c.high, 1e-10)
	}
}

// Looking after every one of 500 trials, the sequence ever misses the rate in at most 5 % of 2,000 seeded repeats.
// Wilson's interval, which may be looked at once, misses it in far more.
func TestConfidenceSequenceAnyTimeError(t *testing.T) {
	const repeats, trials = 2000, 500
	rng := newRand(11)
	for _, p := range []float64{0.05, 0.3, 0.5, 0.9} {
		var seq, wil [trials + 1][]Interval
		missed, peeked := 0, 0
		for range repeats {
			s := 0
			bad, badWilson := false, false
			for n := 1; n <= trials && !(bad && badWilson); n++ {
				if rng.Float64() < p {
					s++
				}
				if seq[n] == nil {
					seq[n], wil[n] = make([]Interval, n+1), make([]Interval, n+1)
				}
				if !seq[n][s].OK {
					seq[n][s], wil[n][s] = ConfidenceSequence(s, n, 0.95), Wilson(s, n, 0.95)
				}
				bad = bad || !seq[n][s].Contains(p)
				badWilson = badWilson || !wil[n][s].Contains(p)
			}
			if bad {
				missed++
			}
			if badWilson {
				peeked++
			}
		}
		if missed > repeats/20 {
			t.Errorf("p=%v: missed in %d of %d repeats", p, missed, repeats)
		}
		if peeked < repeats/5 {
			t.Errorf("p=%v: Wilson was missed in only %d of %d repeats; is this test looking at every trial?", p, peeked, repeats)
		}
	}
}

func TestStopRule(t *testing.T) {
	r := StopRule{Target: 0.5, Width: 0.1, MaxTrials: 100}
	for _, c := range []struct {
		s, n int
		want StopReason
	}{
		{0, 0, Continue}, {1, 1, Continue}, {5, 10, Continue}, {30, 30, Above}, {0, 30, Below}, {50, 100, Exhausted},
		{3, 2, Invalid},
	} {
		if d := r.Decide(c.s, c.n); d.Reason != c.want || d.Stop != (c.want != Continue) {
			t.Errorf("%d/%d: got %+v, want %s", c.s, c.n, d, c.want)
		}
	}
	if d := (StopRule{Width: 0.1}).Decide(5000, 10000); d.Reason != Precise {
		t.Errorf("got %+v", d)
	}
	for _, bad := range []StopRule{{}, {Target: 1}, {Width: -1}, {MaxTrials: -1}, {Target: 0.5, Level: 3}} {
		if d := bad.Decide(1, 2); d.Reason != Invalid || d.Why == "" {
			t.Errorf("%+v: got %+v", bad, d)
		}
	}
}
