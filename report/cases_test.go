package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// text is what a person sees, with the line breaks of wrapping removed.
func text(t *testing.T, r Report, o TermOptions) string {
	t.Helper()
	return strings.Join(strings.Fields(string(show(t, r, o))), " ")
}

func wantText(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
}

func TestT01UnscoredRunsStayInSight(t *testing.T) {
	var runs []*tooleval.Run
	for i := range 10 {
		if i < 5 {
			runs = append(runs, passedRun("a", i))
		} else {
			runs = append(runs, unscoredRun("a", i, "the judge broke"))
		}
	}
	r := build(header(10, "a"), Options{}, runs...)
	got := text(t, r, TermOptions{})
	wantText(t, got, "5/5 scored, 5 unscored of 10", "5 × the judge broke", "if all others had failed: 50 %, if they had passed: 100 %", "coverage 50 %")
	s := r.Sections[0].Summary
	if s.WorstPassRate.Value != 0.5 || s.BestPassRate.Value != 1 || s.Coverage.Value != 0.5 {
		t.Errorf("got worst %v, best %v, coverage %v; want 0.5, 1, 0.5", s.WorstPassRate, s.BestPassRate, s.Coverage)
	}
}

func TestT02NoNumberIsNeverANumber(t *testing.T) {
	nan := passedRun("a", 1)
	nan.Score.Outcome.Score, nan.WallMS = tooleval.Scored(math.NaN()), math.NaN()
	nan.Trajectory.Calls[0].TookMS = math.Inf(1)
	cost := math.NaN()
	tokens := int64(-5)
	nan.Result.Usage = &tooleval.Usage{CostUSD: &cost, InputTokens: &tokens}
	half := failedRun("a", 2)
	r := build(header(3, "a"), Options{Combine: true}, passedRun("a", 0), nan, half)
	task := r.Sections[0].Tasks[0]
	if task.Outcome.N != 2 || task.Outcome.Mean.Value != 0.75 {
		t.Errorf("outcome: got mean %v of %d, want 0.75 of 2", task.Outcome.Mean, task.Outcome.N)
	}
	if u := r.Sections[0].Usage; u.CostUSD.Sum.OK || u.InputTokens.Sum.OK {
		t.Errorf("usage: got %+v, want no cost and no tokens", u)
	}
	empty := build(header(2, "a"), Options{}, unscoredRun("a", 0, "x"), unscoredRun("a", 1, "x"))
	if e := empty.Sections[0].Tasks[0]; e.PassRate.Value.OK || e.PassRate.Value.Why == "" || e.Outcome.Mean.OK || e.Outcome.Mean.Why == "" {
		t.Errorf("a task without a score: got %+v", e)
	}
	for _, r := range []Report{r, empty, build(tooleval.Eval{}, Options{}), {}} {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		checkNulls(t, "$", b)
	}
}

// checkNulls fails on a null value without a reason beside it.
func checkNulls(t *testing.T, path string, b []byte) {
	t.Helper()
	var m map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case json.Unmarshal(b, &m) == nil:
		if v, ok := m["value"]; ok && string(v) == "null" && len(m["why"]) < 3 {
			t.Errorf("%s: null without a reason: %s", path, b)
		}
		for k, v := range m {
			checkNulls(t, path+"."+k, v)
		}
	case json.Unmarshal(b, &list) == nil:
		for i, v := range list {
			checkNulls(t, fmt.Sprintf("%s[%d]", path, i), v)
		}
	}
}

func TestT05OneSurvivorIsNoFullMark(t *testing.T) {
	e := header(4, "a", "b", "c", "d", "e")
	var runs []*tooleval.Run
	for i, task := range e.Tasks {
		for j := range 4 {
			switch {
			case i == 0 && j == 0:
				runs = append(runs, passedRun(task.ID, j))
			case i < 4: // the last task has no record at all
				runs = append(runs, unscoredRun(task.ID, j, "429"))
			}
		}
	}
	r := build(e, Options{}, runs...)
	s := r.Sections[0].Summary
	if len(r.Sections[0].Tasks) != 5 || s.Planned != 20 || s.Scored != 1 || s.Unscored != 15 || s.Missing != 4 {
		t.Errorf("got %d tasks and %+v", len(r.Sections[0].Tasks), s.Counts)
	}
	if s.Incomplete == "" {
		t.Error("1 scored run of 20 is not called incomplete")
	}
	wantText(t, text(t, r, TermOptions{Width: 150}), "pass rate incomplete: 4 of 5 tasks have no scored run", "coverage 5 %",
		"if all others had failed: 5 %, if they had passed: 100 %", "4 × no record of the run")
	low := build(header(4, "a"), Options{}, passedRun("a", 0))
	if got := low.Sections[0].Summary.Incomplete; got != "only 1 of 4 runs are scored" {
		t.Errorf("coverage 1/4: got %q", got)
	}
	if got := build(header(4, "a"), Options{MinCoverage: 0.2}, passedRun("a", 0)).Sections[0].Summary.Incomplete; got != "" {
		t.Errorf("coverage 1/4 where 0.2 is enough: got %q", got)
	}
}

