package report

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/tooleval/tooleval"
)

// trajectory prints every call in the order in which they began. ∥ marks those that ran at the same time as another.
func (p *printer) trajectory(t *tooleval.Trajectory) {
	head := "Trajectory · " + plural(len(t.Calls), "call")
	if t.Channel != "" {
		head += " · " + cut(t.Channel, 30)
	}
	p.title(head)
	if t.Incomplete != "" {
		p.para(yellow, "  ", "incomplete: "+clean(t.Incomplete)+"; a call that is not here may have been made")
	}
	if len(t.Calls) == 0 {
		p.para(faint, "  ", "no calls")
	}
	parallel := parallelCalls(t.Calls)
	most := p.most(cardCalls, cardCallsVerbose)
	for i := range t.Calls {
		if i == most {
			p.more(len(t.Calls)-i, "call")
			return
		}
		p.call(i, &t.Calls[i], parallel[i])
	}
}

func (p *printer) call(i int, c *tooleval.Call, parallel bool) {
	side := " "
	if parallel {
		side = "∥"
	}
	first := fmt.Sprintf("%3d %s ", i+1, side)
	args := p.value(c.Args, "")
	if len(c.Args) == 0 && c.ArgsText != "" {
		args = p.value(tooleval.Raw(c.ArgsText), "")
	}
	if !p.verbose {
		args = cut(args, max(p.width-lipgloss.Width(first)-lipgloss.Width(cut(c.Tool, 60))-30, 20))
	}
	text := cut(c.Tool, 60) + " " + args
	status := string(c.Status)
	style := red
	switch c.Status {
	case tooleval.CallOK:
		style = green
	case "":
		status = "no status"
	}
	p.para(none, first, strings.TrimSpace(text)+" → "+p.paint(style, cut(status, 30))+" ("+milliseconds(c.TookMS)+")")
	note := func(style lipgloss.Style, key, text string) {
		if text != "" {
			if !p.verbose {
				text = cut(text, max(2*p.width, 40))
			}
			p.para(style, strings.Repeat(" ", lipgloss.Width(first)), key+text)
		}
	}
	note(faint, "= ", p.value(tooleval.Raw(c.Result.Text), ""))
	note(red, "bad arguments: ", clean(c.ArgsError))
	note(red, "error: ", clean(c.Error))
	note(yellow, "no fixture; the nearest is ", clean(c.FixtureGap))
	note(yellow, "injected fault: ", clean(c.Fault))
}

// parallelCalls says which calls ran at the same time as another. Calls are in the order in which they began.
func parallelCalls(calls []tooleval.Call) []bool {
	out := make([]bool, len(calls))
	latest := -1 // the call before that ended last
	for i := range calls {
		if latest >= 0 && !calls[latest].Before(&calls[i]) && !calls[i].Before(&calls[latest]) {
			out[i], out[latest] = true, true
		}
		if latest < 0 || calls[i].Ended > calls[latest].Ended {
			latest = i
		}
	}
	return out
}
