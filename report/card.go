package report

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// A card is one run: the answers side by side, the outcome first. What belongs to the set of runs is not computed here.
func (p *printer) card(r *Report, s *Section, t *Task, run *Run) {
	p.raw("\n")
	sign, style := mark(run.Verdict)
	title := fmt.Sprintf("%s · run %d of %d · %s · %s", cut(run.TaskID, 100), run.Index+1, t.Planned, cut(s.Mind, 40), cut(s.World, 20))
	p.para(bold, p.paint(style, sign)+" ", title)
	failure, compact := cell{text: notComputed, style: faint}, cell{text: notComputed, style: faint}
	if run.Failure != nil {
		failure = cell{text: blame(run.Failure.Category, run.Failure.Owner), style: style}
		compact = cell{text: cut(run.Failure.Category, 40) + "\n(" + cut(run.Failure.Owner, 20) + ")", style: style}
	} else if run.Verdict != tooleval.Passed {
		failure = cell{text: "none recorded", style: style}
		compact = failure
	}
	doNothing := doNothing(r, run.TaskID)
	row := func(failure cell) []cell {
		return []cell{{score(run.Outcome), style}, say(score(run.Process)), {notComputed, faint}, failure, doNothing, {passedWord(run), style}}
	}
	headers := []string{"Outcome", "Process", "Variance", "Failure", "Do-nothing", "Passed"}
	p.table(grid{headers, [][]cell{row(failure)}}, grid{headers, [][]cell{row(compact)}})
	p.cardNotes(r, run)
}

func passedWord(run *Run) string {
	switch run.Verdict {
	case tooleval.Passed:
		return "yes"
	case tooleval.Failed:
		return "no"
	}
	return "unscored"
}

// doNothing is what the do-nothing baseline says of a task, in a word.
func doNothing(r *Report, task string) cell {
	for i := range r.Baselines {
		b := &r.Baselines[i]
		if b.TaskID != task || b.Name != DoNothing {
			continue
		}
		switch b.Status {
		case BaselineFails:
			return say("fails")
		case BaselinePasses:
			return cell{"PASSES", red}
		case BaselineMayPass:
			return say("may pass")
		case BaselineUnscored:
			return cell{"unscored", yellow}
		}
	}
	return cell{"not run", faint}
}

// cardNotes are the lines beneath a card: why it did not pass and what shows it, and what the table has no room for.
func (p *printer) cardNotes(r *Report, run *Run) {
	_, style := mark(run.Verdict)
	if run.Combined != nil && r.Blend != nil {
		if v, ok := run.Combined.Value(); ok {
			p.para(none, "  ", "combined "+decimal(v)+" ("+r.Blend.Label+")")
		} else {
			p.para(none, "  ", "combined "+notComputed+" ("+clean(run.Combined.Why)+")")
		}
	}
	if run.Verdict == tooleval.Unscored {
		p.para(style, "  ", "unscored: "+clean(run.Why))
	}
	if f := run.Failure; f != nil {
		p.para(style, "  ", blame(f.Category, f.Owner)+": "+clean(f.Why))
		for _, e := range f.Evidence {
			p.para(none, "    ", pointer(e))
		}
	} else if run.Verdict == tooleval.Failed && run.Why != "" {
		p.para(style, "  ", clean(run.Why))
	}
	if why := run.Outcome.Why; !run.Outcome.IsScored() && why != run.Why {
		p.para(faint, "  ", "outcome unscored: "+clean(why))
	}
	if !run.Process.IsScored() {
		p.para(faint, "  ", "process unscored: "+clean(run.Process.Why))
	}
	if p.verbose || run.Verdict != tooleval.Passed {
		p.checks(run.Checks)
	}
	if parts := components(run.Components); parts != "" {
		p.para(faint, "  ", "process: "+parts)
	}
	last := []string{plural(run.Calls, "call"), estimate(run.WallMS, milliseconds)}
	if run.Ending != tooleval.Completed && run.Ending != "" {
		last = append(last, "ended: "+cut(run.Ending, 30))
	}
	if run.Attempts > 0 {
		last = append(last, "attempt "+fmt.Sprint(run.Attempts+1))
	}
	if run.Warnings > 0 {
		last = append(last, plural(run.Warnings, "warning"))
	}
	if run.File != "" {
		last = append(last, clean(run.File))
	}
	p.para(faint, "  ", strings.Join(last, " · "))
}

// checks prints the named parts of a judgement, each with its own status. One that counts for nothing says so.
func (p *printer) checks(checks []tooleval.Check) {
	for _, c := range checks {
		sign, style := mark(c.Verdict)
		text := cut(c.Name, 100)
		if c.Info {
			style = faint
			text = "(info, counts for nothing) " + text
		}
		if c.Verdict != tooleval.Passed && c.Verdict != tooleval.Failed {
			text += ": unscored"
		}
		if c.Note != "" {
			text += ": " + clean(c.Note)
		}
		p.para(none, "  "+p.paint(style, sign)+" ", text)
	}
}

func components(list []tooleval.Component) string {
	var parts []string
	for _, c := range list {
		value := "not applicable"
		if v, ok := c.Score.Value(); ok {
			value = decimal(v)
		} else if strings.HasPrefix(string(c.Score.Why), "not evaluable") {
			value = "not evaluable"
		}
		parts = append(parts, cut(c.Name, 30)+" "+value)
	}
	return strings.Join(parts, ", ")
}

// pointer is a piece of evidence in words.
func pointer(e Evidence) string {
	var parts []string
	switch {
	case e.Position > 0:
		parts = append(parts, fmt.Sprintf("call %d (%s)", e.Position, cut(e.Tool, 60)))
	case e.Call != nil:
		parts = append(parts, "a call that is not in the record")
	}
	if e.Path != "" {
		parts = append(parts, cut(e.Path, 120))
	}
	where := strings.Join(parts, " ")
	switch {
	case e.Note == "":
		return where
	case where == "":
		return clean(e.Note)
	}
	return where + ": " + clean(e.Note)
}
