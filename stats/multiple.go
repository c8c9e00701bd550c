package stats

import (
	"fmt"
	"slices"
)

// A Holm is a family of p-values corrected for their number.
type Holm struct {
	// Adjusted are the corrected p-values in the order given: comparing each with α keeps the chance of any false
	// difference in the family at α or less. An undefined p stays undefined.
	Adjusted []Estimate `json:"adjusted"`
	// N is the number of tests that were made, which is what is corrected for.
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// AdjustHolm corrects p-values for the number of tests, whatever their dependence. Values outside of 0..1 become undefined;
// undefined ones are tests that were not made and do not count.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979).
func AdjustHolm(ps []Estimate) Holm {
	r := Holm{Adjusted: make([]Estimate, len(ps)), Method: "holm"}
	var order []int
	for i, p := range ps {
		v, ok := p.Get()
		switch {
		case !ok:
			r.Adjusted[i] = Undefined("%s", p.reason())
		case v < 0 || v > 1:
			r.Adjusted[i] = Undefined("%v is no p-value", v)
		default:
			order = append(order, i)
		}
	}
	r.N = len(order)
	if lost := len(ps) - r.N; lost > 0 {
		r.Warnings = []string{fmt.Sprintf("%d of %d tests have no p-value and are not counted", lost, len(ps))}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a].Value < ps[b].Value:
			return -1
		case ps[a].Value > ps[b].Value:
			return 1
		}
		return 0
	})
	var highest float64
	for rank, i := range order {
		highest = max(highest, min(1, float64(r.N-rank)*ps[i].Value))
		r.Adjusted[i] = Number(highest)
	}
	return r
}
