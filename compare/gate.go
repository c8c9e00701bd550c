package compare

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
)

// An Answer is what a gate says.
type Answer string

// The answers. Absence of evidence is neither of the other two.
const (
	Pass      Answer = "pass"
	Fail      Answer = "fail"
	NotEnough Answer = "not_enough_evidence"
)

// A Result is what a gate says about an eval: Fail when any condition fails, else NotEnough when any can't be told, else
// Pass.
type Result struct {
	SchemaVersion int         `json:"schema_version"`
	Eval          string      `json:"eval"`
	Baseline      string      `json:"baseline,omitempty"`
	Answer        Answer      `json:"answer"`
	Conditions    []Condition `json:"conditions"`
	// Warnings are what makes the answer less than it seems.
	Warnings []string `json:"warnings,omitempty"`
}

// A Condition is one bar and how one mind did at it.
type Condition struct {
	// Name is pass_rate, pass_hat_K, process, unscored, or baseline.
	Name   string `json:"name"`
	Mind   string `json:"mind"`
	Answer Answer `json:"answer"`
	// Bar and Measured are in words; Measured is empty when there is nothing to measure.
	Bar      string `json:"bar"`
	Measured string `json:"measured,omitempty"`
	// Why is the reason in a sentence.
	Why string `json:"why"`
	// Tasks are the tasks that the answer rests on, where it is not all of them.
	Tasks []TaskAnswer `json:"tasks,omitempty"`
}

// A TaskAnswer is the answer for one task. The name of a task is text from outside.
type TaskAnswer struct {
	TaskID string `json:"task_id"`
	// Check names the check that it is about; empty for the task itself.
	Check  string `json:"check,omitempty"`
	Answer Answer `json:"answer"`
	Why    string `json:"why"`
}

// Gate holds the minds of an eval to the bars, each by itself, and to the same mind of the baseline (its first where it
// doesn't have that mind). baseline is nil where there is none.
func Gate(sides, baseline []*Side, bars Bars) Result {
	r := Result{SchemaVersion: SchemaVersion, Answer: Pass, Conditions: []Condition{}}
	if len(baseline) > 0 {
		r.Baseline = baseline[0].eval.ID
	}
	for _, s := range sides {
		r.Eval = s.eval.ID
		g := newGate(s, bars)
		r.Conditions = append(r.Conditions, g.conditions()...)
		if n := g.all.Retried; n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d of %d runs took more than one attempt; only the last of each counts", s.mind, n, g.all.Planned))
		}
		if len(baseline) > 0 {
			r.Conditions = append(r.Conditions, g.baseline(partner(baseline, s)))
		}
	}
	if len(r.Conditions) == 0 {
		r.Answer = NotEnough
		r.Conditions = append(r.Conditions, Condition{Name: "runs", Answer: NotEnough, Bar: "at least one run", Why: "there is no mind and no run to hold to anything"})
	}
	for _, c := range r.Conditions {
		r.Answer = worst(r.Answer, c.Answer)
	}
	if len(sides) > 0 {
		r.Warnings = append(r.Warnings, *sides[0].warnings...)
	}
	return r
}

// worst is the answer of two conditions together.
func worst(a, b Answer) Answer {
	switch {
	case a == Fail || b == Fail:
		return Fail
	case a == NotEnough || b == NotEnough:
		return NotEnough
	}
	return Pass
}

// A gate holds one side to bars.
type gate struct {
	side  *Side
	bars  Bars
	tasks []totals
	all   Counts
	// over says why runs without a verdict stand in the way of passing; empty when they don't.
	over string
}

func newGate(s *Side, bars Bars) *gate {
	g := &gate{side: s, bars: bars}
	for _, t := range s.tasks {
		n := s.totals(t)
		g.tasks = append(g.tasks, n)
		g.all.add(n.Counts)
	}
	if bars.MaxUnscored != nil && g.share().Cmp(bars.MaxUnscored) > 0 {
		g.over = fmt.Sprintf("%d of %d planned runs have no verdict, more than %s", g.all.Unscored, g.all.Planned, rateText(bars.MaxUnscored))
	}
	return g
}

// share is the share of planned runs without a verdict; all of them where nothing was planned.
func (g *gate) share() *big.Rat {
	if g.all.Planned == 0 {
		return big.NewRat(1, 1)
	}
	return big.NewRat(int64(g.all.Unscored), int64(g.all.Planned))
}

