package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// Numbers are rounded here and nowhere else, and never up to a whole that they are not: 0.9996 is not "100 %" or "1.00",
// and 0.0004 is neither "0 %" nor "0.00".

const notComputed = "— not computed"

// percent is a share of 0..1: "100 %" and "0 %" only when exact.
func percent(v float64) string { return percentDigits(v) + " %" }

func percentDigits(v float64) string {
	switch {
	case v == math.Round(v*100)/100: // a whole number of percent
		return strconv.FormatFloat(math.Round(v*100), 'f', 0, 64)
	case v > 0.999 && v < 1:
		return "99.9"
	case v > 0 && v < 0.001:
		return "<0.1"
	}
	return strconv.FormatFloat(v*100, 'f', 1, 64)
}

// decimal is a score of 0..1 with 2 decimals, and with 3 where 2 would make it a whole.
func decimal(v float64) string { return honest(v, 2) }

// decimal3 is a deviation or an error with 3 decimals.
func decimal3(v float64) string { return honest(v, 3) }

func honest(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	rounded, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || v == rounded || rounded != math.Trunc(rounded):
		return s
	case v > 0 && v < 0.001:
		return "<0.001"
	case v > rounded: // rounded down to a whole
		return strconv.FormatFloat(max(math.Trunc(v*1000)/1000, rounded+0.001), 'f', 3, 64)
	}
	return strconv.FormatFloat(min(math.Trunc(v*1000)/1000, rounded-0.001), 'f', 3, 64)
}

// estimate prints an Estimate by f, or that it is not computed.
func estimate(e stats.Estimate, f func(float64) string) string {
	if v, ok := e.Get(); ok {
		return f(v)
	}
	return notComputed
}

// ends are the ends of an interval of 0..1 in percent: "56.6–100 %".
func ends(iv stats.Interval) string {
	if !iv.OK {
		return notComputed
	}
	return endDigits(iv.Low) + "–" + endDigits(iv.High) + " %"
}

// endDigits is plain rounding: the end of an interval claims nothing exact.
func endDigits(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v*100, 'f', 1, 64), ".0")
}

// score is a single run's score.
func score(s tooleval.Score) string {
	if v, ok := s.Value(); ok {
		return decimal(v)
	}
	return "— unscored"
}

// milliseconds is a duration for people.
func milliseconds(ms float64) string {
	switch {
	case !(ms >= 0):
		return "unknown time"
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.1f min", ms/60_000)
}

// plural is "1 run" or "2 runs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// whole is a sum that should be whole, with its digits grouped.
func whole(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
