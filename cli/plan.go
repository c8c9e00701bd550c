package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
	"github.com/tooleval/tooleval/store"
)

type planFlags struct {
	suite, eval, results, format string
	rate, icc, pairing           float64
	difference, power            float64
	runs, tasks                  int
}

// A planning is what tooleval plan says: plain data.
type planning struct {
	SchemaVersion int    `json:"schema_version"`
	Suite         string `json:"suite"`
	// Eval is the earlier eval that the rate and the correlation are from; empty when they are assumed.
	Eval string `json:"eval,omitempty"`
	Mind string `json:"mind,omitempty"`
	// Tasks and Runs of each task, on each side of the comparison.
	Tasks int `json:"tasks"`
	Runs  int `json:"runs"`
	// Rate is the pass rate, ICC the share of its variance that lies between tasks, Pairing how far the true rates of a
	// task go along between the two sides.
	Rate    float64 `json:"rate"`
	ICC     float64 `json:"icc"`
	Pairing float64 `json:"pairing"`
	Level   float64 `json:"level"`
	Power   float64 `json:"power"`
	// Detectable is what Runs and other numbers of runs can see.
	Detectable []stats.Detectable `json:"detectable"`
	// Difference is the one that Needed is about.
	Difference  float64          `json:"difference"`
	RunsNeeded  stats.Detectable `json:"runs_needed"`
	TasksNeeded stats.Detectable `json:"tasks_needed"`
	Assumptions []string         `json:"assumptions"`
}

