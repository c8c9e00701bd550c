package report

import (
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// The look of Python's Rich: a heavy header over light rows.
var heavyHead = lipgloss.Border{Top: "━", Bottom: "─", Left: "│", Right: "│", TopLeft: "┏", TopRight: "┓", BottomLeft: "└",
	BottomRight: "┘", MiddleLeft: "┡", MiddleRight: "┩", Middle: "╇", MiddleTop: "┳", MiddleBottom: "┴"}

// A cell is a table's text, which must be clean, and its colour.
type cell struct {
	text  string
	style lipgloss.Style
}

func say(text string) cell { return cell{text: text} }

// drawTable is a table as wide as its cells; ok is false where that is more than width.
func (p *printer) drawTable(headers []string, rows [][]cell) (drawn string, ok bool) {
	total := len(headers) + 1
	for i, h := range headers {
		widest := lipgloss.Width(h)
		for _, row := range rows {
			widest = max(widest, lipgloss.Width(row[i].text))
		}
		total += widest + 2
	}
	if total > p.width {
		return "", false
	}
	text := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range row {
			text[i] = append(text[i], c.text)
		}
	}
	pad := lipgloss.NewStyle().Padding(0, 1)
	drawn = table.New().Border(heavyHead).BorderRow(false).Headers(headers...).Rows(text...).
		StyleFunc(func(row, col int) lipgloss.Style {
			switch {
			case !p.color:
				return pad
			case row == table.HeaderRow:
				return pad.Bold(true)
			}
			return rows[row][col].style.Padding(0, 1)
		}).String()
	head, body, _ := strings.Cut(drawn, "┡")
	return strings.ReplaceAll(head, "│", "┃") + "┡" + body, true // the library has no header verticals of its own
}

// table prints the first of the tables that fits, the widest first, and that one as lines "key: value" where none does.
func (p *printer) table(tables ...grid) {
	for _, g := range tables {
		if drawn, ok := p.drawTable(g.headers, g.rows); ok {
			p.raw(drawn + "\n")
			return
		}
	}
	g := tables[0]
	widest := 0
	for _, h := range g.headers {
		widest = max(widest, lipgloss.Width(h)+1)
	}
	for i, row := range g.rows {
		if i > 0 {
			p.raw("\n")
		}
		for j, c := range row {
			key := g.headers[j] + ":" + strings.Repeat(" ", widest-lipgloss.Width(g.headers[j]))
			for k, l := range wrap(strings.ReplaceAll(c.text, "\n", " "), p.width-lipgloss.Width(key)) {
				if k > 0 {
					key = strings.Repeat(" ", lipgloss.Width(key))
				}
				p.raw(key + p.paint(c.style, l) + "\n")
			}
		}
	}
}

// A grid is the content of a table.
type grid struct {
	headers []string
	rows    [][]cell
}
