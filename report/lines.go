package report

import (
	"cmp"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
)

const (
	keptEvidence   = 3
	keptChecks     = 10
	keptComponents = 8
	keptNotes      = 3
)

// Lines are the runs that are kept: those that did not pass come first when there is not room for all.
type lines struct {
	passed, others               []Run
	omittedPassed, omittedOthers int
}

// keep makes a line of a run where there is room for it. Making it costs more than counting the run, and of a million
// runs almost none is kept.
func (b *Builder) keep(s *section, run *tooleval.Run, blend tooleval.Score) {
	k, most := &s.kept, b.options.MaxRuns
	if run.Score.Verdict == tooleval.Passed {
		if len(k.passed)+len(k.others) >= most {
			k.omittedPassed++
			return
		}
		k.passed = append(k.passed, b.line(run, blend))
		return
	}
	if len(k.others) >= most {
		k.omittedOthers++
		return
	}
	if len(k.passed)+len(k.others) >= most { // the last that passed makes room
		k.passed = k.passed[:len(k.passed)-1]
		k.omittedPassed++
	}
	k.others = append(k.others, b.line(run, blend))
}

// all are the kept lines in the order in which they came.
func (k *lines) all() []Run {
	runs := make([]Run, 0, len(k.passed)+len(k.others))
	runs = append(append(runs, k.passed...), k.others...)
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.order, b.order) })
	return runs
}

func (b *Builder) line(run *tooleval.Run, blend tooleval.Score) Run {
	sc := &run.Score
	r := Run{TaskID: run.TaskID, Index: run.Index, Verdict: sc.Verdict, Why: short(sc.Why), Outcome: reasoned(sc.Outcome.Score),
		Process: reasoned(sc.Process.Score), Ending: run.Ending, Calls: len(run.Trajectory.Calls),
		WallMS: stats.Number(run.WallMS), Attempts: run.Provenance.Attempts, Warnings: len(run.Warnings), order: b.added}
	if !scored(sc.Verdict) {
		r.Verdict, r.Why = tooleval.Unscored, short(unscoredWhy(run))
	}
	for _, c := range sc.Outcome.Checks[:min(keptChecks, len(sc.Outcome.Checks))] {
		c.Name, c.Note = plain.Clip(c.Name, maxName), short(c.Note)
		r.Checks = append(r.Checks, c)
	}
	for _, c := range sc.Process.Components[:min(keptComponents, len(sc.Process.Components))] {
		r.Components = append(r.Components, tooleval.Component{Name: plain.Clip(c.Name, maxName), Score: reasoned(c.Score),
			Info: c.Info, Notes: pointers(c.Notes, keptNotes)})
	}
	if b.options.Combine {
		blend = reasoned(blend)
		r.Combined = &blend
	}
	if f := run.Failure; f != nil && sc.Verdict != tooleval.Passed {
		r.Failure = &Failure{Category: f.Category, Owner: f.Owner, Why: short(f.Why), Evidence: evidence(run, keptEvidence)}
	}
	if b.options.File != nil {
		r.File = b.options.File(run)
	}
	return r
}

// reasoned is a score that has a reason when it has no number.
func reasoned(s tooleval.Score) tooleval.Score {
	s.Why = short(s.Why)
	if !s.IsScored() && s.Why == "" {
		s.Why = "no reason was recorded"
	}
	return s
}

func pointers(list []tooleval.Pointer, most int) []tooleval.Pointer {
	var out []tooleval.Pointer
	for _, p := range list[:min(most, len(list))] {
		p.Path, p.Note = plain.Clip(p.Path, maxName), short(p.Note)
		if p.Call != nil {
			call := *p.Call
			p.Call = &call
		}
		out = append(out, p)
	}
	return out
}

// evidence is what shows the failure of a run, with the calls that it points at.
func evidence(run *tooleval.Run, most int) []Evidence {
	var out []Evidence
	for _, p := range pointers(run.Failure.Evidence, most) {
		out = append(out, pointed(p, run.Trajectory.Calls))
	}
	return out
}

// pointed is a pointer with the call that it points at.
func pointed(p tooleval.Pointer, calls []tooleval.Call) Evidence {
	e := Evidence{Pointer: p}
	for i := range calls {
		if c := &calls[i]; p.Call != nil && c.Began == *p.Call {
			e.Position, e.Tool = i+1, plain.Clip(c.Tool, maxName)
			break
		}
	}
	return e
}
