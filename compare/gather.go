package compare

import (
	"fmt"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
)

const (
	maxChecks   = 64      // checks of a task that are kept apart
	maxFailures = 64      // kinds of failure
	maxTools    = 200     // tools
	maxIndex    = 1 << 22 // run indices that are believed
	maxWarnings = 20
	maxName     = 200 // bytes of the name of a check or tool
)

// A Gatherer takes the runs of one eval, in any order, and keeps what a comparison needs of them. It is not safe for
// concurrent use.
type Gatherer struct {
	eval     tooleval.Eval
	sides    []*Side
	byMind   map[string]*Side
	last     *Side
	warnings []string
	unsaid   int
}

// A Side is what the runs of one mind in one eval say: one side of a comparison.
type Side struct {
	eval     *tooleval.Eval
	mind     string
	tasks    []*taskRuns
	byID     map[string]*taskRuns
	last     *taskRuns
	failures []failureKind
	tools    map[string]*toolRuns
	warnings *[]string
}

// Mind is the name of the mind.
func (s *Side) Mind() string { return s.mind }

// Eval is the header of the eval.
func (s *Side) Eval() tooleval.Eval { return *s.eval }

type failureKind struct {
	category tooleval.Category
	owner    tooleval.Owner
}

type toolRuns struct{ calls, errors int }

// taskRuns are the runs of one task.
type taskRuns struct {
	id      string
	digest  string
	planned bool // it is in the header
	runs    int  // how many are planned, where it is not as many as of the others
	slots   []slot
	checks  []string
	info    uint64 // the checks that count for nothing
	lost    bool   // there were more checks than are kept apart
	marks   []marks
	// The first run that passed and that failed, to be looked at later.
	pass, fail example
}

// A slot is what is kept of one run.
type slot struct {
	outcome, process float64
	attempts         int32
	failure          uint16 // 0 for none, or the place in Side.failures from 1
	flags            uint8
}

const (
	recorded uint8 = 1 << iota
	passed
	failed
	hasOutcome
	hasProcess
)

// marks are the checks of one run, by their place in taskRuns.checks.
type marks struct{ passed, failed uint64 }

// An example is a run that can be read again.
type example struct {
	index int
	ref   string
	ok    bool
}

// NewGatherer starts with the header of the eval, which says what was planned.
func NewGatherer(eval tooleval.Eval) *Gatherer {
	g := &Gatherer{eval: eval, byMind: map[string]*Side{}}
	for _, mind := range eval.Minds {
		g.side(mind)
	}
	return g
}

// Replan takes over how many runs of each task there should have been, which is known only at the end when runs are added
// until something is known.
func (g *Gatherer) Replan(tasks []tooleval.EvalTask) {
	g.eval.Tasks = tasks
	for _, s := range g.sides {
		for _, t := range tasks {
			s.task(t.ID).runs = t.Runs
		}
	}
}

func (g *Gatherer) side(mind string) *Side {
	if g.last != nil && g.last.mind == mind {
		return g.last
	}
	s := g.byMind[mind]
	if s == nil {
		s = &Side{eval: &g.eval, mind: mind, byID: map[string]*taskRuns{}, tools: map[string]*toolRuns{}, warnings: &g.warnings}
		for _, t := range g.eval.Tasks {
			task := s.task(t.ID)
			task.digest, task.planned, task.runs = t.Digest, true, t.Runs
		}
		g.byMind[mind] = s
		g.sides = append(g.sides, s)
	}
	g.last = s
	return s
}

func (s *Side) task(id string) *taskRuns {
	if s.last != nil && s.last.id == id {
		return s.last
	}
	t := s.byID[id]
	if t == nil {
		t = &taskRuns{id: id}
		s.byID[id] = t
		s.tasks = append(s.tasks, t)
	}
	s.last = t
	return t
}

