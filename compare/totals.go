package compare

import (
	"github.com/tooleval/tooleval/stats"
)

// Counts say what became of the planned runs of a task or of many. Planned = Scored + Unscored, where Unscored counts the
// runs without a verdict and the planned ones without a record.
type Counts struct {
	Planned  int `json:"planned"`
	Scored   int `json:"scored"`
	Passed   int `json:"passed"`
	Unscored int `json:"unscored"`
	// Retried runs took more than one attempt, of which only the last is a sample.
	Retried int `json:"retried,omitempty"`
}

func (c *Counts) add(o Counts) {
	c.Planned += o.Planned
	c.Scored += o.Scored
	c.Passed += o.Passed
	c.Unscored += o.Unscored
	c.Retried += o.Retried
}

// flaky reports whether runs of one task disagree.
func (c *Counts) flaky() bool { return c.Passed > 0 && c.Passed < c.Scored }

// totals are the numbers of one task.
type totals struct {
	Counts
	outcome, process stats.Estimate
	failures         []int // by place in Side.failures
	checks           []stats.Count
}

func (s *Side) totals(t *taskRuns) totals {
	var out totals
	out.Planned = s.planned(t)
	out.failures = make([]int, len(s.failures))
	out.checks = make([]stats.Count, len(t.checks))
	var outcome, process stats.Sample // in the order of the runs: the same runs give the same bits
	have := 0
	for i := range t.slots {
		n := &t.slots[i]
		if n.flags&recorded == 0 {
			continue
		}
		have++
		if n.attempts > 0 {
			out.Retried++
		}
		if n.failure > 0 {
			out.failures[n.failure-1]++
		}
		if n.flags&(passed|failed) == 0 {
			continue
		}
		out.Scored++
		if n.flags&passed != 0 {
			out.Passed++
		}
		if n.flags&hasOutcome != 0 {
			outcome.Add(n.outcome)
		}
		if n.flags&hasProcess != 0 {
			process.Add(n.process)
		}
		if i < len(t.marks) {
			for j := range out.checks {
				bit := uint64(1) << j
				if (t.marks[i].passed|t.marks[i].failed)&bit != 0 {
					out.checks[j].Trials++
				}
				if t.marks[i].passed&bit != 0 {
					out.checks[j].Successes++
				}
			}
		}
	}
	out.Planned = max(out.Planned, have)
	out.Unscored = out.Planned - out.Scored
	out.outcome, out.process = outcome.Mean(), process.Mean()
	return out
}

// planned is how many runs of a task there should be.
func (s *Side) planned(t *taskRuns) int {
	switch {
	case !t.planned:
		return 0
	case t.runs > 0:
		return t.runs
	}
	return s.eval.Runs
}

// A Measured is one side in short. Its means are over the tasks that are compared, so that they subtract.
type Measured struct {
	Eval  string `json:"eval"`
	Suite string `json:"suite"`
	Mind  string `json:"mind"`
	World string `json:"world"`
	// Tasks counts all tasks of this side, and Counts their runs.
	Tasks int `json:"tasks"`
	Counts
	PassRate stats.Mean `json:"pass_rate"`
	Outcome  stats.Mean `json:"outcome"`
	Process  stats.Mean `json:"process"`
	// Flaky counts the compared tasks whose runs disagree.
	Flaky int `json:"flaky_tasks"`
	// Tool is the version that made the eval.
	Tool string `json:"tool,omitempty"`
}

func (s *Side) measured() Measured {
	return Measured{Eval: s.eval.ID, Suite: s.eval.Suite, Mind: s.mind, World: s.eval.World, Tasks: len(s.tasks), Tool: s.eval.Provenance.Tool}
}

// Counts are the runs that passed, of those that are scored, of each task in the eval's order.
func (s *Side) Counts() []stats.Count {
	counts := make([]stats.Count, len(s.tasks))
	for i, t := range s.tasks {
		n := s.totals(t)
		counts[i] = n.count()
	}
	return counts
}
