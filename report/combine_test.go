package report_test

import (
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/scorers"
)

// The package may not import scorers, so it has its own copy of the blend; this holds the two together.
func TestCombinedIsWhatScorersSays(t *testing.T) {
	scores := []tooleval.Score{{}, tooleval.Scored(0), tooleval.Scored(0.3), tooleval.Scored(1.0 / 3), tooleval.Scored(1 - 1e-16), tooleval.Scored(1)}
	weights := [][2]float64{{0.7, 0.3}, {7, 3}, {1, 0}, {0, 1}, {1e308, 1e308}, {1e-300, 3}, {-1, 2}, {2, -1}}
	for _, w := range weights {
		for _, o := range scores {
			for _, p := range scores {
				for _, v := range []tooleval.Verdict{tooleval.Passed, tooleval.Failed, tooleval.Unscored} {
					run := &tooleval.Run{TaskID: "a", Mind: "m"}
					run.Score.Verdict, run.Score.Outcome.Score, run.Score.Process.Score = v, o, p
					b := report.NewBuilder(tooleval.Eval{}, report.Options{Combine: true, OutcomeWeight: w[0], ProcessWeight: w[1]})
					b.Add(run)
					want, wantOK := scorers.Combine(run.Score, w[0], w[1]).Value()
					got, ok := b.Report().Sections[0].Runs[0].Combined.Value()
					if got != want || ok != wantOK {
						t.Errorf("outcome %v, process %v, weights %v, %s: got %v, %v; want %v, %v", o, p, w, v, got, ok, want, wantOK)
					}
				}
			}
		}
	}
}
