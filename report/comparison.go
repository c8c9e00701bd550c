package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/stats"
)

// ComparisonJSON writes a Comparison as one JSON document.
func ComparisonJSON(w io.Writer, c compare.Comparison) error { return document(w, c) }

// GateJSON writes the Result of a gate as one JSON document.
func GateJSON(w io.Writer, r compare.Result) error { return document(w, r) }

func document(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// ComparisonTerminal prints a Comparison for a person: the result vectors side by side, then every task with a sign:
// "~" where nothing was shown. Of more than 50 tasks those about which there is least to say are left out; Verbose shows
// all. It returns the first error of w.
func ComparisonTerminal(w io.Writer, c compare.Comparison, o TermOptions) error {
	p := newPrinter(w, o)
	for i := range c.Pairs {
		if i > 0 {
			p.raw("\n")
		}
		p.pair(&c.Pairs[i])
	}
	return p.w.Flush()
}

func (p *printer) pair(pr *compare.Pair) {
	p.para(bold, "", "compare · "+sideName(&pr.Base)+" → "+sideName(&pr.Candidate))
	p.questions(pr)
	p.para(none, "", statusLine(pr))
	if m := pr.McNemar; m != nil {
		p.para(none, "", fmt.Sprintf("single runs, exact McNemar test: p = %s over %s", estimate(m.P, pvalue), plural(m.N, "task that changed")))
	}
	p.pairTasks(pr)
	p.moves(pr)
	for i, t := range sortedTasks(pr) {
		if d := t.Divergence; d != nil && (i < mostLines || p.verbose) {
			p.divergence(&t)
		}
	}
	for _, text := range pr.Warnings {
		p.para(yellow, "warning: ", clean(text))
	}
}

func sideName(m *compare.Measured) string { return cut(m.Eval, 60) + " (" + cut(m.Mind, 40) + ")" }

var questionNames = map[string]string{compare.PassRate: "pass rate", compare.Outcome: "outcome", compare.Process: "process"}

func (p *printer) questions(pr *compare.Pair) {
	g := grid{headers: []string{"", "Base", "Candidate", "Difference", "Shown"}}
	narrow := grid{headers: g.headers}
	for i := range pr.Questions {
		q := &pr.Questions[i]
		shown, style := sign(q.Direction)
		value, change := percent, points
		if q.Name != compare.PassRate {
			value, change = decimal, signed
		}
		diff := difference(q.Difference.Value, q.Difference.Interval, change)
		row := func(diff string) []cell {
			return []cell{say(questionNames[q.Name]), say(estimate(q.Before, value)), say(estimate(q.After, value)), {diff, style}, {shown, style}}
		}
		g.rows = append(g.rows, row(diff))
		narrow.rows = append(narrow.rows, row(strings.Replace(diff, " [", "\n[", 1)))
	}
	p.table(g, narrow)
	for i := range pr.Questions {
		q := &pr.Questions[i]
		text := "p = " + estimate(q.AdjustedP, pvalue) + ", corrected for the number of questions"
		if q.Direction == stats.CannotTell {
			text = "~ " + clean(q.Why)
		}
		p.para(faint, "  ", questionNames[q.Name]+": "+text)
	}
	p.para(none, "", fmt.Sprintf("over %s with the same definition · base %s · candidate %s", plural(pr.Compared, "task"),
		coverage(&pr.Base.Counts), coverage(&pr.Candidate.Counts)))
}

func coverage(c *compare.Counts) string {
	return fmt.Sprintf("%d of %d runs scored", c.Scored, c.Planned)
}

// sign says whether a difference was shown.
func sign(d stats.Direction) (string, lipgloss.Style) {
	switch d {
	case stats.Higher:
		return "▲ better", green
	case stats.Lower:
		return "▼ worse", red
	}
	return "~", none
}

func difference(e stats.Estimate, iv stats.Interval, f func(float64) string) string {
	text := estimate(e, f)
	if e.OK && iv.OK {
		text += " [" + f(iv.Low) + ", " + f(iv.High) + "]"
	}
	return text
}

func points(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%+.1f", 100*v)
}

func signed(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%+.3f", v)
}

func pvalue(v float64) string {
	if v < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", v)
}

func statusLine(pr *compare.Pair) string {
	var parts []string
	for _, s := range pr.ByStatus {
		parts = append(parts, fmt.Sprintf("%d %s", s.N, statusWords[s.Status]))
	}
	if len(parts) == 0 {
		return "there is no task"
	}
	return "tasks: " + strings.Join(parts, ", ")
}

var statusWords = map[compare.Status]string{
	compare.Better: "better", compare.Worse: "worse", compare.Flaky: "flaky", compare.Same: "the same", compare.CannotTell: "cannot tell",
	compare.UnscoredTask: "unscored", compare.Changed: "changed definition", compare.OnlyBase: "only in the base",
	compare.OnlyCandidate: "only in the candidate",
}

// statusSign is what stands beside a task.
func statusSign(t *compare.Task) (string, lipgloss.Style) {
	text, style := statusWords[t.Status], none
	switch t.Status {
	case compare.Better:
		text, style = "▲ better", green
	case compare.Worse:
		text, style = "▼ worse", red
	case compare.Flaky:
		text, style = "~ flaky", yellow
	case compare.Same:
		text = "~"
	case compare.CannotTell:
		text = "~ cannot tell"
	case compare.OnlyBase, compare.Changed, compare.UnscoredTask:
		style = yellow
	}
	if t.Flipped && (t.Status == compare.Same || t.Status == compare.CannotTell) {
		text += ", flipped"
		style = yellow
	}
	return text, style
}

// sortedTasks has the tasks about which there is most to say first.
func sortedTasks(pr *compare.Pair) []compare.Task {
	rank := func(t *compare.Task) int {
		switch {
		case t.Status == compare.Worse:
			return 0
		case t.Status == compare.OnlyBase:
			return 1
		case t.Status == compare.Better:
			return 2
		case t.Status == compare.Changed, t.Status == compare.UnscoredTask:
			return 3
		case t.Flipped:
			return 4
		case t.Status == compare.Flaky:
			return 5
		case t.Status == compare.OnlyCandidate:
			return 6
		}
		return 7
	}
	list := slices.Clone(pr.Tasks)
	slices.SortStableFunc(list, func(a, b compare.Task) int { return cmp.Compare(rank(&a), rank(&b)) })
	return list
}

func taskRate(s *compare.TaskSide) string {
	switch {
	case s == nil:
		return "—"
	case s.Scored == 0:
		return fmt.Sprintf("0 of %d scored", s.Planned)
	case s.Unscored > 0:
		return fmt.Sprintf("%d/%d, %d unscored", s.Passed, s.Scored, s.Unscored)
	}
	return fmt.Sprintf("%d/%d", s.Passed, s.Scored)
}

func taskDifference(t *compare.Task) string {
	if t.Rate == nil {
		return "—"
	}
	return difference(t.Rate.Difference, t.Rate.Interval, points)
}

func (p *printer) pairTasks(pr *compare.Pair) {
	g := grid{headers: []string{"Task", "Base", "Candidate", "Difference", "What"}}
	narrow := grid{headers: g.headers}
	list := sortedTasks(pr)
	for i := range list {
		t := &list[i]
		if i == mostLines && !p.verbose {
			break
		}
		what, style := statusSign(t)
		diff := taskDifference(t)
		row := func(width int, diff string) []cell {
			return []cell{say(cut(t.ID, width)), say(taskRate(t.Base)), say(taskRate(t.Candidate)), {diff, style}, {what, style}}
		}
		g.rows = append(g.rows, row(40, diff))
		narrow.rows = append(narrow.rows, row(20, strings.Replace(diff, " [", "\n[", 1)))
	}
	if len(g.rows) == 0 {
		return
	}
	p.raw("\n")
	p.table(g, narrow)
	if n := len(list) - len(g.rows); n > 0 {
		p.para(faint, "… ", plural(n, "more task")+" not shown")
	}
	p.para(faint, "", "differences in points with 95 % intervals, each task by itself; better and worse hold for all tasks together")
	for i := range list[:len(g.rows)] {
		t := &list[i]
		if t.Status != compare.Same || t.Flipped || p.verbose {
			p.para(none, "  ", cut(t.ID, 60)+": "+clean(t.Why))
		}
	}
}

func (p *printer) moves(pr *compare.Pair) {
	for i := range pr.Checks {
		if i == 0 {
			p.raw("\n")
			p.para(bold, "", "checks that moved")
		}
		if i == mostLines && !p.verbose {
			p.para(faint, "… ", plural(len(pr.Checks)-i, "more check"))
			break
		}
		text, style := checkLine(&pr.Checks[i], clean[string])
		p.para(style, "  ", text)
	}
	for i, f := range pr.Failures {
		if i == 0 {
			p.raw("\n")
			p.para(bold, "", "failures, base → candidate")
		}
		if i == mostNotes && !p.verbose {
			p.para(faint, "… ", plural(len(pr.Failures)-i, "more kind")+" of failure")
			break
		}
		p.para(none, "  ", fmt.Sprintf("%s: %d of %d → %d of %d runs", blame(f.Category, f.Owner), f.Base, f.BaseRuns, f.Candidate, f.CandidateRuns))
	}
	for _, t := range pr.Tools {
		if t.BaseErrors+t.CandidateErrors > 0 {
			p.para(none, "  ", fmt.Sprintf("tool %s: errors %d of %d → %d of %d calls", cut(t.Name, 60), t.BaseErrors, t.BaseCalls, t.CandidateErrors, t.CandidateCalls))
		}
	}
}

func checkLine(c *compare.Check, safe func(string) string) (string, lipgloss.Style) {
	what, style := sign(c.Direction)
	if c.Info {
		what += ", counts for nothing"
	}
	return fmt.Sprintf("%s, check %s: %d/%d → %d/%d · %s · %s", safe(c.TaskID), safe(c.Name), c.BeforeCount.Successes, c.BeforeCount.Trials,
		c.AfterCount.Successes, c.AfterCount.Trials, difference(c.RateDifference.Difference, c.Interval, points), what), style
}

func (p *printer) divergence(t *compare.Task) {
	d := t.Divergence
	p.raw("\n")
	p.para(bold, "", "where the runs of "+cut(t.ID, 60)+" part")
	p.para(none, "  ", clean(d.Why))
	line := func(key string, e *compare.Example, c *compare.CallBrief) {
		text := fmt.Sprintf("run %d of %s (%s)", e.Index+1, cut(e.Eval, 60), cut(e.Mind, 40))
		if c != nil {
			text += ": " + cut(c.Tool, 60) + " " + cut(c.Args, 160) + " → " + string(c.Status)
			if c.Answer != "" {
				text += " " + cut(c.Answer, 160)
			}
		}
		p.para(none, "  "+key+" ", text)
	}
	line("passed:", &d.Passing, d.Passed)
	line("failed:", &d.Failing, d.Failed)
}
