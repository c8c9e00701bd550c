package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/check"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
)

// A checkError says that a check was made and that the suite was not proved sound.
type checkError struct{ exit int }

func (e *checkError) Error() string {
	if e.exit == exitNotEnough {
		return "some tasks could not be evaluated"
	}
	return "a task is broken"
}

func (a *App) checkCommand() *cobra.Command {
	var o check.Options
	var format string
	cmd := &cobra.Command{
		Use:   "check SUITE",
		Short: "Prove that the tasks of a suite are sound, without any model",
		Long: `Proves that the tasks of a suite are sound before anyone spends money on an agent: agents of known worth are run in
the mock world. One that does nothing, one that always refuses and one that reads everything and says all of it must fail,
the oracle (the scripted mind, the ground truth) must pass, and changed runs of the oracle must fail every stated check.
Lints read the tasks. docs/checks.md explains each rule.

The exit code is 0 when every task is sound, 1 when one is broken, 2 when the check can't be made, and 3 when none is
broken but some can't be evaluated, since their runs have no verdict without a judge.`,
		Example: "  tooleval check calc\n  tooleval check ./my-suite --task 'orders.*'\n  tooleval check ./my-suite --format json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("check takes one suite, for example: tooleval check calc, or tooleval check ./my-suite")
			}
			return nil
		},
		ValidArgsFunction: a.completeSuites,
		RunE: func(cmd *cobra.Command, args []string) error {
			var errs []error
			if !slices.Contains(formats, format) {
				errs = append(errs, fmt.Errorf("--format %q: it is table, json or markdown%s", format, tooleval.DidYouMean(format, formats)))
			}
			if slices.Contains(o.Tasks, "") {
				errs = append(errs, errors.New("--task takes a name, not an empty text"))
			}
			if o.Timeout <= 0 {
				errs = append(errs, fmt.Errorf("--timeout %v: give a positive time, as in 10s", o.Timeout))
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			o.Getenv = a.getenv
			return a.check(cmd.Context(), args[0], o, format)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.Tasks, "task", nil, "only this task; * and ? match as in file names; may be repeated")
	flags.Uint64Var(&o.Seed, "seed", 0, "what the seeds of all runs are derived from")
	flags.DurationVar(&o.Timeout, "timeout", 30*time.Second, "the time of one run, unless the task has a limit of its own")
	flags.StringVar(&o.Judge, "judge", "none", "the judge of tasks that want one, asked for every run and mutant: none, anthropic:MODEL or openai:MODEL")
	flags.StringVar(&format, "format", "table", "table, json or markdown")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (a *App) check(ctx context.Context, name string, o check.Options, format string) error {
	s, err := a.suite(name)
	if err != nil {
		return err
	}
	r, err := check.Suite(ctx, s, o)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		e := json.NewEncoder(a.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	case "markdown":
		err = a.checkMarkdown(r)
	default:
		err = a.checkTable(r)
	}
	switch {
	case err != nil:
		return err
	case r.IsBroken():
		return &checkError{exitGateFailed}
	case !r.IsSound():
		return &checkError{exitNotEnough}
	}
	return nil
}

var checkHeaders = []string{"Task", "Status", "Oracle", "Passed by", "Mutants caught"}

var statusWords = map[check.Status]string{
	check.StatusSound: "sound", check.StatusBroken: "BROKEN", check.StatusNotEvaluable: "not evaluable",
}

// checkRows are a line for each task: who passes it besides the oracle, and how many mutants of the oracle do not.
func checkRows(r *check.Report) [][]string {
	var rows [][]string
	for _, t := range r.Tasks {
		oracle, others := "none", []string{}
		for _, run := range t.Panel {
			isOracle := run.Agent == "scripted" || run.Agent == "ground truth"
			switch {
			case isOracle && (oracle == "none" || run.Verdict == tooleval.Passed):
				oracle = string(run.Verdict)
			case !isOracle && run.Verdict == tooleval.Passed:
				others = append(others, run.Agent)
			}
		}
		passed, caught := "none", "–"
		if len(others) > 2 {
			others = append(others[:1], fmt.Sprintf("%d others", len(others)-1))
		}
		if len(others) > 0 {
			passed = strings.Join(others, ", ")
		}
		if len(t.Mutants) > 0 {
			caught = fmt.Sprintf("%d of %d", t.Caught(), len(t.Mutants))
		}
		rows = append(rows, []string{t.ID, statusWords[t.Status], oracle, passed, caught})
	}
	return rows
}

// checkLines are the findings, each a line, and the reasons of what could not be evaluated.
func checkLines(r *check.Report) (lines [][2]string) {
	for _, f := range r.Findings {
		lines = append(lines, [2]string{"", string(f.Severity) + " " + f.Rule + ": " + f.Message})
	}
	for _, t := range r.Tasks {
		for _, f := range t.Findings {
			lines = append(lines, [2]string{t.ID, string(f.Severity) + " " + f.Rule + ": " + f.Message})
		}
		for _, why := range t.NotEvaluable {
			lines = append(lines, [2]string{t.ID, "not evaluable: " + why})
		}
		if t.DoNothingMayPass != "" {
			lines = append(lines, [2]string{t.ID, "do-nothing may pass: " + t.DoNothingMayPass})
		}
	}
	return lines
}

func checkSummary(r *check.Report) []string {
	n := len(r.Tasks)
	out := []string{fmt.Sprintf("%d tasks: %d sound, %d broken, %d not evaluable", n, r.Sound, r.Broken, r.NotEvaluable)}
	if n == 1 {
		out[0] = strings.Replace(out[0], "tasks", "task", 1)
	}
	if len(r.DoNothing) > 0 {
		share := strconv.FormatFloat(100*float64(len(r.DoNothing))/float64(n), 'f', 1, 64)
		out = append(out, fmt.Sprintf("%d of %d tasks (%s %%) are passed by doing nothing: %s",
			len(r.DoNothing), n, strings.TrimSuffix(share, ".0"), strings.Join(r.DoNothing, ", ")))
	}
	return out
}

func (a *App) checkTable(r *check.Report) error {
	o := termOptions(a.Stdout, false, a.getenv)
	err := report.Paragraph(a.Stdout, "", fmt.Sprintf("check %s · mock · seed %d", r.Suite, r.Seed), o)
	if len(r.Findings) == 0 {
		err = errors.Join(err, report.Table(a.Stdout, checkHeaders, checkRows(r), o))
	}
	for _, l := range checkLines(r) {
		prefix := ""
		if l[0] != "" {
			prefix = plain.Text(l[0]) + "  "
		}
		err = errors.Join(err, report.Paragraph(a.Stdout, prefix, l[1], o))
	}
	for _, l := range checkSummary(r) {
		err = errors.Join(err, report.Paragraph(a.Stdout, "", l, o))
	}
	return err
}

func (a *App) checkMarkdown(r *check.Report) error {
	_, err := fmt.Fprintf(a.Stdout, "# Check\n\n")
	err = errors.Join(err, report.MarkdownTable(a.Stdout, []string{"Suite", "Tasks", "Sound", "Broken", "Not evaluable", "Passed by doing nothing"},
		[][]string{{r.Suite, strconv.Itoa(len(r.Tasks)), strconv.Itoa(r.Sound), strconv.Itoa(r.Broken), strconv.Itoa(r.NotEvaluable),
			strconv.Itoa(len(r.DoNothing))}}))
	if len(r.Findings) == 0 {
		fmt.Fprintln(a.Stdout)
		err = errors.Join(err, report.MarkdownTable(a.Stdout, checkHeaders, checkRows(r)))
	}
	var rows [][]string
	for _, l := range checkLines(r) {
		rows = append(rows, []string{l[0], l[1]})
	}
	if len(rows) == 0 {
		return err
	}
	fmt.Fprintln(a.Stdout)
	return errors.Join(err, report.MarkdownTable(a.Stdout, []string{"Task", "Finding"}, rows))
}
