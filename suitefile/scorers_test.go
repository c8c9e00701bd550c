package suitefile

import (
	"context"
	"errors"
	"testing"

	"github.com/tooleval/tooleval"
)

// TestS09BothMustHold: a right sentence does not make up for a wrong state, nor the other way round.
func TestS09BothMustHold(t *testing.T) {
	want := tooleval.Match(map[string]any{"a": 1, "b": 2})
	for _, c := range []struct {
		state  string
		second tooleval.Score
		want   tooleval.Score
	}{
		{`{"a":1,"b":2}`, tooleval.Scored(1), tooleval.Scored(1)},
		{`{"a":1,"b":2}`, tooleval.Scored(0), tooleval.Scored(0)},
		{`{"a":1,"b":3}`, tooleval.Scored(1), tooleval.Scored(0.5)},
		{`{"a":1,"b":3}`, tooleval.Scored(0.25), tooleval.Scored(0.25)},
		{`{"a":1,"b":2}`, tooleval.Unscoredf("no judge"), tooleval.Unscoredf("no judge")},
		{`{"a":0,"b":0}`, tooleval.Unscoredf("no judge"), tooleval.Scored(0)},
	} {
		second := tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{Score: c.second, Checks: []tooleval.Check{{Name: "second"}}}, nil
		})
		run := &tooleval.Run{State: tooleval.State(c.state), StateFrom: "world", Task: tooleval.Task{ExpectedState: want}}
		out, err := (&both{second}).Score(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if out.Score != c.want {
			t.Errorf("%s and %v: got %v, want %v", c.state, c.second, out.Score, c.want)
		}
		if len(out.Checks) != 2 {
			t.Errorf("got the checks %v, want those of both", out.Checks)
		}
	}
	broken := errors.New("broken")
	_, err := (&both{tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
		return tooleval.Outcome{}, broken
	})}).Score(t.Context(), &tooleval.Run{State: tooleval.State(`{}`), Task: tooleval.Task{ExpectedState: want}})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
