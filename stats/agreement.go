package stats

import (
	"fmt"
	"math"
)

// An Agreement is how far two raters of the same things agree.
type Agreement struct {
	// Observed is the share of things that they agree on, with its Wilson interval.
	Observed Mean `json:"observed"`
	// Kappa is Cohen's κ: agreement beyond what chance would give, 1 at most.
	Kappa    Mean     `json:"kappa"`
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// Kappa takes a square table: table[i][j] counts the things that the first rater put in category i and the second in j. κ
// is undefined when both use a single category, where chance alone agrees. When they agree on everything κ has no error;
// the interval of Observed still says how little that may mean.
//
// Sources: J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20 (1960); J. L. Fleiss, J. Cohen,
// B. S. Everitt, "Large sample standard errors of kappa and weighted kappa", Psychol. Bull. 72 (1969), for the error.
func Kappa(table [][]int, level float64) Agreement {
	r := Agreement{Method: "cohen_kappa"}
	n, agreed, why := checkTable(table)
	r.N = n
	r.Kappa = Mean{N: n, Method: "cohen_kappa", Interval: Interval{Level: level, Method: "kappa_normal", N: n}}
	if why = firstReason(why, checkLevel(level)); why != "" {
		r.Observed = Mean{N: n, Method: "rate", Interval: Interval{Level: level, Method: "wilson", N: n}}.undefined(why)
		r.Kappa = r.Kappa.undefined(why)
		return r
	}
	r.Observed = Rate(agreed, n, level)
	size := len(table)
	row, col := make([]float64, size), make([]float64, size)
	p := func(i, j int) float64 { return float64(table[i][j]) / float64(n) }
	for i := range size {
		for j := range size {
			row[i] += p(i, j)
			col[j] += p(i, j)
		}
	}
	single := false
	for i := range size {
		single = single || table[i][i] == n
	}
	if single {
		r.Kappa = r.Kappa.undefined("both raters use a single category, so chance alone explains that they agree")
		return r
	}
	po := float64(agreed) / float64(n)
	var pe float64
	for i := range size {
		pe += row[i] * col[i]
	}
	k := (po - pe) / (1 - pe)
	r.Kappa.Value = Number(k)
	if agreed == n {
		r.Kappa.Value = Number(1)
		r.Kappa = r.Kappa.withoutError("the raters agree on everything, where the formula for the error gives 0")
		return r
	}
	var v float64
	for i := range size {
		for j := range size {
			if i == j {
				d := 1 - (row[i]+col[i])*(1-k)
				v += p(i, i) * d * d
			} else {
				d := (col[i] + row[j]) * (1 - k)
				v += p(i, j) * d * d
			}
		}
	}
	d := k - pe*(1-k)
	e := math.Sqrt(max(0, v-d*d)/float64(n)) / (1 - pe)
	if !(e > 1e-9) {
		r.Kappa = r.Kappa.withoutError("the formula for the error gives 0 for this table")
		return r
	}
	r.Kappa.Error = Number(e)
	half := zQuantile(level) * e
	r.Kappa.Interval = r.Kappa.Interval.with(k-half, k+half).Clamp(-1, 1)
	if n < 30 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("only %d things: the interval of κ is for large numbers", n))
	}
	return r
}

func checkTable(table [][]int) (n, agreed int, why string) {
	if len(table) < 2 {
		return 0, 0, fmt.Sprintf("a table of %d categories has nothing to agree on; at least 2 are needed", len(table))
	}
	for i, r := range table {
		if len(r) != len(table) {
			return 0, 0, fmt.Sprintf("row %d of the table has %d cells, not %d", i, len(r), len(table))
		}
		for _, c := range r {
			if c < 0 || c > maxTrials-n {
				return 0, 0, fmt.Sprintf("row %d of the table counts %d things", i, c)
			}
			n += c
		}
		agreed += r[i]
	}
	if n == 0 {
		return 0, 0, "the table is empty"
	}
	return n, agreed, ""
}

