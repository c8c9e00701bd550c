package taxonomy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/matching"
)

// facts is what the tests of the chain look at. What costs something is found out once, when first asked for.
type facts struct {
	run      *tooleval.Run
	ended    bool // early
	required *matching.Result
}

// misses are the required calls that no call met.
func (f *facts) misses() []matching.Miss {
	if f.required == nil {
		r := matching.Required(f.run)
		f.required = &r
	}
	return f.required.Misses
}

func (f *facts) complete() bool         { return f.run.Trajectory.Incomplete == "" }
func (f *facts) calls() []tooleval.Call { return f.run.Trajectory.Calls }

// atCallLimit reports whether it was the limit of calls that ended the run, and not one of output: the call after the
// last that is allowed is refused, or the record shows as many calls as allowed, or more than are needed.
func (f *facts) atCallLimit() bool {
	calls, t := f.calls(), &f.run.Task
	if f.run.Ending != tooleval.LimitReached || len(calls) == 0 {
		return false
	}
	return calls[len(calls)-1].Status == tooleval.CallRefused ||
		t.Limits.Calls > 0 && len(calls) >= t.Limits.Calls ||
		t.MinimalCalls != nil && len(calls) > *t.MinimalCalls
}

// runError is any early end but that by the limit of calls. Where the early end is not the agent's fault and the run
// failed all the same, it failed for the forbidden call that it made before.
func runError(f *facts) (finding, bool) {
	if !f.ended || f.atCallLimit() {
		return finding{}, false
	}
	owner := blamed(f.run)
	if owner != tooleval.OwnerAgent {
		if _, ok := calledForbidden(f); ok {
			return finding{}, false
		}
	}
	return finding{why: errorWhy(f.run), owner: owner}, true
}

func errorWhy(run *tooleval.Run) string {
	what := map[tooleval.Ending]string{
		tooleval.Completed:    "the run completed, but with an error",
		tooleval.Errored:      "the run ended with an error",
		tooleval.NotStarted:   "the run never started",
		tooleval.TimedOut:     "the run's time was over",
		tooleval.LimitReached: "the run reached a limit",
		tooleval.Cancelled:    "the run was cancelled",
	}[run.Ending]
	if what == "" {
		what = fmt.Sprintf("the run has no known ending (%q)", run.Ending)
	}
	if run.Error != "" {
		what += ": " + clip(string(run.Error), mostNote)
	}
	return what
}

func noTools(f *facts) (finding, bool) {
	t := &f.run.Task
	if len(f.calls()) > 0 || !f.complete() {
		return finding{}, false
	}
	switch {
	case len(t.Required) > 0:
		return finding{why: fmt.Sprintf("no call was made, %d required", len(t.Required))}, true
	case t.MinimalCalls != nil && *t.MinimalCalls > 0:
		return finding{why: fmt.Sprintf("no call was made, at least %d needed", *t.MinimalCalls)}, true
	}
	return finding{}, false
}

func calledForbidden(f *facts) (finding, bool) {
	if len(f.run.Task.Forbidden) == 0 {
		return finding{}, false
	}
	hits := matching.Forbidden(f.run)
	if len(hits) == 0 {
		return finding{}, false
	}
	var found finding
	for _, h := range hits {
		c := &f.calls()[h.Call]
		tried := ""
		if c.Status == tooleval.CallRefused {
			tried = "; it was tried and refused"
		}
		found.evidence = append(found.evidence,
			pointAt(f.run, h.Call, "", "%s(%s) is forbidden (forbidden call %d)%s",
				clip(c.Tool, 100), clip(string(c.Args), 100), h.Pattern+1, tried))
	}
	found.why = fmt.Sprintf("a forbidden call was made: %s", clip(f.calls()[hits[0].Call].Tool, 100))
	if n := len(hits) - 1; n > 0 {
		found.why += fmt.Sprintf(" (and %d more)", n)
	}
	return found, true
}

func wrongTool(f *facts) (finding, bool) {
	if !f.complete() || len(f.calls()) == 0 {
		return finding{}, false
	}
	var missing []string
	var found finding
	for _, m := range f.misses() {
		tool := f.run.Task.Required[m.Required].Tool
		if m.Reason == matching.NeverCalled && !slices.Contains(missing, tool) {
			missing = append(missing, tool)
			found.evidence = append(found.evidence, note("", "required tool %q was never called", tool))
		}
	}
	if len(missing) == 0 {
		return finding{}, false
	}
	found.why = fmt.Sprintf("required tool %q was never called", missing[0])
	if n := len(missing) - 1; n > 0 {
		found.why += fmt.Sprintf(" (and %d more)", n)
	}
	found.evidence = found.evidence[:min(len(found.evidence), mostOfAKind)]
	for i := range f.calls() {
		c := &f.calls()[i]
		if i == mostOfAKind {
			found.evidence = append(found.evidence, note("", "and %d more calls", len(f.calls())-i))
			break
		}
		refused := ""
		if c.Status == tooleval.CallRefused {
			refused = ", which was refused" + tooleval.DidYouMean(c.Tool, missing)
		}
		found.evidence = append(found.evidence, pointAt(f.run, i, "", "called %s instead%s", clip(c.Tool, 100), refused))
	}
	return found, true
}

