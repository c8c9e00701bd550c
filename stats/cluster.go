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
// Source: E. Miller, "Adding error bars to evals", arXiv:2411.00640 (2024), section 2.2, in the balanced case; Student's t
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
