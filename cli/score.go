package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/ingest"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

// scoreFlags are the flags of tooleval score.
type scoreFlags struct {
	runFlags
	input       string // the format of the recordings
	mind        string
	aliases     []string
	asTask      string
	errorPrefix string
	ending      string
	state       string
	renumber    bool
	skipBad     bool
}

// How the final state of a recording is come by.
const (
	stateAuto     = "auto"
	stateRecorded = "recorded"
)

func (a *App) scoreCommand() *cobra.Command {
	var f scoreFlags
	var names []string
	for _, format := range ingest.Formats() {
		names = append(names, fmt.Sprintf("  %-17s %s", format, format.What()))
	}
	cmd := &cobra.Command{
		Use:   "score --suite NAME FILE…",
		Short: "Score trajectories that another system recorded",
		Long: `Scores recorded trajectories by a suite, without running anything, and keeps each as a run like any other.
A recording without a final state gets it by replaying its calls in a fresh mock world of the suite; where
the world answers otherwise than was recorded, that is said. The format is found out unless it is named:

` + strings.Join(names, "\n"),
		Example: `  tooleval score --suite airline gpt-4o-airline.json
  tooleval score --suite calc --format openai-chat --as-task calc.convert --alias 'mcp__calc__*=*' log.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("score takes the files with the recordings")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.score(cmd.Context(), cmd, &f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "the suite that scores (see: tooleval list)")
	flags.StringVar(&f.input, "format", "", "the format of the recordings (default: found out)")
	flags.StringVar(&f.mind, "mind", "", "the name of the agent (default: what the file says, else the file's name)")
	flags.StringArrayVar(&f.aliases, "alias", nil, "RECORDED=TOOL, where recordings name a tool otherwise, as in 'mcp__docs__*=*'; may be repeated")
	flags.StringVar(&f.asTask, "as-task", "", "the task of recordings that name none")
	flags.StringVar(&f.errorPrefix, "error-prefix", "", "results that begin so are errors, for formats that have no mark of errors")
	flags.StringVar(&f.ending, "ending", "", "how runs ended that do not show it, as in completed (default: unknown, and so unscored)")
	flags.StringVar(&f.state, "state", stateAuto, "auto replays the calls where no final state was recorded, recorded never does")
	flags.BoolVar(&f.renumber, "renumber", false, "number the runs of each task in the order of the files, whatever they say")
	flags.BoolVar(&f.skipBad, "skip-bad", false, "leave out recordings that can't be read or have an unknown task, instead of stopping")
	flags.StringArrayVar(&f.tasks, "task", nil, "only this task; * and ? match as in file names; may be repeated")
	flags.StringArrayVar(&f.tags, "tag", nil, "only tasks with this tag; may be repeated")
	flags.IntVar(&f.concurrency, "concurrency", 0, "recordings at a time (default: the number of processors)")
	flags.StringVar(&f.results, "results", "results", "the folder that keeps every run as a file")
	flags.StringVar(&f.format, "report", "table", "table, json or markdown")
	flags.StringVar(&f.judge, "judge", "", "the judge of tasks that want one: none, anthropic:MODEL or openai:MODEL")
	flags.BoolVar(&f.combine, "combine", false, "also blend outcome and process into one number, which hides which of them failed")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "a card for every run, however many")
	f.outcomeWeight, f.processWeight = 0.7, 0.3
	return cmd
}

// A scoring is everything that one score command works with.
type scoring struct {
	flags  *scoreFlags
	suite  *tooleval.Suite
	read   ingest.Options
	files  []string
	tasks  map[string]*tooleval.Task // those that are wanted
	known  map[string]*tooleval.Task // all of the suite
	ids    []string                  // of tasks, in the suite's order
	jobs   map[string]slot           // by file and position
	minds  []string
	runs   int
	grader *engine.Grader
	header tooleval.Eval
	kept   []keptRecording
	replay replayed
}

// A slot is where a recording belongs.
type slot struct {
	task, mind string
	index      int
}

func (a *App) score(ctx context.Context, cmd *cobra.Command, f *scoreFlags, files []string) error {
	s, err := a.prepareScoring(ctx, cmd, f, files)
	if err != nil {
		return err
	}
	kept, err := store.Create(f.results, s.header, store.Options{Secrets: store.SecretsFromEnv(a.Env)})
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }() // closed below, unless something fails before
	names := map[*tooleval.Run]string{}
	o := f.reportOptions()
	o.File = func(run *tooleval.Run) string { return names[run] }
	builder := report.NewBuilder(kept.Header(), o)
	err = s.all(ctx, func(run *tooleval.Run) error {
		run.Eval = kept.Header().ID
		name, err := kept.Put(run)
		if err != nil {
			return err
		}
		names[run] = name
		builder.Add(run)
		delete(names, run)
		return nil
	})
	if err != nil {
		return err
	}
	if text := s.replay.summary(); text != "" {
		fmt.Fprintln(a.Stderr, plain.Block(text))
	}
	if err := a.print(&f.runFlags, builder.Report()); err != nil {
		return err
	}
	if err := kept.Close(); err != nil {
		return err
	}
	if f.format == "table" {
		fmt.Fprintf(a.Stdout, "\nEvery run is a file in %s; see one again with: tooleval show FILE\n", plain.Text(kept.Path()))
	}
	return nil
}

// prepareScoring checks everything that can be checked before the first run is kept; all recordings are read for it once.
func (a *App) prepareScoring(ctx context.Context, cmd *cobra.Command, f *scoreFlags, files []string) (*scoring, error) {
	s := &scoring{flags: f, files: files, tasks: map[string]*tooleval.Task{}, known: map[string]*tooleval.Task{}, jobs: map[string]slot{}}
	if err := s.options(); err != nil {
		return nil, err
	}
	var err error
	if s.suite, err = a.suite(f.suite); err != nil {
		return nil, fmt.Errorf("--suite: %w", err)
	}
	if err := s.suite.Validate(a.getenv); err != nil {
		return nil, err
	}
	if err := s.choose(); err != nil {
		return nil, err
	}
	if s.grader, err = engine.NewGrader(s.suite, tooleval.Resources{Judge: f.judge, Getenv: a.getenv}); err != nil {
		return nil, err
	}
	if err := s.collect(a); err != nil {
		return nil, err
	}
	s.header = tooleval.Eval{SchemaVersion: tooleval.SchemaVersion, ID: store.NewID(s.suite.Name, time.Now()), Suite: s.suite.Name,
		Minds: s.minds, World: engine.Recorded, Runs: s.runs, Options: options(cmd), Provenance: provenance(ctx), Started: time.Now().UTC()}
	for i, file := range files {
		s.header.Options[fmt.Sprintf("file %d", i+1)] = filepath.Base(file)
	}
	if s.header.Provenance.SuiteDigest, err = engine.SuiteDigest(s.suite, s.suite.Tasks); err != nil {
		return nil, err
	}
	for _, id := range s.ids {
		digest, err := engine.TaskDigest(s.tasks[id])
		if err != nil {
			return nil, err
		}
		s.header.Tasks = append(s.header.Tasks, tooleval.EvalTask{ID: id, Digest: digest})
	}
	return s, nil
}

// options reads the flags by themselves and reports everything that is wrong with them.
func (s *scoring) options() error {
	f := s.flags
	var errs []error
	fail := func(err error) { errs = append(errs, err) }
	if f.suite == "" {
		fail(errors.New("--suite is required: name the suite that scores (see: tooleval list)"))
	}
	if f.input != "" {
		var err error
		if s.read.Format, err = ingest.ParseFormat(f.input); err != nil {
			fail(fmt.Errorf("--format: %w", err))
		}
	}
	if !slices.Contains(formats, f.format) {
		fail(fmt.Errorf("--report %q: it is table, json or markdown%s", f.format, tooleval.DidYouMean(f.format, formats)))
	}
	if states := []string{stateAuto, stateRecorded}; !slices.Contains(states, f.state) {
		fail(fmt.Errorf("--state %q: it is auto or recorded%s", f.state, tooleval.DidYouMean(f.state, states)))
	}
	if f.concurrency < 0 {
		fail(fmt.Errorf("--concurrency %d: give at least 1, or leave it out", f.concurrency))
	}
	var err error
	if s.read.Aliases, err = ingest.ParseAliases(f.aliases); err != nil {
		fail(fmt.Errorf("--alias: %w", err))
	}
	if f.ending != "" {
		if s.read.Ending, err = ingest.ParseEnding(f.ending); err != nil {
			fail(fmt.Errorf("--ending: %w", err))
		}
	}
	s.read.ErrorPrefix = f.errorPrefix
	return errors.Join(errs...)
}

// choose takes the tasks that --task and --tag leave.
func (s *scoring) choose() error {
	f := s.flags
	var all []string
	var errs []error
	hit := map[string]bool{}
	for i := range s.suite.Tasks {
		t := &s.suite.Tasks[i]
		s.known[t.ID] = t
		all = append(all, t.ID)
		named := len(f.tasks) == 0
		for _, pattern := range f.tasks {
			ok, err := path.Match(pattern, t.ID)
			if err != nil && i == 0 {
				errs = append(errs, fmt.Errorf("--task %q: %w", pattern, err))
			}
			if ok || pattern == t.ID {
				named, hit[pattern] = true, true
			}
		}
		tagged := len(f.tags) == 0 || slices.ContainsFunc(t.Tags, func(tag string) bool { return slices.Contains(f.tags, tag) })
		if named && tagged {
			s.tasks[t.ID] = t
			s.ids = append(s.ids, t.ID)
		}
	}
	for _, pattern := range f.tasks {
		if !hit[pattern] {
			errs = append(errs, fmt.Errorf("--task %q: suite %q has no such task%s", pattern, s.suite.Name, tooleval.DidYouMean(pattern, all)))
		}
	}
	if f.asTask != "" && s.known[f.asTask] == nil {
		errs = append(errs, fmt.Errorf("--as-task %q: suite %q has no such task%s", f.asTask, s.suite.Name, tooleval.DidYouMean(f.asTask, all)))
	}
	if len(errs) == 0 && len(s.ids) == 0 {
		errs = append(errs, errors.New("no task fits both --task and --tag"))
	}
	return errors.Join(errs...)
}

// task is the id of the suite's task that a recording is of: the one of that name, or of that name after the suite's; empty
// when there is none.
func (s *scoring) task(r *ingest.Recording) string {
	if r.TaskID == "" {
		return s.flags.asTask
	}
	for _, name := range []string{r.TaskID, s.suite.Name + "." + r.TaskID} {
		if s.known[name] != nil {
			return name
		}
	}
	return ""
}

// mind is the name of the agent of a recording.
func (s *scoring) mind(r *ingest.Recording, file string) string {
	switch {
	case s.flags.mind != "":
		return s.flags.mind
	case r.Source.Agent != "":
		return r.Source.Agent
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// keepBelow is the size of all files together up to which recordings are kept from the first reading for the second.
const keepBelow = 32 << 20

// each reads all recordings that can be read, a second time from memory where they are few; bad gets the others.
func (s *scoring) each(f func(file string, r *ingest.Recording) error, bad func(error)) error {
	if s.kept != nil {
		for _, k := range s.kept {
			if err := f(k.file, k.recording); err != nil {
				return err
			}
		}
		return nil
	}
	size := int64(0)
	for _, file := range s.files {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			size = keepBelow // errors are for ingest to tell
		} else {
			size += info.Size()
		}
	}
	var kept []keptRecording
	defer func() { s.kept = kept }()
	for _, file := range s.files {
		for r, err := range ingest.Read(file, s.read) {
			if err != nil {
				bad(err)
				continue
			}
			if size < keepBelow {
				kept = append(kept, keptRecording{file, r})
			}
			if err := f(file, r); err != nil {
				return err
			}
		}
	}
	return nil
}

type keptRecording struct {
	file      string
	recording *ingest.Recording
}

func workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}
