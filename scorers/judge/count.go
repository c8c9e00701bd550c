package judge

import (
	"cmp"
	"fmt"

	"github.com/tooleval/tooleval"
)

// count makes an outcome of the votes. A verdict needs more than half of all votes that were planned, whether they could
// be read or not, so that a judge that is readable only when it likes the answer decides nothing.
func count(r *Rubric, d *Detail) tooleval.Outcome {
	n := r.votes()
	need := n/2 + 1
	s := &d.Split
	*s = Split{}
	for _, v := range d.Votes {
		switch {
		case v.Verdict == nil:
			s.Unreadable++
		case *v.Verdict == Pass:
			s.Pass++
		case *v.Verdict == Fail:
			s.Fail++
		case *v.Verdict == CannotTell:
			s.CannotTell++
		}
	}
	var out tooleval.Outcome
	switch {
	case s.Pass >= need:
		out.Score = tooleval.Scored(1)
		out.Score.Why = because(d, Pass)
	case s.Fail >= need:
		out.Score = tooleval.Scored(0)
		out.Score.Why = because(d, Fail)
	case s.CannotTell >= need:
		out.Score = tooleval.Unscoredf("the judge can't tell: %s", cmp.Or(because(d, CannotTell), "it does not say why"))
	case n == 1 && len(d.Votes) == 1:
		out.Score = tooleval.Unscoredf("no verdict could be read: %s", d.Votes[0].Why)
	default:
		out.Score = tooleval.Unscoredf("no verdict has more than half of %d votes: %d pass, %d fail, %d can't tell, "+
			"%d unreadable", n, s.Pass, s.Fail, s.CannotTell, s.Unreadable)
	}
	for i, c := range r.Criteria {
		check := tally(c.ID, d, n, func(v *Vote) (Verdict, tooleval.Text) {
			return v.Criteria[i].Verdict, v.Criteria[i].Evidence
		})
		check.Info = r.Decides == ByOverall
		out.Checks = append(out.Checks, check)
	}
	if r.Decides == ByCriteria {
		check := tally(string(ByOverall), d, n, func(v *Vote) (Verdict, tooleval.Text) { return *v.Overall, v.Reason })
		check.Info = true
		out.Checks = append(out.Checks, check)
	}
	return out
}

// because is the reason of the first vote that said so.
func because(d *Detail, want Verdict) tooleval.Text {
	for _, v := range d.Votes {
		if v.Verdict != nil && *v.Verdict == want {
			return v.Reason
		}
	}
	return ""
}

// tally is the check of one named part, by the same majority as the whole. Its note is the evidence of the first vote that
// agrees, and the split when there were several votes.
func tally(name string, d *Detail, n int, part func(*Vote) (Verdict, tooleval.Text)) tooleval.Check {
	votes := map[Verdict]int{}
	first := map[Verdict]tooleval.Text{}
	for i := range d.Votes {
		v := &d.Votes[i]
		if v.Verdict == nil {
			continue
		}
		verdict, note := part(v)
		if votes[verdict]++; votes[verdict] == 1 {
			first[verdict] = note
		}
	}
	check := tooleval.Check{Name: name, Verdict: tooleval.Unscored}
	switch need := n/2 + 1; {
	case votes[Pass] >= need:
		check.Verdict, check.Note = tooleval.Passed, first[Pass]
	case votes[Fail] >= need:
		check.Verdict, check.Note = tooleval.Failed, first[Fail]
	case votes[CannotTell] >= need:
		check.Note = "the judge can't tell"
	}
	if n > 1 {
		split := fmt.Sprintf("%d pass, %d fail of %d votes", votes[Pass], votes[Fail], n)
		if check.Note != "" {
			split = string(check.Note) + " (" + split + ")"
		}
		check.Note = tooleval.Text(split)
	}
	return check
}
