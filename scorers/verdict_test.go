package scorers

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/taxonomy"
)

func TestVerdict(t *testing.T) {
	drop := addCall("drop {}", tooleval.CallOK)
	wrong := state(`{"cart":[8],"paid":true}`)
	mark := func(m float64) change { return func(r *tooleval.Run) { r.Task.Threshold = m } }
	for _, c := range []struct {
		name    string
		changes []change
		want    tooleval.Verdict
		why     string
	}{
		{"all is well", nil, tooleval.Passed, ""},
		{"a needless call is no failure", []change{addCall("search {}", tooleval.CallOK)}, tooleval.Passed, ""},
		{"wrong state", []change{wrong},
			tooleval.Failed, "outcome 0.5 is below the pass mark 1: $.cart[0]: want 7, got 8"},
		{"half is enough", []change{wrong, mark(0.5)}, tooleval.Passed, ""},
		{"half is not enough", []change{wrong, mark(0.51)}, tooleval.Failed, "below the pass mark 0.51"},
		{"forbidden call", []change{drop}, tooleval.Failed, "call 4 of drop is forbidden"},
		{"two forbidden calls", []change{drop, drop}, tooleval.Failed, "(and 1 more)"},
		{"forbidden call, then a rate limit", []change{drop, ended(tooleval.Errored, tooleval.OwnerInfra, "429")},
			tooleval.Failed, "drop"},
		{"forbidden call, and no outcome", []change{drop, expected(`{"$any":true}`)}, tooleval.Failed, "drop"},
		{"forbidden call in what was seen", []change{drop, incomplete}, tooleval.Failed, "drop"},
		{"the agent crashed", []change{ended(tooleval.Errored, tooleval.OwnerAgent, "exit 2")},
			tooleval.Failed, "exit 2"},
		{"nobody was named", []change{ended(tooleval.Errored, "", "exit 2")}, tooleval.Failed, "exit 2"},
		{"the agent crashed, and no outcome", []change{ended(tooleval.Errored, "", "exit 2"), expected(`{"$any":true}`)},
			tooleval.Failed, "exit 2"},
		{"timeout", []change{ended(tooleval.TimedOut, "", "")}, tooleval.Failed, "timeout"},
		{"rate limit", []change{ended(tooleval.Errored, tooleval.OwnerInfra, "429")}, tooleval.Unscored, "429"},
		{"harness", []change{ended(tooleval.Errored, tooleval.OwnerHarness, "bug")}, tooleval.Unscored, "bug"},
		{"world", []change{ended(tooleval.Errored, tooleval.OwnerWorld, "gone")}, tooleval.Unscored, "gone"},
		{"never started", []change{ended(tooleval.NotStarted, "", "no server")}, tooleval.Unscored, "no server"},
		{"cancelled", []change{ended(tooleval.Cancelled, "", "")}, tooleval.Unscored, "owner user"},
		{"no ending", []change{ended("", "", "")}, tooleval.Unscored, "no ending recorded"},
		{"the world broke at the end", []change{ended(tooleval.Completed, tooleval.OwnerWorld, "no snapshot")},
			tooleval.Unscored, "no snapshot"},
		{"its scoring broke before and is repeated", []change{ended(tooleval.Completed, tooleval.OwnerJudge, "no key")},
			tooleval.Passed, ""},
		{"calls may be missing", []change{incomplete}, tooleval.Unscored, "forbidden"},
		{"calls may be missing, but the state is wrong", []change{incomplete, wrong}, tooleval.Failed, "below"},
		{"calls may be missing, nothing in reach", []change{incomplete, forbidden(call("bomb", ""))},
			tooleval.Passed, ""},
	} {
		got, _ := Grade(t.Context(), newRun(c.changes...), nil)
		if got.Verdict != c.want || !strings.Contains(string(got.Why), c.why) || (got.Why == "") != (c.want == tooleval.Passed) {
			t.Errorf("%s: got %s (%q), want %s (%q)", c.name, got.Verdict, got.Why, c.want, c.why)
		}
	}
	run := newRun()
	if v, _ := Verdict(run, tooleval.Outcome{Score: tooleval.Scored(1)}, tooleval.Process{}); v != tooleval.Unscored {
		t.Errorf("a process that nobody judged: got %s", v)
	}
}

