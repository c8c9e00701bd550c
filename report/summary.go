package report

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// baselines prints one line a baseline, and one more for each other verdict on some tasks. They are blended with nothing.
func (p *printer) baselines(list []Baseline) {
	type verdict struct{ name, status, why string }
	tasks := map[verdict][]string{}
	var order []verdict
	total := map[string]int{}
	for i := range list {
		v := verdict{list[i].Name, list[i].Status, string(list[i].Why)}
		if tasks[v] == nil {
			order = append(order, v)
		}
		tasks[v] = append(tasks[v], list[i].TaskID)
		total[v.name]++
	}
	slices.SortStableFunc(order, func(a, b verdict) int { return rank(a.name) - rank(b.name) })
	if len(order) > 0 {
		p.raw("\n")
	}
	for i, v := range order {
		if i == mostLines && !p.verbose {
			p.para(faint, "… ", plural(len(order)-i, "more verdict")+" of baselines")
			return
		}
		text, style := baselineWords(v.status, v.why)
		if of := tasks[v]; len(of) < total[v.name] {
			text += fmt.Sprintf(" · %d of %d tasks", len(of), total[v.name])
			if v.status != BaselineFails {
				text += ": " + names(of, 5)
			}
		} else if len(of) > 1 {
			text += fmt.Sprintf(" · all %d tasks", len(of))
		}
		p.para(style, "", cut(v.name, 40)+": "+text)
	}
}

// rank puts the baselines that every task has first.
func rank(name string) int {
	switch name {
	case DoNothing:
		return 0
	case Random:
		return 1
	}
	return 2
}

func names(list []string, most int) string {
	var parts []string
	for i, s := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		parts = append(parts, cut(s, 60))
	}
	return strings.Join(parts, ", ")
}

func baselineWords(status, why string) (string, lipgloss.Style) {
	switch status {
	case BaselineFails:
		return "fails as it should", green
	case BaselinePasses:
		return "PASSES: the task is broken", red
	case BaselineMayPass:
		return "may pass: " + clean(why), none
	case BaselineUnscored:
		return "unscored: " + clean(why), yellow
	}
	return "not run (" + clean(why) + ")", faint
}

// summary prints what holds over all tasks of one mind.
func (p *printer) summary(r *Report, s *Section) {
	sum := &s.Summary
	p.raw("\n")
	p.para(bold, "", fmt.Sprintf("suite %s · %s · %s", cut(r.Eval.Suite, 60), cut(s.Mind, 40), cut(s.World, 20)))
	line := func(style lipgloss.Style, key, text string) { p.para(style, fmt.Sprintf("  %-10s", key), text) }
	style := none
	if sum.Incomplete != "" {
		style = yellow
		line(style, "pass rate", "incomplete: "+sum.Incomplete)
		line(style, "", "of the scored runs: "+mean(&sum.PassRate, percent, percent))
	} else {
		line(style, "pass rate", mean(&sum.PassRate, percent, percent))
	}
	if sum.Planned > sum.Scored {
		line(yellow, "", fmt.Sprintf("if all others had failed: %s, if they had passed: %s",
			estimate(sum.WorstPassRate, percent), estimate(sum.BestPassRate, percent)))
	}
	line(none, "outcome", mean(&sum.Outcome, decimal, decimal3)+within(sum))
	line(none, "process", mean(&sum.Process, decimal, decimal3))
	if sum.Combined != nil && r.Blend != nil {
		line(none, "combined", mean(sum.Combined, decimal, decimal3)+" ("+r.Blend.Label+")")
	}
	line(style, "runs", scoredOf(&sum.Counts)+", coverage "+estimate(sum.Coverage, percent))
	if text := unclustered(sum); text != "" {
		line(none, "all runs", text)
	}
	if sum.Flaky > 0 {
		line(yellow, "flaky", fmt.Sprintf("the runs of %d of %s disagree", sum.Flaky, plural(sum.Tasks, "task")))
	}
	line(none, "tools", tools(s.Tools, p.verbose))
	if s.Faults != nil {
		for i, text := range faultLines(s.Faults, clean[tooleval.Text]) {
			line(none, []string{"faults", ""}[min(i, 1)], text)
		}
	}
	if text := usage(&s.Usage, clean[string]); text != "" {
		line(none, "usage", text)
	}
	p.passK(sum)
	p.warnings(s.Warnings)
}

