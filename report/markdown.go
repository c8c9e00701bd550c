package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
)

// Markdown writes a Report in GitHub's flavour, for a pull request or a job summary: the suite, the tasks, the baselines,
// the runs that did not pass and the tools with errors. Text from outside is escaped: it can't add a link, an image, HTML,
// a table cell or a mention. Lists stop after 50 entries and say how many there are. It returns the first error of w.
func Markdown(w io.Writer, r Report) error {
	m := &markdown{bufio.NewWriter(w)}
	if r.Gate != nil { // what a reader looks for first
		m.gate(r.Gate)
	}
	m.printf("# %s · %s\n\n", escape(r.Eval.Suite), escape(r.Eval.World))
	m.printf("%s × %s, seed %d", plural(len(r.Eval.Tasks), "task"), plural(r.Eval.Runs, "run"), r.Eval.Seed)
	if r.Eval.ID != "" {
		m.printf(", eval %s", escape(r.Eval.ID))
	}
	m.printf("\n\n")
	m.summaries(&r)
	m.baselines(r.Baselines)
	for i := range r.Sections {
		m.section(&r, &r.Sections[i])
	}
	m.warnings(r.Warnings)
	return m.w.Flush()
}

type markdown struct{ w *bufio.Writer }

// printf writes; a bufio.Writer keeps its first error until Flush.
func (m *markdown) printf(format string, args ...any) { _, _ = fmt.Fprintf(m.w, format, args...) }

// table writes the head of a table.
func (m *markdown) table(headers ...string) {
	m.row(headers...)
	m.printf("|%s\n", strings.Repeat(" --- |", len(headers)))
}

// row writes cells, which must be escaped.
func (m *markdown) row(cells ...string) { m.printf("| %s |\n", strings.Join(cells, " | ")) }

func (m *markdown) summaries(r *Report) {
	headers := []string{"Mind", "Pass rate", "Outcome", "Process", "Runs passed / scored", "Coverage"}
	if r.Blend != nil {
		headers = append(headers, "Combined ("+r.Blend.Label+")")
	}
	m.table(headers...)
	for i := range r.Sections {
		s := &r.Sections[i].Summary
		rate := mean(&s.PassRate, percent, percent)
		if s.Incomplete != "" {
			rate = "**incomplete**: " + s.Incomplete + "; of the scored runs " + rate
		}
		if s.Planned > s.Scored {
			rate += fmt.Sprintf("; with the others %s to %s", lessThan(estimate(s.WorstPassRate, percent)), lessThan(estimate(s.BestPassRate, percent)))
		}
		cells := []string{escape(r.Sections[i].Mind), lessThan(rate), lessThan(mean(&s.Outcome, decimal, decimal3)), lessThan(mean(&s.Process, decimal, decimal3)),
			scoredOf(&s.Counts), lessThan(estimate(s.Coverage, percent))}
		if s.Combined != nil {
			cells = append(cells, lessThan(mean(s.Combined, decimal, decimal3)))
		}
		m.row(cells...)
	}
	m.printf("\n")
}

