package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/scorers/judge"
	"github.com/tooleval/tooleval/store"
)

type auditFlags struct {
	results, suite, format, judge string
	stored, verbose               bool
	repeats, parallel             int
}

func (a *App) judgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "judge",
		Short: "Find out how far a judge can be trusted",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.judgeAuditCommand())
	return cmd
}

func (a *App) judgeAuditCommand() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit LABELS",
		Short: "Hold a judge against verdicts of people",
		Long: `Asks the judge about runs that people have judged, and prints how far the two agree: Cohen's kappa, sensitivity and
specificity with intervals, whether the judge agrees with itself when it is asked again (--repeats), and the pass rate of
the labelled evals corrected for the judge's errors (Rogan-Gladen). With --stored it asks nobody and takes the verdicts that
the runs hold.

LABELS is a file with one JSON object a line, or CSV with the same names in its first line:

  {"eval": "latest", "task": "pages.unreachable", "index": 0, "verdict": "pass"}
  {"run": "results/EVAL/runs/RUN.json", "verdict": "fail"}`,
		Example: "  tooleval judge audit labels.jsonl --stored\n  tooleval judge audit labels.csv --judge openai:MODEL --repeats 3",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("judge audit takes one file of labels, for example: tooleval judge audit labels.jsonl --stored")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.judgeAudit(cmd.Context(), args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.results, "results", "results", "the folder that evals are looked up in")
	flags.StringVar(&f.suite, "suite", "", "the suite whose rubrics are judged by (default: the one that each run was made with, by its name)")
	flags.StringVar(&f.format, "format", "table", "table, json or markdown")
	flags.StringVar(&f.judge, "judge", "", "the judge: anthropic:MODEL or openai:MODEL")
	flags.BoolVar(&f.stored, "stored", false, "take the verdicts that the runs hold, and ask nobody")
	flags.IntVar(&f.repeats, "repeats", 1, "how often the judge is asked about each run")
	flags.IntVar(&f.parallel, "parallel", 4, "how many runs are judged at the same time")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list every run on which they disagree")
	return cmd
}

func (f *auditFlags) check() error {
	model, err := judge.Parse(f.judge)
	const mostRepeats, mostParallel = 100, 64
	switch {
	case !slices.Contains(formats, f.format):
		return fmt.Errorf("--format %q: it is table, json or markdown%s", f.format, tooleval.DidYouMean(f.format, formats))
	case f.stored && (f.judge != "" || f.repeats != 1 || f.suite != ""):
		return errors.New("--stored asks nobody: leave out --judge, --repeats and --suite")
	case err != nil:
		return fmt.Errorf("--judge: %w", err)
	case model.Provider == judge.None:
		return errors.New("--judge none has no verdicts to audit")
	case f.repeats < 1 || f.repeats > mostRepeats:
		return fmt.Errorf("--repeats %d: it is 1 to %d", f.repeats, mostRepeats)
	case f.parallel < 1 || f.parallel > mostParallel:
		return fmt.Errorf("--parallel %d: it is 1 to %d", f.parallel, mostParallel)
	}
	return nil
}

func (a *App) judgeAudit(ctx context.Context, path string, f *auditFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	labels, err := readLabels(path)
	if err != nil {
		return err
	}
	if err := a.findLabelled(labels, f.results); err != nil {
		return err
	}
	if f.stored {
		for _, l := range labels {
			l.take(&l.run.Score.Outcome, nil)
			if d, ok := judge.ReadDetail(l.run.Score.Outcome.Detail); ok && len(d.Votes) > 1 {
				l.votes(d)
			}
		}
	} else if err := a.askAgain(ctx, labels, f); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	audit, err := newAudit(path, labels, f.stored)
	if err != nil {
		return err
	}
	if err := audit.correct(ctx, labels); err != nil {
		return err
	}
	return audit.print(a.Stdout, f.format, f.verbose)
}

// take keeps a verdict of the judge, or why there is none.
func (l *label) take(out *tooleval.Outcome, err error) {
	verdict, why := judge.Verdict(""), out.Score.Why
	d, ok := judge.ReadDetail(out.Detail)
	if ok {
		l.model, l.rubric = d.Model, d.Rubric.Name
	}
	switch {
	case err != nil:
		why = tooleval.Text(err.Error())
	case !ok && why == "":
		why = "no judge's verdict is stored in the run"
	case !ok:
	default:
		if v, decided := d.Decided(); decided {
			verdict, why = v, ""
		}
		if verdict == judge.CannotTell {
			why = "the judge can't tell"
		} else if verdict == "" && why == "" {
			why = "no verdict has a majority of the votes"
		}
	}
	l.verdict, l.why = append(l.verdict, verdict), append(l.why, why)
}

