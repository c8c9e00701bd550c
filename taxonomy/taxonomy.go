// Package taxonomy says why a run did not pass, and whose fault that is. It is a fixed chain of causes; the first that
// fits is the failure, so an agent that called nothing is no_tools and not also missing_output.
//
//	run.Failure = taxonomy.Classify(run) // after run.Score is set; nil when the run passed
//	for _, link := range taxonomy.Chain {
//		fmt.Println(link.Category, link.Owner, link.What)
//	}
//
// Every failure carries an owner and evidence: which call, which place in the state.
//
// # Limits
//
// The chain sees the record, not the agent's reasons. A cause that comes early may hide one that comes later. Where
// calls may be missing from the trajectory, nothing is claimed from a call that is absent.
package taxonomy

import (
	"slices"

	"github.com/tooleval/tooleval"
)

// A Link is one cause in the chain.
type Link struct {
	Category tooleval.Category
	// Owner is whose fault it is unless the run shows otherwise: a run_error has the owner of its error, and most causes
	// go to the world when it answered a call with a gap in its fixtures or with an injected fault.
	Owner tooleval.Owner
	// What the cause is, in one sentence.
	What string

	// test looks for the cause and gives the reason and the evidence. It runs only on runs that did not pass.
	test func(*facts) (finding, bool)
}

// A finding is what a test found. An owner stands instead of the link's.
type finding struct {
	why      string
	owner    tooleval.Owner
	evidence []tooleval.Pointer
}

// Chain is every cause in the order in which they are looked for; the last one always fits. It is not to be changed.
var Chain = []Link{
	{tooleval.RunError, tooleval.OwnerAgent,
		"The run ended with an error, a timeout or a limit other than that of calls, or it never started.", runError},
	{tooleval.NoTools, tooleval.OwnerAgent,
		"Calls were needed and none was made.", noTools},
	{tooleval.CalledForbidden, tooleval.OwnerAgent,
		"A forbidden call was made, whatever it returned.", calledForbidden},
	{tooleval.WrongTool, tooleval.OwnerAgent,
		"Calls were made, but a required tool was never among them.", wrongTool},
	{tooleval.MissingOutput, tooleval.OwnerAgent,
		"The agent ended without the output that was needed, or nothing of what was expected is in the final state.",
		missingOutput},
	{tooleval.WrongArgs, tooleval.OwnerAgent,
		"A required tool was called, but with arguments that don't fit or are malformed, or only with errors.", wrongArgs},
	{tooleval.ExcessiveCalls, tooleval.OwnerAgent,
		"The limit of calls was reached, or more calls were made than are needed.", excessiveCalls},
	{tooleval.GoodProcessBadOutcome, tooleval.OwnerAgent,
		"Nothing is wrong with the path, but the outcome is below the pass mark.", goodProcessBadOutcome},
	{tooleval.UnknownFailure, tooleval.OwnerAgent,
		"None of the causes above fits.", unknown},
}

// Classify says why a run did not pass: the first link of [Chain] that fits. It reads run.Score, so that has to be set.
// It is nil for a run that passed. An unscored run that ended with an error is a run_error with the owner of the error,
// any other unscored run nil: its score says why. Classify changes nothing and may be called concurrently.
func Classify(run *tooleval.Run) *tooleval.Failure {
	_, ended := ErrorOwner(run)
	switch run.Score.Verdict {
	case tooleval.Passed:
		return nil
	case tooleval.Failed:
	default:
		if run.Error == "" && (!ended || run.Ending == "") {
			return nil
		}
		return &tooleval.Failure{Category: tooleval.RunError, Owner: blamed(run),
			Why: tooleval.Text(errorWhy(run)), Evidence: bounded(faultNotes(run))}
	}
	f := &facts{run: run, ended: ended}
	for i := range Chain {
		link := &Chain[i]
		found, ok := link.test(f)
		if !ok {
			continue
		}
		out := &tooleval.Failure{Category: link.Category, Owner: link.Owner, Why: tooleval.Text(found.why)}
		if found.owner != "" {
			out.Owner = found.owner
		}
		evidence := slices.Clip(found.evidence)
		gaps, faults := gapNotes(run), faultNotes(run)
		excused := len(faults) > 0 && !run.Task.WantsRecovery
		if (len(gaps) > 0 || excused) && worldMayBeTheCause(link.Category) {
			// The agent's fault can't be told from the mock's hole, and an injected fault is not the agent's, unless the task
			// is to cope with it.
			out.Owner = tooleval.OwnerWorld
			evidence = slices.Concat(gaps, faults, evidence) // first, so that the bound never cuts them all
		} else {
			evidence = slices.Concat(evidence, gaps, faults)
		}
		out.Evidence = bounded(evidence)
		return out
	}
	return nil // not reached: the last link always fits
}

// worldMayBeTheCause reports whether a hole in the fixtures or an injected fault can explain a failure of this kind. A
// call that was not made, or must not be made, is no answer's fault, and the owner of an error is known.
func worldMayBeTheCause(c tooleval.Category) bool {
	return c != tooleval.RunError && c != tooleval.NoTools && c != tooleval.CalledForbidden
}

// ErrorOwner says whose fault it is that a run did not complete; ended is false when it did. An error that names no
// owner is the agent's where the agent was running (error, timeout, limit), the user's when cancelled, else the
// harness's. A completed run with an error of its task or judge did complete: it was its scoring that broke, and can
// be repeated.
func ErrorOwner(run *tooleval.Run) (owner tooleval.Owner, ended bool) {
	if run.Ending == tooleval.Completed {
		scoring := run.ErrorOwner == tooleval.OwnerJudge || run.ErrorOwner == tooleval.OwnerTask
		if run.Error == "" || scoring {
			return "", false
		}
	}
	return blamed(run), true
}

// blamed is the owner of a run's error.
func blamed(run *tooleval.Run) tooleval.Owner {
	if run.ErrorOwner != "" {
		return run.ErrorOwner
	}
	switch run.Ending {
	case tooleval.Errored, tooleval.TimedOut, tooleval.LimitReached:
		return tooleval.OwnerAgent
	case tooleval.Cancelled:
		return tooleval.OwnerUser
	}
	return tooleval.OwnerHarness
}
