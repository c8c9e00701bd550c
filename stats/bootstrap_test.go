package stats

import (
	"encoding/json"
	"math"
	"testing"
)

var skewed = []float64{1, 2, 2, 3, 4, 5, 8, 13, 21, 34}

// scipy 1.17 with 400,000 resamples: percentile [3.8, 16.2], BCa [4.6, 18.3], error 3.2044. The exact distribution of the
// 10^10 resamples, by convolution, gives the same BCa ends.
func TestBootstrapAgainstReference(t *testing.T) {
	p := BootstrapMean(skewed, BootstrapOptions{Resamples: 100_000, Seed: 1})
	near(t, "percentile low", p.Interval.Low, 3.8, 0.1)
	near(t, "percentile high", p.Interval.High, 16.2, 0.15)
	near(t, "error", p.Error.Value, 3.2044, 0.03)
	b := BootstrapMean(skewed, BootstrapOptions{Resamples: 100_000, Seed: 1, BCa: true})
	near(t, "BCa low", b.Interval.Low, 4.6, 0.15)
	near(t, "BCa high", b.Interval.High, 18.3, 0.25)
}

func TestBootstrapIsDeterministic(t *testing.T) {
	groups := [][]float64{{1, 0}, {1}, {0, 0, 1}, {1, 1}}
	o := BootstrapOptions{Resamples: 500, Seed: 42, BCa: true}
	pooledMean := func(g [][]float64) float64 {
		var sum, n float64
		for _, c := range g {
			for _, v := range c {
				sum, n = sum+v, n+1
			}
		}
		return sum / n
	}
	a, _ := json.Marshal(Bootstrap(groups, pooledMean, o))
	b, _ := json.Marshal(Bootstrap(groups, pooledMean, o))
	o.Seed++
	c, _ := json.Marshal(Bootstrap(groups, pooledMean, o).Error)
	d, _ := json.Marshal(Bootstrap(groups, pooledMean, BootstrapOptions{Resamples: 500, Seed: 42}).Error)
	if string(a) != string(b) || string(c) == string(d) {
		t.Errorf("same seed:\n%s\n%s\nother seed: %s and %s", a, b, c, d)
	}
}

func TestT09BootstrapHasNoZeroWidth(t *testing.T) {
	for name, r := range map[string]Bootstrapped{
		"all equal": BootstrapMean([]float64{1, 1, 1, 1, 1}, BootstrapOptions{}),
		"one":       BootstrapMean([]float64{1}, BootstrapOptions{}),
		"none":      BootstrapMean(nil, BootstrapOptions{}),
		"NaN":       BootstrapMean([]float64{1, math.NaN()}, BootstrapOptions{}),
		"too few":   BootstrapMean(skewed, BootstrapOptions{Resamples: 10}),
		"too many":  BootstrapMean(skewed, BootstrapOptions{Resamples: 1 << 40}),
		"undefined": Bootstrap([][]float64{{1}, {2}, {3}}, func(g [][]float64) float64 {
			if g[0][0] == 2 {
				return math.NaN()
			}
			return g[0][0]
		}, BootstrapOptions{}),
	} {
		if r.Interval.OK || r.Interval.Why == "" || r.Error.OK {
			t.Errorf("%s: got %+v, want no interval", name, r)
		}
	}
}

func BenchmarkBootstrapMean50(b *testing.B) {
	means := make([]float64, 50)
	for i := range means {
		means[i] = float64(i%5) / 4
	}
	for b.Loop() {
		BootstrapMean(means, BootstrapOptions{Seed: 1})
	}
}
