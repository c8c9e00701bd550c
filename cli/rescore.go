package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

// A rescoring says what scoring stored runs again has changed; it is what --format json prints.
type rescoring struct {
	From string `json:"from"`
	Eval string `json:"eval"`
	Runs int    `json:"runs"`
	// Flips are the runs whose verdict is another one, in the order of the plan.
	Flips []flip `json:"flips"`
	// Tasks are those whose content has changed, with the fields that did.
	Tasks []changedTask `json:"changed_tasks"`
	// LeftOut counts the runs of tasks that the suite no longer has.
	LeftOut map[string]int `json:"left_out,omitempty"`
}

// A flip is one run whose verdict has changed.
type flip struct {
	TaskID   string           `json:"task_id"`
	Index    int              `json:"index"`
	Mind     string           `json:"mind"`
	Baseline string           `json:"baseline,omitempty"`
	Was      tooleval.Verdict `json:"was"`
	Is       tooleval.Verdict `json:"is"`
	WasWhy   tooleval.Text    `json:"was_why,omitempty"`
	IsWhy    tooleval.Text    `json:"is_why,omitempty"`
	// Changed are the fields of the task that are not what they were; none means that a scorer or the harness changed.
	Changed []string `json:"changed"`
}

// A changedTask is a task whose content is not what it was when its runs were made.
type changedTask struct {
	TaskID  string   `json:"task_id"`
	Changed []string `json:"changed"`
	// Seen says that agents saw something else then, so that the stored runs answer another question.
	Seen bool `json:"agents_saw_another_task"`
}

func (a *App) rescoreCommand() *cobra.Command {
	var results, format, judge, suite string
	cmd := &cobra.Command{
		Use:   "rescore EVAL",
		Short: "Score stored runs again, by changed tasks or scorers",
		Long: `Applies the suite as it is now to the stored runs of an eval, says which verdicts changed and why, and writes a
new eval. Nothing is run, and the old records are kept as they are.`,
		Example: "  tooleval rescore latest\n  tooleval rescore 20261201T111836Z-calc-3f9a1c --format json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("rescore takes one eval, for example: tooleval rescore latest")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			known := []string{"table", "json"}
			if !slices.Contains(known, format) {
				return fmt.Errorf("--format %q: it is table or json%s", format, tooleval.DidYouMean(format, known))
			}
			return a.rescore(cmd.Context(), results, args[0], suite, format, judge)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&results, "results", "results", "the folder that evals are looked up in, and the new one is kept in")
	flags.StringVar(&suite, "suite", "", "the suite that scores (default: the one that the eval was made with, by its name)")
	flags.StringVar(&format, "format", "table", "table or json")
	flags.StringVar(&judge, "judge", "", "the judge of tasks that want one: none, anthropic:MODEL or openai:MODEL")
	return cmd
}

