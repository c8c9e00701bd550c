package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/taxonomy"
)

// grade judges a run whose facts are all in: outcome, process, verdict, and the failure if there is one. The scorer has
// the limit for its work, and no more than the grace once ctx is done.
func grade(ctx context.Context, run *tooleval.Run, scorer tooleval.Scorer, limit, grace time.Duration) {
	score, err := scorers.Grade(ctx, run, tooleval.ScorerFunc(func(ctx context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
		return outcome(ctx, run, scorer, limit, grace)
	}))
	run.Score = score
	clipDiff(run.Score.Outcome.Diff)
	if errors.Is(err, errUngraded) {
		run.Ending = tooleval.Cancelled
		broke(run, tooleval.OwnerUser, err)
	} else if err != nil {
		broke(run, tooleval.OwnerTask, err)
	}
	run.Failure = taxonomy.Classify(run)
}

var errUngraded = errors.New("the eval was cancelled while this run was being scored")

// outcome calls the scorer, unless there is nothing that it could judge.
func outcome(ctx context.Context, run *tooleval.Run, scorer tooleval.Scorer, limit, grace time.Duration) (tooleval.Outcome, error) {
	switch {
	case run.Error != "" && run.ErrorOwner != tooleval.OwnerAgent:
		return tooleval.Outcome{Score: tooleval.Unscoredf("%s", run.Error)}, nil
	case run.Ending == tooleval.Errored && run.State == nil && run.Result.Response == "":
		return tooleval.Outcome{Score: tooleval.Scored(0)}, nil // the agent broke and left nothing behind
	case scorer == scorers.State: // it can neither hang nor change the run
		return scorer.Score(ctx, run)
	}
	// A run that is finished is scored even if the eval is being cancelled, but not for long.
	alive, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { stop(errUngraded) }) })()
	copied := cloneRun(run) // a scorer is somebody else's code: it must not write into the record or the Suite
	o, err := bounded(alive, limit, func(ctx context.Context) (tooleval.Outcome, error) {
		return scorer.Score(ctx, copied)
	})
	if err != nil && errors.Is(context.Cause(alive), errUngraded) {
		err = tooleval.Blame(tooleval.OwnerUser, errUngraded)
	}
	if err == nil && !o.Score.IsScored() && o.Score.Why == "" {
		o.Score = tooleval.Unscoredf("the scorer gave no score and no reason")
	}
	return o, err
}

// clipDiff shortens huge values: a difference has to be read, and the whole state stands in the record anyway.
func clipDiff(diff []tooleval.Difference) {
	const most = 16 << 10
	for i := range diff {
		for _, v := range []*tooleval.Raw{&diff[i].Want, &diff[i].Got} {
			if n := len(*v); n > most {
				*v = tooleval.Raw(fmt.Sprintf(`"a value of %d bytes, too long to be shown here"`, n))
			}
		}
	}
}
