package report

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tooleval/tooleval"
)

func TestFailuresAreKeptFirstAndOrderStays(t *testing.T) {
	b := NewBuilder(header(10, "a"), Options{MaxRuns: 4})
	for i := range 10 {
		if i == 3 || i == 6 || i == 8 {
			b.Add(failedRun("a", i))
		} else {
			b.Add(passedRun("a", i))
		}
	}
	s := b.Report().Sections[0]
	var kept []int
	for _, r := range s.Runs {
		kept = append(kept, r.Index)
	}
	if diff := cmp.Diff([]int{0, 3, 6, 8}, kept); diff != "" {
		t.Errorf("kept runs (-want +got):\n%s", diff)
	}
	if s.Omitted != 6 || s.OmittedFailed != 0 {
		t.Errorf("got %d omitted, %d of them not passed; want 6 and 0", s.Omitted, s.OmittedFailed)
	}
	b = NewBuilder(header(10, "a"), Options{MaxRuns: 2})
	for i := range 5 {
		b.Add(failedRun("a", i))
	}
	b.Add(passedRun("a", 5))
	if s := b.Report().Sections[0]; len(s.Runs) != 2 || s.Omitted != 4 || s.OmittedFailed != 3 {
		t.Errorf("got %d runs, %d omitted, %d of them not passed; want 2, 4 and 3", len(s.Runs), s.Omitted, s.OmittedFailed)
	}
	b = NewBuilder(header(1, "a"), Options{MaxRuns: -1})
	b.Add(failedRun("a", 0))
	if s := b.Report().Sections[0]; len(s.Runs) != 0 || s.OmittedFailed != 1 || s.Summary.Scored != 1 {
		t.Errorf("without lines: got %+v", s)
	}
}

func TestStrayRunsAreNotCounted(t *testing.T) {
	other, out, negative := passedRun("a", 0), passedRun("a", 5), passedRun("a", -1)
	other.Suite = "orders"
	r := build(header(2, "a"), Options{}, nil, other, out, negative, passedRun("a", 1))
	if s := r.Sections[0].Summary; s.Scored != 1 || s.Missing != 1 || len(r.Warnings) != 3 {
		t.Errorf("got %+v and warnings %v", s.Counts, r.Warnings)
	}
	extra := passedRun("b", 0) // a task that the header doesn't name, such as one of a header that names none
	if s := build(header(1, "a"), Options{}, extra).Sections[0].Summary; s.Tasks != 2 || s.Scored != 1 || s.Missing != 1 {
		t.Errorf("a task outside of the header: got %+v", s)
	}
	unknown := tooleval.Eval{Suite: "calc"}
	if s := build(unknown, Options{}, passedRun("a", 0), failedRun("a", 7)).Sections[0].Summary; s.Planned != 2 || s.Scored != 2 {
		t.Errorf("without a plan: got %+v", s.Counts)
	}
}