func (g *gate) conditions() []Condition {
	var list []Condition
	add := func(c Condition) {
		c.Mind = g.side.mind
		list = append(list, c)
	}
	if bar := g.bars.MaxUnscored; bar != nil {
		c := Condition{Name: "unscored", Answer: Pass, Bar: "at most " + rateText(bar), Measured: measuredText(g.share()),
			Why: fmt.Sprintf("%d of %d planned runs have no verdict", g.all.Unscored, g.all.Planned)}
		if g.over != "" {
			c.Answer, c.Why = NotEnough, g.over
		}
		add(c)
	}
	if g.bars.PassRate != nil {
		add(g.rate("pass_rate", 1, g.bars.PassRate))
	}
	for _, k := range g.bars.PassHatK {
		add(g.rate(fmt.Sprintf("pass_hat_%d", k.K), k.K, k.Rate))
	}
	if g.bars.Process != nil {
		add(g.process())
	}
	return list
}

// rate holds the mean over tasks of pass^k (the pass rate for k = 1) to a bar.
func (g *gate) rate(name string, k int, bar *big.Rat) Condition {
	c := Condition{Name: name, Bar: "at least " + rateText(bar)}
	measured, short := g.passHatK(k, func(t *Counts) (int, int) { return t.Passed, t.Scored })
	best, _ := g.passHatK(k, func(t *Counts) (int, int) { return t.Passed + t.Unscored, t.Planned })
	worst, _ := g.passHatK(k, func(t *Counts) (int, int) { return t.Passed, t.Planned })
	if measured != nil {
		c.Measured = measuredText(measured)
	}
	if best == nil || best.Cmp(bar) < 0 {
		switch {
		case best != nil && (g.all.Unscored == 0 || g.bars.Evidence):
			c.Answer, c.Why = Fail, fmt.Sprintf("%s is below %s", c.Measured, rateText(bar))
			return g.withInterval(c, k, bar)
		case best != nil:
			c.Answer, c.Why = Fail, fmt.Sprintf("it would be %s even if every run without a verdict had passed, below %s", measuredText(best), rateText(bar))
			return c
		}
	}
	switch {
	case measured == nil || len(short) > 0:
		c.Answer, c.Tasks = NotEnough, short
		c.Why = fmt.Sprintf("%d of %d tasks have fewer than %d scored runs", len(short), len(g.tasks), k)
		if len(g.tasks) == 0 {
			c.Why = "there is no task"
		}
		if len(short) > mostTasks {
			c.Tasks = short[:mostTasks]
		}
		return c
	case g.over != "":
		c.Answer, c.Why = NotEnough, g.over
		return c
	case g.bars.MaxUnscored == nil && g.all.Unscored > 0:
		if worst != nil && worst.Cmp(bar) >= 0 {
			c.Answer, c.Why = Pass, fmt.Sprintf("it would be %s even if every run without a verdict had failed, at least %s", measuredText(worst), rateText(bar))
			return g.withInterval(c, k, bar)
		}
		c.Answer = NotEnough
		c.Why = fmt.Sprintf("%d of %d planned runs have no verdict, and what they would have been decides", g.all.Unscored, g.all.Planned)
		return c
	}
	c.Answer, c.Why = Pass, fmt.Sprintf("%s is at least %s", c.Measured, rateText(bar))
	if measured.Cmp(bar) < 0 {
		c.Answer, c.Why = Fail, fmt.Sprintf("%s is below %s", c.Measured, rateText(bar))
	}
	return g.withInterval(c, k, bar)
}

const mostTasks = 50 // that are listed with a condition

// passHatK is the mean over tasks, exactly; nil when a task has fewer than k trials, and then with these tasks.
func (g *gate) passHatK(k int, count func(*Counts) (passed, trials int)) (*big.Rat, []TaskAnswer) {
	type group struct{ passed, trials int }
	groups := map[group]int64{} // many tasks have the same counts, and adding fractions is slow
	var short []TaskAnswer
	for i := range g.tasks {
		c, n := count(&g.tasks[i].Counts)
		if n < k {
			short = append(short, TaskAnswer{TaskID: g.side.tasks[i].id, Answer: NotEnough, Why: fmt.Sprintf("%d of %d runs are scored", g.tasks[i].Scored, g.tasks[i].Planned)})
			continue
		}
		groups[group{c, n}]++
	}
	if len(short) > 0 || len(g.tasks) == 0 {
		return nil, short
	}
	sum := new(big.Rat)
	for gr, n := range groups {
		all := new(big.Int).Binomial(int64(gr.trials), int64(k))
		some := new(big.Int).Binomial(int64(gr.passed), int64(k))
		sum.Add(sum, new(big.Rat).SetFrac(some.Mul(some, big.NewInt(n)), all))
	}
	return sum.Quo(sum, new(big.Rat).SetInt64(int64(len(g.tasks)))), nil
}

// withInterval turns the answer of a number into that of its interval, where evidence is asked for.
func (g *gate) withInterval(c Condition, k int, bar *big.Rat) Condition {
	if !g.bars.Evidence {
		return c
	}
	var iv stats.Interval
	if k == 1 && len(g.tasks) == 1 {
		iv = stats.Wilson(g.tasks[0].Passed, g.tasks[0].Scored, 0.95)
	} else {
		var counts []stats.Count
		for i := range g.tasks {
			counts = append(counts, g.tasks[i].count())
		}
		iv = stats.MeanPassHatK(counts, k, 0.95).Interval
	}
	return evidence(c, iv, bar)
}

