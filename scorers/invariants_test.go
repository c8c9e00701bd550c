package scorers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

func TestR06EachCheckHasItsOwnStatus(t *testing.T) {
	inv := NewInvariants()
	inv.Check("title is populated", true, "")
	ok := inv.Check("salary is plausible", false, "got %d", -5)
	inv.Check("text is 100% there", true, "100% of it")
	out, err := inv.Outcome()
	if err != nil || ok {
		t.Fatal(err, ok)
	}
	wantScore(t, "two of three", out.Score, 2.0/3)
	want := []tooleval.Check{
		{Name: "title is populated", Verdict: tooleval.Passed},
		{Name: "salary is plausible", Verdict: tooleval.Failed, Note: "got -5"},
		{Name: "text is 100% there", Verdict: tooleval.Passed, Note: "100% of it"},
	}
	if diff := cmp.Diff(want, out.Checks); diff != "" {
		t.Error(diff)
	}
}

func TestS03AnInfoCheckIsMarkedAndDoesNotCount(t *testing.T) {
	inv := NewInvariants()
	inv.Check("counts", true, "")
	inv.Info("does not", false, "only shown")
	out, err := inv.Outcome()
	wantScore(t, "outcome", out.Score, 1)
	if err != nil || !out.Checks[1].Info || out.Checks[0].Info || out.Checks[1].Verdict != tooleval.Failed {
		t.Errorf("got %v, %v", out.Checks, err)
	}
}

func TestS14SkippedStaysOut(t *testing.T) {
	inv := NewInvariants()
	inv.Skip("link is alive", "no network")
	inv.Check("title is populated", true, "")
	inv.Check("text is populated", false, "")
	out, err := inv.Outcome()
	wantScore(t, "one of two", out.Score, 0.5)
	if err != nil || out.Checks[0].Verdict != tooleval.Unscored {
		t.Errorf("got %v, %v", out.Checks, err)
	}

	all := NewInvariants()
	all.Skip("link is alive", "no network")
	out, err = all.Outcome()
	wantScore(t, "all skipped", out.Score, unscored)
	if err != nil {
		t.Errorf("abstaining is no error: %v", err)
	}
}

func TestS04AScorerThatChecksNothing(t *testing.T) {
	onlyInfo := NewInvariants()
	onlyInfo.Info("shown", true, "")
	for _, inv := range []*Invariants{NewInvariants(), onlyInfo} {
		out, err := inv.Outcome()
		wantScore(t, "nothing", out.Score, unscored)
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerTask {
			t.Errorf("got error %v of %q, want the task's", err, owner)
		}
	}
}
