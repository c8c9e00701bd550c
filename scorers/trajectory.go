package scorers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/matching"
)

// The components that a task's [tooleval.TrajectoryMatch] adds to the process score. Precision and recall are information:
// they stay out of the mean.
const (
	MatchedTrajectory   = "trajectory"
	TrajectoryPrecision = "trajectory_precision"
	TrajectoryRecall    = "trajectory_recall"
)

// Trajectory judges the outcome by the calls alone: 1 when they match, else 0, with precision and recall as checks for
// information and everything that was found in Outcome.Detail (a [TrajectoryReport]). The Counts of m mean nothing here. For
// the same judgement as a part of the process score, set Task.Trajectory instead.
func Trajectory(m tooleval.TrajectoryMatch) tooleval.Scorer { return &trajectoryScorer{m} }

type trajectoryScorer struct{ match tooleval.TrajectoryMatch }

// A TrajectoryReport says how a run's calls relate to the expected ones.
type TrajectoryReport struct {
	Mode tooleval.MatchMode `json:"mode"`
	// Closest is the index in Alternatives of the one that matches or comes closest.
	Closest      int                     `json:"closest"`
	Alternatives []TrajectoryAlternative `json:"alternatives"`
}

// A TrajectoryAlternative is one expected trajectory.
type TrajectoryAlternative struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Met is the number of expected calls with a call of their own: precision is Met/Made, recall Met/Expected.
	Met      int              `json:"met"`
	Expected int              `json:"expected"`
	Made     int              `json:"made"`
	Missing  []UnmatchedCall  `json:"missing,omitempty"`
	Extra    []UnexpectedCall `json:"extra,omitempty"`
}

// An UnmatchedCall is an expected call that no call meets. Expected counts from 1.
type UnmatchedCall struct {
	Expected int    `json:"expected"`
	Tool     string `json:"tool"`
	// Reason is never_called, args_differ, only_errors, used_up or out_of_order.
	Reason string `json:"reason"`
	// Call is the number, from 1, of the call that shows it; 0 when there is none.
	Call int                   `json:"call,omitempty"`
	Diff []tooleval.Difference `json:"diff,omitempty"`
}

// An UnexpectedCall is a call that meets nothing. Call counts from 1.
type UnexpectedCall struct {
	Call int    `json:"call"`
	Tool string `json:"tool"`
}

// A trajectoryJudgement is what a comparison amounts to.
type trajectoryJudgement struct {
	score, precision, recall tooleval.Score
	list                     []matching.Alternative
	closest                  *matching.Alternative // nil when nothing was compared
	index                    int
}

func judgeTrajectory(run *tooleval.Run, m *tooleval.TrajectoryMatch) trajectoryJudgement {
	var j trajectoryJudgement
	made := len(run.Trajectory.Calls)
	if j.list, j.index = matching.Trajectory(run, m); j.index < 0 {
		why := tooleval.Unscoredf("not evaluable: %d calls are too many to compare", made)
		j.score, j.precision, j.recall = why, why, why
		return j
	}
	a := &j.list[j.index]
	j.closest = a
	certain := a.Certain
	if !a.OK { // what is missing may meet any of the alternatives
		for i := range j.list {
			certain = certain && j.list[i].Certain
		}
	}
	switch {
	case !certain:
		j.score = notEvaluable(run, fmt.Sprintf("%d of %d expected calls were seen, but calls may be missing", a.Met, len(a.Calls)))
	case a.OK:
		j.score = tooleval.Scored(1)
	default:
		j.score = tooleval.Scored(0)
	}
	switch {
	case run.Trajectory.Incomplete != "":
		j.precision = notEvaluable(run, "calls may be missing")
		j.recall = j.precision
		return j
	case made == 0:
		j.precision = tooleval.Unscoredf("no call was made")
	default:
		j.precision = Fraction(a.Met, made)
	}
	j.recall = Fraction(a.Met, len(a.Calls))
	return j
}

// summary is the judgement in a line.
func (j *trajectoryJudgement) summary(run *tooleval.Run, m *tooleval.TrajectoryMatch) string {
	a := j.closest
	verb := "does not match"
	if a.OK {
		verb = "matches"
	}
	of := ""
	if n := len(j.list); n > 1 {
		of = fmt.Sprintf(", the closest of %d", n)
		if a.OK {
			of = fmt.Sprintf(", one of %d", n)
		}
	}
	return fmt.Sprintf("%s %s%s (%s): %d of %d expected calls met by %d of %d calls made", verb, a.Name, of, m.Mode,
		a.Met, len(a.Calls), a.Met, len(run.Trajectory.Calls))
}

// mostNotes bounds the calls that are listed on either side.
const mostNotes = 50

// notes are the summary and then the calls that stayed unmatched, on both sides.
func (j *trajectoryJudgement) notes(run *tooleval.Run, m *tooleval.TrajectoryMatch) []tooleval.Pointer {
	if j.closest == nil {
		return nil
	}
	a := j.closest
	notes := []tooleval.Pointer{{Note: tooleval.Text(j.summary(run, m))}}
	if !m.Mode.AllowsMissing() || !a.OK {
		for i := range a.Misses[:min(len(a.Misses), mostNotes)] {
			notes = append(notes, unmatchedNote(run, a, &a.Misses[i]))
		}
	}
	if !m.Mode.AllowsExtra() || !a.OK {
		for _, c := range a.Extra[:min(len(a.Extra), mostNotes)] {
			call := &run.Trajectory.Calls[c]
			began := call.Began
			note := fmt.Sprintf("call %d (%s) meets no expected call", c+1, call.Tool)
			if call.Status != tooleval.CallOK {
				note += "; it ended as " + string(call.Status)
			}
			notes = append(notes, tooleval.Pointer{Call: &began, Note: tooleval.Text(note)})
		}
	}
	if left := max(0, len(a.Misses)-mostNotes) + max(0, len(a.Extra)-mostNotes); left > 0 {
		notes = append(notes, tooleval.Pointer{Note: tooleval.Text(fmt.Sprintf("and %d more unmatched calls", left))})
	}
	return notes
}

