package stats

import (
	"math"
	"slices"
)

// A Sample takes numbers one by one and knows their mean and deviation without keeping them. The zero Sample is empty
// and ready. The same numbers in the same order give the same bits. Not safe for concurrent use.
//
// Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4
// (1962).
type Sample struct {
	n, refused int
	mean, m2   float64
	low, high  float64
}

// Add takes x and reports whether it did: NaN and infinities are refused and counted apart, since one of them would make
// every result meaningless.
func (s *Sample) Add(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s.refused++
		return false
	}
	s.n++
	if s.n == 1 {
		s.low, s.high = x, x
	}
	s.low, s.high = min(s.low, x), max(s.high, x)
	d := x - s.mean
	s.mean += d / float64(s.n)
	s.m2 += d * (x - s.mean)
	return true
}

// N is how many numbers were taken.
func (s *Sample) N() int { return s.n }

// Refused is how many values were no finite numbers. They are in no result.
func (s *Sample) Refused() int { return s.refused }

// Mean is the arithmetic mean; undefined for an empty Sample.
func (s *Sample) Mean() Estimate {
	if why := s.empty(); why != "" {
		return Undefined("%s", why)
	}
	return Number(s.mean)
}

// Variance is the sample variance with divisor n−1; undefined for n < 2.
func (s *Sample) Variance() Estimate {
	if s.n == 1 {
		return Undefined("one value has no deviation; at least 2 are needed")
	}
	if why := s.empty(); why != "" {
		return Undefined("%s", why)
	}
	if s.low == s.high {
		return Number(0)
	}
	return Number(s.m2 / float64(s.n-1))
}

// Deviation is the sample standard deviation with divisor n−1; undefined for n < 2.
func (s *Sample) Deviation() Estimate {
	v := s.Variance()
	if !v.OK {
		return v
	}
	return Number(math.Sqrt(v.Value))
}

// Min is the smallest number; undefined for an empty Sample.
func (s *Sample) Min() Estimate {
	if why := s.empty(); why != "" {
		return Undefined("%s", why)
	}
	return Number(s.low)
}

// Max is the largest number; undefined for an empty Sample.
func (s *Sample) Max() Estimate {
	if why := s.empty(); why != "" {
		return Undefined("%s", why)
	}
	return Number(s.high)
}

func (s *Sample) empty() string {
	switch {
	case s.n > 0:
		return ""
	case s.refused > 0:
		return "none of the values is a finite number"
	}
	return "there are no values"
}

// Quantile is the q-quantile of values, interpolated between the order statistics (0.5 is the median; 0 and 1 are the
// ends). The values may be in any order and are left as they are. Undefined without values, when one of them is no finite
// number, or when q is not in 0..1.
//
// Source: R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50 (1996), definition 7.
func Quantile(values []float64, q float64) Estimate {
	if !(q >= 0 && q <= 1) {
		return Undefined("the quantile %v is not in 0..1", q)
	}
	if len(values) == 0 {
		return Undefined("there are no values")
	}
	if why := checkFinite(values); why != "" {
		return Undefined("%s", why)
	}
	return Number(quantile(slices.Sorted(slices.Values(values)), q))
}

// quantile is Quantile of sorted finite values.
func quantile(sorted []float64, q float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	w := h - float64(i)
	return sorted[i]*(1-w) + sorted[i+1]*w // not a + w(b−a), which may overflow
}
