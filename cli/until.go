package cli

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
)

// An until adds runs to the tasks of which the pass rate is not known well enough yet.
type until struct {
	width  float64
	counts map[untilKey]*stats.Count
	minds  []string
	tasks  [][2]string
	runs   map[[2]string]int
}

type untilKey struct{ mind, suite, task string }

// parseWidth reads the width of an interval of a rate.
func parseWidth(text string) (float64, error) {
	r, err := stats.ParseRate(text)
	if err != nil {
		return 0, fmt.Errorf("--until: %w", err)
	}
	if r.Sign() == 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, fmt.Errorf("--until %s: give a width between 0 and 1, such as 0.2: the pass rate to within 10 points each way", text)
	}
	width, _ := r.Float64()
	return width, nil
}

func newUntil(text string, e *eval) (*until, error) {
	width, err := parseWidth(text)
	if err != nil {
		return nil, err
	}
	return &until{width: width, counts: map[untilKey]*stats.Count{}, minds: e.store.Header().Minds, tasks: e.plan.Tasks()}, nil
}

// count takes a finished run. Runs without a verdict are no trials.
func (u *until) count(run *tooleval.Run) {
	if run.Baseline != "" || run.Score.Verdict != tooleval.Passed && run.Score.Verdict != tooleval.Failed {
		return
	}
	k := untilKey{run.Mind, run.Suite, run.TaskID}
	c := u.counts[k]
	if c == nil {
		c = &stats.Count{}
		u.counts[k] = c
	}
	c.Trials++
	if run.Score.Verdict == tooleval.Passed {
		c.Successes++
	}
}

func (u *until) decide(mind string, task [2]string) stats.Decision {
	var c stats.Count
	if known := u.counts[untilKey{mind, task[0], task[1]}]; known != nil {
		c = *known
	}
	return stats.StopRule{Width: u.width}.Decide(c.Successes, c.Trials)
}

// open reports whether a task wants more runs: under any of the minds.
func (u *until) open(suite, task string) bool {
	return slices.ContainsFunc(u.minds, func(mind string) bool { return !u.decide(mind, [2]string{suite, task}).Stop })
}

// execute does the plan in rounds.
func (u *until) execute(ctx context.Context, e *eval, pool engine.Pool, sink engine.Sink) error {
	reported := sink.Report
	sink.Report = func(job engine.Job, run *tooleval.Run, reused bool) {
		u.count(run)
		reported(job, run, reused)
	}
	var err error
	u.runs, err = engine.ExecuteRounds(ctx, e.plan, e.runner.Do, pool, sink, u.open)
	return err
}

// planned puts into the header how many runs each task got.
func (u *until) planned(header tooleval.Eval) tooleval.Eval {
	header.Tasks = slices.Clone(header.Tasks)
	for i := range header.Tasks {
		header.Tasks[i].Runs = u.runs[[2]string{header.Suite, header.Tasks[i].ID}]
	}
	return header
}

// lines say for each task why it has as many runs as it has.
func (u *until) lines() []string {
	lines := []string{fmt.Sprintf("runs were added until each interval was at most %g wide, all looks together at 95 %%:", u.width)}
	for _, t := range u.tasks {
		for _, mind := range u.minds {
			d := u.decide(mind, t)
			name := plain.Text(plain.Clip(t[1], 80))
			if len(u.minds) > 1 {
				name += " · " + plain.Text(plain.Clip(mind, 40))
			}
			line := fmt.Sprintf("  %s: %d runs, ", name, u.runs[t])
			if d.Interval.OK {
				line += fmt.Sprintf("interval %.3f to %.3f, ", d.Interval.Low, d.Interval.High)
			}
			if d.Stop {
				line += "narrow enough"
			} else {
				line += "still wider: --runs allows no more"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