// Add takes a run; ref is whatever Options.Load needs to find it again, such as the path of its file. Of several attempts
// at one run the newest counts. Nothing of the run is kept. Runs of baselines are left out; one of another suite or
// outside of the plan counts for nothing but a warning.
func (g *Gatherer) Add(run *tooleval.Run, ref string) {
	switch {
	case run == nil || run.Baseline != "":
		return
	case run.Suite != g.eval.Suite && g.eval.Suite != "":
		g.warn("a run of suite %q is in an eval of suite %q and was not counted", run.Suite, g.eval.Suite)
		return
	case run.Index < 0 || run.Index >= maxIndex || g.eval.Runs > 0 && run.Index >= g.eval.Runs:
		g.warn("task %q: run %d is outside of the plan and was not counted", run.TaskID, run.Index)
		return
	}
	s := g.side(run.Mind)
	t := s.task(run.TaskID)
	s.addTools(run.Trajectory.Calls)
	for len(t.slots) <= run.Index {
		t.slots = append(t.slots, slot{})
	}
	old := &t.slots[run.Index]
	if old.flags&recorded != 0 && int(old.attempts) > run.Provenance.Attempts {
		return
	}
	*old = s.slot(run)
	t.mark(run)
	t.example(old.flags, run.Index, ref)
}

func (s *Side) slot(run *tooleval.Run) slot {
	n := slot{flags: recorded, attempts: int32(min(run.Provenance.Attempts, 1<<30))}
	switch run.Score.Verdict {
	case tooleval.Passed:
		n.flags |= passed
	case tooleval.Failed:
		n.flags |= failed
	}
	if run.Failure != nil && n.flags&passed == 0 {
		n.failure = s.failure(failureKind{run.Failure.Category, run.Failure.Owner})
	}
	if n.flags&(passed|failed) == 0 {
		return n // the scores of a run without a verdict are no samples
	}
	if v, ok := run.Score.Outcome.Score.Value(); ok {
		n.outcome, n.flags = v, n.flags|hasOutcome
	}
	if v, ok := run.Score.Process.Score.Value(); ok {
		n.process, n.flags = v, n.flags|hasProcess
	}
	return n
}

func (s *Side) failure(k failureKind) uint16 {
	for i, known := range s.failures {
		if known == k {
			return uint16(i + 1)
		}
	}
	if len(s.failures) == maxFailures {
		return maxFailures
	}
	s.failures = append(s.failures, k)
	return uint16(len(s.failures))
}

func (t *taskRuns) mark(run *tooleval.Run) {
	checks := run.Score.Outcome.Checks
	if len(checks) == 0 && t.marks == nil {
		return
	}
	for len(t.marks) < len(t.slots) {
		t.marks = append(t.marks, marks{})
	}
	m := marks{}
	for _, c := range checks {
		i := t.check(c.Name)
		if i < 0 {
			t.lost = true
			continue
		}
		bit := uint64(1) << i
		if c.Info {
			t.info |= bit
		}
		switch c.Verdict {
		case tooleval.Passed:
			m.passed |= bit
		case tooleval.Failed:
			m.failed |= bit
		}
	}
	m.passed &^= m.failed // of two checks with one name both have to pass
	t.marks[run.Index] = m
}

// check is the place of a check; -1 when there is no room for one more.
func (t *taskRuns) check(name string) int {
	name = plain.Clip(name, maxName)
	for i, known := range t.checks {
		if known == name {
			return i
		}
	}
	if len(t.checks) == maxChecks {
		return -1
	}
	t.checks = append(t.checks, name)
	return len(t.checks) - 1
}

func (t *taskRuns) example(flags uint8, index int, ref string) {
	for _, e := range []struct {
		to  *example
		fit bool
	}{{&t.pass, flags&passed != 0}, {&t.fail, flags&failed != 0}} {
		switch {
		case e.fit && (!e.to.ok || index <= e.to.index):
			*e.to = example{index, ref, true}
		case !e.fit && e.to.ok && index == e.to.index:
			*e.to = example{} // another attempt at it ended otherwise
		}
	}
}

func (s *Side) addTools(calls []tooleval.Call) {
	for i := range calls {
		c := &calls[i]
		t := s.tools[c.Tool]
		if t == nil {
			if len(s.tools) == maxTools {
				continue
			}
			t = &toolRuns{}
			s.tools[plain.Clip(c.Tool, maxName)] = t
		}
		switch c.Status {
		case tooleval.CallRefused, tooleval.CallCancelled:
			continue // it never reached the tool
		case tooleval.CallOK:
		default:
			t.errors++
		}
		t.calls++
	}
}

func (g *Gatherer) warn(format string, args ...any) {
	text := plain.Clip(fmt.Sprintf(format, args...), 300)
	for _, w := range g.warnings {
		if w == text {
			return
		}
	}
	if len(g.warnings) == maxWarnings {
		g.unsaid++
		return
	}
	g.warnings = append(g.warnings, text)
}

// Sides are the minds, in the eval's order.
func (g *Gatherer) Sides() []*Side { return g.sides }
