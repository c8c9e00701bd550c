// Package scorers judges a finished [tooleval.Run]: how far the goal was reached (outcome), whether the path was
// reasonable (process), and whether the run passed.
//
//	score, err := scorers.Grade(ctx, run, nil)       // nil: compare the final state with the task's expected_state
//	run.Score = score                                // outcome, process and verdict, kept apart
//	run.Failure = taxonomy.Classify(run)             // and why it did not pass
//	one := scorers.Combine(score, 0.7, 0.3)          // only where somebody insists on a single number
//
// A [Goal] judges by named checks: the state after ground-truth actions or a pattern, nothing else changed, and what has to
// be said. It plays the ground truth in a fresh world, so it needs no expected state written down:
//
//	&scorers.Goal{World: world, After: []scorers.Action{{Tool: "cancel", Args: args}}, Said: []scorers.Statement{{Number: "42"}}}
//
// A suite with a goal that no state can express brings its own [tooleval.Scorer]; [NewInvariants] helps it to check the
// shape of a result whose content can't be known beforehand.
//
// # Limits
//
// An outcome is a fraction made by one division, never a sum of rounded parts, so that 7 of 10 meets a pass mark of 0.7.
// The package judges by records alone: it reads no clock, file or network, and it never asks a model.
package scorers
