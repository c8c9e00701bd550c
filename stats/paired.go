package stats

import (
	"fmt"
	"math"
	"math/bits"
)

// A Direction is what a comparison shows. Only evidence makes it higher or lower; everything else is cannot_tell.
type Direction string

// The directions.
const (
	Higher     Direction = "higher"
	Lower      Direction = "lower"
	CannotTell Direction = "cannot_tell"
)

// CompareOptions are the settings of a comparison; the zero value works.
type CompareOptions struct {
	// Level of the intervals, and 1 − Level is the largest p that shows a difference; 0 means 0.95.
	Level float64
	// Resamples of the bootstrap, and of the permutation test where it can't be exact; 0 means 9,999.
	Resamples int
	// Seed of the random numbers: the same seed gives the same result.
	Seed uint64
}

// A Comparison is the difference between two measurements of the same clusters.
type Comparison struct {
	Before Estimate `json:"before"`
	After  Estimate `json:"after"`
	// Difference is after − before: the mean over clusters with its error and t interval.
	Difference Mean `json:"difference"`
	// Bootstrap is the interval of the difference by resampling clusters.
	Bootstrap Interval `json:"bootstrap"`
	// P is the two-sided p of the sign-flip permutation test.
	P Estimate `json:"p"`
	// PMethod is sign_flip_exact or sign_flip_monte_carlo.
	PMethod   string    `json:"p_method"`
	Direction Direction `json:"direction"`
	// Why says why the direction can't be told; empty when it is.
	Why string `json:"why,omitempty"`
	// N is the number of clusters.
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// Compare compares the means of the same clusters before and after; before[i] and after[i] belong to cluster i. A
// difference is shown only when the permutation test and, where it exists, the t interval both say so. One cluster shows
// nothing, and no fewer than six can reach p ≤ 0.05.
//
// Sources: E. Miller, arXiv:2411.00640 (2024), for the paired error; R. A. Fisher, "The design of experiments" (1935),
// section 21, for the sign-flip test; B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Stat. Appl.
// Genet. Mol. Biol. 9 (2010), for (b+1)/(m+1).
func Compare(before, after []float64, o CompareOptions) Comparison {
	if o.Level == 0 {
		o.Level = defaultLevel
	}
	if o.Resamples == 0 {
		o.Resamples = defaultResamples
	}
	r := Comparison{N: len(before), Method: "paired_over_clusters", Direction: CannotTell}
	why := checkPairs(before, after)
	if why == "" {
		why = firstReason(checkLevel(o.Level), checkResamples(o.Resamples))
	}
	if why != "" {
		e := Undefined("%s", why)
		none := Interval{Level: o.Level, N: len(before)}
		none.Method = "t_over_clusters"
		r.Difference = Mean{N: len(before), Method: "mean_over_clusters", Interval: none}.undefined(why)
		none.Method = "bootstrap_percentile"
		r.Before, r.After, r.P, r.Bootstrap, r.Why = e, e, e, none.without("%s", why), why
		return r
	}
	d := make([]float64, len(before))
	for i := range d {
		d[i] = after[i] - before[i]
	}
	r.Before, r.After = ClusterMean(before, o.Level).Value, ClusterMean(after, o.Level).Value
	r.Difference = ClusterMean(d, o.Level)
	boot := BootstrapMean(d, BootstrapOptions{Level: o.Level, Resamples: o.Resamples, Seed: o.Seed})
	if inUnit(before) && inUnit(after) {
		r.Difference.Interval = r.Difference.Interval.Clamp(-1, 1)
	}
	r.Bootstrap = boot.Interval
	r.Bootstrap.Warnings = boot.Warnings
	r.P, r.PMethod = signFlip(d, o.Resamples, o.Seed)
	r.Direction, r.Why = r.direction(1 - o.Level)
	return r
}

func (r Comparison) direction(alpha float64) (Direction, string) {
	diff, iv := r.Difference.Value, r.Difference.Interval
	switch {
	case r.N < 2:
		return CannotTell, "one cluster shows nothing; at least 2 are needed"
	case !r.P.OK:
		return CannotTell, r.P.Why
	case r.P.Value > alpha+1e-12: // 1 − 0.95 is a little more than 0.05
		return CannotTell, fmt.Sprintf("p is %.3g, above %.3g", r.P.Value, alpha)
	case !diff.OK:
		return CannotTell, diff.Why
	case iv.OK && iv.Contains(0):
		return CannotTell, "the interval of the difference contains 0"
	case diff.Value > 0:
		return Higher, ""
	}
	return Lower, ""
}

func checkPairs(before, after []float64) string {
	if len(before) != len(after) {
		return fmt.Sprintf("%d clusters before and %d after are no pairs", len(before), len(after))
	}
	if len(before) == 0 {
		return "there are no clusters"
	}
	if why := checkFinite(before); why != "" {
		return "before: " + why
	}
	if why := checkFinite(after); why != "" {
		return "after: " + why
	}
	return ""
}

// inUnit reports whether all values are in 0..1, as rates are.
func inUnit(values []float64) bool {
	for _, v := range values {
		if !(v >= 0 && v <= 1) {
			return false
		}
	}
	return true
}

// exactFlips is up to how many differences all their signs are tried: 2^19 sums.
const exactFlips = 20

// signFlip is the two-sided p of the hypothesis that each difference could as well have had the other sign.
func signFlip(differences []float64, resamples int, seed uint64) (Estimate, string) {
	var d []float64 // a zero has no sign to flip
	var sum, size float64
	for _, v := range differences {
		if v != 0 {
			d = append(d, v)
			sum, size = sum+v, size+math.Abs(v)
		}
	}
	if math.IsInf(size, 0) {
		return Undefined("the differences are too large to add up"), "sign_flip_exact"
	}
	// Sums that are equal on paper differ by rounding: count what comes this close as equal.
	bar := math.Abs(sum) - 1e-9*size
	if len(d) == 0 {
		return Number(1), "sign_flip_exact"
	}
	hits := 0
	if len(d) <= exactFlips {
		// Gray code: each step flips one sign. The first stays, since the mirrored half gives the same sums but for the sign.
		all := 1 << (len(d) - 1)
		sign := make([]bool, len(d))
		flipped := sum
		for i := range all {
			if i > 0 {
				j := 1 + bits.TrailingZeros(uint(i))
				if sign[j] = !sign[j]; sign[j] {
					flipped -= 2 * d[j]
				} else {
					flipped += 2 * d[j]
				}
			}
			if math.Abs(flipped) >= bar {
				hits++
			}
		}
		return Number(float64(hits) / float64(all)), "sign_flip_exact"
	}
	rng := newRand(seed)
	for range resamples {
		var flipped float64
		var coins uint64
		for i, v := range d {
			if i%64 == 0 {
				coins = rng.Uint64()
			}
			if coins&1 == 0 {
				v = -v
			}
			coins >>= 1
			flipped += v
		}
		if math.Abs(flipped) >= bar {
			hits++
		}
	}
	return Number(float64(hits+1) / float64(resamples+1)), "sign_flip_monte_carlo"
}