func missingOutput(f *facts) (finding, bool) {
	r := f.run
	if f.ended { // who was cut short had no chance to answer
		return finding{}, false
	}
	state := bytes.TrimSpace(r.State)
	none := len(state) == 0 || string(state) == "null"
	silent := strings.TrimSpace(string(r.Result.Response)) == ""
	diff := r.Score.Outcome.Diff
	switch {
	case none && silent:
		why := "the agent gave neither an answer nor a state"
		if len(f.calls()) == 0 && f.complete() {
			why = "the agent said nothing and did nothing"
		}
		return finding{why: why, evidence: []tooleval.Pointer{note("$", "no state, and an empty response")}}, true
	case r.Task.ExpectedState.IsZero():
		return finding{}, false
	case none:
		return finding{why: "the agent answered in words but gave no state", evidence: []tooleval.Pointer{
			note("$", "no state; the response has %d bytes", len(r.Result.Response))}}, true
	case !allMissing(r):
		return finding{}, false
	case r.StateFrom == "world" && f.argumentsExplainIt():
		// The world lacks it because the call that makes it was made wrongly: that is the better cause.
		return finding{}, false
	}
	return finding{why: "nothing of what was expected is in the final state", evidence: differences(diff)}, true
}

// allMissing reports whether the state has nothing at any place where something was expected.
func allMissing(r *tooleval.Run) bool {
	v, ok := r.Score.Outcome.Score.Value()
	if !ok || v > 0 || len(r.Score.Outcome.Diff) == 0 {
		return false
	}
	for i := range r.Score.Outcome.Diff {
		if d := &r.Score.Outcome.Diff[i]; d.Got != nil || d.Want == nil {
			return false
		}
	}
	return true
}

// argumentsExplainIt reports whether wrongArgs would fit.
func (f *facts) argumentsExplainIt() bool {
	_, ok := wrongArgs(f)
	return ok
}

func wrongArgs(f *facts) (finding, bool) {
	var found finding
	for _, m := range f.misses() {
		want := &f.run.Task.Required[m.Required]
		if m.Reason != matching.ArgsDiffer && m.Reason != matching.OnlyErrors {
			continue
		}
		c := &f.calls()[m.Call]
		var why string
		switch {
		case c.ArgsError != "":
			why = fmt.Sprintf("%s was called with malformed arguments: %s", want.Tool, c.ArgsError)
			found.evidence = append(found.evidence,
				pointAt(f.run, m.Call, "$", "malformed arguments: %s; got %s", c.ArgsError, rawArgs(c)))
		case m.Reason == matching.ArgsDiffer:
			why = fmt.Sprintf("%s was called with arguments that don't fit", want.Tool)
			for _, d := range m.Diff[:min(len(m.Diff), mostOfAKind)] {
				found.evidence = append(found.evidence, pointAt(f.run, m.Call, d.Path, "%s", withoutPath(d)))
			}
		default:
			why = fmt.Sprintf("%s was called, but only with errors", want.Tool)
			found.evidence = append(found.evidence, pointAt(f.run, m.Call, "", "%s: %s", c.Status, errorText(c)))
			if c.Status == tooleval.CallProtocolError { // not the tool but what carries it
				found.owner = tooleval.OwnerWorld
			}
		}
		if found.why == "" {
			found.why = why
		}
	}
	return found, found.why != ""
}

func rawArgs(c *tooleval.Call) string {
	if c.ArgsText != "" {
		return clip(string(c.ArgsText), 100)
	}
	return clip(string(c.Args), 100)
}

func errorText(c *tooleval.Call) string {
	if c.Error != "" {
		return string(c.Error)
	}
	return string(c.Result.Text)
}

func excessiveCalls(f *facts) (finding, bool) {
	n := len(f.calls())
	if f.atCallLimit() {
		why := fmt.Sprintf("the limit of calls was reached after %d calls", n)
		last := pointAt(f.run, n-1, "", "the last call, of %s: %s", f.calls()[n-1].Tool, errorText(&f.calls()[n-1]))
		return finding{why: why, evidence: []tooleval.Pointer{last}}, true
	}
	least := f.run.Task.MinimalCalls
	if least == nil || *least < 0 || n <= *least {
		return finding{}, false
	}
	return finding{why: fmt.Sprintf("%d calls were made, %d are needed", n, *least)}, true
}

func goodProcessBadOutcome(f *facts) (finding, bool) {
	t, s := &f.run.Task, &f.run.Score
	v, scored := s.Process.Score.Value()
	asked := len(t.Required) > 0 || len(t.Forbidden) > 0 || t.MinimalCalls != nil || t.Trajectory != nil
	if f.ended || scored && v < 1 || !scored && asked && !f.complete() {
		return finding{}, false
	}
	why := "nothing is wrong with the path, but the outcome is below the pass mark"
	return finding{why: why, evidence: outcomeNotes(s)}, true
}

func unknown(f *facts) (finding, bool) {
	found := finding{why: "none of the known causes fits"}
	if f.run.Score.Why != "" {
		found.why += ": " + clip(string(f.run.Score.Why), mostNote)
	}
	for _, c := range f.run.Score.Process.Components {
		found.evidence = append(found.evidence, c.Notes[:min(len(c.Notes), mostOfAKind)]...)
	}
	found.evidence = append(found.evidence, outcomeNotes(&f.run.Score)...)
	return found, true
}

// outcomeNotes are the first places where the state differs, or else the checks that failed.
func outcomeNotes(s *tooleval.TaskScore) []tooleval.Pointer {
	if len(s.Outcome.Diff) > 0 {
		return differences(s.Outcome.Diff)
	}
	var out []tooleval.Pointer
	for _, c := range s.Outcome.Checks {
		if c.Verdict == tooleval.Failed && !c.Info && len(out) < mostOfAKind {
			out = append(out, note("", "check %q failed: %s", c.Name, c.Note))
		}
	}
	return out
}
