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
