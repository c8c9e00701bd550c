package scorers

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/tooleval/tooleval"
)

// Grade judges a finished run: outcome by the scorer (by [State] when it is nil), process by [Process], verdict by
// [Verdict]. It does not change the run. A run that never started has no outcome.
//
// The score that it returns can always be used. An error says that the scorer broke: it returned an error or panicked;
// the outcome is then unscored, and the error has an owner ([tooleval.BlamedOn]), the task unless the scorer named
// another. Grade may be called concurrently for different runs where the scorer allows it.
func Grade(ctx context.Context, run *tooleval.Run, scorer tooleval.Scorer) (tooleval.TaskScore, error) {
	if scorer == nil {
		scorer = State
	}
	var out tooleval.Outcome
	var err error
	if run.Ending == tooleval.NotStarted {
		out.Score = tooleval.Unscoredf("the run never started")
	} else if out, err = judge(ctx, run, scorer); err != nil {
		err = tooleval.Blame(tooleval.OwnerTask, fmt.Errorf("scoring: %w", err))
		out.Score = tooleval.Unscoredf("%v", err)
	}
	s := tooleval.TaskScore{Outcome: out, Process: Process(run)}
	s.Verdict, s.Why = Verdict(run, s.Outcome, s.Process)
	return s, err
}

// judge calls the scorer, which is somebody else's code and may panic.
func judge(ctx context.Context, run *tooleval.Run, scorer tooleval.Scorer) (out tooleval.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = tooleval.Outcome{}, &Panic{p, debug.Stack()}
		}
	}()
	return scorer.Score(ctx, run)
}

// A Panic is the error of a scorer that panicked.
type Panic struct {
	Value any
	Stack []byte
}

// Error is the panic's value in words; the stack is apart, since it differs from run to run.
func (p *Panic) Error() string { return fmt.Sprintf("the scorer panicked: %v", p.Value) }
