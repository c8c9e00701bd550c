package scorers

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tooleval/tooleval"
)

func scoreOf(outcome, process tooleval.Score) tooleval.TaskScore {
	return tooleval.TaskScore{
		Verdict: tooleval.Failed, Outcome: tooleval.Outcome{Score: outcome}, Process: tooleval.Process{Score: process}}
}

func TestCombine(t *testing.T) {
	none := tooleval.Unscoredf("nobody looked")
	half, one, zero := tooleval.Scored(0.5), tooleval.Scored(1), tooleval.Scored(0)
	for _, c := range []struct {
		name             string
		outcome, process tooleval.Score
		wo, wp, want     float64
	}{
		{"the usual weights", one, half, OutcomeWeight, ProcessWeight, 0.85},
		{"weights are normalised", one, half, 7, 3, 0.85},
		{"both perfect", one, one, 0.1, 0.2, 1},
		{"nothing", zero, zero, 0.7, 0.3, 0},
		{"no outcome", none, one, 0.7, 0.3, unscored},
		{"no process", one, none, 0.7, 0.3, unscored},
		{"no process, but no weight either", half, none, 1, 0, 0.5},
		{"huge weights", one, zero, math.MaxFloat64, math.MaxFloat64, 0.5},
		{"tiny weights", one, zero, 5e-324, 5e-324, 0.5},
		{"negative", one, one, -1, 2, unscored},
		{"NaN", one, one, math.NaN(), 1, unscored},
		{"infinite", one, one, 1, math.Inf(1), unscored},
		{"both 0", one, one, 0, 0, unscored},
	} {
		wantScore(t, c.name, Combine(scoreOf(c.outcome, c.process), c.wo, c.wp), c.want)
		refused := CheckWeights(c.wo, c.wp) != nil
		if bad := c.wo < 0 || c.wo+c.wp == 0 || math.IsNaN(c.wo) || math.IsInf(c.wp, 0); refused != bad {
			t.Errorf("%s: CheckWeights refused: %v", c.name, refused)
		}
	}
	if s := Combine(scoreOf(one, half), 0.7, 0.3); !strings.Contains(string(s.Why), "lossy") {
		t.Errorf("a blend does not say so: %q", s.Why)
	}
	if v, _ := Combine(scoreOf(one, zero), 1e20, 1).Value(); v >= 1 {
		t.Errorf("a blend with a part of 0 is %v", v)
	}
	infra := scoreOf(one, one)
	infra.Verdict, infra.Why = tooleval.Unscored, "rate limit"
	if s := Combine(infra, 0.7, 0.3); s.IsScored() || !strings.Contains(string(s.Why), "rate limit") {
		t.Errorf("a run without a verdict got a number: %v", s)
	}
}

func TestCombineStaysBetweenItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, p := rapid.Float64Range(0, 1).Draw(t, "o"), rapid.Float64Range(0, 1).Draw(t, "p")
		wo, wp := rapid.Float64Range(0, math.MaxFloat64).Draw(t, "wo"), rapid.Float64Range(1e-300, 1e300).Draw(t, "wp")
		v, ok := Combine(scoreOf(tooleval.Scored(o), tooleval.Scored(p)), wo, wp).Value()
		if !ok || v < min(o, p)-1e-15 || v > max(o, p)+1e-15 || v == 1 && p < 1 {
			t.Fatalf("combine %v %v by %v %v: %v", o, p, wo, wp, v)
		}
	})
}