// evidence answers by an interval.
func evidence(c Condition, iv stats.Interval, bar *big.Rat) Condition {
	if !iv.OK {
		c.Answer, c.Why = NotEnough, "there is no interval: "+iv.Why
		return c
	}
	ends := fmt.Sprintf("the 95 %% interval is %.1f to %.1f %%", 100*iv.Low, 100*iv.High)
	low, high := new(big.Rat).SetFloat64(iv.Low), new(big.Rat).SetFloat64(iv.High)
	switch {
	case low.Cmp(bar) >= 0:
		c.Answer, c.Why = Pass, ends+", all of it at least "+rateText(bar)
	case high.Cmp(bar) < 0:
		c.Answer, c.Why = Fail, ends+", all of it below "+rateText(bar)
	default:
		c.Answer, c.Why = NotEnough, ends+", which lies on both sides of "+rateText(bar)+": more tasks or runs would tell"
	}
	return c
}

// process holds the mean over tasks of the process score to a bar.
func (g *gate) process() Condition {
	c := Condition{Name: "process", Bar: "at least " + rateText(g.bars.Process)}
	var means []float64
	var without []TaskAnswer
	best := 0.0
	for i := range g.tasks {
		t := &g.tasks[i]
		v, ok := t.process.Get()
		if !ok {
			without = append(without, TaskAnswer{TaskID: g.side.tasks[i].id, Answer: NotEnough, Why: "no scored run has a process score"})
			best++
			continue
		}
		means = append(means, v)
		best += (v*float64(t.Scored) + float64(t.Unscored)) / float64(max(t.Planned, 1))
	}
	m := scoreMean(means, 0.95)
	if v, ok := m.Value.Get(); ok {
		c.Measured = scoreText(v)
	}
	switch {
	case len(g.tasks) > 0 && !reaches(best/float64(len(g.tasks)), g.bars.Process):
		c.Answer = Fail
		c.Why = fmt.Sprintf("%s is below %s, whatever the runs without a score would have had", orNone(c.Measured), rateText(g.bars.Process))
		return c
	case len(means) == 0:
		c.Answer, c.Why = NotEnough, "no task has a process score"
		return c
	case len(without) > 0:
		c.Answer, c.Tasks = NotEnough, without[:min(len(without), mostTasks)]
		c.Why = fmt.Sprintf("%d of %d tasks have no process score", len(without), len(g.tasks))
		return c
	case g.over != "":
		c.Answer, c.Why = NotEnough, g.over
		return c
	case g.bars.MaxUnscored == nil && g.all.Unscored > 0:
		c.Answer = NotEnough
		c.Why = fmt.Sprintf("%d of %d planned runs have no verdict, and what they would have had decides", g.all.Unscored, g.all.Planned)
		return c
	}
	c.Answer, c.Why = Pass, fmt.Sprintf("%s is at least %s", c.Measured, rateText(g.bars.Process))
	if !reaches(m.Value.Value, g.bars.Process) {
		c.Answer, c.Why = Fail, fmt.Sprintf("%s is below %s", c.Measured, rateText(g.bars.Process))
	}
	if g.bars.Evidence {
		return evidence(c, m.Interval, g.bars.Process)
	}
	return c
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Explain is a Result in lines of plain text, safe for a terminal.
func (r *Result) Explain() []string {
	var lines []string
	for _, c := range r.Conditions {
		line := fmt.Sprintf("%s: %s (%s", c.Answer.words(), plain.Text(c.Words()), plain.Text(c.Bar))
		if c.Mind != "" {
			line += ", " + plain.Text(plain.Clip(c.Mind, maxName))
		}
		lines = append(lines, line+"): "+plain.Text(c.Why))
		for _, t := range c.Tasks {
			text := plain.Text(plain.Clip(t.TaskID, maxName))
			if t.Check != "" {
				text += ", check " + plain.Text(plain.Clip(t.Check, maxName))
			}
			lines = append(lines, "  "+text+": "+plain.Text(t.Why))
		}
	}
	for _, w := range r.Warnings {
		lines = append(lines, "warning: "+plain.Text(w))
	}
	return lines
}

// Words is the name for people: "pass rate", "pass^3".
func (c *Condition) Words() string {
	if k, ok := strings.CutPrefix(c.Name, "pass_hat_"); ok {
		return "pass^" + k
	}
	return strings.ReplaceAll(c.Name, "_", " ")
}

func (a Answer) words() string { return strings.ReplaceAll(string(a), "_", " ") }
