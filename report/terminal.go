package report

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/tooleval/tooleval"
)

const (
	mostCards = 6  // runs up to which each is shown as a card
	mostLines = 50 // runs up to which each has a line; tasks too
	mostNotes = 10 // warnings, tools, reasons that are listed
)

// Terminal prints a Report for a person: a card for each run, the variance of each task, the baselines, and what holds
// over all tasks. Of more than a handful of runs each is a line, and of more than 50 only those that did not pass are
// shown; Verbose shows a card for every run that the Report keeps. It returns the first error of w.
func Terminal(w io.Writer, r Report, o TermOptions) error {
	p := newPrinter(w, o)
	p.para(bold, "", headline(&r))
	for i := range r.Sections {
		p.section(&r, &r.Sections[i])
	}
	p.baselines(r.Baselines)
	for i := range r.Sections {
		p.summary(&r, &r.Sections[i])
	}
	if len(r.Sections) > 1 {
		p.sideBySide(&r)
	}
	p.warnings(r.Warnings)
	if r.Gate != nil {
		p.raw("\n")
		p.gate(r.Gate)
	}
	return p.w.Flush()
}

func headline(r *Report) string {
	parts := []string{clean(r.Eval.Suite), plural(len(r.Eval.Tasks), "task") + " × " + plural(r.Eval.Runs, "run")}
	if len(r.Eval.Minds) > 0 {
		parts = append(parts, names(r.Eval.Minds, 5))
	}
	parts = append(parts, clean(r.Eval.World), fmt.Sprintf("seed %d", r.Eval.Seed))
	if r.Eval.ID != "" {
		parts = append(parts, "eval "+cut(r.Eval.ID, 60))
	}
	return strings.Join(parts, " · ")
}

func (p *printer) section(r *Report, s *Section) {
	recorded := len(s.Runs) + s.Omitted
	cards := recorded <= mostCards && len(s.Tasks) <= mostCards || p.verbose
	if cards {
		p.cards(r, s)
		p.omitted(s.Omitted-s.OmittedFailed, s.OmittedFailed)
		return
	}
	p.raw("\n")
	onlyFailed := recorded > mostLines
	shown, failed, passed := 0, s.OmittedFailed, s.Omitted-s.OmittedFailed
	for i := range s.Runs {
		run := &s.Runs[i]
		switch {
		case shown < mostLines && !(onlyFailed && run.Verdict == tooleval.Passed):
			p.runLine(r, run)
			shown++
		case run.Verdict == tooleval.Passed:
			passed++
		default:
			failed++
		}
	}
	p.omitted(passed, failed)
	p.tasks(s)
}

// omitted says how many runs are not shown.
func (p *printer) omitted(passed, others int) {
	var parts []string
	if others > 0 {
		parts = append(parts, plural(others, "more run")+" did not pass")
	}
	if passed > 0 {
		parts = append(parts, fmt.Sprintf("%s passed", plural(passed, "run")))
	}
	if len(parts) > 0 {
		p.para(faint, "… ", "not shown: "+strings.Join(parts, ", "))
	}
}

// cards prints the runs of each task one by one and then what they say together.
func (p *printer) cards(r *Report, s *Section) {
	byTask := map[string][]*Run{}
	for i := range s.Runs {
		byTask[s.Runs[i].TaskID] = append(byTask[s.Runs[i].TaskID], &s.Runs[i])
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		for _, run := range byTask[t.ID] {
			p.card(r, s, t, run)
		}
		p.rollup(s, t)
	}
}

func mark(v tooleval.Verdict) (sign string, style lipgloss.Style) {
	switch v {
	case tooleval.Passed:
		return "✓", green
	case tooleval.Failed:
		return "✗", red
	}
	return "?", yellow
}

// runLine is a run in one line, cut to the terminal.
func (p *printer) runLine(r *Report, run *Run) {
	sign, style := mark(run.Verdict)
	parts := []string{cut(run.TaskID, 60), fmt.Sprintf("run %d", run.Index+1)}
	if run.Outcome.IsScored() || run.Verdict != tooleval.Unscored { // the reason follows anyway
		parts = append(parts, "outcome "+score(run.Outcome))
	}
	parts = append(parts, "process "+score(run.Process))
	if run.Combined != nil {
		parts = append(parts, "combined "+score(*run.Combined)+" (lossy)")
	}
	switch f := run.Failure; {
	case f != nil && run.Verdict == tooleval.Unscored:
		parts = append(parts, "unscored, "+blame(f.Category, f.Owner)+": "+cut(f.Why, 100))
	case run.Verdict == tooleval.Unscored:
		parts = append(parts, "unscored: "+cut(run.Why, 100))
	case f != nil:
		parts = append(parts, blame(f.Category, f.Owner)+": "+cut(f.Why, 100))
	}
	parts = append(parts, plural(run.Calls, "call"), estimate(run.WallMS, milliseconds))
	p.raw(p.paint(style, sign) + " " + cut(strings.Join(parts, " · "), p.width-2) + "\n")
}

func blame(category tooleval.Category, owner tooleval.Owner) string {
	return cut(category, 40) + " (" + cut(owner, 20) + ")"
}

func (p *printer) warnings(list []Count) {
	for i, c := range list {
		if i == mostNotes && !p.verbose {
			p.para(faint, "… ", plural(len(list)-i, "more kind")+" of warning")
			return
		}
		text := clean(c.What)
		if c.N > 1 {
			text += fmt.Sprintf(" (%d times)", c.N)
		}
		p.para(yellow, "warning: ", text)
	}
}
