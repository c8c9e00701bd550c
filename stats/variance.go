package stats

import (
	"fmt"
	"math"
)

// Clusters describes observations that come in clusters, such as repeated trials of one thing: the mean with an error that
// respects the clusters, and where the variance comes from.
type Clusters struct {
	// Mean lets every cluster count the same. It is the one to report.
	Mean Mean `json:"mean"`
	// Pooled lets every observation count the same, with the cluster-robust error of that mean (CR1).
	Pooled Mean `json:"pooled"`
	// Unclustered is the error of Pooled as if all observations were independent. It is here to be compared with; it is
	// too small whenever observations of a cluster resemble one another.
	Unclustered Estimate `json:"unclustered_error"`
	// Repeat is the error of Mean over repeats of these very clusters, from the variance within them only: what a second
	// measurement of the same clusters would vary by. Undefined when a cluster has a single observation.
	Repeat Estimate `json:"repeat_error"`
	// Within is the pooled variance inside of clusters, Between the variance of the clusters' true means.
	Within  Estimate `json:"within_variance"`
	Between Estimate `json:"between_variance"`
	// ICC is the intraclass correlation: the share of the variance that lies between clusters; slightly negative by chance
	// when that share is small.
	ICC Estimate `json:"icc"`
	// DesignEffect is how many times the variance of Pooled is larger than Unclustered says.
	DesignEffect Estimate `json:"design_effect"`
	// K counts the clusters, N the observations.
	K        int      `json:"clusters"`
	N        int      `json:"n"`
	Method   string   `json:"method"`
	Warnings []string `json:"warnings,omitempty"`
}

// A cluster is what the formulas need of one: size, mean and sum of squares about the mean.
type cluster struct{ n, mean, ss float64 }

// ClusterValues describes clusters of any numbers. An empty cluster is left out with a warning; a value that is no finite
// number makes everything undefined.
//
// Sources: as [ClusterMean]; K.-Y. Liang, S. L. Zeger, Biometrika 73 (1986), and A. C. Cameron, D. L. Miller, "A
// practitioner's guide to cluster-robust inference", J. Hum. Resour. 50 (2015), for CR1; A. Donner, "A review of inference
// procedures for the intraclass correlation coefficient", Int. Stat. Rev. 54 (1986), for the ANOVA estimator with unequal
// sizes; L. Kish, "Survey Sampling" (1965), for the design effect 1 + (Σn²/N − 1)·ICC.
func ClusterValues(groups [][]float64, level float64) Clusters {
	clusters := make([]cluster, 0, len(groups))
	var all Sample
	for i, g := range groups {
		if why := checkFinite(g); why != "" {
			return undefinedClusters(fmt.Sprintf("cluster %d: %s", i, why), level)
		}
		if len(g) == 0 {
			continue
		}
		var s Sample
		for _, v := range g {
			s.Add(v)
			all.Add(v)
		}
		c := cluster{n: float64(len(g)), mean: s.Mean().Value}
		if v := s.Variance(); v.OK {
			c.ss = v.Value * float64(len(g)-1)
		}
		clusters = append(clusters, c)
	}
	r := describe(clusters, len(groups), level, ClusterMean)
	switch v := all.Variance(); {
	case !v.OK:
		r.Unclustered = v
	case v.Value == 0:
		r.Unclustered = Undefined("all values are equal, so their spread can't be told")
	default:
		r.Unclustered = Number(math.Sqrt(v.Value / float64(all.N())))
	}
	return r
}

// ClusterCounts describes clusters of trials that succeed or fail, like [ClusterValues] of ones and zeros, but with the
// interval of [ClusterRate] and √(p(1−p)/N) for the unclustered error.
func ClusterCounts(counts []Count, level float64) Clusters {
	clusters := make([]cluster, 0, len(counts))
	for i, c := range counts {
		if c == (Count{}) {
			continue
		}
		if why := checkCounts(c.Successes, c.Trials); why != "" {
			return undefinedClusters(fmt.Sprintf("cluster %d: %s", i, why), level)
		}
		n := float64(c.Trials)
		p := float64(c.Successes) / n
		clusters = append(clusters, cluster{n: n, mean: p, ss: n * p * (1 - p)})
	}
	r := describe(clusters, len(counts), level, ClusterRate)
	if r.Unclustered = r.Pooled.Value; r.Unclustered.OK {
		r.Unclustered = rateError(r.Pooled.Value.Value, float64(r.N))
		r.Pooled = r.Pooled.asRate()
	}
	return r
}