// lessThan escapes the only special character that our own numbers have.
func lessThan(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

func (m *markdown) baselines(list []Baseline) {
	m.printf("## Baselines\n\nA trivial agent has to fail. These are in no other number.\n\n")
	m.table("Task", "Baseline", "Verdict")
	for i, b := range list {
		if i == mostLines {
			m.printf("\n%d more are not shown.\n", len(list)-i)
			break
		}
		words, _ := baselineWords(b.Status, "")
		words = strings.TrimSuffix(strings.TrimSuffix(words, ": "), " ()")
		if b.Status == BaselinePasses {
			words = "**" + words + "**"
		}
		switch {
		case b.Status == BaselineNotRun:
			words += " (" + string(b.Why) + ")" // our own words
		case b.Why != "":
			words += ": " + escape(b.Why)
		}
		m.row(escape(b.TaskID), escape(b.Name), words)
	}
	m.printf("\n")
}

func (m *markdown) section(r *Report, s *Section) {
	m.passK(&s.Summary, s.Mind)
	m.printf("## Tasks · %s\n\n", escape(s.Mind))
	m.table("Task", "Runs", "Pass rate", "Out. mean", "Out. std", "Proc mean", "Proc std", "Var flag", "Unscored", "Failures")
	for i := range s.Tasks {
		if i == 10*mostLines {
			m.printf("\n%d more tasks are not shown.\n", len(s.Tasks)-i)
			break
		}
		m.task(&s.Tasks[i])
	}
	m.printf("\n")
	m.runs(r, s)
	m.tools(s.Tools)
	if s.Faults != nil {
		m.printf("Faults made on purpose:\n\n")
		for _, text := range faultLines(s.Faults, escape[tooleval.Text]) {
			m.printf("- %s\n", lessThan(text))
		}
		m.printf("\n")
	}
	if u := usage(&s.Usage, escape[string]); u != "" {
		m.printf("Usage: %s\n\n", u)
	}
	m.warnings(s.Warnings)
}

func (m *markdown) task(t *Task) {
	rate := notComputed
	if v, ok := t.PassRate.Value.Get(); ok {
		rate = fmt.Sprintf("%d/%d %s (%s)", t.Passed, t.Scored, lessThan(percent(v)), ends(t.PassRate.Interval))
	}
	flag := t.Variance
	if flag == "" {
		flag = notComputed
	}
	unscored := "0"
	if n := t.Planned - t.Scored; n > 0 {
		unscored = fmt.Sprintf("%d: %s", n, strings.Join(reasons(t, 3, escape[tooleval.Text]), "; "))
	}
	var failures []string
	for _, f := range t.Failures {
		failures = append(failures, fmt.Sprintf("%d × %s (%s)", f.N, escape(f.Category), escape(f.Owner)))
	}
	m.row(escape(t.ID), fmt.Sprint(t.Planned), rate, lessThan(estimate(t.Outcome.Mean, decimal)), lessThan(estimate(t.Outcome.Deviation, decimal3)),
		lessThan(estimate(t.Process.Mean, decimal)), lessThan(estimate(t.Process.Deviation, decimal3)), flag, unscored, strings.Join(failures, ", "))
}

// runs lists those that did not pass.
func (m *markdown) runs(r *Report, s *Section) {
	shown, left := 0, s.OmittedFailed
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Verdict == tooleval.Passed {
			continue
		}
		if shown == mostLines {
			left++
			continue
		}
		if shown == 0 {
			m.printf("### Runs that did not pass · %s\n\n", escape(s.Mind))
			headers := []string{"Task", "Run", "Verdict", "Outcome", "Process", "Failure", "Why", "Calls"}
			if r.Blend != nil {
				headers = append(headers, "Combined (lossy)")
			}
			m.table(headers...)
		}
		shown++
		m.run(run)
	}
	if left > 0 {
		m.printf("\n%s did not pass and are not shown.\n", plural(left, "more run"))
	}
	if shown > 0 || left > 0 {
		m.printf("\n")
	}
}

func (m *markdown) run(run *Run) {
	failure, why := notComputed, escape(run.Why)
	if f := run.Failure; f != nil {
		failure = fmt.Sprintf("%s (%s)", escape(f.Category), escape(f.Owner))
		why = escape(f.Why)
		for _, e := range f.Evidence[:min(1, len(f.Evidence))] {
			why += "; " + escape(pointer(e))
		}
	}
	cells := []string{escape(run.TaskID), fmt.Sprint(run.Index + 1), string(run.Verdict), lessThan(score(run.Outcome)),
		lessThan(score(run.Process)), failure, why, fmt.Sprint(run.Calls)}
	if run.Combined != nil {
		cells = append(cells, lessThan(score(*run.Combined)))
	}
	m.row(cells...)
}

func (m *markdown) tools(list []Tool) {
	shown := false
	for i, t := range list {
		if t.Errors+t.Refused == 0 {
			continue
		}
		if !shown {
			m.printf("### Tools with errors\n\n")
			m.table("Tool", "Calls", "Errors", "Error share", "Refused")
			shown = true
		}
		if i >= mostLines {
			m.printf("\n%d more tools were called.\n", len(list)-i)
			break
		}
		m.row(escape(t.Name), fmt.Sprint(t.Calls), fmt.Sprint(t.Errors), lessThan(estimate(t.ErrorShare, percent)), fmt.Sprint(t.Refused))
	}
	if shown {
		m.printf("\n")
	}
}

func (m *markdown) warnings(list []Count) {
	for _, c := range list {
		m.printf("- warning: %s", escape(c.What))
		if c.N > 1 {
			m.printf(" (%d times)", c.N)
		}
		m.printf("\n")
	}
	if len(list) > 0 {
		m.printf("\n")
	}
}

// maxCell bounds a text from outside.
const maxCell = 300

var simpleWord = regexp.MustCompile(`^[a-z]+([_-][a-z]+)*$`)

// escape makes text from outside show as itself, on one line: as code, in which neither Markdown nor GitHub looks for
// markup, links, HTML, mentions or emoji. Where the text has what could end a code span or a table cell (a backtick, a
// pipe, a backslash that might take the next character with it) it becomes an HTML element with character references.
func escape[T ~string](s T) string {
	text := strings.TrimSpace(plain.Text(plain.Clip(string(s), maxCell)))
	switch {
	case text == "" || simpleWord.MatchString(text):
		return text
	case !strings.ContainsAny(text, "`|\\"):
		return "`" + text + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range text {
		switch {
		case r == '@':
			b.WriteString("&#64;<!-- -->") // apart from what follows, or it might become a mail address
		case r < 0x80 && r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}
