package scorers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/taxonomy"
)

// Verdict is the one rule of what passes: an outcome at or above the task's pass mark, and no forbidden call. It
// returns the reason of a verdict that is not passed, in one sentence. The first of these that fits decides:
//
//  1. A forbidden call was made: failed, whatever else happened, since nothing can make such a run pass.
//  2. The run ended early: failed when that is the agent's fault (a crash, a timeout, a limit), else unscored. Its state
//     is graded and shown all the same.
//  3. The outcome has no score: unscored.
//  4. The outcome is below the pass mark: failed.
//  5. Calls are forbidden, but calls may be missing from the trajectory: unscored.
//  6. The task makes its expected trajectory a gate, and the calls don't match it (failed) or that can't be told (unscored).
//
// Checks never count here, whether they are marked Info or not: only the score does.
func Verdict(run *tooleval.Run, o tooleval.Outcome, p tooleval.Process) (tooleval.Verdict, tooleval.Text) {
	forbidden := p.Component(Forbidden)
	if forbidden != nil {
		if v, ok := forbidden.Score.Value(); ok && v == 0 {
			return tooleval.Failed, "a forbidden call was made: " + firstNote(forbidden)
		}
	}
	if owner, ended := taxonomy.ErrorOwner(run); ended {
		why := tooleval.Text("the run did not complete (" + endingName(run.Ending) + ", owner " + string(owner) + ")")
		if run.Error != "" {
			why += ": " + run.Error
		}
		if owner == tooleval.OwnerAgent {
			return tooleval.Failed, why
		}
		return tooleval.Unscored, why
	}
	v, ok := o.Score.Value()
	if !ok {
		if o.Score.Why == "" {
			return tooleval.Unscored, "the outcome has no score, and its scorer did not say why"
		}
		return tooleval.Unscored, o.Score.Why
	}
	if mark := run.Task.PassMark(); !Meets(v, mark) {
		why := "outcome " + decimal(v) + " is below the pass mark " + decimal(mark)
		if silent(run) {
			why += ": the agent said nothing and did nothing"
		} else if len(o.Diff) > 0 {
			why += ": " + o.Diff[0].String()
		}
		return tooleval.Failed, tooleval.Text(why)
	}
	if forbiddenInReach(run) && (forbidden == nil || !forbidden.Score.IsScored()) {
		if forbidden == nil {
			return tooleval.Unscored, "the task forbids calls, but the process was not judged"
		}
		return tooleval.Unscored, forbidden.Score.Why
	}
	if t := run.Task.Trajectory; t != nil && t.Counts == tooleval.CountsGate {
		c := p.Component(MatchedTrajectory)
		switch {
		case c == nil:
			return tooleval.Unscored, "the task's trajectory is a gate, but the process was not judged"
		case !c.Score.IsScored():
			return tooleval.Unscored, c.Score.Why
		}
		if v, _ := c.Score.Value(); v < 1 {
			why := tooleval.Text("the trajectory is not the expected one")
			for i := range c.Notes[:min(len(c.Notes), 2)] { // what it comes closest to, and the first call that is wrong
				why += []tooleval.Text{": it ", ": "}[i] + c.Notes[i].Note
			}
			return tooleval.Failed, why
		}
	}
	return tooleval.Passed, ""
}

// Meets reports whether a score reaches a pass mark. Both are compared as decimals with the 15 digits that every
// float64 holds, so that 0.7+0.1 meets 0.8; only a mark of 1 is met by nothing but 1. NaN meets nothing.
func Meets(score, mark float64) bool {
	if score >= mark {
		return true
	}
	if !(mark < 1) || !(score < mark) {
		return false
	}
	return rounded(score) >= rounded(mark)
}

// rounded is the float64 of v's first 15 significant digits.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 14, 64), 64)
	if err != nil { // what FormatFloat writes is read back
		return v
	}
	return r
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func endingName(e tooleval.Ending) string {
	if e == "" {
		return "no ending recorded"
	}
	return string(e)
}

func firstNote(c *tooleval.Component) tooleval.Text {
	if len(c.Notes) == 0 {
		return "see the trajectory"
	}
	if n := len(c.Notes) - 1; n > 0 {
		return c.Notes[0].Note + tooleval.Text(fmt.Sprintf(" (and %d more)", n))
	}
	return c.Notes[0].Note
}

// silent reports whether the agent ended as if all was well but neither said nor did anything.
func silent(run *tooleval.Run) bool {
	return run.Ending == tooleval.Completed && len(run.Trajectory.Calls) == 0 && run.Trajectory.Incomplete == "" &&
		strings.TrimSpace(string(run.Result.Response)) == "" && len(run.Result.State) == 0
}
