package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

func (a *App) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [SUITE]",
		Short: "Run a suite and score it",
		Long: `SUITE is the folder of a suite, as in ./my-suite, or a name: of a suite of this binary or one that the nearest
tooleval.yaml lists. Runs every task of a suite several times under one agent, scores each run, and keeps each as a file.
A suite that an agent fails is still a completed eval: the exit code is 0. It is 2 when the eval could not
be run as asked, and 130 when it was interrupted; --resume then goes on with what is missing.`,
		Example: `  tooleval run --suite calc --runs 3
  tooleval run ./my-suite --watch
  tooleval run --suite calc --task 'calc.a*' --combine
  tooleval run --resume latest --retry cancelled`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSuites,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.writing(cmd.Context(), &f.gate, func() error {
				if err := f.name(cmd, args); err != nil {
					return err
				}
				if err := f.check(cmd); err != nil {
					return err
				}
				if f.watch {
					return a.watchSuite(cmd, &f)
				}
				return a.run(cmd.Context(), cmd, &f)
			})
		},
	}
	f.register(cmd, a)
	return cmd
}

// An eval is everything that one run command works with.
type eval struct {
	plan   *engine.Plan
	runner *engine.Runner
	store  *store.Eval
	past   *past // nil unless resumed
}

func (a *App) run(ctx context.Context, cmd *cobra.Command, f *runFlags) error {
	if err := f.gate.load(a, f.results); err != nil {
		return err
	}
	e, err := a.prepare(ctx, cmd, f)
	if err != nil {
		return err
	}
	defer func() { _ = e.store.Close() }() // closed again below, where its error counts

	var names sync.Map // of the files of runs that are kept and not yet reported
	o := f.reportOptions()
	o.File = func(run *tooleval.Run) string {
		name, _ := names.Load(run)
		text, _ := name.(string)
		return text
	}
	defer context.AfterFunc(ctx, func() {
		fmt.Fprintln(a.Stderr, "\nstopping: the runs in flight are being recorded as cancelled; interrupt again to stop at once")
	})()
	builder := report.NewBuilder(e.store.Header(), o)
	gathered := f.gate.watch(e.store.Header())
	_, tty := terminal(a.Stderr)
	bar := report.Progress(a.Stderr, tty, e.plan.Len())
	sink := engine.Sink{
		Keep: func(run *tooleval.Run) error {
			if e.past != nil {
				e.past.count(run)
			}
			name, err := e.store.Put(run)
			names.Store(run, name)
			return err
		},
		Report: func(_ engine.Job, run *tooleval.Run, _ bool) {
			name, _ := names.LoadAndDelete(run)
			clean := e.store.Redacted(run)
			if f.record != nil {
				f.record.gathered.Add(clean)
			}
			names.Store(clean, name)
			builder.Add(clean)
			if gathered != nil {
				gathered.Add(clean, "")
			}
			names.Delete(clean)
			bar.Add(1)
		},
	}
	if e.past != nil {
		sink.Reuse = e.past.reuse
	}
	pool := engine.Pool{Concurrency: f.concurrency}
	if f.until == "" {
		err = engine.Execute(ctx, e.plan, e.runner.Do, pool, sink)
		bar.Done()
	} else {
		var u *until
		if u, err = newUntil(f.until, e); err != nil {
			return err
		}
		err = u.execute(ctx, e, pool, sink)
		bar.Done()
		for _, line := range u.lines() {
			fmt.Fprintln(a.Stderr, line)
		}
		if err == nil {
			header := u.planned(e.store.Header())
			if err := e.store.SetHeader(header); err != nil {
				return err
			}
			builder.Replan(header.Tasks)
			if gathered != nil {
				gathered.Replan(header.Tasks)
			}
		}
	}
	if e.past != nil {
		fmt.Fprintln(a.Stderr, e.past.summary())
	}
	r := builder.Report()
	r.Gate = f.gate.answer(gathered)
	if err := a.print(f, r); err != nil {
		return err
	}
	if err := a.deliver(&f.gate, r); err != nil {
		return err
	}
	if f.record != nil && err == nil && ctx.Err() == nil {
		if err := f.record.write(a.Stdout); err != nil {
			return err
		}
	}
	if err := e.store.Close(); err != nil {
		return err
	}
	folder := plain.Text(e.store.Path())
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(a.Stderr, "cancelled; what was finished is in %s; go on with: tooleval run --resume %s --retry cancelled\n", folder, folder)
	case err == nil && f.format == "table":
		fmt.Fprintf(a.Stdout, "\nEvery run is a file in %s; see one again with: tooleval show FILE\n", folder)
	}
	if err == nil {
		err = gateAnswer(r.Gate)
	}
	return err
}

