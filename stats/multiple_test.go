package stats

import "testing"

// By hand: sorted 0.005·5, 0.01·4, 0.03·3, 0.04·2 (raised to 0.09), 0.5. statsmodels 0.15 says the same.
func TestHolm(t *testing.T) {
	r := AdjustHolm([]Estimate{Number(0.01), Number(0.04), Undefined("one trial"), Number(0.03), Number(0.005), Number(0.5)})
	for i, want := range []float64{0.04, 0.09, -1, 0.09, 0.025, 0.5} {
		if want < 0 {
			if r.Adjusted[i].OK || r.Adjusted[i].Why != "one trial" {
				t.Errorf("%d: got %v", i, r.Adjusted[i])
			}
			continue
		}
		near(t, "adjusted", r.Adjusted[i].Value, want, 1e-15)
	}
	if r.N != 5 || len(r.Warnings) != 1 {
		t.Errorf("got %+v", r)
	}
}

// With 20 true hypotheses, uncorrected p-values show something in 64 % of families; corrected ones in at most 5 %.
func TestHolmFamilyError(t *testing.T) {
	rng := newRand(4)
	raw, adjusted := 0, 0
	for range 2000 {
		ps := make([]Estimate, 20)
		low := 1.0
		for i := range ps {
			ps[i] = Number(rng.Float64())
			low = min(low, ps[i].Value)
		}
		if low <= 0.05 {
			raw++
		}
		for _, p := range AdjustHolm(ps).Adjusted {
			if p.Value <= 0.05 {
				adjusted++
				break
			}
		}
	}
	if raw < 1200 || adjusted > 120 {
		t.Errorf("got %d raw and %d adjusted families of 2000", raw, adjusted)
	}
}