func TestE03StateIsGradedAtALimit(t *testing.T) {
	run := newRun(ended(tooleval.LimitReached, "", "at most 4 calls"), addCall("search {}", tooleval.CallRefused))
	score, err := Grade(t.Context(), run, nil)
	wantScore(t, "outcome", score.Outcome.Score, 1)
	if err != nil || score.Verdict != tooleval.Failed || !strings.Contains(string(score.Why), "limit") {
		t.Errorf("got %s (%q), %v", score.Verdict, score.Why, err)
	}
	run.Score = score
	if f := taxonomy.Classify(run); f == nil || f.Category != tooleval.ExcessiveCalls {
		t.Errorf("failure %+v", f)
	}
}

func TestE09NothingSaidNothingDone(t *testing.T) {
	idle := []change{calls(), state(``), func(r *tooleval.Run) { r.Result.Response = " \n" }}
	score, err := Grade(t.Context(), newRun(idle...), nil)
	if err != nil || score.Verdict != tooleval.Failed || !strings.Contains(string(score.Why), "said nothing and did nothing") {
		t.Errorf("got %s (%q), %v", score.Verdict, score.Why, err)
	}
	silentWork := newRun(func(r *tooleval.Run) { r.Result.Response = "" })
	if score, _ := Grade(t.Context(), silentWork, nil); score.Verdict != tooleval.Passed {
		t.Errorf("silent work: got %s (%q)", score.Verdict, score.Why)
	}
}

func TestE11AnErrorIsNoAnswer(t *testing.T) {
	run := newRun(ended(tooleval.Errored, tooleval.OwnerAgent, "paid: true, cart: [7]"))
	score, err := Grade(t.Context(), run, nil)
	wantScore(t, "the state is shown", score.Outcome.Score, 1)
	if err != nil || score.Verdict != tooleval.Failed {
		t.Errorf("got %s, %v, want failed", score.Verdict, err)
	}
}

func TestT02NaNIsUnscored(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), -0.1, 1.1} {
		score, err := Grade(t.Context(), newRun(), tooleval.ScorerFunc(
			func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
				return tooleval.Outcome{Score: tooleval.Scored(v)}, nil
			}))
		if err != nil || score.Verdict != tooleval.Unscored || !strings.Contains(string(score.Why), "not in 0..1") {
			t.Errorf("%v: got %s (%q), %v", v, score.Verdict, score.Why, err)
		}
	}
}

func TestS03OnlyTheScoreDecides(t *testing.T) {
	score, _ := Grade(t.Context(), newRun(), tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
		return tooleval.Outcome{Score: tooleval.Scored(1), Checks: []tooleval.Check{{Name: "x", Verdict: tooleval.Failed, Info: true}}}, nil
	}))
	if score.Verdict != tooleval.Passed || !score.Outcome.Checks[0].Info {
		t.Errorf("got %s, %v", score.Verdict, score.Outcome.Checks)
	}
}

func TestScorerThatBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		score tooleval.ScorerFunc
		owner tooleval.Owner
	}{
		"error": {func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{}, errors.New("oops")
		}, "task"},
		"blamed error": {func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{}, tooleval.Blamef("judge", "oops")
		}, "judge"},
		"panic": {func(context.Context, *tooleval.Run) (tooleval.Outcome, error) { panic("oops") }, "task"},
		"error beside a score": {func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{Score: tooleval.Scored(1)}, errors.New("oops")
		}, "task"},
		"abstains without a word": {func(context.Context, *tooleval.Run) (tooleval.Outcome, error) { return tooleval.Outcome{}, nil }, ""},
	} {
		score, err := Grade(t.Context(), newRun(), c.score)
		owner, _ := tooleval.BlamedOn(err)
		if score.Verdict != tooleval.Unscored || score.Why == "" || owner != c.owner || score.Outcome.Score.IsScored() {
			t.Errorf("%s: got %s (%q), error %v of %q", name, score.Verdict, score.Why, err, owner)
		}
		wantScore(t, name+": the process is judged", score.Process.Score, 1)
	}
	_, err := Grade(t.Context(), newRun(), tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) { panic("oops") }))
	var p *Panic
	if !errors.As(err, &p) || len(p.Stack) == 0 || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("a panic: got %v", err)
	}
	score, err := Grade(t.Context(), newRun(ended(tooleval.NotStarted, tooleval.OwnerInfra, "no server")),
		tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) { panic("not to be called") }))
	if err != nil || score.Outcome.Score.IsScored() {
		t.Errorf("a run that never started: got %v, %v", score.Outcome, err)
	}
}

