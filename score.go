package tooleval

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// A Verdict is whether a run passed.
type Verdict string

// The verdicts.
const (
	Passed   Verdict = "passed"
	Failed   Verdict = "failed"
	Unscored Verdict = "unscored" // it can't be told, and TaskScore.Why says why; never counted as passed or failed
)

// A Score is a number in 0..1, or not a number with a reason. The zero Score is unscored.
type Score struct {
	value  float64
	scored bool
	// Why says why there is no number. A Score with a number may carry a remark here.
	Why Text
}

// Scored is the score v. A value outside 0..1, NaN included, gives an unscored Score that says so.
func Scored(v float64) Score {
	if math.IsNaN(v) || v < 0 || v > 1 {
		return Unscoredf("the scorer returned %v, which is not in 0..1", v)
	}
	return Score{value: v + 0, scored: true} // + 0 because -0 would be printed as such
}

// Unscoredf is no score, with the reason.
func Unscoredf(format string, args ...any) Score {
	return Score{Why: Text(fmt.Sprintf(format, args...))}
}

// Value is the number; ok is false when there is none.
func (s Score) Value() (v float64, ok bool) { return s.value, s.scored }

// IsScored reports whether there is a number.
func (s Score) IsScored() bool { return s.scored }

type scoreJSON struct {
	Value *float64 `json:"value"`
	Why   Text     `json:"why,omitempty"`
}

// MarshalJSON writes {"value": number or null, "why": …}.
func (s Score) MarshalJSON() ([]byte, error) {
	j := scoreJSON{Why: s.Why}
	if s.scored {
		j.Value = &s.value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Score) UnmarshalJSON(b []byte) error {
	var j scoreJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Score{Why: j.Why}
	if j.Value != nil {
		why := s.Why
		if *s = Scored(*j.Value); s.scored {
			s.Why = why
		}
	}
	return nil
}

// An Outcome says how far the goal was reached.
type Outcome struct {
	Score Score `json:"score"`
	// Checks are the named parts of the judgement, each with its own status.
	Checks []Check `json:"checks,omitempty"`
	// Diff is every place where the final state is not as expected.
	Diff []Difference `json:"diff,omitempty"`
	// Detail is what the scorer wants kept, such as the whole exchange with a judge.
	Detail Raw `json:"detail,omitempty"`
}

// A Check is one named part of a judgement.
type Check struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Info marks a check that is shown but counts for nothing.
	Info bool `json:"info,omitempty"`
	Note Text `json:"note,omitempty"`
}

// A Scorer judges the outcome of one run from its record: the task, the trajectory, the agent's result and the final
// state are filled in. It must not change the record. It may abstain with an unscored Score; an error means that it broke
// (see [Blame]; without an owner it is the task's). Score may be called concurrently.
type Scorer interface {
	Score(ctx context.Context, run *Run) (Outcome, error)
}

// ScorerFunc makes a Scorer of a function.
type ScorerFunc func(ctx context.Context, run *Run) (Outcome, error)

// Score calls f.
func (f ScorerFunc) Score(ctx context.Context, run *Run) (Outcome, error) { return f(ctx, run) }

// A Component is one part of the process score.
type Component struct {
	// Name is required, forbidden, efficiency, order, trajectory, trajectory_precision or trajectory_recall.
	Name string `json:"name"`
	// Score is unscored where the component does not apply; it then stays out of the mean.
	Score Score `json:"score"`
	// Info marks a component that is shown but stays out of the mean.
	Info bool `json:"info,omitempty"`
	// Notes say what was missed, each in a sentence.
	Notes []Pointer `json:"notes,omitempty"`
}

// A Process says whether the path was reasonable: the plain mean of the components that apply.
type Process struct {
	Score      Score       `json:"score"`
	Components []Component `json:"components,omitempty"`
}

// Component is the component of that name; nil when there is none.
func (p *Process) Component(name string) *Component {
	for i := range p.Components {
		if p.Components[i].Name == name {
			return &p.Components[i]
		}
	}
	return nil
}

// A TaskScore is what one run was worth: the questions that a single run can answer, side by side.
type TaskScore struct {
	Verdict Verdict `json:"verdict"`
	// Why is the reason of a verdict that is not passed, in one sentence.
	Why     Text    `json:"why,omitempty"`
	Outcome Outcome `json:"outcome"`
	Process Process `json:"process"`
}
