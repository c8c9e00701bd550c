package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/store"
	"github.com/tooleval/tooleval/worlds"
)

// recording is what tooleval record adds to an eval.
type recording struct {
	dir              string
	overwrite        bool
	onRepeat, onMiss string
	gathered         worlds.Recorded
}

func (a *App) recordCommand() *cobra.Command {
	f := runFlags{record: &recording{}, format: "table", outcomeWeight: 0.7, processWeight: 0.3}
	cmd := &cobra.Command{
		Use:   "record SUITE --out DIR",
		Short: "Run a suite once and keep what its tools answered, to replay it",
		Long: `Runs the tasks of a suite as tooleval run does, and writes what the tools answered to a folder: one JSON file
a task, with the results of every call in order. Secrets are replaced before anything is written. The agent then runs
against these answers with: tooleval run SUITE --world replay:DIR
Faults that a task makes on purpose are left out.`,
		Example: `  tooleval record ./my-suite --live --agent anthropic:MODEL --out recorded
  tooleval run ./my-suite --world replay:recorded`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSuites,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.name(cmd, args); err != nil {
				return err
			}
			if err := errors.Join(f.check(cmd), f.record.check()); err != nil {
				return err
			}
			return a.run(cmd.Context(), cmd, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "the suite to record: a name (see: tooleval list) or the path of a folder")
	flags.StringVar(&f.record.dir, "out", "", "the folder to write to (needed)")
	flags.BoolVar(&f.record.overwrite, "overwrite", false, "replace recordings that are there already")
	flags.StringVar(&f.record.onRepeat, "on-repeat", string(worlds.RepeatLast),
		"what a call gets that is made more often than it was recorded: repeat_last, cycle or fail")
	flags.StringVar(&f.record.onMiss, "on-miss", worlds.MissIsGap,
		"what a call gets that was never recorded: gap (a failure is then the world's) or tool_error (then it is the agent's)")
	flags.IntVar(&f.runs, "runs", 1, "runs of each task; later ones add the calls that the first did not make")
	flags.StringArrayVar(&f.agents, "agent", []string{scriptedMind}, "who answers, as for tooleval run")
	flags.BoolVar(&f.live, "live", false, "real tools instead of mocks")
	flags.StringArrayVar(&f.tasks, "task", nil, "only this task; * and ? match as in file names; may be repeated")
	flags.StringArrayVar(&f.tags, "tag", nil, "only tasks with this tag; may be repeated")
	flags.Uint64Var(&f.seed, "seed", 0, "what the seeds of all runs are derived from")
	flags.IntVar(&f.concurrency, "concurrency", 0, "runs at a time (default: the number of processors)")
	flags.DurationVar(&f.timeout, "timeout", engine.DefaultTimeout, "the agent's time in one run, unless the task has a limit of its own")
	flags.StringVar(&f.results, "results", "results", "the folder that keeps every run as a file")
	flags.StringVar(&f.judge, "judge", "", "the judge of tasks that want one: none, anthropic:MODEL or openai:MODEL")
	flags.StringVar(&f.sandbox, "sandbox", "none", "none, auto or bwrap: fence agents of a profile in by bubblewrap")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("suite", a.completeSuites))
	return cmd
}

// check reports what is wrong with the flags, and files that would be replaced: before anything costs money.
func (r *recording) check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	policies := []string{string(worlds.RepeatLast), string(worlds.Cycle), string(worlds.Fail)}
	if !slices.Contains(policies, r.onRepeat) {
		fail("--on-repeat %q: it is %s%s", r.onRepeat, strings.Join(policies, ", "), tooleval.DidYouMean(r.onRepeat, policies))
	}
	misses := []string{worlds.MissIsGap, worlds.MissIsToolError}
	if !slices.Contains(misses, r.onMiss) {
		fail("--on-miss %q: it is %s%s", r.onMiss, strings.Join(misses, " or "), tooleval.DidYouMean(r.onMiss, misses))
	}
	r.gathered.WhenExhausted, r.gathered.WhenMissing = worlds.Policy(r.onRepeat), r.onMiss
	if r.dir == "" {
		fail("--out DIR is required: the folder for the recordings")
		return errors.Join(errs...)
	}
	there, err := filepath.Glob(filepath.Join(escapeGlob(r.dir), "*.json"))
	if err == nil && len(there) > 0 && !r.overwrite {
		fail("--out %s: there are recordings in it; give another folder, or --overwrite", r.dir)
	}
	return errors.Join(errs...)
}

// escapeGlob is a path in which nothing is a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// write writes the recordings, each whole or not at all.
func (r *recording) write(out io.Writer) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	list := r.gathered.Recordings()
	for i := range list {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(&list[i]); err != nil {
			return fmt.Errorf("recording of task %q: %w", list[i].TaskID, err)
		}
		path := filepath.Join(r.dir, store.FileName(list[i].TaskID)+".json")
		if err := os.WriteFile(path+".tmp", b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	left := ""
	if n := r.gathered.LeftOut; n > 0 {
		left = fmt.Sprintf("; %d more calls had no answer of a tool and were left out", n)
	}
	fmt.Fprintf(out, "\n%d calls of %d tasks are recorded in %s%s\nReplay them with: tooleval run SUITE --world replay:%s\n",
		r.gathered.Kept, len(list), plain.Text(r.dir), left, plain.Text(r.dir))
	return nil
}
