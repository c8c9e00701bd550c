package stats

import (
	"fmt"
	"math"
)

// A Mean is a mean with its error, its interval and the number of observations that they rest on: they belong to one
// another and are computed together.
type Mean struct {
	Value Estimate `json:"value"`
	// Error is the standard error.
	Error    Estimate `json:"error"`
	Interval Interval `json:"interval"`
	// N is the number of independent observations: clusters where there are clusters.
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// fewClusters is where an interval over clusters starts to lean on the shape of the distribution.
const fewClusters = 10

// ClusterMean is the mean over clusters, each given by its own mean and each counting the same; its error is sd/√K over
// the K clusters, whatever happens inside of them, and its interval is the mean ± t(K−1)·error. The interval is not cut
// to any range; see [Interval.Clamp].
//
// A single cluster has a mean and no error. When all means are equal the spread can't be told from them, and there is no
// error either: 0 would claim certainty.
//
// Source: E. Miller, "Adding error bars to evals", arXiv:2411.00640 (2024), clustered errors, in the balanced case; Student's t
// for the interval, as usual for a mean.
func ClusterMean(means []float64, level float64) Mean {
	m := Mean{N: len(means), Method: "mean_over_clusters"}
	m.Interval = Interval{Level: level, Method: "t_over_clusters", N: len(means)}
	if why := checkFinite(means); why != "" {
		return m.undefined(why)
	}
	var s Sample
	for _, v := range means {
		s.Add(v)
	}
	if m.Value = s.Mean(); !m.Value.OK {
		if len(means) == 0 {
			return m.undefined("there are no clusters")
		}
		return m.undefined(m.Value.Why)
	}
	sd := s.Deviation()
	switch {
	case m.N == 1:
		return m.withoutError("one cluster has no error; at least 2 are needed")
	case !sd.OK:
		return m.withoutError(sd.Why)
	case sd.Value == 0:
		return m.withoutError(fmt.Sprintf("all %d cluster means are equal, so their spread can't be told", m.N))
	}
	return m.withError(sd.Value / math.Sqrt(float64(m.N)))
}

// ClusterRate is [ClusterMean] for means of values in 0..1, such as rates; others are refused. The interval is Wilson's at
// the effective sample size p(1−p)/error², with the quantile of t(K−1): it stays within 0..1 and has a width at 0 and 1.
//
// When all means are equal, the error is that of K independent trials, √(p(1−p)/K), the most that values in 0..1 with this
// mean can have; at 0 and 1 there is no error, only the interval. A single cluster has neither.
//
// Source: E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts
// estimated from survey data", Surv. Methodol. 24 (1998), for the effective sample size; N. Dean, M. Pagano, "Evaluating
// confidence interval methods for binomial proportions in clustered surveys", J. Surv. Stat. Methodol. 3 (2015), for
// Wilson's interval at it.
func ClusterRate(rates []float64, level float64) Mean {
	m := ClusterMean(rates, level)
	m.Interval.Method = "wilson_effective"
	for i, v := range rates {
		if !(v >= 0 && v <= 1) {
			return m.undefined(fmt.Sprintf("value %d is %v, not in 0..1", i, v))
		}
	}
	if !m.Value.OK || m.N < 2 {
		return m
	}
	p, n := m.Value.Value, float64(m.N)
	if m.Error.OK {
		return m.withWilson(p*(1-p)/(m.Error.Value*m.Error.Value), n-1)
	}
	m.Error = rateError(p, n)
	m.Warnings = append(m.Warnings, fmt.Sprintf("all %d cluster means are equal: the interval is that of as many "+
		"independent trials", m.N))
	return m.withWilson(n, n-1)
}

// withWilson fills in Wilson's interval for n effective trials and df degrees of freedom.
func (m Mean) withWilson(n, df float64) Mean {
	if why := checkLevel(m.Interval.Level); why != "" {
		m.Interval = m.Interval.without("%s", why)
		return m
	}
	low, high := wilson(m.Value.Value, n, tQuantile(m.Interval.Level, df))
	m.Interval.Why = "" // the t interval may have had none
	m.Interval = m.Interval.with(rateEnds(low, high, m.Value.Value))
	return m
}

// withError fills in the error and the t interval that follows from it.
func (m Mean) withError(e float64) Mean {
	if m.Error = Number(e); !m.Error.OK {
		return m.withoutError(m.Error.Why)
	}
	if m.N < fewClusters {
		m.Warnings = append(m.Warnings, fmt.Sprintf("only %d clusters: the interval relies on their means being "+
			"roughly normal", m.N))
	}
	if why := checkLevel(m.Interval.Level); why != "" {
		m.Interval = m.Interval.without("%s", why)
		return m
	}
	half := tQuantile(m.Interval.Level, float64(m.N-1)) * e
	m.Interval = m.Interval.with(m.Value.Value-half, m.Value.Value+half)
	return m
}

func (m Mean) withoutError(why string) Mean {
	m.Error = Undefined("%s", why)
	m.Interval = m.Interval.without("%s", why)
	return m
}

func (m Mean) undefined(why string) Mean {
	m.Value = Undefined("%s", why)
	return m.withoutError(why)
}
