package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is a confidence interval, or the reason why there is none. The zero Interval is none.
type Interval struct {
	// Low and High are the ends, Low ≤ High; they mean something only when OK.
	Low, High float64
	// Level is the nominal level of confidence, such as 0.95.
	Level float64
	// Method names the formula, such as "wilson".
	Method string
	// N is the number of independent observations that it rests on: trials, or clusters.
	N  int
	OK bool
	// Why says why there is no interval; empty when OK.
	Why      string
	Warnings []string
}

// Contains reports whether v lies in the interval, ends included. It is false when there is no interval.
func (iv Interval) Contains(v float64) bool { return iv.OK && iv.Low <= v && v <= iv.High }

// Width is High − Low.
func (iv Interval) Width() Estimate {
	if !iv.OK {
		return Undefined("%s", iv.Why)
	}
	return Number(iv.High - iv.Low)
}

// Clamp is the interval cut to what the quantity can be at all, such as 0..1 for a rate, with a warning where something
// was cut off. Cutting off impossible values changes no coverage.
func (iv Interval) Clamp(low, high float64) Interval {
	if !iv.OK || (iv.Low >= low && iv.High <= high) {
		return iv
	}
	if iv.High < low || iv.Low > high || !(low <= high) {
		return iv.without("the interval [%v, %v] lies outside of [%v, %v]", iv.Low, iv.High, low, high)
	}
	iv.Warnings = append(slices.Clone(iv.Warnings),
		fmt.Sprintf("cut to [%v, %v]: the %s interval was [%.4g, %.4g]", low, high, iv.Method, iv.Low, iv.High))
	iv.Low, iv.High = max(iv.Low, low), min(iv.High, high)
	return iv
}

// String is the ends to four digits with level and method, or "undefined: " and the reason.
func (iv Interval) String() string {
	if !iv.OK {
		return "undefined: " + iv.Why
	}
	return fmt.Sprintf("[%.4f, %.4f] (%v, %s, n=%d)", iv.Low, iv.High, iv.Level, iv.Method, iv.N)
}

func (iv Interval) without(format string, args ...any) Interval {
	iv.OK, iv.Low, iv.High, iv.Why = false, 0, 0, fmt.Sprintf(format, args...)
	return iv
}

// with fills in the ends, or the reason why they are no interval.
func (iv Interval) with(low, high float64) Interval {
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) || math.IsInf(high, 0) || low > high {
		return iv.without("the computed ends %v and %v are no interval", low, high)
	}
	iv.Low, iv.High, iv.OK = low, high, true
	return iv
}

