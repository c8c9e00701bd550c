package stats

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// A McNemar is the exact test of two measurements that each succeed or fail on the same things.
type McNemar struct {
	// P is the exact two-sided p, MidP the less conservative mid-p.
	P    Estimate `json:"p"`
	MidP Estimate `json:"mid_p"`
	// N counts the pairs that differ; the others say nothing about a difference.
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// McNemarTest takes how many pairs succeeded before only and after only. The pairs must be independent: one pair a
// cluster. Without a pair that differs p is 1.
//
// Sources: Q. McNemar, Psychometrika 12 (1947), in the exact binomial form; M. W. Fagerland, S. Lydersen, P. Laake, "The
// McNemar test for binary matched-pairs data", BMC Med. Res. Methodol. 13 (2013), for mid-p.
func McNemarTest(beforeOnly, afterOnly int) McNemar {
	r := McNemar{Method: "mcnemar_exact"}
	if beforeOnly < 0 || afterOnly < 0 || beforeOnly > maxTrials || afterOnly > maxTrials {
		r.P = Undefined("%d and %d pairs are impossible", beforeOnly, afterOnly)
		r.MidP = r.P
		return r
	}
	r.N = beforeOnly + afterOnly
	if r.N == 0 {
		r.P, r.MidP = Number(1), Number(1)
		r.Warnings = []string{"no pair differs"}
		return r
	}
	b := distuv.Binomial{N: float64(r.N), P: 0.5}
	low := float64(min(beforeOnly, afterOnly))
	p := 2 * b.CDF(low)
	r.P, r.MidP = Number(min(1, p)), Number(min(1, p-b.Prob(low)))
	if r.N < 6 {
		r.Warnings = []string{fmt.Sprintf("with %d pairs that differ the exact p can't be 0.05 or less", r.N)}
	}
	return r
}
