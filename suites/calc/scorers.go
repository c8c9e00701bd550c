package calc

import (
	"context"
	"encoding/json"

	"github.com/tooleval/tooleval"
)

// kilometers are 5 miles, and tolerance is how far off an answer may be: a mind may round.
const (
	kilometers = 8.04672
	tolerance  = 1e-3
)

// want is a pattern like any other; a scorer is only needed where one pattern can't say it.
var want = tooleval.Match(tooleval.Subset(map[string]any{"result": tooleval.Near(kilometers, tolerance)}))

// scoreConvert accepts any object whose result is near enough, whatever else the agent says beside it.
func scoreConvert(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	check := tooleval.Check{Name: "the result is 8.04672 km, give or take 0.001", Verdict: tooleval.Failed}
	compared := want.CompareMissing()
	if run.State != nil {
		state, err := tooleval.DecodeValue(json.RawMessage(run.State))
		if err != nil {
			return tooleval.Outcome{}, err
		}
		compared = want.Compare(state)
	}
	score := tooleval.Scored(0)
	if compared.OK() {
		score, check.Verdict = tooleval.Scored(1), tooleval.Passed
	}
	return tooleval.Outcome{Score: score, Checks: []tooleval.Check{check}, Diff: compared.Diff}, nil
}