type intervalJSON struct {
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Level    float64  `json:"level"`
	Method   string   `json:"method,omitempty"`
	N        int      `json:"n"`
	Why      string   `json:"why,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// MarshalJSON writes low, high, level, method, n, warnings; without an interval low and high are null and why is there.
func (iv Interval) MarshalJSON() ([]byte, error) {
	j := intervalJSON{Level: iv.Level, Method: iv.Method, N: iv.N, Why: iv.Why, Warnings: iv.Warnings}
	if checkLevel(j.Level) != "" {
		j.Level = 0 // NaN can't be written; Why names the level
	}
	if iv.OK && checkFinite([]float64{iv.Low, iv.High}) == "" {
		j.Low, j.High = &iv.Low, &iv.High
	} else if j.Why == "" {
		j.Why = "no reason was given"
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (iv *Interval) UnmarshalJSON(b []byte) error {
	var j intervalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*iv = Interval{Level: j.Level, Method: j.Method, N: j.N, Why: j.Why, Warnings: j.Warnings}
	if j.Low != nil && j.High != nil {
		iv.Why = ""
		*iv = iv.with(*j.Low, *j.High)
	}
	return nil
}

// Wilson is the score interval of a rate. It never has zero width and never leaves 0..1: 5 of 5 gives [0.566, 1].
// None without trials.
//
// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
func Wilson(successes, trials int, level float64) Interval {
	iv := Interval{Level: level, Method: "wilson", N: trials}
	if why := firstReason(checkLevel(level), checkCounts(successes, trials)); why != "" {
		return iv.without("%s", why)
	}
	p := float64(successes) / float64(trials)
	low, high := wilson(p, float64(trials), zQuantile(level))
	return iv.with(rateEnds(low, high, p))
}

// WilsonCorrected is the score interval with continuity correction: wider, close to [ClopperPearson].
//
// Source: R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Stat. Med. 17 (1998), method 4.
func WilsonCorrected(successes, trials int, level float64) Interval {
	iv := Interval{Level: level, Method: "wilson_continuity_corrected", N: trials}
	if why := firstReason(checkLevel(level), checkCounts(successes, trials)); why != "" {
		return iv.without("%s", why)
	}
	n, z := float64(trials), zQuantile(level)
	p := float64(successes) / n
	q := 1 - p
	low := (2*n*p + z*z - 1 - z*math.Sqrt(max(0, z*z-2-1/n+4*p*(n*q+1)))) / (2 * (n + z*z))
	high := (2*n*p + z*z + 1 + z*math.Sqrt(max(0, z*z+2-1/n+4*p*(n*q-1)))) / (2 * (n + z*z))
	return iv.with(rateEnds(low, high, p))
}

// ClopperPearson is the exact interval of a rate: it covers the true rate with at least the level whatever that rate is,
// and mostly with more. None without trials.
//
// Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934), in the form of
// quantiles of the beta distribution.
func ClopperPearson(successes, trials int, level float64) Interval {
	iv := Interval{Level: level, Method: "clopper_pearson", N: trials}
	if why := firstReason(checkLevel(level), checkCounts(successes, trials)); why != "" {
		return iv.without("%s", why)
	}
	s, f, tail := float64(successes), float64(trials-successes), (1-level)/2
	low, high := 0.0, 1.0
	if successes > 0 {
		low = betaQuantile(tail, s, f+1)
	}
	if successes < trials {
		high = betaQuantile(1-tail, s+1, f)
	}
	return iv.with(rateEnds(low, high, s/float64(trials)))
}

// Jeffreys is the equal-tailed interval of the posterior of a rate under the prior Beta(½, ½), with the lower end 0 when
// nothing succeeded and the upper end 1 when everything did. None without trials.
//
// Source: L. D. Brown, T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion", Stat. Sci. 16 (2001).
func Jeffreys(successes, trials int, level float64) Interval {
	iv := Interval{Level: level, Method: "jeffreys", N: trials}
	if why := firstReason(checkLevel(level), checkCounts(successes, trials)); why != "" {
		return iv.without("%s", why)
	}
	s, f, tail := float64(successes), float64(trials-successes), (1-level)/2
	low, high := 0.0, 1.0
	if successes > 0 {
		low = betaQuantile(tail, s+0.5, f+0.5)
	}
	if successes < trials {
		high = betaQuantile(1-tail, s+0.5, f+0.5)
	}
	return iv.with(rateEnds(low, high, s/float64(trials)))
}

// Rate is the rate of successes with its error √(p(1−p)/n) and its [Wilson] interval, for independent trials. For trials
// that come in clusters see [ClusterCounts]. There is no error at 0 and 1, where the formula would give 0.
func Rate(successes, trials int, level float64) Mean {
	m := Mean{N: trials, Method: "rate", Interval: Wilson(successes, trials, level)}
	if why := checkCounts(successes, trials); why != "" {
		return m.undefined(why)
	}
	p := float64(successes) / float64(trials)
	m.Value, m.Error = Number(p), rateError(p, float64(trials))
	return m
}

// rateError is the error of a rate in n independent trials.
func rateError(p, n float64) Estimate {
	if p == 0 || p == 1 {
		return Undefined("the rate is %v, where the formula for the error gives 0; see the interval", p)
	}
	return Number(math.Sqrt(p * (1 - p) / n))
}

func betaQuantile(p, a, b float64) float64 { return distuv.Beta{Alpha: a, Beta: b}.Quantile(p) }

// wilson is the score interval of the rate p seen in n trials; n need not be whole.
func wilson(p, n, z float64) (low, high float64) {
	d := 1 + z*z/n
	mid := (p + z*z/(2*n)) / d
	half := z / d * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return mid - half, mid + half
}

// zQuantile is the two-sided quantile of the standard normal: 1.96 for 0.95.
func zQuantile(level float64) float64 { return distuv.UnitNormal.Quantile(0.5 + level/2) }

// tQuantile is the two-sided quantile of Student's t: 2.262 for 0.95 and 9 degrees of freedom.
func tQuantile(level, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(0.5 + level/2)
}

// rateEnds removes what rounding put outside of 0..1 or on the wrong side of p.
func rateEnds(low, high, p float64) (float64, float64) {
	if p == 0 {
		low = 0
	}
	if p == 1 {
		high = 1
	}
	return min(max(low, 0), p), max(min(high, 1), p)
}
