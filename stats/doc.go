// Package stats computes the numbers that evidence can bear, and says so when it can't bear one. It knows trials,
// successes, groups and clusters, and nothing about where they come from.
//
//	r := stats.Wilson(8, 10, 0.95)          // [0.490, 0.943]
//	p := stats.PassHatK(4, 3, 2)            // 0.5: C(3,2)/C(4,2)
//	m := stats.ClusterMean(means, 0.95)     // mean, error over clusters, t interval
//	c := stats.Compare(before, after, stats.CompareOptions{Seed: 1})
//	fmt.Println(r, p, m.Error, c.Verdict)
//
// An undefined number is an [Estimate] without a value and with a reason. It is never 0 and never NaN; in JSON it is
// {"value": null, "why": …}. Input that is not a number, infinite or impossible (11 successes of 10) gives such an
// Estimate too: nothing here panics on bad data. Every result carries how many observations it rests on, the method's
// name and warnings.
//
// # Limits
//
// Results are deterministic: the same input in the same order and the same seed give the same bits on one architecture.
// Functions keep no state and may be called concurrently; a [Sample] may not. Inputs are never changed. Nothing is
// rounded. The statistics, their formulas, sources and limits are in docs/statistics.md.
package stats