func TestReportCanBeTakenMidway(t *testing.T) {
	b := NewBuilder(header(2, "a"), Options{})
	b.Add(passedRun("a", 0))
	first := b.Report()
	b.Add(failedRun("a", 1))
	second := b.Report()
	want := build(header(2, "a"), Options{}, passedRun("a", 0), failedRun("a", 1))
	if diff := cmp.Diff(want, second, cmpopts.IgnoreUnexported(Run{}), cmp.AllowUnexported(tooleval.Score{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first.Sections[0].Summary.Scored != 1 || len(first.Sections[0].Runs) != 1 {
		t.Errorf("the first report changed: %+v", first.Sections[0].Summary.Counts)
	}
}

func TestALineKeepsNothingOfTheRun(t *testing.T) {
	run := failedRun("a", 0)
	b := NewBuilder(header(1, "a"), Options{})
	b.Add(run)
	*run.Failure.Evidence[0].Call = 99
	run.Score.Outcome.Checks[0].Name = "changed"
	run.Score.Process.Components[0].Name = "changed"
	got := b.Report().Sections[0].Runs[0]
	if *got.Failure.Evidence[0].Call != 2 || got.Checks[0].Name != "total" || got.Components[0].Name != "required" {
		t.Errorf("a change of the run shows: %+v", got)
	}
}

// Everything that an agent can make distinct is bounded.
func TestDistinctThingsAreBounded(t *testing.T) {
	b := NewBuilder(header(2000, "a"), Options{MaxRuns: 10})
	for i := range 2000 {
		r := unscoredRun("a", i, fmt.Sprintf("reason %d", i))
		r.Warnings = []tooleval.Text{tooleval.Text(fmt.Sprintf("warning %d", i))}
		r.Failure.Category = tooleval.Category(fmt.Sprintf("c%d", i))
		r.Result.Usage = &tooleval.Usage{Model: fmt.Sprintf("m%d", i)}
		for j := range r.Trajectory.Calls {
			r.Trajectory.Calls[j].Tool = fmt.Sprintf("t%d.%d", i, j)
		}
		b.Add(r)
	}
	s := b.Report().Sections[0]
	sum := 0
	for _, c := range s.Tasks[0].UnscoredWhy {
		sum += c.N
	}
	calls := 0
	for _, tool := range s.Tools {
		calls += tool.Calls
	}
	if sum != 2000 || calls != 14000 {
		t.Errorf("got %d reasons and %d calls; want 2000 and 14000: others are counted too", sum, calls)
	}
	for what, n := range map[string]int{"reasons": len(s.Tasks[0].UnscoredWhy), "warnings": len(s.Warnings), "failures": len(s.Tasks[0].Failures),
		"models": len(s.Usage.Models), "tools": len(s.Tools), "lines": len(s.Runs)} {
		if n > maxTools+1 {
			t.Errorf("%d distinct %s are kept", n, what)
		}
	}
}

func TestSameRunsSameBytes(t *testing.T) {
	var first bytes.Buffer
	for i := range 20 {
		var buf bytes.Buffer
		if err := JSON(&buf, troubled(Options{Combine: true})); err != nil {
			t.Fatal(err)
		}
		buf.Write(show(t, troubled(Options{}), TermOptions{}))
		if i == 0 {
			first = buf
		} else if !bytes.Equal(first.Bytes(), buf.Bytes()) {
			t.Fatal("two reports of the same runs differ")
		}
	}
}

func TestCombineIsTheWeightedMean(t *testing.T) {
	s := tooleval.TaskScore{Verdict: tooleval.Passed}
	s.Outcome.Score, s.Process.Score = tooleval.Scored(1), tooleval.Scored(0.5)
	for _, c := range []struct {
		outcome, process, want float64
	}{{0.7, 0.3, 0.85}, {7, 3, 0.85}, {1, 0, 1}, {0, 1, 0.5}, {1e308, 1e308, 0.75}} {
		if v, ok := combine(&s, c.outcome, c.process).Value(); !ok || v-c.want > 1e-12 || c.want-v > 1e-12 {
			t.Errorf("weights %v, %v: got %v, want %v", c.outcome, c.process, v, c.want)
		}
	}
	for _, w := range [][2]float64{{-1, 2}, {0, 0}} {
		if got := combine(&s, w[0], w[1]); got.IsScored() || got.Why == "" {
			t.Errorf("weights %v: got %v, want none", w, got)
		}
	}
	s.Process.Score = tooleval.Score{}
	if got := combine(&s, 0.7, 0.3); got.IsScored() {
		t.Errorf("without a process: got %v, want none", got)
	}
}

func million() (tooleval.Eval, []*tooleval.Run) {
	e := header(10_000)
	runs := make([]*tooleval.Run, 100)
	for i := range runs {
		id := fmt.Sprintf("task-%d", i)
		e.Tasks = append(e.Tasks, tooleval.EvalTask{ID: id})
		runs[i] = passedRun(id, 0)
		if i%7 == 0 {
			runs[i] = failedRun(id, 0)
		}
	}
	return e, runs
}

func TestAMillionRunsNeedNoMoreMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a million runs take a second")
	}
	e, runs := million()
	b := NewBuilder(e, Options{})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 1_000_000 {
		r := runs[i/10_000]
		r.Index = i % 10_000
		b.Add(r)
	}
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("the Builder holds %d bytes after a million runs", grown)
	}
	if s := b.Report().Sections[0].Summary; s.Scored != 1_000_000 {
		t.Errorf("got %d scored", s.Scored)
	}
}

func BenchmarkAdd(b *testing.B) {
	e, runs := million()
	builder := NewBuilder(e, Options{})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == 1_000_000 {
			builder, i = NewBuilder(e, Options{}), 0
		}
		r := runs[i/10_000]
		r.Index = i % 10_000
		builder.Add(r)
		i++
	}
}