// unmatchedNote says why an expected call was not met: step, tool, path, what was wanted and what was there.
func unmatchedNote(run *tooleval.Run, a *matching.Alternative, m *matching.Miss) tooleval.Pointer {
	name := fmt.Sprintf("expected call %d (%s)", m.Required+1, a.Calls[m.Required].Tool)
	var p tooleval.Pointer
	by := ""
	if m.Call >= 0 {
		began := run.Trajectory.Calls[m.Call].Began
		p.Call, by = &began, fmt.Sprintf("call %d", m.Call+1)
	}
	switch m.Reason {
	case matching.NeverCalled:
		name += ": the tool was never called"
	case matching.OnlyErrors:
		name += ": " + by + " fits but returned an error"
	case matching.UsedUp:
		name += ": " + by + " fits but meets another expected call"
	case matching.OutOfOrder:
		name += ": " + by + " fits but stands in another place of the order"
	default:
		name += ": the arguments of " + by + " differ"
		if len(m.Diff) > 0 {
			p.Path = m.Diff[0].Path
			name += " at " + m.Diff[0].String()
		}
	}
	p.Note = tooleval.Text(name)
	return p
}

// trajectoryComponents are those of a task that declares a trajectory.
func trajectoryComponents(run *tooleval.Run) []tooleval.Component {
	m := run.Task.Trajectory
	if m == nil {
		return nil
	}
	j := judgeTrajectory(run, m)
	return []tooleval.Component{
		{Name: MatchedTrajectory, Score: j.score, Info: m.Counts == tooleval.CountsInfo, Notes: j.notes(run, m)},
		{Name: TrajectoryPrecision, Score: j.precision, Info: true},
		{Name: TrajectoryRecall, Score: j.recall, Info: true},
	}
}

// Score compares the run's calls.
func (s *trajectoryScorer) Score(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	if len(s.match.Calls) == 0 && len(s.match.AnyOf) == 0 {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerTask, "trajectory: no call is expected, so nothing is checked")
	}
	j := judgeTrajectory(run, &s.match)
	out := tooleval.Outcome{Score: j.score}
	verdict := tooleval.Unscored
	if v, ok := j.score.Value(); ok && v == 1 {
		verdict = tooleval.Passed
	} else if ok {
		verdict = tooleval.Failed
	}
	var lines []string
	for _, n := range j.notes(run, &s.match) {
		lines = append(lines, string(n.Note))
	}
	const shown = 5
	if len(lines) > shown {
		lines = append(lines[:shown], fmt.Sprintf("and %d more", len(lines)-shown))
	}
	out.Checks = []tooleval.Check{{Name: MatchedTrajectory, Verdict: verdict, Note: tooleval.Text(strings.Join(lines, "; "))}}
	for _, p := range []struct {
		name  string
		score tooleval.Score
	}{{"precision", j.precision}, {"recall", j.recall}} {
		c := tooleval.Check{Name: p.name, Verdict: tooleval.Unscored, Info: true, Note: p.score.Why}
		if v, ok := p.score.Value(); ok {
			if c.Verdict = tooleval.Failed; v == 1 {
				c.Verdict = tooleval.Passed
			}
			c.Note = tooleval.Text(fmt.Sprintf("%.4g", v))
		}
		out.Checks = append(out.Checks, c)
	}
	if verdict == tooleval.Failed {
		for _, m := range j.closest.Misses {
			for _, d := range m.Diff {
				if len(out.Diff) < mostDifferences {
					d.Path = fmt.Sprintf("expected[%d].args%s", m.Required+1, strings.TrimPrefix(d.Path, "$"))
					out.Diff = append(out.Diff, d)
				}
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(j.report(run, &s.match)); err != nil {
		return out, tooleval.Blamef(tooleval.OwnerHarness, "trajectory: encoding the report: %w", err)
	}
	out.Detail = bytes.TrimSpace(b.Bytes())
	return out, nil
}

func (j *trajectoryJudgement) report(run *tooleval.Run, m *tooleval.TrajectoryMatch) TrajectoryReport {
	r := TrajectoryReport{Mode: m.Mode, Closest: j.index}
	for _, a := range j.list {
		t := TrajectoryAlternative{Name: a.Name, OK: a.OK, Met: a.Met, Expected: len(a.Calls), Made: len(run.Trajectory.Calls)}
		for _, miss := range a.Misses {
			t.Missing = append(t.Missing, UnmatchedCall{miss.Required + 1, a.Calls[miss.Required].Tool, string(miss.Reason), miss.Call + 1, miss.Diff})
		}
		for _, c := range a.Extra {
			t.Extra = append(t.Extra, UnexpectedCall{c + 1, run.Trajectory.Calls[c].Tool})
		}
		r.Alternatives = append(r.Alternatives, t)
	}
	return r
}

// Check reports what is wrong with the expected trajectory, for each task that it judges.
func (s *trajectoryScorer) Check(suite *tooleval.Suite) error {
	var errs []error
	seen := map[string]bool{}
	for i := range suite.Tasks {
		t := &suite.Tasks[i]
		if suite.Scorers[t.ID] != tooleval.Scorer(s) {
			continue
		}
		if err := s.match.Check(t.Toolset); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			errs = append(errs, fmt.Errorf("trajectory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Fingerprint is the expected trajectory.
func (s *trajectoryScorer) Fingerprint() any { return map[string]any{"trajectory": s.match} }
