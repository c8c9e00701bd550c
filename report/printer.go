package report

import (
	"bufio"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tooleval/tooleval/internal/plain"
)

// TermOptions say what a terminal is like. The zero value is 80 columns without colour.
type TermOptions struct {
	// Width is the number of columns; 0 stands for 80. Less than 20 is taken for 20.
	Width int
	// Color allows escape sequences for colour. Without it there is no escape sequence at all.
	Color bool
	// Verbose shows every kept run as a card, and values in full.
	Verbose bool
}

// A printer prints clean text and remembers the first error.
type printer struct {
	w       *bufio.Writer
	width   int
	color   bool
	verbose bool
}

func newPrinter(w io.Writer, o TermOptions) *printer {
	if o.Width == 0 {
		o.Width = 80
	}
	return &printer{w: bufio.NewWriter(w), width: max(o.Width, 20), color: o.Color, verbose: o.Verbose}
}

var (
	none   = lipgloss.NewStyle()
	bold   = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
)

// raw prints what is clean already. A bufio.Writer keeps its first error until Flush.
func (p *printer) raw(s string) { _, _ = p.w.WriteString(s) }

func (p *printer) paint(style lipgloss.Style, s string) string {
	if !p.color || s == "" {
		return s
	}
	return style.Render(s)
}

// maxPrinted bounds a text that is printed on one line, before it is cleaned and wrapped.
const maxPrinted = 2000

// clean is a text from outside, safe for one line.
func clean[T ~string | ~[]byte](s T) string {
	if len(s) > maxPrinted {
		return plain.Text(plain.Clip(string(s[:min(len(s), maxPrinted+8)]), maxPrinted))
	}
	return plain.Text(string(s))
}

// cut is clean text of at most width columns.
func cut[T ~string | ~[]byte](s T, width int) string {
	return ansi.Truncate(clean(s), max(width, 1), "…")
}

// para prints clean text, wrapped, with an indent: the first line by first, the others by as many spaces.
func (p *printer) para(style lipgloss.Style, first, text string) {
	indent := lipgloss.Width(first)
	for i, l := range wrap(text, p.width-indent) {
		if i > 0 {
			first = strings.Repeat(" ", indent)
		}
		p.raw(first + p.paint(style, l) + "\n")
	}
}

// wrap breaks clean text into lines of at most width columns: at spaces where it can.
func wrap(text string, width int) []string {
	width = max(width, 8)
	if lipgloss.Width(text) <= width && !strings.Contains(text, "\n") {
		return []string{text}
	}
	return strings.Split(ansi.Wrap(text, width, ""), "\n")
}
