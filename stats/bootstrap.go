package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// BootstrapOptions are the settings of a bootstrap; the zero value works.
type BootstrapOptions struct {
	// Level of the interval; 0 means 0.95.
	Level float64
	// Resamples is how many; 0 means 9,999, and more than 1,000,000 or fewer than 99 are refused.
	Resamples int
	// Seed of the random numbers: the same seed gives the same result.
	Seed uint64
	// BCa corrects the percentile interval for bias and skewness.
	BCa bool
}

const (
	defaultLevel     = 0.95
	defaultResamples = 9999
	maxResamples     = 1_000_000
	minResamples     = 99
)

// A Bootstrapped is a statistic with the error and interval that resampling gives it.
type Bootstrapped struct {
	Value Estimate `json:"value"`
	// Error is the standard deviation over the resamples.
	Error    Estimate `json:"error"`
	Interval Interval `json:"interval"`
	// N is the number of clusters that were resampled.
	N         int      `json:"n"`
	Resamples int      `json:"resamples"`
	Seed      uint64   `json:"seed"`
	Method    string   `json:"method"`
	Warnings  []string `json:"warnings,omitempty"`
}

// Bootstrap draws whole clusters with replacement, as many as there are, and computes the statistic of each draw. The
// statistic gets the clusters' own slices and must neither change nor keep them; where it is undefined it returns NaN. The
// interval is made of percentiles, with BCa of corrected ones.
//
// None with fewer than two clusters, when all resamples agree (their interval would have zero width), or when the
// statistic is undefined in more than one resample of twenty. With few clusters a bootstrap interval is too narrow.
//
// Source: B. Efron, R. J. Tibshirani, "An introduction to the bootstrap" (1993), chapters 13 and 14; C. A. Field, A. H.
// Welsh, "Bootstrapping clustered data", J. R. Stat. Soc. B 69 (2007), for drawing whole clusters.
func Bootstrap(clusters [][]float64, statistic func([][]float64) float64, o BootstrapOptions) Bootstrapped {
	for i, c := range clusters {
		if why := checkFinite(c); why != "" {
			return o.result("cluster_bootstrap", len(clusters)).undefined(fmt.Sprintf("cluster %d: %s", i, why))
		}
	}
	return bootstrap("cluster_bootstrap", clusters, statistic, o)
}

// BootstrapMean is [Bootstrap] of the mean over clusters that are each given by one number.
func BootstrapMean(means []float64, o BootstrapOptions) Bootstrapped {
	if why := checkFinite(means); why != "" {
		return o.result("cluster_bootstrap", len(means)).undefined(why)
	}
	return bootstrap("cluster_bootstrap", means, average, o)
}

