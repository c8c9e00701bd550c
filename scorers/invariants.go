package scorers

import (
	"fmt"

	"github.com/tooleval/tooleval"
)

// Invariants gathers named checks of a result's shape, for goals whose content can't be known beforehand (a title is
// there, the list is sorted, every link is one that was fetched). The outcome is the fraction of them that hold.
//
//	inv := scorers.NewInvariants()
//	inv.Check("title is populated", posting.Title != "", "")
//	inv.Check("salary is plausible", ok, "got %d", posting.Salary)
//	return inv.Outcome()
//
// It is meant for one goroutine.
type Invariants struct {
	checks     []tooleval.Check
	met, total int
}

// NewInvariants is an empty list of checks.
func NewInvariants() *Invariants { return &Invariants{} }

// Check adds a check that counts, and returns whether it holds. The note may be empty; it is shown beside the check.
// Give each check its own name: runs are compared by it.
func (inv *Invariants) Check(name string, holds bool, note string, args ...any) bool {
	verdict := tooleval.Failed
	if inv.total++; holds {
		inv.met++
		verdict = tooleval.Passed
	}
	inv.add(name, verdict, false, note, args)
	return holds
}

// Info adds a check that is shown, and marked so, but counts for nothing.
func (inv *Invariants) Info(name string, holds bool, note string, args ...any) {
	verdict := tooleval.Failed
	if holds {
		verdict = tooleval.Passed
	}
	inv.add(name, verdict, true, note, args)
}

// Skip adds a check that can't be made on this run, with the reason. It is neither met nor missed: it stays out of the
// fraction altogether.
func (inv *Invariants) Skip(name, why string, args ...any) {
	inv.add(name, tooleval.Unscored, false, why, args)
}

func (inv *Invariants) add(name string, v tooleval.Verdict, info bool, note string, args []any) {
	if len(args) > 0 { // a note without arguments may hold a % of its own
		note = fmt.Sprintf(note, args...)
	}
	inv.checks = append(inv.checks, tooleval.Check{Name: name, Verdict: v, Info: info, Note: tooleval.Text(note)})
}

// Outcome is the fraction of the counting checks that hold, with all checks. When every one of them was skipped the
// outcome is unscored. No counting check at all is an error of the task: a scorer that checks nothing passes nobody.
func (inv *Invariants) Outcome() (tooleval.Outcome, error) {
	out := tooleval.Outcome{Score: Fraction(inv.met, inv.total), Checks: inv.checks}
	if inv.total > 0 {
		return out, nil
	}
	for _, c := range inv.checks {
		if c.Verdict == tooleval.Unscored {
			out.Score = tooleval.Unscoredf("every check was skipped; the first, %q: %s", c.Name, c.Note)
			return out, nil
		}
	}
	err := tooleval.Blamef(tooleval.OwnerTask, "the scorer made no check that counts; give it at least one Check")
	out.Score = tooleval.Unscoredf("%v", err)
	return out, err
}