// A Confusion counts how a rater judged things of which the truth is known.
type Confusion struct {
	TruePositives  int `json:"true_positives"`
	FalseNegatives int `json:"false_negatives"`
	TrueNegatives  int `json:"true_negatives"`
	FalsePositives int `json:"false_positives"`
}

// Sensitivity is the rate of positives among things that are positive.
//
// Source: J. Yerushalmy, Public Health Rep. 62 (1947); the interval is [Wilson].
func (c Confusion) Sensitivity(level float64) Mean {
	return rateOf(c.TruePositives, c.FalseNegatives, level)
}

// Specificity is the rate of negatives among things that are negative.
//
// Source: as [Confusion.Sensitivity].
func (c Confusion) Specificity(level float64) Mean {
	return rateOf(c.TrueNegatives, c.FalsePositives, level)
}

func rateOf(hits, misses int, level float64) Mean {
	if hits < 0 || misses < 0 || hits > maxTrials || misses > maxTrials {
		return Mean{Method: "rate", Interval: Interval{Level: level, Method: "wilson"}}.undefined(
			fmt.Sprintf("%d right and %d wrong are impossible", hits, misses))
	}
	return Rate(hits, hits+misses, level)
}

// CorrectedRate is the true rate behind the rate of positives that an imperfect rater reports, given how the rater did on
// things of which the truth is known: (p + specificity − 1)/(sensitivity + specificity − 1), cut to 0..1. Its interval
// counts the uncertainty of all three. Undefined when the rater is no better than chance. The trials must be independent
// and the known things judged under the same conditions.
//
// Sources: W. J. Rogan, B. Gladen, "Estimating prevalence from the results of a screening test", Am. J. Epidemiol. 107
// (1978); Z. Lang, J. Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and
// specificity", Prev. Vet. Med. 113 (2014), for the interval.
func CorrectedRate(positives, trials int, known Confusion, level float64) Mean {
	m := Mean{N: trials, Method: "rogan_gladen"}
	m.Interval = Interval{Level: level, Method: "lang_reiczigel", N: trials}
	sens, spec := known.Sensitivity(level), known.Specificity(level)
	why := firstReason(checkLevel(level), checkCounts(positives, trials))
	if !sens.Value.OK {
		why = firstReason(why, "sensitivity: "+sens.Value.Why)
	}
	if !spec.Value.OK {
		why = firstReason(why, "specificity: "+spec.Value.Why)
	}
	if why != "" {
		return m.undefined(why)
	}
	se, sp := sens.Value.Value, spec.Value.Value
	if se+sp <= 1 {
		return m.undefined(fmt.Sprintf("sensitivity %.4g and specificity %.4g are no better than chance", se, sp))
	}
	n, p := float64(trials), float64(positives)/float64(trials)
	raw := (p + sp - 1) / (se + sp - 1)
	value := min(max(raw, 0), 1)
	m.Value = Number(value)
	if raw != value {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the corrected rate is %.4g and cut to %v: the rater's errors explain "+
			"all that was seen", raw, value))
	}
	// Add-two adjustments, as the paper has them, keep the error above 0 at the ends.
	z := zQuantile(level)
	nSe, nSp, nP := float64(sens.N)+2, float64(spec.N)+2, n+z*z
	se, sp, p = (float64(sens.N)*se+1)/nSe, (float64(spec.N)*sp+1)/nSp, (n*p+z*z/2)/nP
	if se+sp <= 1 {
		return m.withoutError("too few things are known to tell the rater from chance")
	}
	vSe, vSp := se*(1-se)/nSe, sp*(1-sp)/nSp
	theta := (p + sp - 1) / (se + sp - 1)
	e := math.Sqrt(p*(1-p)/nP+theta*theta*vSe+(1-theta)*(1-theta)*vSp) / (se + sp - 1)
	mid := theta + 2*z*z*(theta*vSe-(1-theta)*vSp)
	m.Error = Number(e)
	low, high := min(max(mid-z*e, 0), 1), min(max(mid+z*e, 0), 1)
	m.Interval = m.Interval.with(min(low, value), max(high, value))
	return m
}
