package scorers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/matching"
)

// Milestones judge by what has to be reached on the way and what must never happen, where many paths are right:
//
//	outcome = 0 when a minefield was stepped on, else the mean similarity of the milestones
//
//	&scorers.Milestones{
//		Reach: []scorers.Milestone{
//			{Name: "found", Tool: "search"},
//			{Name: "paid", Tool: "pay", Args: tooleval.Match(map[string]any{"amount": 12}), After: []string{"found"}},
//			{Name: "booked", State: tooleval.Match(tooleval.Subset(map[string]any{"booked": true}))},
//		},
//		Avoid: []scorers.Minefield{{Name: "no unconfirmed write", Tool: "pay", Until: "found"}},
//	}
//
// Milestones are assigned to calls, each to one of its own, so that the sum of their similarities is the largest that the
// order allows: where one comes after another, the other's call must have ended before its own begins, and a milestone that
// can't have a call in its place has none and counts 0. The search is exact but bounded; where the bound is reached, the
// best assignment found so far is taken and the outcome says so.
//
// A record holds the state at the end of a run and none in between. So a milestone of the state is compared with the final
// state, which comes after all calls and may serve several milestones; a state that came and went is not seen.
//
// Source of the idea: J. Lu et al., "ToolSandbox", arXiv:2408.04682 (2024).
type Milestones struct {
	Reach []Milestone `json:"reach"`
	Avoid []Minefield `json:"avoid,omitempty"`
}

// A Milestone is something to be reached: a call of a tool, or a state.
type Milestone struct {
	Name string           `json:"name"`
	Tool string           `json:"tool,omitempty"`
	Args tooleval.Pattern `json:"args,omitzero"`
	// State is compared with the final state.
	State tooleval.Pattern `json:"state,omitzero"`
	// After names milestones that have to be reached before this one.
	After []string `json:"after,omitempty"`
}

// A Minefield is something that must never happen: a call, whatever it returned, or a final state.
type Minefield struct {
	Name  string           `json:"name"`
	Tool  string           `json:"tool,omitempty"`
	Args  tooleval.Pattern `json:"args,omitzero"`
	State tooleval.Pattern `json:"state,omitzero"`
	// Until names the milestone of a call: once a call that meets it in full has ended, the minefield is none.
	Until string `json:"until,omitempty"`
}

// A MilestonesReport is what Outcome.Detail holds.
type MilestonesReport struct {
	Milestones []ReachedMilestone `json:"milestones"`
	// Hits are the minefields that were stepped on.
	Hits []MinefieldHit `json:"hits,omitempty"`
	// Exact is false when the search for the best assignment was cut short.
	Exact bool `json:"exact"`
}

// A ReachedMilestone says how far a milestone was reached.
type ReachedMilestone struct {
	Name       string  `json:"name"`
	Similarity float64 `json:"similarity"`
	// Call is the number, from 1, of the call that it is assigned to; 0 for a state, or for none.
	Call int `json:"call,omitempty"`
}

// A MinefieldHit is a minefield that was stepped on, by a call (numbered from 1) or by the final state (0).
type MinefieldHit struct {
	Name string `json:"name"`
	Call int    `json:"call,omitempty"`
}

