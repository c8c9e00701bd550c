package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

const (
	level      = 0.95 // of every interval
	mostK      = 10   // pass^k and pass@k are listed up to this k, and for all runs
	toolsNoise = 5    // calls of a tool below which its errors give no warning
	toolsAlarm = 0.1  // share of errors from which they do
)

// The baselines that every task is expected to have.
const (
	DoNothing = "do-nothing"
	Random    = "random"
)

// Report is what the runs so far say. The Builder can take more runs afterwards.
func (b *Builder) Report() Report {
	r := Report{SchemaVersion: SchemaVersion, Eval: b.eval, Sections: []Section{}, Baselines: b.baselines(),
		Warnings: counts(&b.warnings)}
	if b.options.Combine {
		r.Blend = newBlend(b.options.OutcomeWeight, b.options.ProcessWeight)
	}
	for _, s := range b.sections {
		r.Sections = append(r.Sections, b.total(s))
	}
	return r
}

func (b *Builder) total(s *section) Section {
	out := Section{Mind: s.mind, World: b.eval.World, Tasks: make([]Task, 0, len(s.rows)), Tools: s.sortedTools(), Runs: s.kept.all(),
		Omitted: s.kept.omittedPassed + s.kept.omittedOthers, OmittedFailed: s.kept.omittedOthers, Warnings: counts(&s.warnings)}
	recorded := 0
	for _, row := range s.rows {
		out.Tasks = append(out.Tasks, b.task(row))
		recorded += row.recorded
	}
	out.Usage = s.usage.usage(recorded)
	out.Faults = s.faults()
	out.Summary = b.summary(s, out.Tasks)
	for _, t := range out.Tools {
		if v, ok := t.ErrorShare.Get(); ok && t.Calls >= toolsNoise && v >= toolsAlarm {
			out.Warnings = append(out.Warnings, Count{tooleval.Text(fmt.Sprintf(
				"tool %q: %d of %d calls ended in an error; look at them before you compare agents", t.Name, t.Errors, t.Calls)), 1})
		}
	}
	return out
}

func (b *Builder) task(r *row) Task {
	t := Task{ID: r.task, UnscoredWhy: counts(&r.why), Outcome: spread(&r.outcome), Process: spread(&r.process), Retried: r.retried}
	t.Counts = Counts{Planned: max(b.planned(r.task), r.recorded), Scored: r.passed + r.failed, Passed: r.passed, Failed: r.failed,
		Unscored: r.unscored}
	t.Missing = t.Planned - r.recorded
	t.Coverage = share(t.Scored, t.Planned)
	t.PassRate = Rate{Value: share(t.Passed, t.Scored), Passed: t.Passed, N: t.Scored,
		Interval: stats.Wilson(t.Passed, t.Scored, level)}
	if b.eval.Options[Until] != "" { // the number of runs depends on the results, which Wilson doesn't allow for
		t.PassRate.Interval = stats.ConfidenceSequence(t.Passed, t.Scored, level)
	}
	if t.Scored == 0 {
		t.PassRate.Value = stats.Undefined("no run is scored")
	}
	if b.options.Combine {
		blend := spread(&r.combined)
		t.Combined = &blend
	}
	t.PassHatK, t.PassAtK = []AtK{}, []AtK{}
	for k := 1; k <= t.Scored; k++ {
		if k > mostK {
			k = t.Scored
		}
		t.PassHatK = append(t.PassHatK, AtK{k, stats.PassHatK(t.Scored, t.Passed, k)})
		t.PassAtK = append(t.PassAtK, AtK{k, stats.PassAtK(t.Scored, t.Passed, k)})
	}
	switch {
	case t.Scored < 2:
		t.VarianceWhy = "fewer than 2 runs are scored"
	case t.Passed > 0 && t.Failed > 0:
		t.Variance = Flaky
	case t.Outcome.varies() || t.Process.varies():
		t.Variance = Varies
	default:
		t.Variance = Stable
	}
	for _, k := range r.failures.sorted() {
		t.Failures = append(t.Failures, FailureCount{k.category, k.owner, r.failures.n[k]})
	}
	if r.failures.rest > 0 {
		t.Failures = append(t.Failures, FailureCount{Others, "", r.failures.rest})
	}
	return t
}

// Until is the option of an eval whose runs were added until the interval of each task was as narrow as it says.
const Until = "until"

// planned is how many runs of a task there should be.
func (b *Builder) planned(task string) int {
	if n := b.runs[task]; n > 0 {
		return n
	}
	return b.eval.Runs
}

func spread(s *stats.Sample) Spread {
	return Spread{Mean: s.Mean(), Deviation: s.Deviation(), Min: s.Min(), Max: s.Max(), N: s.N()}
}

