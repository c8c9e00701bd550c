package stats

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]*big.Rat{
		"2/3": big.NewRat(2, 3), "0.9": big.NewRat(9, 10), "90%": big.NewRat(9, 10), "66.7%": big.NewRat(667, 1000),
		"1": big.NewRat(1, 1), "0": new(big.Rat), " 100% ": big.NewRat(1, 1), "0/5": new(big.Rat),
	} {
		if got, err := ParseRate(text); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%q: got %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "%", "/", "1/0", "1/00", "1.5", "101%", "3/2", "-0.5", "+0.5", "1e-1", "0x1", "1_0", "0.5/1", "1/2%", "½", ".5", "5.",
		"1.2.3", "NaN", "Inf", "1/2/3", "0.9 9", "1e999999999", strings.Repeat("0", 41), "0.\x00",
	} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// In binary 0.1+0.2 is more than 0.3 and 9/10·10 may miss 9; here nothing is rounded.
func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		s, n, num, den int
		want           bool
	}{
		{2, 3, 2, 3, true}, {1, 3, 2, 3, false}, {9, 10, 9, 10, true}, {4, 6, 2, 3, true}, {0, 1, 0, 1, true},
		{66666, 100000, 2, 3, false}, {66667, 100000, 2, 3, true},
		{1<<53 - 1, 1 << 53, 1, 1, false}, {1 << 53, 1 << 53, math.MaxInt, math.MaxInt, true},
		{1<<53 - 1, 1 << 53, math.MaxInt - 1, math.MaxInt, false},
	} {
		if got, err := AtLeast(c.s, c.n, c.num, c.den); err != nil || got != c.want {
			t.Errorf("%d/%d ≥ %d/%d: got %v %v", c.s, c.n, c.num, c.den, got, err)
		}
	}
	for _, bad := range [][4]int{{0, 0, 1, 2}, {3, 2, 1, 2}, {1, 2, 1, 0}, {1, 2, 3, 2}, {1, 2, -1, 2}, {1, 2, 1, math.MinInt}} {
		if _, err := AtLeast(bad[0], bad[1], bad[2], bad[3]); err == nil {
			t.Errorf("%v: want an error", bad)
		}
	}
	if _, err := AtLeastRate(1, 2, nil); err == nil {
		t.Error("nil rate: want an error")
	}
	// Every n of n trials against its own percentage, as text.
	for n := 1; n <= 100; n++ {
		for s := 0; s <= n; s++ {
			if ok, err := AtLeast(s, n, s, n); err != nil || !ok {
				t.Fatalf("%d/%d against itself: %v %v", s, n, ok, err)
			}
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"2/3", "0.9", "90%", "1e9", "1/0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err == nil && (r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0) {
			t.Errorf("%q: got %v", s, r)
		}
	})
}
