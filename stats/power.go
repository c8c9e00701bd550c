package stats

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Design is a planned comparison of two means over clusters with repeats.
type Design struct {
	// Clusters on each side, and Repeats in each of them on each side. What is asked for may be left 0.
	Clusters, Repeats int
	// Rate is the expected rate of successes; it gives the variance Rate·(1−Rate) of one observation.
	Rate float64
	// Variance of one observation, where it is no rate; 0 means that Rate gives it.
	Variance float64
	// ICC is the share of the variance that lies between clusters, 0..1.
	ICC float64
	// Pairing is how far the true means of the clusters are correlated between the two sides, 0..1: 0 for other clusters
	// on each side, 1 when the same clusters are measured and each shifts by the same.
	Pairing float64
	// Level of confidence of the two-sided test; 0 means 0.95. Power is the chance to show the difference; 0 means 0.8.
	Level, Power float64
}

// A Detectable is what a Design can show.
type Detectable struct {
	// Difference is the smallest true difference that is shown with the power asked for.
	Difference Estimate `json:"difference"`
	// Error is the standard error of the difference.
	Error    Estimate `json:"error"`
	Clusters int      `json:"clusters"`
	Repeats  int      `json:"repeats"`
	// N is the number of observations on each side.
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// maxPlanned bounds the clusters and the repeats of a plan.
const maxPlanned = 10_000_000

// MinimalDifference is the smallest difference that the design shows with its power: (t(1−α/2) + t(power))·error with K−1
// degrees of freedom, error² = 2·(within/repeats + between·(1−pairing))/K. Undefined for fewer than two clusters.
//
// Sources: H. S. Bloom, "Minimum detectable effects", Eval. Rev. 19 (1995), for the multiple of the error; E. Miller,
// arXiv:2411.00640 (2024), for the variance of clusters with repeats.
func MinimalDifference(d Design) Detectable {
	d = d.defaults()
	why := d.check()
	switch {
	case why != "":
	case d.Clusters < 2:
		why = "one cluster has no error; at least 2 are needed"
	case d.Repeats < 1:
		why = "there are no repeats; at least 1 is needed"
	case d.Clusters > maxPlanned || d.Repeats > maxPlanned:
		why = fmt.Sprintf("more than %d clusters or repeats are no plan", maxPlanned)
	}
	if why != "" {
		return d.impossible(why)
	}
	r := Detectable{Clusters: d.Clusters, Repeats: d.Repeats, N: d.Clusters * d.Repeats, Method: "minimal_difference_t"}
	r.Error = Number(d.err())
	r.Difference = Number(d.multiple() * d.err())
	if d.Clusters < fewClusters {
		r.Warnings = append(r.Warnings, fmt.Sprintf("only %d clusters: the plan relies on their means being roughly normal",
			d.Clusters))
	}
	if d.Variance == 0 && r.Difference.Value > max(d.Rate, 1-d.Rate) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("a rate of %v can't change by that much", d.Rate))
	}
	return r
}

// ClustersNeeded is the smallest number of clusters, with the design's repeats, that shows the difference with the
// design's power. Difference then is what that number can show, at most the one asked for.
func ClustersNeeded(d Design, difference float64) Detectable {
	return d.smallest(difference, 2, func(d *Design, n int) { d.Clusters = n }, "clusters")
}

// RepeatsNeeded is the smallest number of repeats, with the design's clusters, that shows the difference with the design's
// power. There may be none: repeats remove nothing of the variance between clusters.
func RepeatsNeeded(d Design, difference float64) Detectable {
	return d.smallest(difference, 1, func(d *Design, n int) { d.Repeats = n }, "repeats")
}

func (d Design) smallest(difference float64, from int, set func(*Design, int), what string) Detectable {
	if !(difference > 0) || math.IsInf(difference, 0) {
		return d.impossible(fmt.Sprintf("the difference %v is not a number above 0", difference))
	}
	with := func(n int) Detectable {
		d := d
		set(&d, n)
		return MinimalDifference(d)
	}
	most := with(maxPlanned)
	if !most.Difference.OK {
		return most
	}
	if most.Difference.Value > difference {
		return d.impossible(fmt.Sprintf("no number of %s up to %d shows a difference of %v", what, maxPlanned, difference))
	}
	n := from + sort.Search(maxPlanned-from, func(i int) bool {
		return with(from+i).Difference.Value <= difference
	})
	return with(n)
}

func (d Design) defaults() Design {
	if d.Level == 0 {
		d.Level = defaultLevel
	}
	if d.Power == 0 {
		d.Power = 0.8
	}
	return d
}

func (d Design) check() string {
	switch {
	case checkLevel(d.Level) != "":
		return checkLevel(d.Level)
	case !(d.Power >= 0.5 && d.Power < 1):
		return fmt.Sprintf("the power %v is not between 0.5 and 1", d.Power)
	case !(d.Variance >= 0) || math.IsInf(d.Variance, 0):
		return fmt.Sprintf("the variance %v is not a finite number above 0", d.Variance)
	case d.Variance == 0 && !(d.Rate > 0 && d.Rate < 1):
		return fmt.Sprintf("the rate %v is not between 0 and 1, so there is no variance to plan with", d.Rate)
	case !(d.ICC >= 0 && d.ICC <= 1):
		return fmt.Sprintf("the intraclass correlation %v is not in 0..1", d.ICC)
	case !(d.Pairing >= 0 && d.Pairing <= 1):
		return fmt.Sprintf("the pairing %v is not in 0..1", d.Pairing)
	case d.ICC == 1 && d.Pairing == 1:
		return "no variance is left: all of it lies between clusters and all of that is paired away"
	}
	return ""
}

// err is the standard error of the difference.
func (d Design) err() float64 {
	v := d.Variance
	if v == 0 {
		v = d.Rate * (1 - d.Rate)
	}
	return math.Sqrt(2 * v * ((1-d.ICC)/float64(d.Repeats) + d.ICC*(1-d.Pairing)) / float64(d.Clusters))
}

func (d Design) multiple() float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(d.Clusters - 1)}
	return t.Quantile(0.5+d.Level/2) + t.Quantile(d.Power)
}

func (d Design) impossible(why string) Detectable {
	e := Undefined("%s", why)
	return Detectable{Difference: e, Error: e, Clusters: d.Clusters, Repeats: d.Repeats, Method: "minimal_difference_t"}
}