func (s Spread) varies() bool { return s.Min.OK && s.Min.Value != s.Max.Value }

func (b *Builder) summary(s *section, tasks []Task) Summary {
	sum := Summary{Tasks: len(tasks)}
	var rates, outcomes, processes, blends, worst, best []float64
	within, withinN := 0.0, 0
	for i := range tasks {
		t := &tasks[i]
		sum.Planned += t.Planned
		sum.Scored += t.Scored
		sum.Passed += t.Passed
		sum.Failed += t.Failed
		sum.Unscored += t.Unscored
		sum.Missing += t.Missing
		if t.Scored > 0 {
			sum.TasksScored++
		}
		if t.Variance == Flaky {
			sum.Flaky++
		}
		rates = appendNumber(rates, t.PassRate.Value)
		outcomes = appendNumber(outcomes, t.Outcome.Mean)
		processes = appendNumber(processes, t.Process.Mean)
		if t.Combined != nil {
			blends = appendNumber(blends, t.Combined.Mean)
		}
		worst = appendNumber(worst, share(t.Passed, t.Planned))
		best = appendNumber(best, share(t.Planned-t.Failed, t.Planned))
		if v, ok := s.rows[i].outcome.Variance().Get(); ok {
			within += v
			withinN++
		}
	}
	sum.Coverage = share(sum.Scored, sum.Planned)
	sum.PassRate, sum.Outcome, sum.Process = stats.ClusterRate(rates, level), meanOfTasks(outcomes), meanOfTasks(processes)
	if b.options.Combine {
		m := meanOfTasks(blends)
		sum.Combined = &m
	}
	sum.WorstPassRate, sum.BestPassRate = meanOfTasks(worst).Value, meanOfTasks(best).Value
	sum.OutcomeWithin = stats.Undefined("no task has 2 scored runs")
	if withinN > 0 {
		sum.OutcomeWithin = stats.Number(math.Sqrt(within / float64(withinN)))
	}
	sum.OutcomeBetween = deviation(outcomes)
	sum.PassK, sum.Runs = passK(tasks), allRuns(tasks)
	sum.Incomplete = b.incomplete(&sum)
	return sum
}

func (b *Builder) incomplete(s *Summary) string {
	coverage, ok := s.Coverage.Get()
	switch {
	case !ok:
		return "nothing was planned"
	case s.TasksScored < s.Tasks:
		return fmt.Sprintf("%d of %d tasks have no scored run", s.Tasks-s.TasksScored, s.Tasks)
	case coverage < b.options.MinCoverage:
		return fmt.Sprintf("only %d of %d runs are scored", s.Scored, s.Planned)
	}
	return ""
}

// meanOfTasks is the mean over tasks of scores in 0..1. For rates see stats.ClusterRate.
func meanOfTasks(means []float64) stats.Mean {
	m := stats.ClusterMean(means, level)
	m.Interval = m.Interval.Clamp(0, 1)
	return m
}

func deviation(values []float64) stats.Estimate {
	var s stats.Sample
	for _, v := range values {
		s.Add(v)
	}
	return s.Deviation()
}

func appendNumber(list []float64, e stats.Estimate) []float64 {
	if v, ok := e.Get(); ok {
		return append(list, v)
	}
	return list
}

// baselines are the results by task, in the plan's order, and by baseline: the two that are expected first.
func (b *Builder) baselines() []Baseline {
	var tasks []string
	known := map[string]bool{}
	add := func(id string) {
		if !known[id] {
			known[id] = true
			tasks = append(tasks, id)
		}
	}
	for _, t := range b.eval.Tasks {
		add(t.ID)
	}
	names := map[string]bool{}
	for _, t := range b.trivial {
		add(t.task)
		names[t.name] = true
	}
	delete(names, DoNothing)
	delete(names, Random)
	order := append([]string{DoNothing, Random}, slices.Sorted(maps.Keys(names))...)
	out := []Baseline{}
	for _, task := range tasks {
		for _, name := range order {
			out = append(out, b.baseline(trivialKey{task, name}))
		}
	}
	return out
}

func (b *Builder) baseline(k trivialKey) Baseline {
	out := Baseline{TaskID: k.task, Name: k.name}
	t := b.byTask[k]
	switch {
	case t == nil && b.eval.World == "live":
		out.Status, out.Why = BaselineNotRun, "live world"
	case t == nil:
		out.Status, out.Why = BaselineNotRun, "no record"
	case t.passed > 0 && t.mayPass != "":
		out.Status, out.Why = BaselineMayPass, short(tooleval.Text(t.mayPass))
	case t.passed > 0:
		out.Status = BaselinePasses
	case t.failed > 0:
		out.Status = BaselineFails
	default:
		out.Status, out.Why = BaselineUnscored, t.why
	}
	return out
}
