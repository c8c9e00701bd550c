package report

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

var rollupHeaders = []string{"Runs", "Pass rate", "Out. mean", "Out. std", "Proc mean", "Proc std", "Var flag"}

// rollup is what the runs of one task say together.
func (p *printer) rollup(s *Section, t *Task) {
	p.raw("\n")
	p.para(bold, "", fmt.Sprintf("%s · variance over %s · %s · %s", cut(t.ID, 100), plural(t.Planned, "run"), cut(s.Mind, 40), cut(s.World, 20)))
	p.table(grid{rollupHeaders, [][]cell{rollupRow(t, false)}}, grid{rollupHeaders, [][]cell{rollupRow(t, true)}})
	p.taskNotes(t)
}

// rollupRow is the row of a task; compact is narrower and higher.
func rollupRow(t *Task, compact bool) []cell {
	rate, style := rateCell(t, compact)
	missing := func(e stats.Estimate, f func(float64) string, n int) cell {
		if v, ok := e.Get(); ok {
			return say(f(v))
		}
		if compact {
			return cell{fmt.Sprintf("— (n=%d)", n), faint}
		}
		return cell{notComputed, faint}
	}
	flag := cell{t.Variance, none}
	switch t.Variance {
	case "":
		flag = missing(stats.Estimate{}, nil, t.Scored)
	case Flaky:
		flag.style = yellow
	}
	return []cell{say(strconv.Itoa(t.Planned)), {rate, style},
		missing(t.Outcome.Mean, decimal, t.Outcome.N), missing(t.Outcome.Deviation, decimal3, t.Outcome.N),
		missing(t.Process.Mean, decimal, t.Process.N), missing(t.Process.Deviation, decimal3, t.Process.N), flag}
}

// rateCell is the pass rate with what must not be apart from it: the counts, the interval and the unscored runs.
func rateCell(t *Task, compact bool) (string, lipgloss.Style) {
	style, between := green, " "
	if compact {
		between = "\n"
	}
	var parts []string
	if v, ok := t.PassRate.Value.Get(); ok {
		if v < 1 {
			style = red
		}
		parts = append(parts, fmt.Sprintf("%d/%d %s", t.Passed, t.Scored, percent(v)))
		if compact {
			parts = append(parts, strings.TrimSuffix(ends(t.PassRate.Interval), " %"))
		} else {
			parts = append(parts, "["+ends(t.PassRate.Interval)+"]")
		}
	} else {
		style = yellow
		parts = append(parts, "— (n=0)")
	}
	if n := t.Planned - t.Scored; n > 0 {
		style = yellow
		parts = append(parts, fmt.Sprintf("%d unscored", n))
	}
	return strings.Join(parts, between), style
}

// taskNotes are the lines beneath a roll-up.
func (p *printer) taskNotes(t *Task) {
	if n := t.Planned - t.Scored; n > 0 {
		p.para(yellow, "  ", scoredOf(&t.Counts)+": "+strings.Join(reasons(t, mostNotes, clean[tooleval.Text]), "; "))
	}
	if len(t.Failures) > 0 {
		var parts []string
		for i, f := range t.Failures {
			if i == mostNotes {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, fmt.Sprintf("%d × %s", f.N, blame(f.Category, f.Owner)))
		}
		p.para(none, "  ", "failures: "+strings.Join(parts, ", "))
	}
	if t.Retried > 0 {
		p.para(none, "  ", plural(t.Retried, "run")+" took more than one attempt; only the last is a sample")
	}
	if t.Combined != nil {
		p.para(none, "  ", fmt.Sprintf("combined mean %s, std %s over %s (lossy)", estimate(t.Combined.Mean, decimal),
			estimate(t.Combined.Deviation, decimal3), plural(t.Combined.N, "run")))
	}
	if t.Variance == Flaky || p.verbose && t.Scored > 1 {
		p.para(none, "  ", "all of k pass (pass^k): "+chances(t.PassHatK))
		p.para(none, "  ", "one of k passes (pass@k): "+chances(t.PassAtK))
	}
}

// scoredOf says what became of the planned runs: "passed 5/5 scored, 5 unscored of 10".
func scoredOf(c *Counts) string {
	return fmt.Sprintf("passed %d/%d scored, %d unscored of %d", c.Passed, c.Scored, c.Planned-c.Scored, c.Planned)
}

// reasons are why runs have no verdict, made safe by the argument.
func reasons(t *Task, most int, safe func(tooleval.Text) string) []string {
	var parts []string
	for i, c := range t.UnscoredWhy {
		if i == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%d × %s", c.N, safe(c.What)))
	}
	if t.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d × no record of the run", t.Missing))
	}
	return parts
}

func chances(list []AtK) string {
	var parts []string
	for i, a := range list {
		if (a.K == 4 || a.K > 5 && a.K < mostK) && i < len(list)-1 {
			continue // a person sees the slope from fewer
		}
		parts = append(parts, fmt.Sprintf("k=%d %s", a.K, estimate(a.Value, percent)))
	}
	return strings.Join(parts, ", ")
}

// tasks are the roll-ups of many tasks in one table, or in lines where it doesn't fit.
func (p *printer) tasks(s *Section) {
	var wide, compact grid
	wide.headers = append([]string{"Task"}, rollupHeaders...)
	compact.headers = wide.headers
	left, shown := 0, []*Task{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		perfect := t.Passed == t.Planned
		if len(s.Tasks) > mostLines && !p.verbose && (perfect || len(shown) == mostLines) {
			left++
			continue
		}
		shown = append(shown, t)
		id := say(cut(t.ID, 40))
		wide.rows = append(wide.rows, append([]cell{id}, rollupRow(t, false)...))
		compact.rows = append(compact.rows, append([]cell{id}, rollupRow(t, true)...))
	}
	p.raw("\n")
	p.para(bold, "", fmt.Sprintf("variance by task · %s · %s", cut(s.Mind, 40), cut(s.World, 20)))
	p.taskTable(shown, wide, compact)
	if left > 0 {
		p.para(faint, "… ", plural(left, "more task")+" not shown, of which "+plural(s.perfect()-perfectIn(shown), "task")+" passed in all runs")
	}
	for _, t := range shown {
		if t.Planned > t.Scored || t.Variance == Flaky || len(t.Failures) > 0 || p.verbose {
			p.para(none, "", cut(t.ID, 60))
			p.taskNotes(t)
		}
	}
}

func (p *printer) taskTable(tasks []*Task, wide, compact grid) {
	if len(tasks) == 0 {
		return
	}
	for _, g := range []grid{wide, compact} {
		if drawn, ok := p.drawTable(g.headers, g.rows); ok {
			p.raw(drawn + "\n")
			return
		}
	}
	for _, t := range tasks {
		rate, style := rateCell(t, false)
		flag := t.Variance
		if flag == "" {
			flag = notComputed
		}
		p.para(style, "", fmt.Sprintf("%s · %s · outcome %s ± %s · process %s ± %s · %s", cut(t.ID, 60), rate,
			estimate(t.Outcome.Mean, decimal), estimate(t.Outcome.Deviation, decimal3),
			estimate(t.Process.Mean, decimal), estimate(t.Process.Deviation, decimal3), flag))
	}
}

func (s *Section) perfect() int {
	n := 0
	for i := range s.Tasks {
		if s.Tasks[i].Passed == s.Tasks[i].Planned {
			n++
		}
	}
	return n
}

func perfectIn(tasks []*Task) int {
	n := 0
	for _, t := range tasks {
		if t.Passed == t.Planned {
			n++
		}
	}
	return n
}
