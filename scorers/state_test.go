package scorers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

func TestStateIsTheFractionMet(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []change
		want    float64
	}{
		{"all met", nil, 1},
		{"one of two", []change{state(`{"cart":[7],"paid":false}`)}, 0.5},
		{"none", []change{state(`{"cart":[8],"paid":1}`)}, 0},
		{"an extra key is a third expectation", []change{state(`{"cart":[7],"paid":true,"debt":1}`)}, 2.0 / 3},
		{"no state", []change{state(``)}, 0},
		{"null is no state", []change{state(` null `), expected(`null`)}, 0},
		{"an absent key", []change{expected(`{"a":{"$absent":true},"b":1}`), state(`{"b":1}`)}, 1},
		{"loose", []change{expected(`{"$subset":{"b":{"$number":1,"tolerance":0.1}}}`), state(`{"b":1.05,"c":2}`)}, 1},
	} {
		out, err := State.Score(t.Context(), newRun(c.changes...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		wantScore(t, c.name, out.Score, c.want)
		if pass := len(out.Diff) == 0; pass != (c.want == 1) || pass != (out.Checks[0].Verdict == tooleval.Passed) {
			t.Errorf("%s: diff %v, check %v", c.name, out.Diff, out.Checks)
		}
	}
}

func TestStateSaysWhatDiffers(t *testing.T) {
	out, err := State.Score(t.Context(), newRun(state(`{"cart":[8],"who":"me"}`)))
	if err != nil {
		t.Fatal(err)
	}
	want := []tooleval.Difference{
		{Path: "$.cart[0]", Want: tooleval.Raw("7"), Got: tooleval.Raw("8")},
		{Path: "$.paid", Want: tooleval.Raw("true")},
		{Path: "$.who", Got: tooleval.Raw(`"me"`), Why: `no such key is expected; {"$subset": …} would allow it`},
	}
	if diff := cmp.Diff(want, out.Diff); diff != "" {
		t.Error(diff)
	}
	if out.Checks[0].Note != "0 of 3 expectations met" {
		t.Errorf("note %q", out.Checks[0].Note)
	}
}

func TestStateNeverRoundsUpToOne(t *testing.T) {
	want, got := make([]int, 100_000), make([]int, 100_000)
	got[99_999] = 1
	run := newRun()
	run.Task.ExpectedState = tooleval.Match(want)
	run.State, _ = json.Marshal(got)
	out, err := State.Score(t.Context(), run)
	if v, ok := out.Score.Value(); err != nil || !ok || v != 0.99999 {
		t.Errorf("99999 of 100000: got %v, %v", v, err)
	}
	if v, _ := Fraction(1<<60, 1<<60+1).Value(); v >= 1 {
		t.Errorf("beyond 2^53: got %v", v)
	}
	all := Fraction(1<<60+1, 1<<60+1)
	wantScore(t, "all of many", all, 1)
	for _, f := range [][2]int{{0, 0}, {-1, 3}, {4, 3}, {1, -1}} {
		wantScore(t, fmt.Sprint(f), Fraction(f[0], f[1]), unscored)
	}
}

func TestStateThatIsNotJSON(t *testing.T) {
	fromAgent := newRun(state(`{"cart":`), func(r *tooleval.Run) { r.StateFrom = "agent" })
	out, err := State.Score(t.Context(), fromAgent)
	wantScore(t, "an agent's", out.Score, 0)
	if err != nil || len(out.Diff) != 1 || out.Diff[0].Path != "$" || string(out.Diff[0].Got) != `{"cart":` {
		t.Errorf("got %v, %v", out.Diff, err)
	}
	_, err = State.Score(t.Context(), newRun(state(`{"cart":`)))
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
		t.Errorf("a world's: got error %v of %q", err, owner)
	}
}

func TestS04ExpectationsThatCheckNothing(t *testing.T) {
	for _, p := range []string{``, `{"$any":true}`, `{"$subset":{}}`, `{"$regex":"("}`} {
		run := newRun(func(r *tooleval.Run) { r.Task.ExpectedState = tooleval.Pattern{} })
		if p != "" {
			expected(p)(run)
		}
		_, err := State.Score(t.Context(), run)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerTask {
			t.Errorf("%q: got error %v of %q, want the task's", p, err, owner)
		}
		score, _ := Grade(t.Context(), run, nil)
		if score.Verdict != tooleval.Unscored || !strings.Contains(string(score.Why), "expected_state") {
			t.Errorf("%q: verdict %s, why %q", p, score.Verdict, score.Why)
		}
	}
}

func TestJ12AClaimIsNoState(t *testing.T) {
	for _, claim := range []tooleval.Text{"I have paid.", "I can't confirm it was saved", "{\"cart\":[7],\"paid\":true}"} {
		run := newRun(state(`{"cart":[],"paid":false}`), func(r *tooleval.Run) {
			r.Result.Response, r.Result.State = claim, tooleval.Raw(`{"cart":[7],"paid":true}`)
		})
		score, err := Grade(t.Context(), run, nil)
		if err != nil || score.Verdict != tooleval.Failed {
			t.Errorf("%q: got %s, %v, want failed", claim, score.Verdict, err)
		}
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	run := newRun(state("[" + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + "]"))
	run.Task.ExpectedState = tooleval.Match([]int{})
	out, err := State.Score(t.Context(), run)
	if err != nil || len(out.Diff) != mostDifferences || !strings.Contains(string(out.Checks[0].Note), "of 5000 differences") {
		t.Errorf("got %d differences, note %q, %v", len(out.Diff), out.Checks[0].Note, err)
	}
}
