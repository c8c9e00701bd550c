package report

import (
	"fmt"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// Options say how a Report is made. The zero value works.
type Options struct {
	// Combine adds the blend of outcome and process to everything that has both.
	Combine bool
	// OutcomeWeight and ProcessWeight are the weights of the blend. Both 0 stands for 0.7 and 0.3.
	OutcomeWeight, ProcessWeight float64
	// MaxRuns bounds the run lines that are kept of each mind; 0 stands for 1000, less than 0 for none.
	MaxRuns int
	// MinCoverage is the share of scored runs, in 0..1, below which a pass rate is called incomplete; 0 stands for 0.5.
	MinCoverage float64
	// File names the file of a run; nil leaves the names out.
	File func(*tooleval.Run) string
}

// A Builder makes a Report of runs as they come, without keeping them. It is not safe for concurrent use.
type Builder struct {
	eval     tooleval.Eval
	runs     map[string]int // by task, where they are not eval.Runs
	options  Options
	sections []*section
	byMind   map[string]*section
	trivial  []*trivial
	byTask   map[trivialKey]*trivial
	warnings tally[tooleval.Text]
	added    int
	last     *section
}

// A section gathers what the runs of one mind say.
type section struct {
	mind     string
	rows     []*row
	byTask   map[string]*row
	last     *row
	tools    map[string]*toolSum
	lastTool [8]*toolSum // the tools of the calls before, which are mostly those of the next
	usage    usageSum
	kept     lines
	warnings tally[tooleval.Text]
}

// A row gathers what the runs of one task say.
type row struct {
	task                       string
	seen                       []uint64 // one bit an index: a run is one sample, however often it is stored
	recorded                   int
	passed, failed, unscored   int
	why                        tally[tooleval.Text]
	outcome, process, combined stats.Sample
	failures                   tally[failureKind]
	retried                    int
	faults                     faultRow
}

type failureKind struct {
	category tooleval.Category
	owner    tooleval.Owner
}

type trivialKey struct{ task, name string }

// A trivial gathers how one baseline fared at one task.
type trivial struct {
	trivialKey
	passed, failed, unscored int
	why                      tooleval.Text // of the first that is unscored
	mayPass                  string
}

// NewBuilder starts a Report. The header says which minds and tasks are planned, and how many runs of each.
func NewBuilder(eval tooleval.Eval, o Options) *Builder {
	if o.OutcomeWeight == 0 && o.ProcessWeight == 0 {
		o.OutcomeWeight, o.ProcessWeight = 0.7, 0.3
	}
	if o.MaxRuns == 0 {
		o.MaxRuns = 1000
	}
	o.MaxRuns = max(o.MaxRuns, 0)
	if o.MinCoverage == 0 {
		o.MinCoverage = 0.5
	}
	b := &Builder{eval: eval, options: o, byMind: map[string]*section{}, byTask: map[trivialKey]*trivial{}}
	for _, mind := range eval.Minds {
		b.section(mind)
	}
	b.Replan(eval.Tasks)
	return b
}

// Replan takes over how many runs of each task there should have been, which is known only at the end when runs are added
// until something is known.
func (b *Builder) Replan(tasks []tooleval.EvalTask) {
	b.eval.Tasks, b.runs = tasks, map[string]int{}
	for _, t := range tasks {
		if t.Runs > 0 {
			b.runs[t.ID] = t.Runs
		}
	}
}

func (b *Builder) section(mind string) *section {
	if b.last != nil && b.last.mind == mind {
		return b.last
	}
	s := b.byMind[mind]
	if s == nil {
		s = &section{mind: mind, byTask: map[string]*row{}, tools: map[string]*toolSum{}}
		for _, t := range b.eval.Tasks {
			s.row(t.ID)
		}
		b.byMind[mind] = s
		b.sections = append(b.sections, s)
	}
	b.last = s
	return s
}

func (s *section) row(task string) *row {
	if s.last != nil && s.last.task == task {
		return s.last
	}
	r := s.byTask[task]
	if r == nil {
		r = &row{task: task}
		s.byTask[task] = r
		s.rows = append(s.rows, r)
	}
	s.last = r
	return r
}

// maxIndex bounds the run indices that are believed when the header doesn't say how many runs there are.
const maxIndex = 1 << 24

// Add takes the next run; the order should be that of the plan, since sums are made in it. The run may be changed or
// dropped afterwards. One run is one sample: a second record of it, a record of another suite and one outside of the
// plan count for nothing but a warning.
func (b *Builder) Add(run *tooleval.Run) {
	switch {
	case run == nil:
		return
	case run.Suite != b.eval.Suite && b.eval.Suite != "":
		b.warn("a run of suite %q is in an eval of suite %q and was not counted", run.Suite, b.eval.Suite)
		return
	case run.Baseline != "":
		b.addBaseline(run)
		return
	}
	s := b.section(run.Mind)
	r := s.row(run.TaskID)
	if run.Index < 0 || run.Index >= maxIndex || b.eval.Runs > 0 && run.Index >= b.eval.Runs {
		b.warn("task %q: run %d is outside of the plan and was not counted", run.TaskID, run.Index)
		return
	}
	if !r.first(run.Index) {
		b.warn("task %q: run %d has more than one record; only the first was counted", run.TaskID, run.Index)
		return
	}
	blend := tooleval.Score{}
	if b.options.Combine {
		blend = combine(&run.Score, b.options.OutcomeWeight, b.options.ProcessWeight)
	}
	r.add(run, blend)
	s.addCalls(run.Trajectory.Calls)
	s.usage.add(run.Result.Usage)
	for i, w := range run.Warnings {
		if i == maxDistinct {
			break
		}
		s.warnings.add(short(w))
	}
	b.added++
	b.keep(s, run, blend)
}

func (b *Builder) warn(format string, args ...any) {
	b.warnings.add(short(tooleval.Text(fmt.Sprintf(format, args...))))
}

// first reports whether this is the first run of that index.
func (r *row) first(index int) bool {
	word, bit := index/64, uint64(1)<<(index%64)
	if word >= len(r.seen) {
		r.seen = slices.Grow(r.seen, word+1-len(r.seen))[:word+1]
	}
	if r.seen[word]&bit != 0 {
		return false
	}
	r.seen[word] |= bit
	return true
}

func (r *row) add(run *tooleval.Run, blend tooleval.Score) {
	r.recorded++
	if run.Provenance.Attempts > 0 {
		r.retried++
	}
	r.faults.add(run)
	switch run.Score.Verdict {
	case tooleval.Passed:
		r.passed++
	case tooleval.Failed:
		r.failed++
	default:
		r.unscored++
		r.why.add(short(unscoredWhy(run)))
	}
	if run.Failure != nil && run.Score.Verdict != tooleval.Passed {
		r.failures.add(failureKind{run.Failure.Category, run.Failure.Owner})
	}
	if !scored(run.Score.Verdict) {
		return
	}
	addScore(&r.outcome, &run.Score.Outcome.Score)
	addScore(&r.process, &run.Score.Process.Score)
	addScore(&r.combined, &blend)
}

func addScore(sample *stats.Sample, score *tooleval.Score) {
	if v, ok := score.Value(); ok {
		sample.Add(v)
	}
}

func scored(v tooleval.Verdict) bool { return v == tooleval.Passed || v == tooleval.Failed }

func unscoredWhy(run *tooleval.Run) tooleval.Text {
	for _, why := range []tooleval.Text{run.Score.Why, run.Score.Outcome.Score.Why, run.Error} {
		if why != "" {
			return why
		}
	}
	return "no reason was recorded"
}

func (b *Builder) addBaseline(run *tooleval.Run) {
	k := trivialKey{run.TaskID, run.Baseline}
	t := b.byTask[k]
	if t == nil {
		t = &trivial{trivialKey: k, mayPass: run.Task.DoNothingMayPass}
		b.byTask[k] = t
		b.trivial = append(b.trivial, t)
	}
	switch run.Score.Verdict {
	case tooleval.Passed:
		t.passed++
	case tooleval.Failed:
		t.failed++
	default:
		if t.unscored == 0 {
			t.why = short(unscoredWhy(run))
		}
		t.unscored++
	}
}
