package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/report"
)

// passes builds a report of tasks with the given numbers of passed runs out of n.
func passes(n int, passed ...int) report.Report {
	e := tooleval.Eval{Suite: "s", Runs: n, Minds: []string{"m"}, World: "recorded"}
	for i := range passed {
		e.Tasks = append(e.Tasks, tooleval.EvalTask{ID: fmt.Sprint(i)})
	}
	b := report.NewBuilder(e, report.Options{})
	for i, c := range passed {
		for k := range n {
			run := &tooleval.Run{Suite: "s", Mind: "m", TaskID: fmt.Sprint(i), Index: k, Score: tooleval.TaskScore{Verdict: tooleval.Failed}}
			if k < c {
				run.Score.Verdict = tooleval.Passed
			}
			b.Add(run)
		}
	}
	return b.Report()
}

// TestPassKTable: by hand, tasks of 4/4, 2/4 and 0/4. pass^2 is (1 + 1/6 + 0)/3, pass@2 (1 + 5/6 + 0)/3.
func TestPassKTable(t *testing.T) {
	r := passes(4, 4, 2, 0)
	sum := r.Sections[0].Summary
	if len(sum.PassK) != 4 {
		t.Fatalf("got %d rows, want 4", len(sum.PassK))
	}
	near := func(what string, got, want float64) {
		if d := got - want; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	near("pass^1", sum.PassK[0].Hat.Value.Value, 0.5)
	near("pass^2", sum.PassK[1].Hat.Value.Value, (1+1.0/6)/3)
	near("pass@2", sum.PassK[1].At.Value.Value, (1+5.0/6)/3)
	near("pass@4", sum.PassK[3].At.Value.Value, 2.0/3)
	var term, md bytes.Buffer
	if err := report.Terminal(&term, r, report.TermOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&md, r); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{term.String(), md.String()} {
		for _, want := range []string{"pass^k: all of k runs pass", "0.389 ± 0.309", "6 of 12, standard error 0.144"} {
			if !strings.Contains(out, want) {
				t.Errorf("the report lacks %q:\n%s", want, out)
			}
		}
	}
}

// TestPassKOverOtherTasksIsNotShown: a k that only some tasks have enough runs for is in the data and not in the table.
func TestPassKOverOtherTasksIsNotShown(t *testing.T) {
	e := tooleval.Eval{Suite: "s", Runs: 3, Minds: []string{"m"}, Tasks: []tooleval.EvalTask{{ID: "a"}, {ID: "b"}}}
	b := report.NewBuilder(e, report.Options{})
	for i, task := range []string{"a", "a", "b", "b", "b"} {
		b.Add(&tooleval.Run{Suite: "s", Mind: "m", TaskID: task, Index: i % 3, Score: tooleval.TaskScore{Verdict: tooleval.Passed}})
	}
	r := b.Report()
	if k := r.Sections[0].Summary.PassK; len(k) != 3 || k[2].Hat.N != 1 || k[2].Left != 1 {
		t.Errorf("got %+v", k)
	}
	var out bytes.Buffer
	if err := report.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "\n| 2 | 1.000 |") || strings.Contains(s, "\n| 3 | 1.000 |") {
		t.Errorf("got:\n%s", s)
	}
}
