package compare

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/tooleval/tooleval/stats"
)

// baseline holds each task, and each check of it, to what the same one did in an earlier eval.
func (g *gate) baseline(base *Side) Condition {
	margin := g.bars.Margin
	if margin == nil {
		margin = new(big.Rat)
	}
	c := Condition{Name: "baseline", Mind: g.side.mind, Answer: Pass, Bar: fmt.Sprintf("no task falls by more than %s below %s", rateText(margin), base.eval.ID)}
	if margin.Sign() == 0 {
		c.Bar = "no task falls below " + base.eval.ID
	}
	r := regression{gate: g, margin: margin}
	byID := map[string]int{}
	for i, t := range g.side.tasks {
		byID[t.id] = i
	}
	for _, t := range base.tasks {
		i, ok := byID[t.id]
		if !ok {
			r.say(t.id, "", Fail, "it vanished: the baseline has it and this eval doesn't")
			continue
		}
		r.task(base, t, i)
	}
	for _, m := range r.pairs {
		r.shownFall(&m)
	}
	fails, open := 0, 0
	for _, t := range r.answers {
		switch t.Answer {
		case Fail:
			fails++
		case NotEnough:
			open++
		}
	}
	slices.SortStableFunc(r.answers, func(a, b TaskAnswer) int { return severity(a.Answer) - severity(b.Answer) })
	c.Tasks = r.answers[:min(len(r.answers), mostTasks)]
	switch {
	case len(base.tasks) == 0:
		c.Answer, c.Why = NotEnough, "the baseline has no task"
	case fails > 0:
		c.Answer, c.Why = Fail, fmt.Sprintf("%s worse than in the baseline or gone", things(fails))
	case open > 0:
		c.Answer, c.Why = NotEnough, things(open)+" can't be compared with the baseline"
	case g.over != "":
		c.Answer, c.Why = NotEnough, g.over
	case g.bars.Evidence:
		r.nonInferior(&c)
	default:
		c.Why = fmt.Sprintf("none of %d tasks fell", len(base.tasks))
	}
	return c
}

func things(n int) string {
	if n == 1 {
		return "1 task or check"
	}
	return fmt.Sprintf("%d tasks or checks", n)
}

func severity(a Answer) int {
	if a == Fail {
		return 0
	}
	return 1
}

type regression struct {
	gate    *gate
	margin  *big.Rat
	answers []TaskAnswer
	pairs   []regressed
	// The rates of the tasks that can be compared.
	before, after []float64
}

type regressed struct {
	task, check   string
	before, after stats.Count
}

func (r *regression) say(task, check string, a Answer, format string, args ...any) {
	r.answers = append(r.answers, TaskAnswer{TaskID: task, Check: check, Answer: a, Why: fmt.Sprintf(format, args...)})
}

// task compares one task that both evals have; i is its place in the gate's eval.
func (r *regression) task(base *Side, t *taskRuns, i int) {
	g := r.gate
	now, before, after := g.side.tasks[i], base.totals(t), &g.tasks[i]
	if t.digest != now.digest {
		r.say(t.id, "", NotEnough, "its definition has changed since: run the baseline again")
		return
	}
	if before.Scored == 0 || after.Scored == 0 {
		whose := "of the baseline"
		if after.Scored == 0 {
			whose = "of this eval"
		}
		r.say(t.id, "", NotEnough, "no run %s is scored", whose)
		return
	}
	r.before = append(r.before, float64(before.Passed)/float64(before.Scored))
	r.after = append(r.after, float64(after.Passed)/float64(after.Scored))
	best := stats.Count{Successes: after.Passed + after.Unscored, Trials: after.Planned}
	r.compare(t.id, "", before.count(), after.count(), best, after.Unscored)
	for j, name := range t.checks {
		if t.info&(1<<j) != 0 || before.checks[j].Trials == 0 {
			continue
		}
		k := slices.Index(now.checks, name)
		if k < 0 || after.checks[k].Trials == 0 {
			r.say(t.id, name, NotEnough, "the baseline has this check and no run of this eval does")
			continue
		}
		n := after.checks[k]
		missing := max(after.Planned-n.Trials, 0)
		if now.info&(1<<k) != 0 {
			continue
		}
		r.compare(t.id, name, before.checks[j], n, stats.Count{Successes: n.Successes + missing, Trials: n.Trials + missing}, after.Unscored)
	}
}