func TestT06OneEstimatorUnderOneName(t *testing.T) {
	r := build(header(4, "a"), Options{}, passedRun("a", 0), passedRun("a", 1), passedRun("a", 2), failedRun("a", 3))
	task := r.Sections[0].Tasks[0]
	if got := task.PassHatK[1]; got.K != 2 || got.Value.Value != 0.5 {
		t.Errorf("pass^2 of 3/4: got %v, want 0.5", got)
	}
	if len(task.PassHatK) != 4 || task.PassHatK[3].Value.Value != 0 || task.PassAtK[1].Value.Value != 1 {
		t.Errorf("got %v and %v", task.PassHatK, task.PassAtK)
	}
	var many []*tooleval.Run
	for i := range 25 {
		many = append(many, passedRun("a", i))
	}
	ks := build(header(25, "a"), Options{}, many...).Sections[0].Tasks[0].PassAtK
	if len(ks) != 11 || ks[9].K != 10 || ks[10].K != 25 {
		t.Errorf("25 runs: got %v, want k = 1..10 and 25", ks)
	}
}

func TestT08TheTaskIsTheUnit(t *testing.T) {
	e := tooleval.Eval{Suite: "calc", Minds: []string{"scripted"}, World: "mock", Runs: 10}
	var runs []*tooleval.Run
	for i := range 10 {
		id := fmt.Sprintf("t%d", i)
		e.Tasks = append(e.Tasks, tooleval.EvalTask{ID: id})
		for j := range 10 {
			if i < 5 {
				runs = append(runs, passedRun(id, j))
			} else {
				runs = append(runs, failedRun(id, j))
			}
		}
	}
	s := build(e, Options{}, runs...).Sections[0].Summary
	// 10 task means, 5 of 1 and 5 of 0: sd = sqrt(10/9 · 0.25) = 0.527, error = 0.527/sqrt(10) = 1/6. Over 100 runs taken
	// for independent it would be 0.05.
	if s.PassRate.N != 10 || math.Abs(s.PassRate.Error.Value-1.0/6) > 1e-12 {
		t.Errorf("got error %v over %d, want 1/6 over 10 tasks", s.PassRate.Error, s.PassRate.N)
	}
	if s.OutcomeWithin.Value != 0 || math.Abs(s.OutcomeBetween.Value-0.25*math.Sqrt(10.0/9)) > 1e-12 {
		t.Errorf("got within %v, between %v; want 0 and 0.264", s.OutcomeWithin, s.OutcomeBetween)
	}
}

func TestT09IntervalsAtTheEnds(t *testing.T) {
	var five, ten []*tooleval.Run
	for i := range 5 {
		five = append(five, passedRun("a", i))
	}
	for i := range 10 {
		ten = append(ten, failedRun("a", i))
	}
	wantText(t, text(t, build(header(5, "a"), Options{}, five...), TermOptions{Width: 120}), "5/5 100 % [56.6–100 %]")
	wantText(t, text(t, build(header(10, "a"), Options{}, ten...), TermOptions{Width: 120}), "0/10 0 % [0–27.8 %]")
}

func TestT12OneSampleARun(t *testing.T) {
	first, again := failedRun("a", 0), passedRun("a", 0)
	again.Provenance.Attempts = 1
	r := build(header(1, "a"), Options{}, again, first)
	task := r.Sections[0].Tasks[0]
	if task.Scored != 1 || task.Passed != 1 || task.Retried != 1 {
		t.Errorf("got %+v, want 1 of 1 and 1 retried", task.Counts)
	}
	if len(r.Warnings) != 1 || len(r.Sections[0].Runs) != 1 || r.Sections[0].Runs[0].Attempts != 1 {
		t.Errorf("got warnings %v and runs %v", r.Warnings, r.Sections[0].Runs)
	}
	wantText(t, text(t, r, TermOptions{}), "attempt 2", "has more than one record", "1 run took more than one attempt")
}

func TestR06EachCheckHasItsOwnStatus(t *testing.T) {
	got := text(t, build(header(1, "a"), Options{}, failedRun("a", 0)), TermOptions{})
	wantText(t, got, "✗ total: 41 is not 42", "✓ currency")
}