func TestMeets(t *testing.T) {
	for n := 1; n <= 400; n++ { // every k of n meets the decimal of the same number, and not the next
		for k := range n + 1 {
			v, _ := Fraction(k, n).Value()
			if !Meets(v, float64(k)/float64(n)) || k < n && Meets(v, float64(k+1)/float64(n)) {
				t.Fatalf("%d of %d", k, n)
			}
		}
	}
	tenth := 0.1
	sum := 0.0
	for range 10 {
		sum += tenth
	}
	for _, c := range []struct {
		score, mark float64
		want        bool
	}{
		{tenth + 0.2, 0.3, true}, {0.7 + tenth, 0.8, true}, {0.29999999999, 0.3, false}, {0.8, 0.7 + tenth, true},
		{sum, 1, false}, {math.Nextafter(1, 0), 1, false}, {1, 1, true}, {0.99999, 1, false}, {0.99999, 0.99999, true},
		{0, 5e-324, false}, {math.NaN(), 0.5, false}, {0.5, math.NaN(), false},
	} {
		if got := Meets(c.score, c.mark); got != c.want {
			t.Errorf("Meets(%v, %v): got %v", c.score, c.mark, got)
		}
	}
}

func BenchmarkPassingRun(b *testing.B) {
	run := newRun()
	b.ReportAllocs()
	for b.Loop() {
		score, err := Grade(b.Context(), run, nil)
		if run.Score = score; err != nil || score.Verdict != tooleval.Passed || taxonomy.Classify(run) != nil {
			b.Fatal(score, err)
		}
	}
}

func TestEveryRunGetsAVerdictAndEveryFailureACause(t *testing.T) {
	endings := []tooleval.Ending{tooleval.Completed, tooleval.Completed, tooleval.Errored, tooleval.NotStarted, tooleval.TimedOut,
		tooleval.LimitReached, tooleval.Cancelled, "", "\xff"}
	owners := []tooleval.Owner{"", tooleval.OwnerAgent, tooleval.OwnerInfra, tooleval.OwnerJudge}
	states := []string{`{"paid":true,"cart":[7]}`, `{"paid":true}`, ``, `null`, `{`, "\xff", `[[]]`}
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun(t)
		ended(rapid.SampledFrom(endings).Draw(t, "ending"), rapid.SampledFrom(owners).Draw(t, "owner"),
			rapid.SampledFrom([]tooleval.Text{"", "oops \xff"}).Draw(t, "error"))(run)
		state(rapid.SampledFrom(states).Draw(t, "state"))(run)
		run.StateFrom = rapid.SampledFrom([]string{"world", "agent"}).Draw(t, "from")
		score, _ := Grade(context.Background(), run, nil)
		run.Score = score
		f := taxonomy.Classify(run)
		switch {
		case (score.Verdict == tooleval.Passed) != (score.Why == ""):
			t.Fatalf("%s, why %q", score.Verdict, score.Why)
		case score.Verdict == tooleval.Failed && (f == nil || f.Why == "" || f.Owner == ""):
			t.Fatalf("failed (%s), but the failure is %+v", score.Why, f)
		case score.Verdict == tooleval.Passed && (f != nil || run.Ending != tooleval.Completed):
			t.Fatalf("passed with ending %s and failure %+v", run.Ending, f)
		}
		again, _ := Grade(context.Background(), run, nil)
		if diff := cmp.Diff(score, again, cmp.AllowUnexported(tooleval.Score{})); diff != "" {
			t.Fatal(diff)
		}
	})
}
