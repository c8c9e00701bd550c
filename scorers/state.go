package scorers

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tooleval/tooleval"
)

// State judges by the final state alone: the outcome is the fraction of the task's expected_state that it meets, 1 only
// when all of it is met, with every place that differs. What the agent says in words counts for nothing.
//
// A missing state meets nothing; a state of null counts as missing, since a stored record can't tell the two apart. An
// agent's state that is not JSON meets nothing either, while a world's is the world's fault and an error. A task whose
// expected_state checks nothing is an error of the task, never a pass. State may be used concurrently.
var State tooleval.Scorer = stateScorer{}

type stateScorer struct{}

// mostDifferences bounds the differences that a record keeps; a state with more of them is wrong as a whole.
const mostDifferences = 1000

func (stateScorer) Score(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	want := run.Task.ExpectedState
	if err := want.Err(); err != nil {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerTask, "expected_state: %w", err)
	}
	if want.Vacuous() {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerTask,
			"expected_state checks nothing; give the task one that can differ, or a scorer")
	}
	var c tooleval.Comparison
	if noState(run) {
		c = want.CompareMissing()
	} else if v, err := tooleval.DecodeValue(run.State); err == nil {
		c = want.Compare(v)
	} else if run.StateFrom == "world" {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerWorld, "the final state of the world is not JSON: %w", err)
	} else {
		c = want.CompareMissing()
		c.Diff = []tooleval.Difference{{Path: "$", Got: run.State, Why: "the state is not JSON: " + err.Error()}}
	}
	return stateOutcome(c), nil
}

// stateOutcome is the outcome that a comparison amounts to.
func stateOutcome(c tooleval.Comparison) tooleval.Outcome {
	score := Fraction(c.Met, c.Total)
	if v, _ := score.Value(); v == 1 && !c.OK() {
		score = tooleval.Scored(math.Nextafter(1, 0))
	}
	check := tooleval.Check{Name: "expected_state", Verdict: tooleval.Failed}
	if c.OK() {
		check.Verdict = tooleval.Passed
	}
	check.Note = tooleval.Text(strconv.Itoa(c.Met) + " of " + strconv.Itoa(c.Total) + " expectations met")
	if n := len(c.Diff); n > mostDifferences {
		c.Diff = c.Diff[:mostDifferences:mostDifferences]
		check.Note += tooleval.Text(fmt.Sprintf("; only the first %d of %d differences are kept", mostDifferences, n))
	}
	return tooleval.Outcome{Score: score, Checks: []tooleval.Check{check}, Diff: c.Diff}
}

// noState reports whether a run ended without any state.
func noState(run *tooleval.Run) bool {
	s := bytes.TrimSpace(run.State)
	return len(s) == 0 || string(s) == "null"
}

// Fraction is the score met/total by a single division, so that it equals the decimal that a pass mark spells wherever
// the two are the same number. It is 1 only when met is total, and unscored when total is 0: nothing of nothing is no
// success. A count out of range is unscored too.
func Fraction(met, total int) tooleval.Score {
	switch {
	case total == 0:
		return tooleval.Unscoredf("nothing was checked")
	case met < 0 || met > total:
		return tooleval.Unscoredf("%d of %d is not a fraction", met, total)
	}
	v := float64(met) / float64(total)
	if v == 1 && met < total { // beyond 2^53 the division rounds up
		v = math.Nextafter(1, 0)
	}
	return tooleval.Scored(v)
}
