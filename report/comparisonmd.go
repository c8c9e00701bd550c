package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/tooleval/tooleval/compare"
)

// ComparisonMarkdown writes a Comparison in GitHub's flavour. Text from outside is escaped as in [Markdown].
func ComparisonMarkdown(w io.Writer, c compare.Comparison) error {
	m := &markdown{bufio.NewWriter(w)}
	for i := range c.Pairs {
		m.pair(&c.Pairs[i])
	}
	return m.w.Flush()
}

func (m *markdown) pair(pr *compare.Pair) {
	m.printf("# %s (%s) → %s (%s)\n\n", escape(pr.Base.Eval), escape(pr.Base.Mind), escape(pr.Candidate.Eval), escape(pr.Candidate.Mind))
	m.table("", "Base", "Candidate", "Difference", "Shown", "p (corrected)")
	for i := range pr.Questions {
		q := &pr.Questions[i]
		value, change := percent, points
		if q.Name != compare.PassRate {
			value, change = decimal, signed
		}
		shown, _ := sign(q.Direction)
		m.row(questionNames[q.Name], lessThan(estimate(q.Before, value)), lessThan(estimate(q.After, value)),
			difference(q.Difference.Value, q.Difference.Interval, change), tilde(shown), lessThan(estimate(q.AdjustedP, pvalue)))
	}
	m.printf("\nOver %s with the same definition. Base: %s; candidate: %s.\n\n%s.\n\n", plural(pr.Compared, "task"),
		coverage(&pr.Base.Counts), coverage(&pr.Candidate.Counts), statusLine(pr))
	m.table("Task", "Base", "Candidate", "Difference", "What", "Why")
	list := sortedTasks(pr)
	for i := range list {
		t := &list[i]
		if i == 10*mostLines {
			m.printf("\n%d more tasks are not shown.\n", len(list)-i)
			break
		}
		what, _ := statusSign(t)
		m.row(escape(t.ID), taskRate(t.Base), taskRate(t.Candidate), taskDifference(t), tilde(what), lessThan(t.Why))
	}
	m.printf("\n")
	for i := range pr.Checks {
		if i == 0 {
			m.printf("## Checks that moved\n\n")
		}
		if i == mostLines {
			m.printf("- %d more\n", len(pr.Checks)-i)
			break
		}
		text, _ := checkLine(&pr.Checks[i], escape[string])
		m.printf("- %s\n", tilde(text))
	}
	if len(pr.Failures) > 0 {
		m.printf("\n## Failures\n\n")
		m.table("Kind", "Owner", "Base", "Candidate")
		for _, f := range pr.Failures {
			m.row(escape(f.Category), escape(f.Owner), fmt.Sprintf("%d of %d", f.Base, f.BaseRuns), fmt.Sprintf("%d of %d", f.Candidate, f.CandidateRuns))
		}
	}
	m.printf("\n")
	shown := 0
	for i := range list {
		d := list[i].Divergence
		if d == nil || shown == mostLines {
			continue
		}
		if shown++; shown == 1 {
			m.printf("## Where runs part\n\n")
		}
		m.printf("- %s: %s\n", escape(list[i].ID), escape(d.Why))
	}
	if shown > 0 {
		m.printf("\n")
	}
	for _, text := range pr.Warnings {
		m.printf("- warning: %s\n", escape(text))
	}
}

// tilde keeps a lone ~ from striking text through.
func tilde(s string) string {
	out := make([]byte, 0, len(s)+1)
	for i := range len(s) {
		if s[i] == '~' {
			out = append(out, '\\')
		}
		out = append(out, s[i])
	}
	return string(out)
}