// asRate replaces the t interval of a pooled rate by Wilson's at its effective sample size.
func (m Mean) asRate() Mean {
	if m.N < 2 {
		return m
	}
	p, n := m.Value.Value, float64(m.N)
	m.Interval.Method = "wilson_effective"
	if m.Error.OK {
		return m.withWilson(p*(1-p)/(m.Error.Value*m.Error.Value), n-1)
	}
	m.Error = rateError(p, n)
	return m.withWilson(n, n-1)
}

func describe(clusters []cluster, given int, level float64, mean func([]float64, float64) Mean) Clusters {
	r := Clusters{K: len(clusters), Method: "anova_icc_cr1"}
	means := make([]float64, len(clusters))
	var total, squares, sum float64
	for i, c := range clusters {
		means[i] = c.mean
		total, squares, sum = total+c.n, squares+c.n*c.n, sum+c.n*c.mean
	}
	r.N = int(total)
	r.Mean = mean(means, level)
	if r.K < given {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d clusters are empty and left out", given-r.K, given))
	}
	if r.K == 0 {
		return r.undefined("there are no observations", level)
	}
	r.Pooled = pooled(clusters, sum/total, total, level)
	r.Repeat = repeatError(clusters)
	r.components(clusters, sum/total, total, squares)
	return r
}

// pooled is the mean over observations with its cluster-robust error √(K/(K−1)·Σeᵢ²)/N, eᵢ the sum of residuals of
// cluster i.
func pooled(clusters []cluster, mean, total, level float64) Mean {
	k := len(clusters)
	m := Mean{Value: Number(mean), N: k, Method: "pooled_cr1"}
	m.Interval = Interval{Level: level, Method: "t_over_clusters", N: k}
	if !m.Value.OK {
		return m.undefined(m.Value.Why)
	}
	if k == 1 {
		return m.withoutError("one cluster has no error; at least 2 are needed")
	}
	var ss float64
	equal := true
	for _, c := range clusters {
		e := c.n * (c.mean - mean)
		ss += e * e
		equal = equal && c.mean == clusters[0].mean
	}
	if equal || ss == 0 {
		return m.withoutError(fmt.Sprintf("all %d cluster means are equal, so their spread can't be told", k))
	}
	return m.withError(math.Sqrt(ss*float64(k)/float64(k-1)) / total)
}

func repeatError(clusters []cluster) Estimate {
	var v float64
	for _, c := range clusters {
		if c.n < 2 {
			return Undefined("a cluster has a single observation; at least 2 are needed in each")
		}
		v += c.ss / (c.n - 1) / c.n
	}
	if v == 0 {
		return Undefined("no cluster varies inside, so the spread of repeats can't be told")
	}
	return Number(math.Sqrt(v) / float64(len(clusters)))
}

// components fills in the variance components by the analysis of variance.
func (r *Clusters) components(clusters []cluster, mean, total, squares float64) {
	k := float64(len(clusters))
	var ssb, ssw float64
	equal := true
	for _, c := range clusters {
		equal = equal && c.mean == clusters[0].mean
		ssb += c.n * (c.mean - mean) * (c.mean - mean)
		ssw += c.ss
	}
	none := func(why string) {
		e := Undefined("%s", why)
		r.Between, r.ICC, r.DesignEffect = e, e, e
	}
	if total == k {
		r.Within = Undefined("every cluster has a single observation")
		none(r.Within.Why)
		return
	}
	msw := ssw / (total - k)
	r.Within = Number(msw)
	if k < 2 {
		none("one cluster has no variance between clusters; at least 2 are needed")
		return
	}
	msb := ssb / (k - 1)
	n0 := (total - squares/total) / (k - 1)
	between := (msb - msw) / n0
	if (equal && ssw == 0) || between+msw <= 0 {
		r.Between = Number(0)
		r.ICC = Undefined("all values are equal, so there is no variance to share out")
		r.DesignEffect = r.ICC
		return
	}
	icc := between / (between + msw)
	r.ICC = Number(icc)
	r.DesignEffect = Number(1 + (squares/total-1)*icc)
	r.Between = Number(max(0, between))
	if between < 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the estimated variance between clusters is negative (%.4g) and taken "+
			"as 0: clusters differ less than chance inside of them would make them", between))
	}
}

func undefinedClusters(why string, level float64) Clusters {
	return Clusters{Method: "anova_icc_cr1"}.undefined(why, level)
}

func (r Clusters) undefined(why string, level float64) Clusters {
	m := Mean{Interval: Interval{Level: level, Method: "t_over_clusters"}}.undefined(why)
	r.Mean, r.Pooled = m, m
	r.Mean.Method, r.Pooled.Method = "mean_over_clusters", "pooled_cr1"
	e := Undefined("%s", why)
	r.Unclustered, r.Repeat, r.Within, r.Between, r.ICC, r.DesignEffect = e, e, e, e, e, e
	return r
}
