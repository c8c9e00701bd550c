package report

import (
	"bufio"
	"io"
)

// Table prints rows of text below headers, drawn as the tables of a Report are; where it is wider than the terminal, each
// row as lines "header: text". Every row has as many texts as there are headers.
func Table(w io.Writer, headers []string, rows [][]string, o TermOptions) error {
	p := newPrinter(w, o)
	g := grid{headers: headers}
	for _, row := range rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			cells[i] = say(clean(text))
		}
		g.rows = append(g.rows, cells)
	}
	p.table(g)
	return p.w.Flush()
}

// Paragraph prints text that is broken into lines as wide as the terminal; those after the first are indented like
// prefix is wide.
func Paragraph(w io.Writer, prefix, text string, o TermOptions) error {
	p := newPrinter(w, o)
	p.para(none, prefix, clean(text))
	return p.w.Flush()
}

// MarkdownTable writes such a table in GitHub's flavour. Text from outside is escaped as in [Markdown].
func MarkdownTable(w io.Writer, headers []string, rows [][]string) error {
	m := &markdown{bufio.NewWriter(w)}
	m.table(headers...)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = escape(text)
		}
		m.row(cells...)
	}
	return m.w.Flush()
}
