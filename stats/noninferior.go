package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Verdict on non-inferiority. Absence of evidence is cannot_tell, never non_inferior.
type Verdict string

// The verdicts.
const (
	NonInferior  Verdict = "non_inferior"
	Inferior     Verdict = "inferior"
	Inconclusive Verdict = "cannot_tell"
)

// A NonInferiority says whether what came after is worse than before by less than a margin.
type NonInferiority struct {
	// Difference is after − before over clusters, as in [Comparison].
	Difference Mean    `json:"difference"`
	Margin     float64 `json:"margin"`
	// Bound is the one-sided lower bound of the difference at the level; non-inferior means that it is above −Margin.
	Bound Estimate `json:"bound"`
	// P is the one-sided p of the hypothesis that the difference is −Margin or less.
	P       Estimate `json:"p"`
	Verdict Verdict  `json:"verdict"`
	// Why says why it can't be told; empty when it is.
	Why      string   `json:"why,omitempty"`
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// NonInferiorityTest tests, one-sided at the level (usually 0.95), whether the mean over the same clusters has fallen by less
// than margin (above 0, in the units of the values). It is inferior when the fall is shown to be more than margin.
//
// When all differences are equal and not negative there is no error to build t on. For values in 0..1 the chance of
// seeing no fall in K clusters, although the mean has fallen by margin, is at most (1−margin)^K; that is then the p.
//
// Source: W. C. Blackwelder, "Proving the null hypothesis in clinical trials", Control. Clin. Trials 3 (1982).
func NonInferiorityTest(before, after []float64, margin, level float64) NonInferiority {
	r := NonInferiority{Margin: margin, N: len(before), Method: "paired_t_one_sided", Verdict: Inconclusive}
	why := firstReason(checkPairs(before, after), checkLevel(level), checkMargin(margin))
	if why != "" {
		r.Difference = Mean{N: r.N, Method: "mean_over_clusters", Interval: Interval{Level: level, N: r.N,
			Method: "t_over_clusters"}}.undefined(why)
		if checkMargin(margin) != "" {
			r.Margin = 0 // NaN can't be written; the reason names it
		}
		return r.without(why)
	}
	d := make([]float64, len(before))
	for i := range d {
		d[i] = after[i] - before[i]
	}
	unit := inUnit(before) && inUnit(after)
	r.Difference = ClusterMean(d, level)
	if diff := r.Difference; !diff.Error.OK {
		if !unit || len(d) < 2 || d[0] < 0 || margin > 1 {
			return r.without(diff.Error.Why)
		}
		return r.allEqual(level)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(r.N - 1)}
	diff, e := r.Difference.Value.Value, r.Difference.Error.Value
	half := t.Quantile(level) * e
	r.Bound, r.P = Number(diff-half), Number(t.CDF(-(diff+margin)/e))
	switch {
	case diff-half > -margin:
		r.Verdict = NonInferior
	case diff+half < -margin:
		r.Verdict = Inferior
	default:
		r.Why = fmt.Sprintf("the difference may be as low as %.4g, which is not above -%.4g", diff-half, margin)
	}
	return r
}

// allEqual decides where no cluster has fallen and all differ alike.
func (r NonInferiority) allEqual(level float64) NonInferiority {
	r.Method = "no_fall_seen"
	k := float64(r.N)
	r.P = Number(math.Pow(1-r.Margin, k))
	r.Bound = Number(math.Pow(1-level, 1/k) - 1)
	if r.P.Value <= 1-level {
		r.Verdict = NonInferior
		return r
	}
	r.Why = fmt.Sprintf("no cluster has fallen, but %d clusters are too few to rule out a fall by %.4g", r.N, r.Margin)
	return r
}

func (r NonInferiority) without(why string) NonInferiority {
	r.Bound, r.P, r.Why = Undefined("%s", why), Undefined("%s", why), why
	return r
}

func checkMargin(margin float64) string {
	if !(margin > 0) || math.IsInf(margin, 0) {
		return fmt.Sprintf("the margin %v is not a number above 0", margin)
	}
	return ""
}