func (a *App) rescore(ctx context.Context, results, name, suite, format, judge string) error {
	dir, err := store.Find(results, name)
	if err != nil {
		return err
	}
	reader, err := store.Open(dir)
	if err != nil {
		return err
	}
	old := reader.Header()
	if suite == "" {
		suite = old.Suite
	}
	s, err := a.suite(suite)
	if err != nil {
		return err
	}
	if s.Name != old.Suite {
		return fmt.Errorf("the eval is of suite %q, which %q is not", old.Suite, s.Name)
	}
	if err := s.Validate(a.getenv); err != nil {
		return err
	}
	grader, err := engine.NewGrader(s, tooleval.Resources{Judge: judge, Getenv: a.getenv})
	if err != nil {
		return err
	}
	tasks := map[string]*tooleval.Task{}
	if world := old.Options["world"]; world != "" && s.LiveTasks != nil { // only the recordings tell which tasks were meant
		if s, err = a.replayed(s, world); err != nil {
			return err
		}
	}
	list := s.TasksIn(old.World == engine.Live, a.getenv)
	for i := range list {
		tasks[list[i].ID] = &list[i]
	}
	header := old
	header.ID, header.Started, header.Provenance = store.NewID(s.Name, time.Now()), time.Now().UTC(), provenance(ctx)
	header.Options = map[string]string{"rescored": old.ID}
	for k, v := range old.Options {
		header.Options[k] = v
	}
	if judge != "" {
		header.Options["judge"] = judge
	}
	if header.Provenance.SuiteDigest, err = engine.SuiteDigest(s, list); err != nil {
		return err
	}
	header.Tasks = nil
	for _, t := range old.Tasks {
		now := tasks[t.ID]
		if now == nil {
			continue
		}
		digest, err := engine.TaskDigest(now)
		if err != nil {
			return err
		}
		header.Tasks = append(header.Tasks, tooleval.EvalTask{ID: t.ID, Digest: digest})
	}
	if len(header.Tasks) == 0 {
		return fmt.Errorf("suite %q has none of the tasks of eval %s any more", s.Name, old.ID)
	}
	kept, err := store.Create(results, header, store.Options{Secrets: store.SecretsFromEnv(a.Env)})
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }() // closed below, unless something fails before
	r := &rescoring{From: old.ID, Eval: kept.Header().ID, Flips: []flip{}, Tasks: []changedTask{}, LeftOut: map[string]int{}}
	builder := report.NewBuilder(kept.Header(), report.Options{})
	known := map[string]*changedTask{}
	for _, runs := range []iter.Seq2[*tooleval.Run, error]{reader.Baselines(), reader.Runs()} {
		for run, err := range store.Latest(runs) {
			if err != nil {
				fmt.Fprintln(a.Stderr, plain.Text("set aside: "+err.Error()))
				continue
			}
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			t := tasks[run.TaskID]
			if t == nil {
				r.LeftOut[run.TaskID]++
				continue
			}
			now := *t
			now.Faults = run.Task.Faults // what befell a run is part of it, whatever the suite says today
			now.WantsRecovery = t.WantsRecovery || old.Options["faults"] != "" && run.Task.WantsRecovery
			t = &now
			change := known[run.TaskID]
			if change == nil {
				change = &changedTask{TaskID: run.TaskID}
				change.Changed, change.Seen = changes(run, t, s.Toolset(t))
				known[run.TaskID] = change
				if len(change.Changed) > 0 {
					r.Tasks = append(r.Tasks, *change)
				}
			}
			was := run.Score
			run.Eval, run.Task, run.Tools, run.Provenance = header.ID, *t, s.Toolset(t), header.Provenance
			if change.Seen {
				run.Warnings = append(run.Warnings, tooleval.Text("the agent was given another task than the one it is scored by: "+strings.Join(change.Changed, ", ")+" changed"))
			}
			grader.Grade(ctx, run)
			r.Runs++
			if run.Score.Verdict != was.Verdict {
				r.Flips = append(r.Flips, flip{run.TaskID, run.Index, run.Mind, run.Baseline, was.Verdict, run.Score.Verdict, was.Why, run.Score.Why, change.Changed})
			}
			if _, err := kept.Put(run); err != nil {
				return err
			}
			builder.Add(run)
		}
	}
	if err := kept.Close(); err != nil {
		return err
	}
	if format == "json" {
		e := json.NewEncoder(a.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	r.print(a)
	if err := printReport(a.Stdout, builder.Report(), "table", false, a.getenv); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\nThe new eval is in %s; the old one is as it was\n", plain.Text(kept.Path()))
	return nil
}

// changes are the fields of a task that differ from those that a run was made with, sorted; seen says that an agent would
// have seen the difference.
func changes(run *tooleval.Run, now *tooleval.Task, tools []tooleval.Tool) (fields []string, seen bool) {
	was, is := taskFields(&run.Task), taskFields(now)
	for _, name := range sortedFields(was, is) {
		if !tooleval.Equal(was[name], is[name]) {
			fields = append(fields, name)
			seen = seen || slices.Contains([]string{"description", "entry_point", "input", "toolset"}, name)
		}
	}
	if before, after := toolsValue(run.Tools), toolsValue(tools); !tooleval.Equal(before, after) && !slices.Contains(fields, "toolset") {
		fields, seen = append(fields, "tools"), true
	}
	return fields, seen
}

func taskFields(t *tooleval.Task) map[string]any {
	m, _ := jsonValue(t).(map[string]any)
	return m
}

func toolsValue(tools []tooleval.Tool) any {
	if len(tools) == 0 {
		return nil
	}
	return jsonValue(tools)
}

func jsonValue(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	value, err := tooleval.DecodeValue(b)
	if err != nil {
		return nil
	}
	return value
}

func sortedFields(a, b map[string]any) []string {
	var names []string
	for _, m := range []map[string]any{a, b} {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// print says in words what changed.
func (r *rescoring) print(a *App) {
	line := func(format string, args ...any) { fmt.Fprintln(a.Stdout, plain.Text(fmt.Sprintf(format, args...))) }
	line("rescored %d runs of %s: %d verdicts changed", r.Runs, r.From, len(r.Flips))
	for _, t := range r.Tasks {
		note := ""
		if t.Seen {
			note = "; agents saw another task then, so its runs answer another question"
		}
		line("task %s changed: %s%s", t.TaskID, strings.Join(t.Changed, ", "), note)
	}
	for _, f := range r.Flips {
		who := f.Mind
		if f.Baseline != "" {
			who = "baseline " + f.Baseline
		}
		cause := "the scorer changed"
		if len(f.Changed) > 0 {
			cause = strings.Join(f.Changed, ", ") + " of the task changed"
		}
		line("%s run %d · %s: %s → %s (%s)", f.TaskID, f.Index+1, who, f.Was, f.Is, cause)
		if f.WasWhy != "" {
			line("  was: %.300s", f.WasWhy)
		}
		if f.IsWhy != "" {
			line("  is:  %.300s", f.IsWhy)
		}
	}
	for _, id := range sortedKeys(r.LeftOut) {
		line("left out: %d runs of task %s, which the suite no longer has", r.LeftOut[id], id)
	}
	fmt.Fprintln(a.Stdout)
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
