package stats

import (
	"fmt"
	"math"
)

// A RateDifference compares two rates of independent trials, such as the repeats of one cluster before and after.
type RateDifference struct {
	Before     Estimate `json:"before"`
	After      Estimate `json:"after"`
	Difference Estimate `json:"difference"`
	// Interval is Newcombe's hybrid score interval of the difference; it stays within −1..1.
	Interval Interval `json:"interval"`
	// P is the two-sided p of Fisher's exact test.
	P         Estimate  `json:"p"`
	Direction Direction `json:"direction"`
	// Why says why the direction can't be told; empty when it is.
	Why string `json:"why,omitempty"`
	// N is the number of trials, before and after.
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// CompareRates compares the rates of two counts of independent trials. With fewer than two trials on a side nothing is
// known about how much a trial varies, and the direction is cannot_tell. For rates over several clusters use [Compare].
//
// Sources: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Stat. Med. 17 (1998),
// method 10; R. A. Fisher's exact test, two-sided by adding up all tables that are no more likely than the one seen.
func CompareRates(before, after Count, level float64) RateDifference {
	r := RateDifference{N: before.Trials + after.Trials, Method: "newcombe_and_fisher_exact", Direction: CannotTell}
	r.Interval = Interval{Level: level, Method: "newcombe_hybrid_score", N: r.N}
	why := checkLevel(level)
	if w := checkCounts(before.Successes, before.Trials); w != "" {
		why = firstReason(why, "before: "+w)
	}
	if w := checkCounts(after.Successes, after.Trials); w != "" {
		why = firstReason(why, "after: "+w)
	}
	if why != "" {
		e := Undefined("%s", why)
		r.Before, r.After, r.Difference, r.P, r.Why = e, e, e, e, why
		r.Interval = r.Interval.without("%s", why)
		return r
	}
	a, b := Wilson(before.Successes, before.Trials, level), Wilson(after.Successes, after.Trials, level)
	p := float64(before.Successes) / float64(before.Trials)
	q := float64(after.Successes) / float64(after.Trials)
	r.Before, r.After, r.Difference = Number(p), Number(q), Number(q-p)
	low := q - p - math.Hypot(q-b.Low, a.High-p)
	high := q - p + math.Hypot(b.High-q, p-a.Low)
	r.Interval = r.Interval.with(max(low, -1), min(high, 1))
	r.P = fisher(before, after)
	alpha := 1 - level
	switch {
	case before.Trials < 2 || after.Trials < 2:
		r.Why = "a single trial does not show how much trials vary; at least 2 are needed on each side"
	case !r.P.OK:
		r.Why = r.P.Why
	case r.P.Value > alpha+1e-12:
		r.Why = fmt.Sprintf("p is %.3g, above %.3g", r.P.Value, alpha)
	case r.Interval.Contains(0):
		r.Why = "the interval of the difference contains 0"
	case q > p:
		r.Direction = Higher
	default:
		r.Direction = Lower
	}
	return r
}

// fisher is the two-sided p of Fisher's exact test.
func fisher(a, b Count) Estimate {
	const most = 10_000_000
	if a.Trials > most || b.Trials > most {
		return Undefined("more than %d trials are too many for the exact test", most)
	}
	hits, n := a.Successes+b.Successes, a.Trials+b.Trials
	first, last := max(0, hits-b.Trials), min(hits, a.Trials)
	log := func(x int) float64 {
		return lchoose(float64(a.Trials), float64(x)) + lchoose(float64(b.Trials), float64(hits-x)) -
			lchoose(float64(n), float64(hits))
	}
	seen := log(a.Successes) + 1e-7 // equal on paper, different by rounding
	var p float64
	for x := first; x <= last; x++ {
		if l := log(x); l <= seen {
			p += math.Exp(l)
		}
	}
	return Number(min(1, p))
}