// mean is a mean over tasks with what it rests on.
func mean(m *stats.Mean, f, e func(float64) string) string {
	v, ok := m.Value.Get()
	if !ok {
		return notComputed + ": " + byTask(m.Value.Why)
	}
	text := f(v) + ", mean over " + plural(m.N, "task")
	if v, ok := m.Error.Get(); ok {
		text += ", standard error " + e(v)
	}
	if m.Interval.OK {
		text += fmt.Sprintf(", 95 %% interval %s to %s", f(m.Interval.Low), f(m.Interval.High))
	} else if !m.Error.OK {
		text += "; error " + notComputed + ": " + byTask(m.Error.Why)
	}
	return text
}

// byTask says it in our words: the cluster is the task here.
func byTask(why string) string { return strings.ReplaceAll(clean(why), "cluster", "task") }

func within(s *Summary) string {
	a, ok := s.OutcomeWithin.Get()
	b, both := s.OutcomeBetween.Get()
	if !ok || !both {
		return ""
	}
	return fmt.Sprintf("; std within tasks %s, between tasks %s", decimal3(a), decimal3(b))
}

// tools names the tools that gave errors, or all of them.
func tools(list []Tool, all bool) string {
	calls, errors, refused := 0, 0, 0
	var parts []string
	for _, t := range list {
		calls += t.Calls
		errors += t.Errors
		refused += t.Refused
		if t.Errors+t.Refused == 0 && !all {
			continue
		}
		text := fmt.Sprintf("%s %d of %d (%s)", cut(t.Name, 40), t.Errors, t.Calls, estimate(t.ErrorShare, percent))
		if t.Refused > 0 {
			text += fmt.Sprintf(" and %d refused", t.Refused)
		}
		if v, ok := t.MeanMS.Get(); ok && all {
			text += ", " + milliseconds(v) + " a call"
		}
		parts = append(parts, text)
	}
	text := plural(calls, "call") + " of " + plural(len(list), "tool") + ", " + plural(errors, "error")
	if refused > 0 {
		text += fmt.Sprintf(", %d refused", refused)
	}
	if len(parts) > mostNotes && !all {
		parts = append(parts[:mostNotes], "…")
	}
	if len(parts) > 0 {
		text += ": errors of " + strings.Join(parts, "; ")
	}
	return text
}

// usage puts what was consumed in words; names are made safe by the argument.
func usage(u *Usage, safe func(string) string) string {
	if u.Reported == 0 {
		return ""
	}
	var parts []string
	add := func(t Total, noun string, f func(float64) string) {
		if v, ok := t.Sum.Get(); ok {
			text := f(v) + " " + noun
			if t.N < u.Runs {
				text += fmt.Sprintf(" (%d of %d runs)", t.N, u.Runs)
			}
			parts = append(parts, text)
		}
	}
	add(u.InputTokens, "input tokens", whole)
	add(u.CachedTokens, "of them cached", whole)
	add(u.OutputTokens, "output tokens", whole)
	add(u.Turns, "turns", whole)
	add(u.CostUSD, "USD", func(v float64) string { return fmt.Sprintf("%.4f", v) })
	if len(u.Models) > 0 {
		models := make([]string, 0, 5)
		for _, m := range u.Models[:min(5, len(u.Models))] {
			models = append(models, safe(m))
		}
		if n := len(u.Models) - len(models); n > 0 {
			models = append(models, fmt.Sprintf("and %d more", n))
		}
		parts = append(parts, "by "+strings.Join(models, ", "))
	}
	return strings.Join(parts, ", ")
}

// sideBySide puts the minds beneath each other, without saying which is better: that is for compare.
func (p *printer) sideBySide(r *Report) {
	g := grid{headers: []string{"Mind", "Pass rate", "Outcome", "Process", "Scored"}}
	for i := range r.Sections {
		s := &r.Sections[i]
		sum := &s.Summary
		rate := estimate(sum.PassRate.Value, percent)
		if e, ok := sum.PassRate.Error.Get(); ok {
			rate += " ± " + percentDigits(e)
		}
		if sum.Incomplete != "" {
			rate = "incomplete"
		}
		g.rows = append(g.rows, []cell{say(cut(s.Mind, 30)), say(rate), say(estimate(sum.Outcome.Value, decimal)),
			say(estimate(sum.Process.Value, decimal)), say(fmt.Sprintf("%d of %d", sum.Scored, sum.Planned))})
	}
	p.raw("\n")
	p.para(bold, "", "minds side by side (± standard error over tasks; a difference of this size may be chance)")
	p.table(g)
}
