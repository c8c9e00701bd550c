package stats

import (
	"fmt"
	"math"
)

// ConfidenceSequence is an interval of a rate that may be looked at after every trial: the chance that it ever, at any of
// the looks, misses the true rate is at most 1−level. It is wider than [Wilson], which is the price of peeking. It assumes
// that every trial succeeds with the same chance whatever came before. None without trials.
//
// It holds the rates p for which B(½+s, ½+f)/B(½, ½) / (p^s·(1−p)^f) is below 1/(1−level): the likelihood ratio of the
// beta-binomial mixture is a martingale under p, so Ville's inequality bounds the chance that it ever gets that high.
//
// Sources: H. Robbins, "Statistical methods related to the law of the iterated logarithm", Ann. Math. Stat. 41 (1970);
// S. R. Howard et al., "Time-uniform, nonparametric, nonasymptotic confidence sequences", Ann. Stat. 49 (2021).
func ConfidenceSequence(successes, trials int, level float64) Interval {
	iv := Interval{Level: level, Method: "beta_binomial_confidence_sequence", N: trials}
	if why := firstReason(checkLevel(level), checkCounts(successes, trials)); why != "" {
		return iv.without("%s", why)
	}
	if trials > maxProductTrials {
		return iv.without("%d trials are more than %d, up to where the formula is precise", trials, maxProductTrials)
	}
	s, f := float64(successes), float64(trials-successes)
	mixture := lbeta(0.5+s, 0.5+f) - lbeta(0.5, 0.5)
	bar := -math.Log1p(-level)
	refuted := func(p float64) bool { return mixture-xlogy(s, p)-xlogy(f, 1-p) >= bar }
	rate := s / (s + f)
	low, high := 0.0, 1.0
	if successes > 0 {
		low = boundary(rate, 0, refuted)
	}
	if successes < trials {
		high = boundary(rate, 1, refuted)
	}
	return iv.with(rateEnds(low, high, rate))
}

// boundary is the last point on the way from inside, which is not refuted, to outside, which is; to be safe, the refuted
// one of the two neighbours.
func boundary(inside, outside float64, refuted func(float64) bool) float64 {
	for range 200 {
		mid := inside + (outside-inside)/2
		if mid == inside || mid == outside {
			break
		}
		if refuted(mid) {
			outside = mid
		} else {
			inside = mid
		}
	}
	return outside
}

func lbeta(a, b float64) float64 { return lgamma(a) + lgamma(b) - lgamma(a+b) }

// xlogy is x·ln y, and 0 for x = 0 whatever y is.
func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

// A StopRule says when enough trials were made. It may be asked after each of them, as often as wanted: the chance that
// it ever says above or below wrongly is at most 1−Level. At least one of Target, Width and MaxTrials is needed.
type StopRule struct {
	// Target is the rate to be decided about, between 0 and 1; 0 means none.
	Target float64
	// Width stops when the interval is no wider than this; 0 means never.
	Width float64
	// MaxTrials stops when this many trials were made; 0 means never.
	MaxTrials int
	// Level of confidence over all looks together; 0 means 0.95.
	Level float64
}

// A StopReason is why to stop.
type StopReason string

// The reasons.
const (
	Continue  StopReason = "continue"
	Above     StopReason = "above"     // the rate is shown to be above the target
	Below     StopReason = "below"     // the rate is shown to be below the target
	Precise   StopReason = "precise"   // the interval is as narrow as asked for
	Exhausted StopReason = "exhausted" // no more trials are wanted; nothing was shown
	Invalid   StopReason = "invalid"   // the rule or the counts make no sense; Why says why
)

// A Decision is the answer of a StopRule.
type Decision struct {
	Stop   bool       `json:"stop"`
	Reason StopReason `json:"reason"`
	Why    string     `json:"why,omitempty"`
	// Interval is the [ConfidenceSequence] at this look.
	Interval Interval `json:"interval"`
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// Decide looks at the trials made so far. Before the first one it says to continue.
func (r StopRule) Decide(successes, trials int) Decision {
	if r.Level == 0 {
		r.Level = defaultLevel
	}
	d := Decision{N: trials, Method: "beta_binomial_confidence_sequence", Reason: Continue}
	d.Interval = ConfidenceSequence(successes, trials, r.Level)
	if why := r.check(); why != "" {
		return d.stop(Invalid, why)
	}
	if trials == 0 && successes == 0 {
		return d
	}
	iv := d.Interval
	switch {
	case !iv.OK:
		return d.stop(Invalid, iv.Why)
	case r.Target > 0 && iv.Low > r.Target:
		return d.stop(Above, "")
	case r.Target > 0 && iv.High < r.Target:
		return d.stop(Below, "")
	case r.Width > 0 && iv.High-iv.Low <= r.Width:
		return d.stop(Precise, "")
	case r.MaxTrials > 0 && trials >= r.MaxTrials:
		return d.stop(Exhausted, fmt.Sprintf("%d trials were made", trials))
	}
	return d
}

func (r StopRule) check() string {
	switch {
	case checkLevel(r.Level) != "":
		return checkLevel(r.Level)
	case !(r.Target >= 0 && r.Target < 1):
		return fmt.Sprintf("the target %v is not between 0 and 1", r.Target)
	case !(r.Width >= 0 && r.Width < 1):
		return fmt.Sprintf("the width %v is not between 0 and 1", r.Width)
	case r.MaxTrials < 0:
		return fmt.Sprintf("%d trials are impossible", r.MaxTrials)
	case r.Target == 0 && r.Width == 0 && r.MaxTrials == 0:
		return "the rule has no target, no width and no number of trials, so it would never stop"
	}
	return ""
}

func (d Decision) stop(reason StopReason, why string) Decision {
	d.Stop, d.Reason, d.Why = true, reason, why
	return d
}
