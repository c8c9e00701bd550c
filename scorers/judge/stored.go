package judge

import (
	"encoding/json"

	"github.com/tooleval/tooleval"
)

// ReadDetail reads the exchange that a judge left in Outcome.Detail; ok is false when something else stands there.
func ReadDetail(raw tooleval.Raw) (d *Detail, ok bool) {
	d = &Detail{}
	if len(raw) == 0 || json.Unmarshal(raw, d) != nil || d.Model == "" || d.Rubric.Name == "" || len(d.Votes) == 0 {
		return nil, false
	}
	return d, true
}

// Decided is the verdict of the votes, by the rule that scoring goes by: more than half of all votes that were planned.
// ok is false when no verdict has as many. A verdict that is decided may be [CannotTell].
func (d *Detail) Decided() (v Verdict, ok bool) {
	counts := map[Verdict]int{}
	for i := range d.Votes {
		if d.Votes[i].Verdict != nil {
			counts[*d.Votes[i].Verdict]++
		}
	}
	for _, v := range []Verdict{Pass, Fail, CannotTell} {
		if counts[v] > d.Rubric.votes()/2 {
			return v, true
		}
	}
	return "", false
}
