package stats

import (
	"fmt"
	"math"
)

// PassAtK is pass@k: the chance that at least one of k trials, drawn without replacement from n of which c succeeded, is
// a success: 1 − C(n−c,k)/C(n,k). It is the unbiased estimate of 1−(1−p)^k; 1−(1−c/n)^k is another, biased one. n and c
// are those of one group, never summed over groups. Undefined when k > n, k < 1 or the counts are impossible.
//
// Source: M. Chen et al., "Evaluating large language models trained on code", arXiv:2107.03374 (2021), eq. 1.
func PassAtK(n, c, k int) Estimate {
	if why := checkK(n, c, k); why != "" {
		return Undefined("%s", why)
	}
	v := 1 - chooseRatio(n-c, n, k)
	if v == 1 && n-c >= k {
		v = math.Nextafter(1, 0) // only a sure thing is 1
	}
	return Number(v)
}

// PassHatK is pass^k: the chance that all of k trials, drawn without replacement from n of which c succeeded, are
// successes: C(c,k)/C(n,k). It is the unbiased estimate of p^k; (c/n)^k is another, biased one. n and c are those of one
// group, never summed over groups. Undefined when k > n, k < 1 or the counts are impossible.
//
// Source: S. Yao et al., "τ-bench", arXiv:2406.12045 (2024).
func PassHatK(n, c, k int) Estimate {
	if why := checkK(n, c, k); why != "" {
		return Undefined("%s", why)
	}
	return Number(chooseRatio(c, n, k))
}

// maxProductTrials is up to where logarithms of factorials keep six digits after subtraction.
const maxProductTrials = 1_000_000_000

func checkK(n, c, k int) string {
	if why := checkCounts(c, n); why != "" {
		return why
	}
	if n > maxProductTrials {
		return Undefined("%d trials are more than %d, up to where the formula is precise", n, maxProductTrials).Why
	}
	if k < 1 {
		return Undefined("k is %d; it counts trials, from 1", k).Why
	}
	if k > n {
		return Undefined("k = %d needs at least %d trials, there are %d", k, k, n).Why
	}
	return ""
}

// A Count is the successes in some trials of one group.
type Count struct {
	Successes int `json:"successes"`
	Trials    int `json:"trials"`
}

// A PassK is pass@k or pass^k over groups: the mean over those that have at least k trials, each counting the same, with
// its error over groups. Method is "pass_at_k" or "pass_hat_k".
type PassK struct {
	K int `json:"k"`
	Mean
	// Groups has one estimate a group, in the order given; undefined, with the reason, for those that are left out.
	Groups []Estimate `json:"groups"`
	// Skipped counts the groups that are left out.
	Skipped int `json:"skipped"`
	// Trials counts the trials of the groups that are not.
	Trials int `json:"trials"`
}

// MeanPassAtK is [PassAtK] of each group, averaged; see [PassK].
func MeanPassAtK(groups []Count, k int, level float64) PassK {
	return meanPassK("pass_at_k", PassAtK, groups, k, level)
}

// MeanPassHatK is [PassHatK] of each group, averaged; see [PassK].
func MeanPassHatK(groups []Count, k int, level float64) PassK {
	return meanPassK("pass_hat_k", PassHatK, groups, k, level)
}

func meanPassK(method string, f func(n, c, k int) Estimate, groups []Count, k int, level float64) PassK {
	r := PassK{K: k}
	var values []float64
	why := "there are no groups"
	for _, g := range groups {
		e := f(g.Trials, g.Successes, k)
		r.Groups = append(r.Groups, e)
		if !e.OK {
			r.Skipped++
			why = e.Why
			continue
		}
		values = append(values, e.Value)
		r.Trials += g.Trials
	}
	r.Mean = ClusterRate(values, level)
	r.Method = method
	switch {
	case len(values) == 0 && len(groups) > 0:
		r.Mean = r.Mean.undefined(fmt.Sprintf("none of %d groups has one; the last: %s", len(groups), why))
	case len(values) == 0:
		r.Mean = r.Mean.undefined(why)
	case r.Skipped > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d groups are left out, so the mean is over the others only; "+
			"the last: %s", r.Skipped, len(groups), why))
	}
	return r
}

// chooseRatio is C(a,k)/C(n,k) for 0 ≤ a ≤ n and 1 ≤ k ≤ n.
func chooseRatio(a, n, k int) float64 {
	if k > a {
		return 0
	}
	// C(a,k)/C(n,k) = C(n−k,n−a)/C(n,n−a): take the shorter product. A product of fractions neither overflows nor cancels.
	m, top := k, a
	if n-a < k {
		m, top = n-a, n-k
	}
	if m > 1_000_000 {
		return math.Exp(lchoose(float64(top), float64(m)) - lchoose(float64(n), float64(m)))
	}
	r := 1.0
	for i := range m {
		r *= float64(top-i) / float64(n-i)
	}
	return r
}

// lchoose is ln C(n,k).
func lchoose(n, k float64) float64 { return lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) }

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