func TestS03AnInfoCheckIsShownAsSuch(t *testing.T) {
	r := passedRun("a", 0)
	r.Score.Outcome.Checks = []tooleval.Check{{Name: "style", Verdict: tooleval.Failed, Info: true}}
	wantText(t, text(t, build(header(1, "a"), Options{}, r), TermOptions{Verbose: true}), "✗ (info, counts for nothing) style")
}

func TestR11ToolErrorsAreInTheSummary(t *testing.T) {
	r := passedRun("a", 0)
	for i, status := range []tooleval.CallStatus{tooleval.CallToolError, tooleval.CallTimeout, tooleval.CallProtocolError, tooleval.CallRefused, tooleval.CallCancelled} {
		r.Trajectory.Calls[i].Status = status
	}
	rep := build(header(1, "a"), Options{}, r)
	want := []Tool{{Name: "add", Calls: 7, Errors: 3, Refused: 1, Cancelled: 1, ErrorShare: stats.Number(3.0 / 7), MeanMS: stats.Number(0.2), MaxMS: stats.Number(0.2)}}
	if diff := cmp.Diff(want, rep.Sections[0].Tools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantText(t, text(t, rep, TermOptions{Width: 200}), "7 calls of 1 tool, 3 errors, 1 refused", `warning: tool "add": 3 of 7 calls ended in an error`)
}

func TestE25NoScoreIsNoError(t *testing.T) {
	null := unscoredRun("a", 0, "score this one by hand")
	null.Failure, null.Ending = nil, tooleval.Completed
	crash := unscoredRun("a", 1, "the scorer was killed")
	crash.Failure.Owner = tooleval.OwnerJudge
	r := build(header(3, "a"), Options{}, null, crash, failedRun("a", 2))
	task := r.Sections[0].Tasks[0]
	if task.Scored != 1 || task.Unscored != 2 || task.Missing != 0 || len(task.UnscoredWhy) != 2 {
		t.Errorf("got %+v, %v", task.Counts, task.UnscoredWhy)
	}
	want := []FailureCount{{tooleval.RunError, tooleval.OwnerJudge, 1}, {tooleval.WrongArgs, tooleval.OwnerAgent, 1}}
	if diff := cmp.Diff(want, task.Failures); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAlmostAllIsNotAll(t *testing.T) {
	b := NewBuilder(header(2500, "a"), Options{})
	b.Add(failedRun("a", 0))
	for i := 1; i < 2500; i++ {
		b.Add(passedRun("a", i))
	}
	got := text(t, b.Report(), TermOptions{Width: 120})
	wantText(t, got, "2499/2500 99.9 %")
	if strings.Contains(got, "2499/2500 100 %") || strings.Contains(got, "outcome 1.00,") || !strings.Contains(got, "outcome 0.999,") {
		t.Error("2499 of 2500 is printed as 100 %")
	}
}

func TestBaselines(t *testing.T) {
	live := header(1, "a")
	live.World = "live"
	for _, c := range []struct {
		name string
		eval tooleval.Eval
		runs []*tooleval.Run
		want string
	}{
		{"fails", header(1, "a"), []*tooleval.Run{baselineRun("a", DoNothing, tooleval.Failed, "")}, "do-nothing: fails as it should"},
		{"passes", header(1, "a"), []*tooleval.Run{baselineRun("a", DoNothing, tooleval.Passed, "")}, "do-nothing: PASSES: the task is broken"},
		{"random passes", header(1, "a"), []*tooleval.Run{baselineRun("a", Random, tooleval.Passed, "")}, "random: PASSES: the task is broken"},
		{"may pass", header(1, "a"), []*tooleval.Run{baselineRun("a", DoNothing, tooleval.Passed, "nothing to do")}, "do-nothing: may pass: nothing to do"},
		{"may pass, fails", header(1, "a"), []*tooleval.Run{baselineRun("a", DoNothing, tooleval.Failed, "nothing to do")}, "do-nothing: fails as it should"},
		{"unscored", header(1, "a"), []*tooleval.Run{baselineRun("a", DoNothing, tooleval.Unscored, "")}, "do-nothing: unscored: the reason"},
		{"live", live, nil, "random: not run (live world)"},
		{"absent", header(1, "a"), nil, "do-nothing: not run (no record)"},
	} {
		r := build(c.eval, Options{}, c.runs...)
		wantText(t, text(t, r, TermOptions{}), c.want)
		if s := r.Sections[0].Summary; s.Scored != 0 {
			t.Errorf("%s: a baseline is counted as a run", c.name)
		}
	}
}