// compare holds one rate to the baseline's. best is the rate if all runs without a verdict had passed.
func (r *regression) compare(task, check string, before, after, best stats.Count, unscored int) {
	g := r.gate
	r.pairs = append(r.pairs, regressed{task, check, before, after})
	if g.bars.Evidence {
		return // see shownFall and nonInferior
	}
	fell := func(c stats.Count) bool {
		bar := new(big.Rat).Sub(big.NewRat(int64(before.Successes), int64(before.Trials)), r.margin)
		return big.NewRat(int64(c.Successes), int64(c.Trials)).Cmp(bar) < 0
	}
	worst := stats.Count{Successes: after.Successes, Trials: best.Trials}
	counts := fmt.Sprintf("%d of %d passed before, %d of %d now", before.Successes, before.Trials, after.Successes, after.Trials)
	decides := g.bars.MaxUnscored == nil && unscored > 0
	switch {
	case fell(after) && (before.Trials < 2 || after.Trials < 2):
		r.say(task, check, NotEnough, "%s: a single run on a side can't tell a fall from chance", counts)
	case fell(after) && decides && !fell(best):
		r.say(task, check, NotEnough, "%s, and %d have no verdict, which decides", counts, unscored)
	case fell(after):
		d := stats.CompareRates(before, after, 0.95)
		r.say(task, check, Fail, "%s: %+.0f points (95 %% interval %+.0f to %+.0f; %s by itself)", counts,
			100*d.Difference.Value, 100*d.Interval.Low, 100*d.Interval.High, pText(d.P.Value))
	case decides && fell(worst):
		r.say(task, check, NotEnough, "%s, and %d have no verdict, which decides", counts, unscored)
	}
}

// shownFall fails a task or check whose fall by more than the margin is shown, with the level shared among all of them.
func (r *regression) shownFall(m *regressed) {
	if !r.gate.bars.Evidence || m.before.Trials < 2 || m.after.Trials < 2 {
		return
	}
	d := stats.CompareRates(m.before, m.after, 1-0.05/float64(len(r.pairs)))
	if !d.Interval.OK {
		return
	}
	if high := new(big.Rat).SetFloat64(-d.Interval.High); high != nil && high.Cmp(r.margin) > 0 {
		r.say(m.task, m.check, Fail, "%d of %d passed before, %d of %d now: a fall by at least %.0f points is shown", m.before.Successes,
			m.before.Trials, m.after.Successes, m.after.Trials, -100*d.Interval.High)
	}
}

// nonInferior answers by the mean over tasks.
func (r *regression) nonInferior(c *Condition) {
	margin, _ := r.margin.Float64()
	t := stats.NonInferiorityTest(r.before, r.after, margin, 0.95)
	switch t.Verdict {
	case stats.NonInferior:
		c.Why = "a fall of the mean over tasks by more than " + rateText(r.margin) + " is ruled out"
	case stats.Inferior:
		c.Answer, c.Why = Fail, "a fall of the mean over tasks by more than "+rateText(r.margin)+" is shown"
	default:
		c.Answer, c.Why = NotEnough, "a fall of the mean over tasks by more than "+rateText(r.margin)+" is neither shown nor ruled out: "+t.Why
	}
	if b, ok := t.Bound.Get(); ok {
		c.Measured = fmt.Sprintf("%+.1f points, at least %+.1f", 100*t.Difference.Value.Value, 100*b)
	}
}
