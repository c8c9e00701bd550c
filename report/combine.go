package report

import (
	"math"
	"strconv"

	"github.com/tooleval/tooleval"
)

// combine is the mean of outcome and process by two weights: the rule of scorers.Combine, which this package may not
// import; a test holds the two together. It is 1 only when every part with a weight is.
func combine(s *tooleval.TaskScore, outcome, process float64) tooleval.Score {
	if !scored(s.Verdict) {
		return tooleval.Score{Why: "the run is unscored"}
	}
	largest := max(outcome, process)
	if !(outcome >= 0 && process >= 0 && largest > 0) || math.IsInf(largest, 0) {
		return tooleval.Unscoredf("the weights %v and %v are not two numbers of which one is above 0", outcome, process)
	}
	o, hasOutcome := s.Outcome.Score.Value()
	p, hasProcess := s.Process.Score.Value()
	switch {
	case outcome > 0 && !hasOutcome:
		return tooleval.Score{Why: "the outcome has no score"}
	case process > 0 && !hasProcess:
		return tooleval.Score{Why: "the process has no score"}
	}
	a, b := outcome/largest, process/largest // huge weights must not add up to infinity
	v := min((a*o+b*p)/(a+b), 1)
	if v == 1 && (a > 0 && o < 1 || b > 0 && p < 1) {
		v = math.Nextafter(1, 0)
	}
	return tooleval.Scored(v)
}

func newBlend(outcome, process float64) *Blend {
	largest := max(outcome, process)
	if !(outcome >= 0 && process >= 0 && largest > 0) || math.IsInf(largest, 0) {
		return &Blend{Label: "not computed: the weights are not two numbers of which one is above 0"}
	}
	a, b := outcome/largest, process/largest
	blend := Blend{OutcomeWeight: a / (a + b), ProcessWeight: b / (a + b)}
	blend.Label = "lossy: " + weight(blend.OutcomeWeight) + "·outcome + " + weight(blend.ProcessWeight) + "·process"
	return &blend
}

func weight(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
