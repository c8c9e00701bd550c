package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/scorers"
)

// Default numbers of runs: live runs cost money and time.
const (
	mockRuns = 5
	liveRuns = 3
)

// runFlags are the flags of tooleval run.
type runFlags struct {
	suite         string
	runs          int
	agents        []string
	live          bool
	tasks, tags   []string
	combine       bool
	outcomeWeight float64
	processWeight float64
	seed          uint64
	concurrency   int
	timeout       time.Duration
	results       string
	resume        string
	retry         []string
	format        string
	judge         string
	verbose       bool
	watch         bool
	sandbox       string
	until         string
	world         string
	faults        string
	record        *recording // nil but for tooleval record
	gate          gateFlags
}

// The classes of stored runs that --retry does again.
const (
	retryCancelled = "cancelled"
	retryInfra     = "infra"
	retryUnscored  = "unscored"
)

var formats = []string{"table", "json", "markdown"}

func (f *runFlags) register(cmd *cobra.Command, a *App) {
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "the suite to run: a name (see: tooleval list) or the path of a folder")
	flags.IntVar(&f.runs, "runs", 0, fmt.Sprintf("runs of each task (default %d, or %d with --live)", mockRuns, liveRuns))
	flags.StringArrayVar(&f.agents, "agent", []string{scriptedMind}, "who answers: a mind of the suite, a known agent (see: tooleval agents), cmd:COMMAND, acp:COMMAND, http(s)://…, anthropic:MODEL or openai:MODEL; may be repeated")
	flags.BoolVar(&f.live, "live", false, "real tools instead of mocks")
	flags.StringArrayVar(&f.tasks, "task", nil, "only this task; * and ? match as in file names; may be repeated")
	flags.StringArrayVar(&f.tags, "tag", nil, "only tasks with this tag; may be repeated")
	flags.BoolVar(&f.combine, "combine", false, "also blend outcome and process into one number, which hides which of them failed")
	flags.Float64Var(&f.outcomeWeight, "outcome-weight", 0.7, "the outcome's weight in the blended number")
	flags.Float64Var(&f.processWeight, "process-weight", 0.3, "the process's weight in the blended number")
	flags.Uint64Var(&f.seed, "seed", 0, "what the seeds of all runs are derived from")
	flags.IntVar(&f.concurrency, "concurrency", 0, "runs at a time (default: the number of processors)")
	flags.DurationVar(&f.timeout, "timeout", engine.DefaultTimeout, "the agent's time in one run, unless the task has a limit of its own")
	flags.StringVar(&f.results, "results", "results", "the folder that keeps every run as a file")
	flags.StringVar(&f.resume, "resume", "", "go on with this eval (an id, its beginning, a folder, or latest): only what is missing is run")
	flags.StringArrayVar(&f.retry, "retry", nil, "with --resume: also repeat stored runs of this class: cancelled, infra or unscored; may be repeated")
	flags.StringVar(&f.format, "format", "table", "table, json or markdown")
	flags.StringVar(&f.judge, "judge", "", "the judge of tasks that want one: none, anthropic:MODEL or openai:MODEL")
	flags.BoolVar(&f.watch, "watch", false, "run again whenever a file of the suite's folder changes, until interrupted")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "a card for every run, however many")
	flags.StringVar(&f.until, "until", "", "add runs to each task until the interval of its pass rate is this wide, as in 0.2; --runs is the most that a task gets")
	flags.StringVar(&f.world, "world", "", "replay:DIR answers from what tooleval record wrote to DIR")
	flags.StringVar(&f.faults, "faults", "", "make the faults of this file (YAML or JSON) in every task, to see how the agent copes")
	f.gate.register(cmd, a)
	flags.StringVar(&f.sandbox, "sandbox", "none", "none, auto or bwrap: fence agents of a profile in by bubblewrap")
	complete := func(name string, values ...string) {
		cobra.CheckErr(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("suite", a.completeSuites))
	complete("format", formats...)
	complete("retry", retryCancelled, retryInfra, retryUnscored)
	var minds, tasks []string
	for _, s := range a.Suites {
		for _, m := range s.Minds {
			minds = append(minds, m.Name)
		}
		for _, t := range s.Tasks {
			tasks = append(tasks, t.ID)
		}
	}
	slices.Sort(minds)
	complete("agent", slices.Compact(minds)...)
	complete("task", tasks...)
}

// check reports everything that is wrong with the flags by themselves.
func (f *runFlags) check(cmd *cobra.Command) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	given := cmd.Flags().Changed
	if f.suite == "" && f.resume == "" {
		fail("--suite is required: name the suite to run (see: tooleval list), or give the path of its folder, as in ./my-suite")
	}
	if given("runs") && f.runs < 1 {
		fail("--runs %d: give at least 1", f.runs)
	}
	if f.until != "" {
		if _, err := parseWidth(f.until); err != nil {
			errs = append(errs, err)
		}
		if !given("runs") && f.resume == "" {
			fail("--until goes with --runs N: the most runs that a task may get")
		}
	}
	f.gate.given(cmd)
	if err := f.gate.check(f.expectedRuns()); err != nil {
		errs = append(errs, err)
	}
	if f.world != "" {
		if _, err := replayDir(f.world); err != nil {
			errs = append(errs, err)
		}
		if f.live {
			fail("--world and --live exclude each other: a replayed world answers from files")
		}
	}
	if f.concurrency < 0 {
		fail("--concurrency %d: give at least 1, or leave it out", f.concurrency)
	}
	if f.timeout <= 0 {
		fail("--timeout %v: give a positive time, as in 90s", f.timeout)
	}
	if !slices.Contains(formats, f.format) {
		fail("--format %q: it is table, json or markdown%s", f.format, tooleval.DidYouMean(f.format, formats))
	}
	if err := scorers.CheckWeights(f.outcomeWeight, f.processWeight); err != nil {
		fail("--outcome-weight, --process-weight: %w", err)
	}
	if !f.combine && (given("outcome-weight") || given("process-weight")) {
		fail("--outcome-weight and --process-weight do nothing without --combine")
	}
	if f.watch && f.resume != "" {
		fail("--watch and --resume exclude each other: every change starts a new eval")
	}
	if len(f.retry) > 0 && f.resume == "" {
		fail("--retry goes with --resume EVAL")
	}
	classes := []string{retryCancelled, retryInfra, retryUnscored}
	for _, class := range f.retry {
		if !slices.Contains(classes, class) {
			fail("--retry %q: it is cancelled, infra or unscored%s", class, tooleval.DidYouMean(class, classes))
		}
	}
	for _, list := range [][]string{f.tasks, f.tags, f.agents} {
		if slices.Contains(list, "") {
			fail("--task, --tag and --agent take a name, not an empty text")
			break
		}
	}
	return errors.Join(errs...)
}

// expectedRuns is how many runs of each task there are to be; 0 when only the eval that is resumed knows.
func (f *runFlags) expectedRuns() int {
	switch {
	case f.runs > 0:
		return f.runs
	case f.resume != "":
		return 0
	case f.live:
		return liveRuns
	}
	return mockRuns
}