// votes takes the votes of a stored verdict for the repeats of one question, which is what they are.
func (l *label) votes(d *judge.Detail) {
	for i := range d.Votes {
		v := judge.Verdict("")
		if d.Votes[i].Verdict != nil {
			v = *d.Votes[i].Verdict
		}
		l.verdict, l.why = append(l.verdict, v), append(l.why, "")
	}
}

// askAgain asks the judge about every labelled run, as often as wanted.
func (a *App) askAgain(ctx context.Context, labels []*label, f *auditFlags) error {
	bound := map[[2]string]tooleval.Scorer{}
	var errs []error
	for _, l := range labels {
		name := f.suite
		if name == "" {
			name = l.run.Suite
		}
		key := [2]string{name, l.run.TaskID}
		if _, known := bound[key]; known {
			continue
		}
		s, err := a.suite(name)
		if err != nil {
			return err
		}
		bound[key] = nil
		b, ok := s.Scorers[l.run.TaskID].(tooleval.Binder)
		if !ok {
			errs = append(errs, fmt.Errorf("suite %q: task %q is not judged by a model, so there is no rubric to ask by", s.Name, l.run.TaskID))
			continue
		}
		scorer, err := b.Bind(tooleval.Resources{Judge: f.judge, Getenv: a.getenv})
		if err != nil {
			errs = append(errs, fmt.Errorf("suite %q: task %q: %w", s.Name, l.run.TaskID, err))
		}
		bound[key] = scorer
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	slots := make(chan struct{}, f.parallel)
	var wg sync.WaitGroup
	for _, l := range labels {
		name := f.suite
		if name == "" {
			name = l.run.Suite
		}
		scorer := bound[[2]string{name, l.run.TaskID}]
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			run := *l.run // the verdict that it holds must not be what is read
			run.Score, run.Failure = tooleval.TaskScore{}, nil
			for range f.repeats {
				score, err := scorers.Grade(ctx, &run, scorer)
				l.take(&score.Outcome, err)
			}
		})
	}
	wg.Wait()
	return nil
}

// evalsOf are the folders of the evals that labels are about, in the order of the labels.
func evalsOf(labels []*label) []string {
	var dirs []string
	for _, l := range labels {
		if l.dir != "" && !slices.Contains(dirs, l.dir) {
			dirs = append(dirs, l.dir)
		}
	}
	return dirs
}

// correct corrects the judge's pass rate over all runs of the labelled evals, for the errors that the labels show.
func (r *judgeAudit) correct(ctx context.Context, labels []*label) error {
	positives, trials, others := 0, 0, 0
	tasks := map[string]int{}
	for _, dir := range evalsOf(labels) {
		reader, err := store.Open(dir)
		if err != nil {
			return err
		}
		r.Evals = append(r.Evals, reader.Header().ID)
		for run, err := range store.Latest(reader.Runs()) {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			if err != nil {
				r.warn("a run of eval %s can't be read, so it is left out of the pass rate", reader.Header().ID)
				continue
			}
			d, ok := judge.ReadDetail(run.Score.Outcome.Detail)
			if !ok {
				continue
			}
			v, _ := d.Decided()
			switch {
			case !slices.Contains(r.Judges, d.Model) || !slices.Contains(r.Rubrics, d.Rubric.Name):
				others++
			case v == judge.Pass:
				positives++
				fallthrough
			case v == judge.Fail:
				trials++
				tasks[run.Eval+"\n"+run.TaskID]++
			default:
				r.EvalUnscored++
			}
		}
	}
	r.rates(positives, trials)
	if others > 0 {
		r.warn("%d runs of the evals hold verdicts of another judge or rubric, which tell nothing about this one: they are left out of the pass rate", others)
	}
	for _, n := range tasks {
		if n > 1 {
			r.warn("tasks with several runs make the trials of the pass rate depend on each other, so its interval is too narrow")
			break
		}
	}
	return nil
}
