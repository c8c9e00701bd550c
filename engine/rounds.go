package engine

import (
	"context"

	"github.com/tooleval/tooleval"
)

// firstRound is how many runs each task has before the first look.
const firstRound = 5

// nextRound is up to which run a task that has had n goes on: a quarter more each time, so that little is spent in vain
// and a round is large enough to keep all workers busy.
func nextRound(n int) int { return n + max(1, n/4) }

// ExecuteRounds is Execute of a plan in rounds: after each, open is asked for every task that is left whether it wants
// more runs, and only those that do are in the next one. The plan's number of runs is the most that a task gets. Baselines
// are in the first round. All minds get the same runs of a task, so that they stay comparable pair by pair.
//
// The rounds depend on nothing but what open says, which should depend on nothing but the runs that Sink.Report was given
// before: then an eval that is resumed, with its stored runs in Sink.Reuse, takes up the same rounds again, and its last
// one where it stopped. Runs are reported in plan order within a round.
//
// It returns how many runs of each task, by suite and id, there were to be in the end.
func ExecuteRounds(ctx context.Context, plan *Plan, do func(context.Context, Job) *tooleval.Run, pool Pool, sink Sink,
	open func(suite, task string) bool) (map[[2]string]int, error) {
	left := plan.Tasks()
	runs := map[[2]string]int{}
	for from, to := 0, min(firstRound, plan.options.Runs); len(left) > 0; from, to = to, min(nextRound(to), plan.options.Runs) {
		for _, t := range left {
			runs[t] = to
		}
		if err := Execute(ctx, plan.round(from, to, left), do, pool, sink); err != nil {
			return runs, err
		}
		if to == plan.options.Runs {
			break
		}
		var still [][2]string
		for _, t := range left {
			if open(t[0], t[1]) {
				still = append(still, t)
			}
		}
		left = still
	}
	return runs, nil
}

// round is the part of a plan with the runs from..to-1 of some tasks, and the baselines when it starts at 0.
func (p *Plan) round(from, to int, tasks [][2]string) *Plan {
	wanted := map[[2]string]bool{}
	for _, t := range tasks {
		wanted[t] = true
	}
	r := &Plan{options: p.options, first: from}
	r.options.Runs = to - from
	if from == 0 {
		r.trivial = p.trivial
	}
	for _, e := range p.entries {
		if wanted[[2]string{e.suite, e.task}] {
			r.entries = append(r.entries, e)
		}
	}
	return r
}