func (a *App) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --suite NAME",
		Short: "How small a difference can N runs show, and how many runs are needed",
		Long: `Says what a comparison of two evals of a suite can show: the smallest difference of the pass rate that N runs of
each task find with the power asked for, and how many runs or tasks a difference needs. The pass rate and how
alike the runs of a task are come from an earlier eval, or are assumed. Nothing is run.`,
		Example: `  tooleval plan --suite calc --eval latest --runs 5 --difference 0.1
  tooleval plan --suite calc --rate 0.7 --icc 0.5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			p, err := a.planning(&f)
			if err != nil {
				return err
			}
			if f.format == "json" {
				e := json.NewEncoder(a.Stdout)
				e.SetIndent("", "  ")
				return e.Encode(p)
			}
			return p.print(a.Stdout)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "the suite: a name (see: tooleval list) or the path of a folder")
	flags.StringVar(&f.eval, "eval", "", "an earlier eval that tells the pass rate and how alike the runs of a task are")
	flags.StringVar(&f.results, "results", "results", "the folder that evals are looked up in")
	flags.Float64Var(&f.rate, "rate", 0.5, "the pass rate to assume without --eval; 0.5 is the hardest")
	flags.Float64Var(&f.icc, "icc", 0.5, "the share of the variance that lies between tasks, to assume without --eval")
	flags.Float64Var(&f.pairing, "pairing", 0, "how far the true rates of a task go along between the two evals: 0 assumes nothing, 1 that each task changes by the same")
	flags.Float64Var(&f.difference, "difference", 0.1, "the difference of the pass rate that should be seen")
	flags.Float64Var(&f.power, "power", 0.8, "the chance to see it")
	flags.IntVar(&f.runs, "runs", mockRuns, "runs of each task")
	flags.IntVar(&f.tasks, "tasks", 0, "the number of tasks, instead of the suite's")
	flags.StringVar(&f.format, "format", "table", "table or json")
	return cmd
}

func (f *planFlags) check(cmd *cobra.Command) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	given := cmd.Flags().Changed
	if f.suite == "" && f.eval == "" && f.tasks == 0 {
		fail("--suite is required: name a suite (see: tooleval list), an earlier --eval, or a number of --tasks")
	}
	if f.eval != "" && (given("rate") || given("icc")) {
		fail("--rate and --icc are what --eval tells: leave them out, or leave out --eval")
	}
	for _, v := range []struct {
		flag      string
		v         float64
		low, high bool // whether 0 and 1 will do
	}{{"rate", f.rate, false, false}, {"icc", f.icc, true, true}, {"pairing", f.pairing, true, true}, {"difference", f.difference, false, false}, {"power", f.power, false, false}} {
		if !(v.v > 0 || v.low && v.v == 0) || !(v.v < 1 || v.high && v.v == 1) {
			fail("--%s %v: give a number between 0 and 1", v.flag, v.v)
		}
	}
	if f.runs < 1 || f.tasks < 0 {
		fail("--runs and --tasks: give at least 1")
	}
	if !slices.Contains([]string{"table", "json"}, f.format) {
		fail("--format %q: it is table or json", f.format)
	}
	return errors.Join(errs...)
}

func (a *App) planning(f *planFlags) (*planning, error) {
	p := &planning{SchemaVersion: 1, Suite: f.suite, Runs: f.runs, Rate: f.rate, ICC: f.icc, Pairing: f.pairing, Level: 0.95,
		Power: f.power, Difference: f.difference, Tasks: f.tasks}
	if f.eval != "" {
		if err := a.learn(p, f); err != nil {
			return nil, err
		}
	} else {
		p.Assumptions = append(p.Assumptions, fmt.Sprintf("a pass rate of %g and a share between tasks of %g (ICC) are assumed; an earlier --eval would tell", p.Rate, p.ICC))
	}
	if f.suite != "" {
		s, err := a.suite(f.suite)
		if err != nil {
			return nil, fmt.Errorf("--suite: %w", err)
		}
		p.Suite = s.Name
		if f.tasks == 0 {
			p.Tasks = len(s.TasksIn(false, a.getenv))
		}
	}
	d := stats.Design{Clusters: p.Tasks, Repeats: p.Runs, Rate: p.Rate, ICC: p.ICC, Pairing: p.Pairing,
		Level: 1 - (1-p.Level)/comparedQuestions, Power: p.Power}
	runs := []int{1, 2, 3, 5, 10, 20, 50, 100, p.Runs}
	slices.Sort(runs)
	for _, n := range slices.Compact(runs) {
		with := d
		with.Repeats = n
		p.Detectable = append(p.Detectable, stats.MinimalDifference(with))
	}
	p.RunsNeeded, p.TasksNeeded = stats.RepeatsNeeded(d, p.Difference), stats.ClustersNeeded(d, p.Difference)
	p.bound()
	if p.Pairing == 0 {
		p.Assumptions = append(p.Assumptions, "nothing is assumed about how far the tasks go along between the two evals (--pairing 0), which is on the safe side")
	}
	p.Assumptions = append(p.Assumptions,
		"the tasks are a sample of what you want to know about, each counts the same, and the two evals have the same tasks and runs",
		fmt.Sprintf("two-sided test at %g, corrected for the %d questions of a comparison; the difference is found with a chance of %g",
			p.Level, comparedQuestions, p.Power))
	return p, nil
}

// comparedQuestions are what tooleval compare asks at once (pass rate, outcome, process) and corrects for. leastTasks is the
// number of tasks below which its exact test can't show anything then: 2/2^6 > 0.05/3 ≥ 2/2^7.
const (
	comparedQuestions = 3
	leastTasks        = 7
)

// bound takes back what no comparison could show, however many runs there are.
func (p *planning) bound() {
	if p.TasksNeeded.Difference.OK {
		p.TasksNeeded.Clusters = max(p.TasksNeeded.Clusters, leastTasks)
	}
	if p.Tasks >= leastTasks {
		return
	}
	why := stats.Undefined("a comparison over fewer than %d tasks can show no difference, however many runs they have", leastTasks)
	for i := range p.Detectable {
		p.Detectable[i].Difference = why
	}
	p.RunsNeeded.Difference = why
}

// learn takes the rate and the correlation from an eval.
func (a *App) learn(p *planning, f *planFlags) error {
	dir, err := store.Find(f.results, f.eval)
	if err != nil {
		return fmt.Errorf("--eval: %w", err)
	}
	sides, err := a.gather(dir)
	if err != nil {
		return fmt.Errorf("--eval: %w", err)
	}
	if len(sides) == 0 {
		return fmt.Errorf("--eval: %s has no runs", dir)
	}
	s := sides[0]
	counts := s.Counts()
	c := stats.ClusterCounts(counts, 0.95)
	p.Eval, p.Mind, p.Tasks = s.Eval().ID, s.Mind(), len(counts)
	if p.Suite == "" {
		p.Suite = s.Eval().Suite
	}
	rate, ok := c.Mean.Value.Get()
	if !ok {
		return fmt.Errorf("--eval: %s tells no pass rate: %s", p.Eval, c.Mean.Value.Why)
	}
	p.Rate = rate
	if rate == 0 || rate == 1 { // there is no variance to plan with, but the next eval may have some
		n := 0
		for _, c := range counts {
			n += c.Trials
		}
		p.Rate = (rate*float64(n) + 1) / float64(n+2)
		p.Assumptions = append(p.Assumptions, fmt.Sprintf("all runs of the eval agree; a pass rate of %.3f is assumed (one more of each verdict in %d runs)", p.Rate, n))
	}
	if icc, ok := c.ICC.Get(); ok {
		p.ICC = min(max(icc, 0), 1)
	} else {
		p.ICC = 1
		p.Assumptions = append(p.Assumptions, "the eval can't tell how alike the runs of a task are ("+c.ICC.Why+"): they are taken to be all the same (ICC 1)")
	}
	if len(sides) > 1 {
		p.Assumptions = append(p.Assumptions, "the rate is that of the eval's first mind, "+s.Mind())
	}
	p.Assumptions = append(p.Assumptions, c.Warnings...)
	return nil
}

// ourWords are what the general words of package stats mean here.
var ourWords = strings.NewReplacer("clusters", "tasks", "cluster", "task", "repeats", "runs")

func (p *planning) print(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(plain.Text(ourWords.Replace(fmt.Sprintf(format, args...))) + "\n")
	}
	name := p.Suite
	if name == "" {
		name = "a suite"
	}
	line("%s · %d tasks · pass rate %.3f · ICC %.3f · pairing %g", name, p.Tasks, p.Rate, p.ICC, p.Pairing)
	if p.Eval != "" {
		line("rate and ICC are those of eval %s (%s)", p.Eval, p.Mind)
	}
	line("")
	line("runs of each task   smallest difference that is seen")
	for _, d := range p.Detectable {
		mark := ""
		if d.Repeats == p.Runs {
			mark = "  ← asked for"
		}
		text := "none: " + d.Difference.Why
		switch v, ok := d.Difference.Get(); {
		case ok && v > 1:
			text = "none: not even from 0 to 100 %"
		case ok:
			text = fmt.Sprintf("%.1f points", 100*v)
		}
		line("%17d   %s%s", d.Repeats, text, mark)
	}
	line("")
	needed := func(what string, d stats.Detectable, n int, ok bool) {
		if !ok {
			line("a difference of %.1f points: %s", 100*p.Difference, d.Difference.Why)
			return
		}
		line("a difference of %.1f points needs %d %s", 100*p.Difference, n, what)
	}
	needed(fmt.Sprintf("runs of each of the %d tasks", p.Tasks), p.RunsNeeded, p.RunsNeeded.Repeats, p.RunsNeeded.Difference.OK)
	needed(fmt.Sprintf("tasks of %d runs", p.Runs), p.TasksNeeded, p.TasksNeeded.Clusters, p.TasksNeeded.Difference.OK)
	line("")
	line("method: %s", p.Detectable[0].Method)
	for _, text := range p.Assumptions {
		line("assumes: %s", text)
	}
	for _, text := range p.Detectable[0].Warnings {
		line("warning: %s", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
