package report

import (
	"math"
	"testing"

	"github.com/tooleval/tooleval/stats"
)

func TestNumbersAreNeverRoundedToAWhole(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{percent(1), "100 %"}, {percent(0), "0 %"}, {percent(0.5), "50 %"}, {percent(0.57), "57 %"}, {percent(0.29), "29 %"},
		{percent(2.0 / 3), "66.7 %"}, {percent(0.9996), "99.9 %"}, {percent(math.Nextafter(1, 0)), "99.9 %"},
		{percent(0.9994), "99.9 %"}, {percent(0.999), "99.9 %"}, {percent(0.0004), "<0.1 %"}, {percent(1e-300), "<0.1 %"},
		{percent(0.001), "0.1 %"}, {percent(0.0014), "0.1 %"}, {percent(19.0 / 20), "95 %"},
		{decimal(1), "1.00"}, {decimal(0), "0.00"}, {decimal(0.857), "0.86"}, {decimal(0.996), "0.996"}, {decimal(0.9949), "0.99"},
		{decimal(0.9996), "0.999"}, {decimal(math.Nextafter(1, 0)), "0.999"}, {decimal(0.004), "0.004"}, {decimal(0.0004), "<0.001"},
		{decimal3(0), "0.000"}, {decimal3(0.11547), "0.115"}, {decimal3(0.0004), "<0.001"}, {decimal3(1e-9), "<0.001"},
		{decimal3(0.99999), "0.999"}, {decimal3(0.57735), "0.577"}, {decimal(1.0004), "1.001"},
		{ends(stats.Wilson(5, 5, 0.95)), "56.6–100 %"}, {ends(stats.Wilson(0, 10, 0.95)), "0–27.8 %"},
		{ends(stats.Wilson(19, 20, 0.95)), "76.4–99.1 %"}, {ends(stats.Wilson(0, 0, 0.95)), "— not computed"},
		{whole(1234567), "1 234 567"}, {whole(12), "12"}, {milliseconds(math.NaN()), "unknown time"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func FuzzPercent(f *testing.F) {
	f.Add(0.9996)
	f.Add(0.0)
	f.Fuzz(func(t *testing.T, v float64) {
		if !(v >= 0 && v <= 1) {
			return
		}
		if p := percent(v); (p == "100 %") != (v == 1) || (p == "0 %" || p == "0.0 %") != (v == 0) {
			t.Errorf("percent(%v) = %q", v, p)
		}
		if d := decimal(v); (d == "1.00" || d == "1.000") != (v == 1) || (d == "0.00" || d == "0.000") != (v == 0) {
			t.Errorf("decimal(%v) = %q", v, d)
		}
	})
}
