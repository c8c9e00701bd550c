package scorers

import (
	"fmt"
	"math"

	"github.com/tooleval/tooleval"
)

// The weights of [Combine] that design and reports use unless others are asked for.
const (
	OutcomeWeight = 0.7
	ProcessWeight = 0.3
)

// CheckWeights says what is wrong with two weights of [Combine]: each must be a finite number that is not negative, and
// one of them more than 0. They need not add up to 1.
func CheckWeights(outcome, process float64) error {
	for _, w := range []struct {
		name  string
		value float64
	}{{"outcome", outcome}, {"process", process}} {
		if math.IsNaN(w.value) || math.IsInf(w.value, 0) || w.value < 0 {
			return fmt.Errorf("the weight of the %s is %v; give a number that is 0 or more", w.name, w.value)
		}
	}
	if outcome == 0 && process == 0 {
		return fmt.Errorf("both weights are 0; give at least one that is more")
	}
	return nil
}

// Combine blends outcome and process into one number: their mean by the two weights, which are normalised. A blend is
// lossy (an agent that reaches the goal by a forbidden path and one that fails it neatly can get the same number), so
// it carries a remark that says so, and nothing in ToolEval decides by it.
//
// It is unscored, with the reason, when the run is unscored, when a part with a weight above 0 has no score, or when
// [CheckWeights] refuses the weights. A part with weight 0 is not looked at. It is 1 only when every part with a
// weight is.
func Combine(score tooleval.TaskScore, outcomeWeight, processWeight float64) tooleval.Score {
	if err := CheckWeights(outcomeWeight, processWeight); err != nil {
		return tooleval.Unscoredf("%v", err)
	}
	if score.Verdict == tooleval.Unscored {
		return tooleval.Score{Why: "the run is unscored: " + score.Why}
	}
	// Huge weights must not add up to infinity, nor tiny ones round to nothing.
	largest := max(outcomeWeight, processWeight)
	sum, weights, perfect := 0.0, 0.0, true
	for _, part := range []struct {
		name   string
		score  tooleval.Score
		weight float64
	}{
		{"outcome", score.Outcome.Score, outcomeWeight},
		{"process", score.Process.Score, processWeight},
	} {
		if part.weight == 0 {
			continue
		}
		v, ok := part.score.Value()
		if !ok {
			return tooleval.Score{Why: tooleval.Text("the "+part.name+" has no score: ") + part.score.Why}
		}
		perfect = perfect && v == 1
		w := part.weight / largest
		sum += w * v
		weights += w
	}
	v := min(sum/weights, 1)
	if v == 1 && !perfect {
		v = math.Nextafter(1, 0)
	}
	s := tooleval.Scored(v)
	s.Why = tooleval.Text(fmt.Sprintf("a lossy blend: outcome by %g, process by %g", outcomeWeight, processWeight))
	return s
}