func average(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func bootstrap[T any](method string, units []T, statistic func([]T) float64, o BootstrapOptions) Bootstrapped {
	r := o.result(method, len(units))
	if why := firstReason(checkLevel(r.Interval.Level), checkResamples(r.Resamples)); why != "" {
		return r.undefined(why)
	}
	if len(units) == 0 {
		return r.undefined("there are no clusters")
	}
	if r.Value = Number(statistic(units)); !r.Value.OK {
		return r.undefined("the statistic is undefined for these clusters")
	}
	if len(units) == 1 {
		return r.withoutInterval("one cluster can't be resampled; at least 2 are needed")
	}
	draws := resample(units, statistic, r.Resamples, o.Seed)
	if lost := r.Resamples - len(draws); lost > 0 {
		if lost*20 > r.Resamples {
			return r.withoutInterval(fmt.Sprintf("the statistic is undefined in %d of %d resamples", lost, r.Resamples))
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("the statistic is undefined in %d of %d resamples, which are left out",
			lost, r.Resamples))
	}
	if draws[0] == draws[len(draws)-1] {
		return r.withoutInterval("all resamples agree, so the spread can't be told")
	}
	if len(units) < fewClusters {
		r.Warnings = append(r.Warnings, fmt.Sprintf("only %d clusters: a bootstrap interval is too narrow", len(units)))
	}
	var s Sample
	for _, d := range draws {
		s.Add(d)
	}
	r.Error = s.Deviation()
	low, high := (1-r.Interval.Level)/2, (1+r.Interval.Level)/2
	if o.BCa {
		var why string
		if low, high, why = bca(units, statistic, draws, r.Value.Value, r.Interval.Level); why != "" {
			r.Interval.Method = "bootstrap_percentile"
			r.Warnings = append(r.Warnings, "no BCa correction: "+why)
		}
	}
	r.Interval = r.Interval.with(quantile(draws, low), quantile(draws, high))
	return r
}

// resample is the sorted finite statistics of the draws.
func resample[T any](units []T, statistic func([]T) float64, resamples int, seed uint64) []float64 {
	rng := newRand(seed)
	draw := make([]T, len(units))
	draws := make([]float64, 0, resamples)
	for range resamples {
		for i := range draw {
			draw[i] = units[rng.IntN(len(units))]
		}
		if v := statistic(draw); Number(v).OK {
			draws = append(draws, v)
		}
	}
	slices.Sort(draws)
	return draws
}

// bca is which percentiles of the draws make the bias-corrected and accelerated interval; the plain ones with a reason
// where the correction can't be computed.
//
// Source: B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987); ties count half.
func bca[T any](units []T, statistic func([]T) float64, draws []float64, value, level float64) (low, high float64,
	why string) {
	low, high = (1-level)/2, (1+level)/2
	from, _ := slices.BinarySearch(draws, value)
	to := from
	for to < len(draws) && draws[to] == value {
		to++
	}
	z0 := distuv.UnitNormal.Quantile((float64(from) + float64(to)) / 2 / float64(len(draws)))
	if math.IsInf(z0, 0) {
		return low, high, "every resample lies on one side of the estimate"
	}
	jack := make([]float64, len(units))
	rest := make([]T, len(units)-1)
	for i := range units {
		copy(rest, units[:i])
		copy(rest[i:], units[i+1:])
		jack[i] = statistic(rest)
	}
	if checkFinite(jack) != "" {
		return low, high, "the statistic is undefined with a cluster left out"
	}
	m := average(jack)
	var squares, cubes float64
	for _, j := range jack {
		d := m - j
		squares, cubes = squares+d*d, cubes+d*d*d
	}
	if squares == 0 {
		return low, high, "the statistic is the same whichever cluster is left out"
	}
	a := cubes / (6 * math.Pow(squares, 1.5))
	shift := func(p float64) float64 {
		z := z0 + distuv.UnitNormal.Quantile(p)
		return distuv.UnitNormal.CDF(z0 + z/(1-a*z))
	}
	return shift(low), shift(high), ""
}

func (o BootstrapOptions) result(method string, n int) Bootstrapped {
	r := Bootstrapped{N: n, Resamples: o.Resamples, Seed: o.Seed, Method: method}
	if r.Resamples == 0 {
		r.Resamples = defaultResamples
	}
	r.Interval = Interval{Level: o.Level, Method: "bootstrap_percentile", N: n}
	if o.Level == 0 {
		r.Interval.Level = defaultLevel
	}
	if o.BCa {
		r.Interval.Method = "bootstrap_bca"
	}
	return r
}

func (r Bootstrapped) withoutInterval(why string) Bootstrapped {
	r.Error, r.Interval = Undefined("%s", why), r.Interval.without("%s", why)
	return r
}

func (r Bootstrapped) undefined(why string) Bootstrapped {
	r.Value = Undefined("%s", why)
	return r.withoutInterval(why)
}

func checkResamples(n int) string {
	if n < minResamples || n > maxResamples {
		return fmt.Sprintf("%d resamples: between %d and %d are possible", n, minResamples, maxResamples)
	}
	return ""
}

// newRand is the one source of random numbers.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }
