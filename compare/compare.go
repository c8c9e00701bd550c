package compare

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// SchemaVersion is the version of the JSON form of a Comparison and of a Result. It changes when a reader of the old form
// would misread the new.
const SchemaVersion = 1

// Options are the settings of a comparison; the zero value works.
type Options struct {
	// Level of the intervals, and 1 − Level is the largest chance of showing a difference that isn't there, over all
	// questions together and over all tasks together. 0 means 0.95.
	Level float64
	// Seed of the bootstrap and of the permutation test.
	Seed uint64
	// Load reads a run again by the ref that it was added with, to find where two trajectories part; nil leaves that out.
	Load func(ref string) (*tooleval.Run, error)
	// MaxDivergences bounds the tasks for which Load is called; 0 means 20.
	MaxDivergences int
}

// A Comparison is one base and what is compared with it.
type Comparison struct {
	SchemaVersion int    `json:"schema_version"`
	Pairs         []Pair `json:"pairs"`
}

// A Pair is the comparison of two sides.
type Pair struct {
	Base      Measured `json:"base"`
	Candidate Measured `json:"candidate"`
	// Compared counts the tasks that the differences are over: the same id and content, and a scored run on both sides.
	Compared int `json:"compared_tasks"`
	// Questions are the pass rate, the outcome and the process over the compared tasks.
	Questions []Question `json:"questions"`
	// McNemar is the exact test over tasks, where each has one scored run on either side; else nil.
	McNemar *stats.McNemar `json:"mcnemar,omitempty"`
	// Tasks are all tasks of both sides: the base's in its order, then those that only the candidate has.
	Tasks []Task `json:"tasks"`
	// ByStatus counts the tasks by status, those that occur.
	ByStatus []StatusCount `json:"by_status"`
	// Checks are those whose rate moved, by task.
	Checks []Check `json:"checks,omitempty"`
	// Failures are the kinds of failure over the matched tasks, those that moved most first.
	Failures []Failure `json:"failures,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Shown reports whether any difference was shown: in a question, a task or a check.
func (p *Pair) Shown() bool {
	return slices.ContainsFunc(p.Questions, func(q Question) bool { return q.Direction != stats.CannotTell }) ||
		slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Status == Better || t.Status == Worse }) ||
		slices.ContainsFunc(p.Checks, func(c Check) bool { return c.Direction != stats.CannotTell })
}

// A Question is one of the numbers of the result vector, compared over tasks. Direction rests on AdjustedP.
type Question struct {
	Name string `json:"name"`
	stats.Comparison
	// AdjustedP is P corrected for the number of questions (Holm).
	AdjustedP stats.Estimate `json:"adjusted_p"`
}

// Names of the questions.
const (
	PassRate = "pass_rate"
	Outcome  = "outcome"
	Process  = "process"
)

// A Status is what is known about one task.
type Status string

// The statuses. Only evidence that holds after the correction for the number of tasks makes a task better or worse.
const (
	Better        Status = "better"
	Worse         Status = "worse"
	Flaky         Status = "flaky"             // nothing was shown, and the runs of a side disagree
	Same          Status = "same"              // nothing was shown, and the runs of each side agree
	CannotTell    Status = "cannot_tell"       // fewer than two scored runs on a side
	UnscoredTask  Status = "unscored"          // no scored run on a side
	Changed       Status = "changed"           // the definitions differ, so it is not compared
	OnlyBase      Status = "only_in_base"      // it vanished
	OnlyCandidate Status = "only_in_candidate" // it is new
)

var statuses = []Status{Worse, Better, Flaky, Same, CannotTell, UnscoredTask, Changed, OnlyBase, OnlyCandidate}

// A StatusCount is how many tasks have a status.
type StatusCount struct {
	Status Status `json:"status"`
	N      int    `json:"n"`
}

// A Task is one task of either side.
type Task struct {
	ID     string `json:"task_id"`
	Status Status `json:"status"`
	// Why says in words what the status rests on.
	Why string `json:"why"`
	// Flipped means that all scored runs passed on one side and none on the other, whether or not that shows anything.
	Flipped   bool      `json:"flipped,omitempty"`
	Base      *TaskSide `json:"base"`
	Candidate *TaskSide `json:"candidate"`
	// Rate compares the pass rates; nil where the task is not compared.
	Rate *stats.RateDifference `json:"rate,omitempty"`
	// AdjustedP is Rate.P corrected for the number of compared tasks (Holm).
	AdjustedP  stats.Estimate `json:"adjusted_p"`
	Divergence *Divergence    `json:"divergence,omitempty"`
}

// A TaskSide is one side of a task.
type TaskSide struct {
	Counts
	Outcome stats.Estimate `json:"outcome"`
	Process stats.Estimate `json:"process"`
}

// matched is a task that both sides have with the same content.
type matched struct {
	at              int // in Pair.Tasks
	base, candidate *taskRuns
	before, after   totals
}

// Compare compares two sides: task by task, and over the tasks that both have with the same content and a scored run.
func Compare(base, candidate *Side, o Options) Pair {
	if o.Level == 0 {
		o.Level = 0.95
	}
	p := Pair{Base: base.measured(), Candidate: candidate.measured(), Tasks: []Task{}}
	c := comparison{o: o, pair: &p, base: base, candidate: candidate}
	c.match()
	c.questions()
	c.tasks()
	c.checks()
	c.failures()
	c.tools()
	c.warn()
	for _, s := range statuses {
		n := 0
		for i := range p.Tasks {
			if p.Tasks[i].Status == s {
				n++
			}
		}
		if n > 0 {
			p.ByStatus = append(p.ByStatus, StatusCount{s, n})
		}
	}
	c.divergences()
	return p
}

type comparison struct {
	o               Options
	pair            *Pair
	base, candidate *Side
	matched         []matched
}

// match lists the tasks of both sides and finds those that are the same.
func (c *comparison) match() {
	p := c.pair
	for _, b := range c.base.tasks {
		before := c.base.totals(b)
		p.Base.add(before.Counts)
		t := Task{ID: b.id, Base: before.side(), AdjustedP: stats.Undefined("it is not compared")}
		if a, ok := c.candidate.byID[b.id]; !ok {
			t.Status, t.Why = OnlyBase, "only the base has it"
		} else {
			after := c.candidate.totals(a)
			t.Candidate = after.side()
			m := matched{at: len(p.Tasks), base: b, candidate: a, before: before, after: after}
			if t.Status, t.Why = comparable(&m); t.Status == "" || t.Status == UnscoredTask {
				c.matched = append(c.matched, m)
			}
		}
		p.Tasks = append(p.Tasks, t)
	}
	for _, a := range c.candidate.tasks {
		after := c.candidate.totals(a)
		p.Candidate.add(after.Counts)
		if _, ok := c.base.byID[a.id]; !ok {
			p.Tasks = append(p.Tasks, Task{ID: a.id, Status: OnlyCandidate, Why: "only the candidate has it", Candidate: after.side(),
				AdjustedP: stats.Undefined("it is not compared")})
		}
	}
}

func (t *totals) side() *TaskSide { return &TaskSide{t.Counts, t.outcome, t.process} }

// comparable says why a task that both sides have can't be compared; an empty status when it can.
func comparable(m *matched) (Status, string) {
	sides := func(before, after bool) string {
		switch {
		case before && after:
			return "either side"
		case before:
			return "the base"
		}
		return "the candidate"
	}
	switch {
	case m.base.digest != m.candidate.digest:
		return Changed, "its definition differs, so the runs answer different questions: run the base again"
	case m.before.Scored == 0 || m.after.Scored == 0:
		return UnscoredTask, "no run is scored on " + sides(m.before.Scored == 0, m.after.Scored == 0)
	}
	return "", ""
}

// scored are the matched tasks with a scored run on both sides.
func (c *comparison) scored() []*matched {
	var list []*matched
	for i := range c.matched {
		if m := &c.matched[i]; m.before.Scored > 0 && m.after.Scored > 0 {
			list = append(list, m)
		}
	}
	return list
}

// questions compares the result vectors over tasks.
func (c *comparison) questions() {
	p := c.pair
	list := c.scored()
	p.Compared = len(list)
	var before, after [3][]float64
	single := len(list) > 0
	baseOnly, candidateOnly := 0, 0
	for _, m := range list {
		b, a := &m.before, &m.after
		pairs := [3][2]stats.Estimate{{rate(b), rate(a)}, {b.outcome, a.outcome}, {b.process, a.process}}
		for i, pair := range pairs {
			if pair[0].OK && pair[1].OK {
				before[i], after[i] = append(before[i], pair[0].Value), append(after[i], pair[1].Value)
			}
		}
		if single = single && b.Scored == 1 && a.Scored == 1; single {
			if b.Passed > a.Passed {
				baseOnly++
			} else if b.Passed < a.Passed {
				candidateOnly++
			}
		}
		if b.flaky() {
			p.Base.Flaky++
		}
		if a.flaky() {
			p.Candidate.Flaky++
		}
	}
	if single {
		test := stats.McNemarTest(baseOnly, candidateOnly)
		p.McNemar = &test
	}
	p.Questions = []Question{{Name: PassRate}, {Name: Outcome}, {Name: Process}}
	var wg sync.WaitGroup
	for i := range p.Questions {
		wg.Go(func() {
			p.Questions[i].Comparison = stats.Compare(before[i], after[i], stats.CompareOptions{Level: c.o.Level, Seed: c.o.Seed,
				Resamples: resamples(len(before[i]))})
		})
	}
	wg.Wait()
	p.Base.PassRate, p.Candidate.PassRate = stats.ClusterRate(before[0], c.o.Level), stats.ClusterRate(after[0], c.o.Level)
	p.Base.Outcome, p.Candidate.Outcome = scoreMean(before[1], c.o.Level), scoreMean(after[1], c.o.Level)
	p.Base.Process, p.Candidate.Process = scoreMean(before[2], c.o.Level), scoreMean(after[2], c.o.Level)
	c.distrustSurvivors(list)
	ps := make([]stats.Estimate, len(p.Questions))
	for i := range p.Questions {
		ps[i] = p.Questions[i].P
	}
	for i, adjusted := range stats.AdjustHolm(ps).Adjusted {
		q := &p.Questions[i]
		q.AdjustedP = adjusted
		if q.Direction != stats.CannotTell && !(adjusted.OK && adjusted.Value <= 1-c.o.Level) {
			q.Direction = stats.CannotTell
			q.Why = fmt.Sprintf("%s by itself, %s corrected for the number of questions", pText(q.P.Value), pText(adjusted.Value))
		}
	}
}

// distrustSurvivors takes a direction back when the runs without a verdict could turn it round: what is left of a side may
// be its best runs. The pass rate is bounded by counting them all as failed on the side that is ahead and as passed on the
// other; outcome and process follow it, since they rest on the same runs.
func (c *comparison) distrustSurvivors(list []*matched) {
	worst, best := 0.0, 0.0 // of the sum of differences
	missing := 0
	for _, m := range list {
		b, a := &m.before.Counts, &m.after.Counts
		bLow, bHigh := b.bounds()
		aLow, aHigh := a.bounds()
		worst += aLow - bHigh
		best += aHigh - bLow
		missing += b.Planned - b.Scored + a.Planned - a.Scored
	}
	for i := range c.pair.Questions {
		q := &c.pair.Questions[i]
		if missing == 0 || q.Direction == stats.CannotTell || q.Difference.Value.Value > 0 && worst > 0 || q.Difference.Value.Value < 0 && best < 0 {
			continue
		}
		q.Direction = stats.CannotTell
		q.Why = fmt.Sprintf("%d runs without a verdict could turn it round", missing)
	}
}

// bounds are the pass rate if all planned runs without a verdict had failed, and if they had passed.
func (c *Counts) bounds() (low, high float64) {
	n := float64(max(c.Planned, c.Scored, 1))
	return float64(c.Passed) / n, float64(c.Passed+max(c.Planned, c.Scored)-c.Scored) / n
}

// resamples bounds the work for many tasks, where fewer draws are enough.
func resamples(tasks int) int {
	const most, least, work = 9_999, 999, 10_000_000
	return max(least, min(most, work/max(tasks, 1)))
}

func rate(t *totals) stats.Estimate {
	if t.Scored == 0 {
		return stats.Undefined("no run is scored")
	}
	return stats.Number(float64(t.Passed) / float64(t.Scored))
}

func scoreMean(means []float64, level float64) stats.Mean {
	m := stats.ClusterMean(means, level)
	m.Interval = m.Interval.Clamp(0, 1)
	return m
}

// tasks compares the pass rate of each task and corrects for their number.
func (c *comparison) tasks() {
	list := c.scored()
	ps := make([]stats.Estimate, len(list))
	for i, m := range list {
		d := stats.CompareRates(m.before.count(), m.after.count(), c.o.Level)
		c.pair.Tasks[m.at].Rate = &d
		ps[i] = d.P
		if m.before.Scored < 2 || m.after.Scored < 2 {
			ps[i] = stats.Undefined("fewer than two scored runs on a side") // no test was made
		}
	}
	for i, adjusted := range stats.AdjustHolm(ps).Adjusted {
		m := list[i]
		t := &c.pair.Tasks[m.at]
		t.AdjustedP = adjusted
		b, a := &m.before.Counts, &m.after.Counts
		t.Flipped = b.Passed == 0 && a.Passed == a.Scored || a.Passed == 0 && b.Passed == b.Scored
		d := t.Rate
		shown := adjusted.OK && adjusted.Value <= 1-c.o.Level && d.Direction != stats.CannotTell
		if !shown {
			d.Direction = stats.CannotTell
		}
		switch {
		case b.Scored < 2 || a.Scored < 2:
			t.Status = CannotTell
			t.Why = "fewer than two scored runs on a side: nothing is known about how much a run varies"
		case shown:
			t.Status = Better
			if d.Difference.Value < 0 {
				t.Status = Worse
			}
			t.Why = fmt.Sprintf("%s after the correction for %d tasks", pText(adjusted.Value), len(list))
		case b.flaky() || a.flaky():
			t.Status = Flaky
		default:
			t.Status = Same
		}
		switch {
		case t.Why != "":
		case t.Flipped:
			t.Why = fmt.Sprintf("it flipped, but %s after the correction for %d tasks: more runs would tell", pText(adjusted.Value), len(list))
		case d.Difference.Value == 0:
			t.Why = "the pass rates are equal"
		default:
			t.Why = fmt.Sprintf("nothing shown: %s after the correction for %d tasks", pText(adjusted.Value), len(list))
		}
		if d.Direction == stats.CannotTell && d.Why == "" {
			d.Why = t.Why
		}
	}
}

func (c *Counts) count() stats.Count { return stats.Count{Successes: c.Passed, Trials: c.Scored} }

// warn says what makes the comparison less than it seems.
func (c *comparison) warn() {
	p := c.pair
	say := func(format string, args ...any) { p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...)) }
	b, a := c.base.eval, c.candidate.eval
	if b.Suite != a.Suite {
		say("the suites differ: %q and %q", b.Suite, a.Suite)
	} else if b.Provenance.SuiteDigest != a.Provenance.SuiteDigest {
		say("the suite has changed (tools, world, version or tasks) since the base was made")
	}
	if b.World != a.World {
		say("the worlds differ: %s and %s", b.World, a.World)
	}
	if b.Seed != a.Seed {
		say("the seeds differ: %d and %d, so the runs met other worlds", b.Seed, a.Seed)
	}
	for _, side := range []struct {
		name string
		m    *Measured
	}{{"base", &p.Base}, {"candidate", &p.Candidate}} {
		if side.m.Unscored > 0 {
			say("%s: %d of %d planned runs have no verdict and are in no number", side.name, side.m.Unscored, side.m.Planned)
		}
		if side.m.Retried > 0 {
			say("%s: %d runs took more than one attempt; only the last is a sample", side.name, side.m.Retried)
		}
	}
	for _, e := range []*tooleval.Eval{b, a} {
		if width := e.Options["until"]; width != "" {
			say("eval %s added runs until its intervals were %s wide; intervals here don't count for that", e.ID, width)
		}
	}
	for _, t := range p.Tools {
		if t.Alarm != "" {
			say("%s", t.Alarm)
		}
	}
	p.Warnings = append(p.Warnings, *c.base.warnings...)
	if c.base.eval != c.candidate.eval {
		p.Warnings = append(p.Warnings, *c.candidate.warnings...)
	}
}

// Sides pairs what is to be compared: the first eval is the base of all others, mind by mind where it has several, and a
// single eval is its first mind against its others.
func Sides(evals [][]*Side) ([][2]*Side, error) {
	if len(evals) == 0 || len(evals[0]) == 0 {
		return nil, fmt.Errorf("there is nothing to compare")
	}
	first := evals[0]
	var pairs [][2]*Side
	if len(evals) == 1 {
		for _, s := range first[1:] {
			pairs = append(pairs, [2]*Side{first[0], s})
		}
		if len(pairs) == 0 {
			return nil, fmt.Errorf("eval %s has one mind only: name another eval to compare it with", first[0].eval.ID)
		}
		return pairs, nil
	}
	for _, eval := range evals[1:] {
		for _, s := range eval {
			pairs = append(pairs, [2]*Side{partner(first, s), s})
		}
	}
	return pairs, nil
}

// partner is the side of the base that a side is compared with: that of the same mind, or else the first.
func partner(base []*Side, s *Side) *Side {
	for _, b := range base {
		if b.mind == s.mind {
			return b
		}
	}
	return base[0]
}

// byMove orders what moved most first.
func byMove[T any](list []T, move func(*T) float64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(abs(move(&b)), abs(move(&a))) })
}

func abs(v float64) float64 { return max(v, -v) }

// pText is a p-value for people.
func pText(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}