// Score assigns the milestones and looks for minefields.
func (m *Milestones) Score(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	if err := m.sound(); err != nil {
		return tooleval.Outcome{}, tooleval.Blame(tooleval.OwnerTask, err)
	}
	compareState, err := finalState(run)
	if err != nil {
		return tooleval.Outcome{}, err
	}
	calls := make([]tooleval.CallPattern, len(m.Reach))
	for i := range m.Reach {
		calls[i] = tooleval.CallPattern{Tool: m.Reach[i].Tool, Args: m.Reach[i].Args}
	}
	similar := matching.Similarities(run, calls)
	a := assignment{run: run, after: m.closure(), weight: make([][]float64, len(similar))}
	for i := range similar {
		a.weight[i] = make([]float64, len(similar[i]))
		for j := range similar[i] {
			if m.Reach[i].Tool != "" {
				a.weight[i][j] = similar[i][j].Value
			}
		}
	}
	pairs, exact := a.best()

	var out tooleval.Outcome
	report := MilestonesReport{Exact: exact}
	sum, full := 0.0, 0
	for i := range m.Reach {
		r := ReachedMilestone{Name: m.Reach[i].Name}
		note := "no fitting call in its place"
		var diff []tooleval.Difference
		switch j := pairs[i]; {
		case m.Reach[i].Tool == "":
			c := compareState(m.Reach[i].State)
			r.Similarity, diff = share(c), c.Diff
			note = fmt.Sprintf("%d of %d expectations of the final state met", c.Met, c.Total)
		case j >= 0:
			r.Similarity, r.Call, diff = similar[i][j].Value, j+1, similar[i][j].Diff
			note = fmt.Sprintf("call %d (%s)", j+1, m.Reach[i].Tool)
		}
		for k := range diff {
			if k == 0 {
				note += fmt.Sprintf(", similarity %.4g: %s", r.Similarity, diff[k])
			}
			if len(out.Diff) < mostDifferences {
				out.Diff = append(out.Diff, diff[k])
			}
		}
		verdict := tooleval.Failed
		if r.Similarity == 1 {
			verdict, full = tooleval.Passed, full+1
		}
		sum += r.Similarity
		report.Milestones = append(report.Milestones, r)
		out.Checks = append(out.Checks, tooleval.Check{Name: m.Reach[i].Name, Verdict: verdict, Note: tooleval.Text(note)})
	}
	mined := false // by calls, of which some may not have been seen
	for i := range m.Avoid {
		f := &m.Avoid[i]
		check := tooleval.Check{Name: f.Name, Verdict: tooleval.Passed}
		if hit, note := m.stepped(run, f, similar, compareState); note != "" {
			check.Verdict, check.Note = tooleval.Failed, tooleval.Text(note)
			report.Hits = append(report.Hits, MinefieldHit{f.Name, hit})
		} else if f.Tool != "" && run.Trajectory.Incomplete != "" {
			mined, check.Verdict, check.Note = true, tooleval.Unscored, "calls may be missing"
		}
		out.Checks = append(out.Checks, check)
	}
	if !exact {
		out.Checks = append(out.Checks, tooleval.Check{Name: "assignment", Verdict: tooleval.Unscored, Info: true,
			Note: "there are too many ways to assign the milestones to calls; a better one than this may exist"})
	}
	n := len(m.Reach)
	switch {
	case len(report.Hits) > 0:
		out.Score = tooleval.Scored(0)
		out.Score.Why = tooleval.Text(fmt.Sprintf("minefield %q was stepped on", report.Hits[0].Name))
	case mined || run.Trajectory.Incomplete != "" && full < n:
		out.Score = notEvaluable(run, fmt.Sprintf("%d of %d milestones were seen to be reached, but calls may be missing", full, n))
	case full == n:
		out.Score = tooleval.Scored(1)
	default:
		out.Score = tooleval.Scored(min(sum/float64(n), math.Nextafter(1, 0)))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(report); err != nil {
		return out, tooleval.Blamef(tooleval.OwnerHarness, "milestones: encoding the report: %w", err)
	}
	out.Detail = bytes.TrimSpace(b.Bytes())
	return out, nil
}

// stepped says how a minefield was stepped on: by which call, from 1, and in words; no words when it was not.
func (m *Milestones) stepped(run *tooleval.Run, f *Minefield, similar [][]matching.Similarity,
	compareState func(tooleval.Pattern) tooleval.Comparison) (int, string) {
	if f.Tool == "" {
		if c := compareState(f.State); c.OK() {
			return 0, "the final state is one that must not be"
		}
		return 0, ""
	}
	for _, h := range matching.Hits(run, []tooleval.CallPattern{{Tool: f.Tool, Args: f.Args}}) {
		call := &run.Trajectory.Calls[h.Call]
		if f.Until == "" {
			return h.Call + 1, fmt.Sprintf("call %d of %s must never be made", h.Call+1, f.Tool)
		}
		i := slices.IndexFunc(m.Reach, func(r Milestone) bool { return r.Name == f.Until })
		reached := false
		for j := range similar[i] {
			reached = reached || similar[i][j].Value == 1 && (j == h.Call || run.Trajectory.Calls[j].Before(call))
		}
		if !reached {
			return h.Call + 1, fmt.Sprintf("call %d of %s was made before %q was reached", h.Call+1, f.Tool, f.Until)
		}
	}
	return 0, ""
}

// finalState compares patterns with the final state. A state of the world that is not JSON is the world's fault.
func finalState(run *tooleval.Run) (func(tooleval.Pattern) tooleval.Comparison, error) {
	missing := func(p tooleval.Pattern) tooleval.Comparison { return p.CompareMissing() }
	if noState(run) {
		return missing, nil
	}
	v, err := tooleval.DecodeValue(run.State)
	switch {
	case err == nil:
		return func(p tooleval.Pattern) tooleval.Comparison { return p.Compare(v) }, nil
	case run.StateFrom == "world":
		return nil, tooleval.Blamef(tooleval.OwnerWorld, "the final state of the world is not JSON: %w", err)
	}
	return missing, nil
}

func share(c tooleval.Comparison) float64 {
	if c.OK() {
		return 1
	}
	return min(float64(c.Met)/float64(max(c.Total, 1)), math.Nextafter(1, 0))
}

// Fingerprint is everything that is to be reached and avoided.
func (m *Milestones) Fingerprint() any { return map[string]any{"milestones": m} }
