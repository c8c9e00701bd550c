package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// faulted is a run whose task has a fault for call 2 of add.
func faulted(run *tooleval.Run, landed bool) *tooleval.Run {
	run.Task.Faults = []tooleval.Fault{{Kind: tooleval.FaultTimeout, Tool: "add", Call: 2},
		{Kind: tooleval.FaultError, Probability: 0.1}}
	if landed {
		run.Trajectory.Calls[1].Fault = run.Task.Faults[0].Label()
	}
	return run
}

func TestFaultsCountOnlyWhatLanded(t *testing.T) {
	b := NewBuilder(header(6, "a"), Options{})
	b.Add(faulted(passedRun("a", 0), true))
	b.Add(faulted(failedRun("a", 1), true))
	b.Add(faulted(failedRun("a", 2), true))
	b.Add(faulted(passedRun("a", 3), false))
	b.Add(faulted(failedRun("a", 4), false))
	b.Add(faulted(unscoredRun("a", 5, "no judge"), true))
	r := b.Report()
	f := r.Sections[0].Faults
	if f == nil {
		t.Fatal("the report has no faults")
	}
	if f.Runs != 6 || f.Calls != 4 || f.Unscored != 1 || f.Recovered.Passed != 1 || f.Recovered.N != 3 ||
		f.Without.Passed != 1 || f.Without.N != 2 {
		t.Errorf("got %+v", f)
	}
	if diff := cmp.Diff(stats.Wilson(1, 3, 0.95), f.Recovered.Interval); diff != "" {
		t.Error(diff)
	}
	// The one with a probability is no undelivered fault.
	if len(f.Undelivered) != 1 || f.Undelivered[0].N != 2 || f.Undelivered[0].What != "timeout of add, call 2" {
		t.Errorf("undelivered: got %+v", f.Undelivered)
	}
	for _, write := range []func(*bytes.Buffer) error{
		func(w *bytes.Buffer) error { return Terminal(w, r, TermOptions{Width: 300}) },
		func(w *bytes.Buffer) error { return Markdown(w, r) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"recovery rate 1/3 33", "pass rate 1/2 50", "2 faults never landed and are not counted: 2 ×"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, out.String())
			}
		}
	}
}

func TestFaultsOverTasksRespectTheTasks(t *testing.T) {
	b := NewBuilder(header(4, "a", "b"), Options{})
	for i := range 4 {
		b.Add(faulted(passedRun("a", i), true))
		b.Add(faulted(failedRun("b", i), true))
	}
	f := b.Report().Sections[0].Faults
	if got, alone := f.Recovered.Interval, stats.Wilson(4, 8, 0.95); got.High-got.Low <= alone.High-alone.Low {
		t.Errorf("two tasks of four equal runs each: the interval %+v is no wider than that of eight independent runs, %+v", got, alone)
	}
	if f.Without.Value.OK || f.Without.Value.Why == "" {
		t.Errorf("without: got %+v, want no number and a reason", f.Without)
	}
}

func TestFaultsAreLeftOutWhereThereAreNone(t *testing.T) {
	b := NewBuilder(header(1, "a"), Options{})
	b.Add(passedRun("a", 0))
	if f := b.Report().Sections[0].Faults; f != nil {
		t.Errorf("got %+v", f)
	}
}
