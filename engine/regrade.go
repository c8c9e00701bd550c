package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

// A Grader judges runs that were not made here: recorded by other systems, or stored earlier. It is safe for concurrent use.
type Grader struct {
	scorers map[string]tooleval.Scorer
	limit   time.Duration
}

// NewGrader binds the scorers of a suite. An error is one of configuration.
func NewGrader(s *tooleval.Suite, r tooleval.Resources) (*Grader, error) {
	g := &Grader{scorers: map[string]tooleval.Scorer{}, limit: DefaultScoring}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(s.Scorers)) {
		bound, err := bind(s.Scorers[id], r)
		if err != nil {
			errs = append(errs, fmt.Errorf("suite %q: task %q: %w", s.Name, id, err))
		}
		g.scorers[id] = bound
	}
	return g, errors.Join(errs...)
}

// Own reports whether a task has a scorer of its own and is not judged by its expected state alone.
func (g *Grader) Own(task string) bool { return g.scorers[task] != nil }

// Grade fills in the score and the failure of a run whose facts are all in, as [Runner.Do] does it. An error that an earlier
// scoring left in the record is dropped first.
func (g *Grader) Grade(ctx context.Context, run *tooleval.Run) {
	if run.Ending == tooleval.Completed && (run.ErrorOwner == tooleval.OwnerJudge || run.ErrorOwner == tooleval.OwnerTask) {
		run.Error, run.ErrorOwner, run.Stack = "", "", ""
	}
	run.Score, run.Failure = tooleval.TaskScore{}, nil
	scorer := g.scorers[run.TaskID]
	if scorer == nil {
		scorer = scorers.State
	}
	grade(ctx, run, scorer, g.limit, DefaultGrace)
}

// GradeAs is Grade by another scorer, for a run of which it is known that its own one can't judge it.
func (g *Grader) GradeAs(ctx context.Context, run *tooleval.Run, scorer tooleval.Scorer) {
	grade(ctx, run, scorer, g.limit, DefaultGrace)
}

// RecordedIdentity is the identity of a recorded run: its task's content, the mind, the index, and whence it came.
func RecordedIdentity(s *tooleval.Suite, t *tooleval.Task, mind, source string, index int) (string, error) {
	content, err := digest(map[string]any{"suite": s.Name, "version": s.Version, "task": t, "tools": s.Toolset(t), "mind": mind,
		"world": Recorded, "source": source})
	return tooleval.RunIdentity(content, index), err
}

// Recorded is the World of a run that another system made.
const Recorded = "recorded"
