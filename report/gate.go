package report

import (
	"bufio"
	"io"

	"github.com/tooleval/tooleval/compare"
)

// GateTerminal prints the Result of a gate for a person: the answer, and each condition with its reason.
func GateTerminal(w io.Writer, r compare.Result, o TermOptions) error {
	p := newPrinter(w, o)
	p.gate(&r)
	return p.w.Flush()
}

func (p *printer) gate(r *compare.Result) {
	style := green
	switch r.Answer {
	case compare.Fail:
		style = red
	case compare.NotEnough:
		style = yellow
	}
	p.para(style.Bold(true), "", "gate: "+answerWords[r.Answer])
	for _, line := range r.Explain() {
		p.para(none, "  ", line)
	}
}

var answerWords = map[compare.Answer]string{compare.Pass: "passed", compare.Fail: "FAILED", compare.NotEnough: "not enough evidence"}

// GateMarkdown writes the Result of a gate in GitHub's flavour. Text from outside is escaped as in [Markdown].
func GateMarkdown(w io.Writer, r compare.Result) error {
	m := &markdown{bufio.NewWriter(w)}
	m.gate(&r)
	return m.w.Flush()
}

func (m *markdown) gate(r *compare.Result) {
	m.printf("# Gate: %s\n\n", answerWords[r.Answer])
	m.table("Condition", "Mind", "Bar", "Measured", "Answer", "Why")
	for _, c := range r.Conditions {
		m.row(escape(c.Words()), escape(c.Mind), escape(c.Bar), c.Measured, escape(answerWords[c.Answer]), escape(c.Why))
	}
	m.printf("\n")
	for _, c := range r.Conditions {
		for _, t := range c.Tasks {
			m.printf("- %s", escape(t.TaskID))
			if t.Check != "" {
				m.printf(", check %s", escape(t.Check))
			}
			m.printf(": %s: %s\n", escape(answerWords[t.Answer]), escape(t.Why))
		}
	}
	for _, w := range r.Warnings {
		m.printf("- warning: %s\n", escape(w))
	}
	m.printf("\n")
}