// prepare checks everything that can be checked before a task runs, and makes the eval's folder last.
func (a *App) prepare(ctx context.Context, cmd *cobra.Command, f *runFlags) (*eval, error) {
	e := &eval{}
	made := make(chan tooleval.Provenance, 1)
	go func() { made <- provenance(ctx) }() // git takes a few milliseconds, which the rest of the preparation covers
	if f.resume != "" {
		var err error
		if e.past, err = a.openPast(cmd, f); err != nil {
			return nil, err
		}
	}
	s, err := a.suite(f.suite)
	if err != nil {
		return nil, suiteError(err)
	}
	s, world, err := a.inWorld(s, f)
	if err != nil {
		return nil, err
	}
	if s.World(f.live) == nil {
		hint := "leave out --live"
		if !f.live {
			hint = "add --live"
		}
		return nil, fmt.Errorf("suite %q has no %s world: %s", s.Name, world, hint)
	}
	if err := s.Validate(a.getenv); err != nil { // before its minds are made, which may rest on what is wrong
		return nil, err
	}
	backends, err := a.backends(ctx, s, f.agents, f.live, f.sandbox)
	if err != nil {
		return nil, err
	}
	if f.concurrency == 0 {
		f.concurrency = concurrencyOf(backends)
	}
	if f.runs == 0 {
		f.runs = mockRuns
		if f.live {
			f.runs = liveRuns
		}
	}
	list := []*tooleval.Suite{s}
	e.plan, err = engine.NewPlan(list, backends, engine.Options{
		Runs: f.runs, World: world, Tasks: f.tasks, Tags: f.tags, Seed: f.seed, Getenv: a.getenv,
	})
	if err != nil {
		return nil, err
	}
	header := tooleval.Eval{
		SchemaVersion: tooleval.SchemaVersion, ID: store.NewID(s.Name, time.Now()), Suite: s.Name, Minds: f.agents, World: world,
		Runs: f.runs, Seed: f.seed, Options: options(cmd), Provenance: <-made, Started: time.Now().UTC(),
	}
	if e.past != nil {
		header.ID, header.Started = e.past.header.ID, e.past.header.Started
	}
	tasks := s.TasksIn(f.live, a.getenv)
	if header.Provenance.SuiteDigest, err = engine.SuiteDigest(s, tasks); err != nil {
		return nil, err
	}
	e.runner, err = engine.NewRunner(list, backends, e.plan, engine.RunnerOptions{
		Timeout: f.timeout, Resources: tooleval.Resources{Judge: f.judge, Getenv: a.getenv}, Getenv: a.getenv,
		Provenance: header.Provenance, Eval: header.ID,
	})
	if err != nil {
		return nil, err
	}
	if header.Tasks, err = plannedTasks(e, tasks); err != nil {
		return nil, err
	}
	if err := e.runner.Preflight(ctx, e.plan); err != nil {
		return nil, err
	}
	o := store.Options{Secrets: store.SecretsFromEnv(a.Env)}
	if e.past != nil {
		e.past.runner, e.past.retry = e.runner, f.retry
		if e.store, err = store.Reopen(e.past.dir, o); err == nil {
			err = errors.Join(e.past.index(), e.store.SetHeader(header))
		}
	} else {
		e.store, err = store.Create(f.results, header, o)
	}
	return e, err
}

// plannedTasks are the tasks of the plan with the digests of their content.
func plannedTasks(e *eval, tasks []tooleval.Task) ([]tooleval.EvalTask, error) {
	byID := map[string]*tooleval.Task{}
	for i := range tasks {
		byID[tasks[i].ID] = &tasks[i]
	}
	var list []tooleval.EvalTask
	for _, t := range e.plan.Tasks() {
		digest, err := engine.TaskDigest(byID[t[1]])
		if err != nil {
			return nil, err
		}
		list = append(list, tooleval.EvalTask{ID: t[1], Digest: digest, Contents: e.runner.Contents(t[0], t[1])})
	}
	return list, nil
}

func (f *runFlags) reportOptions() report.Options {
	return report.Options{Combine: f.combine, OutcomeWeight: f.outcomeWeight, ProcessWeight: f.processWeight}
}

// print writes a report in the format that was asked for.
func (a *App) print(f *runFlags, r report.Report) error {
	return printReport(a.Stdout, r, f.format, f.verbose, a.getenv)
}

func printReport(w io.Writer, r report.Report, format string, verbose bool, getenv func(string) string) error {
	switch format {
	case "json":
		return report.JSON(w, r)
	case "markdown":
		return report.Markdown(w, r)
	}
	return report.Terminal(w, r, termOptions(w, verbose, getenv))
}

func termOptions(w io.Writer, verbose bool, getenv func(string) string) report.TermOptions {
	width, tty := terminal(w)
	if !tty {
		width = defaultWidth
	}
	return report.TermOptions{Width: width, Color: tty && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb", Verbose: verbose}
}
