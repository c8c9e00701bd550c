package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/ingest"
	"github.com/tooleval/tooleval/internal/plain"
)

// mostNamed bounds the errors that are listed one by one.
const mostNamed = 20

// collect reads all recordings once and decides where each belongs. Everything that is wrong is reported at once.
func (s *scoring) collect(a *App) error {
	var errs []error
	broken := 0
	fail := func(err error) {
		if broken++; broken <= mostNamed {
			errs = append(errs, err)
		}
	}
	type run struct {
		mind, task string
		index      int
	}
	taken := map[run]string{}
	next := map[run]int{} // with index 0: the number of runs of a task
	var strange strangeTasks
	err := s.each(func(file string, r *ingest.Recording) error {
		where := file + ": " + r.Source.Position
		task := s.task(r)
		if task == "" {
			strange.add(r.TaskID, where)
			return nil
		}
		if s.tasks[task] == nil {
			return nil // left out by --task or --tag
		}
		mind := s.mind(r, file)
		count := run{mind, task, 0}
		index := r.Index
		if index == ingest.NoIndex || s.flags.renumber {
			index = next[count]
		}
		at := run{mind, task, index}
		if other, ok := taken[at]; ok {
			fail(fmt.Errorf("%s: run %d of task %q under %q is also in %s: number the runs anew with --renumber, or tell the agents apart "+
				"by scoring the files one by one with --mind", where, index, task, mind, other))
			return nil
		}
		taken[at] = where
		next[count] = max(next[count], index+1)
		s.runs = max(s.runs, index+1)
		if !slices.Contains(s.minds, mind) {
			s.minds = append(s.minds, mind)
		}
		s.jobs[jobKey(file, r)] = slot{task, mind, index}
		return nil
	}, fail)
	if err != nil {
		return err
	}
	if err := strange.err(s); err != nil {
		broken++
		errs = append(errs, err)
	}
	if broken > mostNamed {
		errs = append(errs, fmt.Errorf("and %d more recordings", broken-mostNamed))
	}
	if broken > 0 && !s.flags.skipBad {
		return errors.Join(append(errs, errors.New("nothing was scored; leave such recordings out with --skip-bad"))...)
	}
	for _, err := range errs {
		fmt.Fprintln(a.Stderr, plain.Text("left out: "+err.Error()))
	}
	if len(s.jobs) == 0 {
		return errors.New("there is no recording to score")
	}
	if s.runs > 1<<20 {
		return fmt.Errorf("a recording says that it is run %d of its task; number the runs anew with --renumber", s.runs-1)
	}
	return nil
}

// strangeTasks are the tasks of recordings that the suite does not have.
type strangeTasks struct {
	n     map[string]int
	order []string
	first map[string]string
}

func (t *strangeTasks) add(id, where string) {
	if t.n == nil {
		t.n, t.first = map[string]int{}, map[string]string{}
	}
	if t.n[id] == 0 {
		t.order = append(t.order, id)
		t.first[id] = where
	}
	t.n[id]++
}

// err names them all, each with its recordings, in one error.
func (t *strangeTasks) err(s *scoring) error {
	var errs []error
	var known []string
	for _, task := range s.suite.Tasks {
		known = append(known, task.ID)
	}
	for i, id := range t.order {
		where := fmt.Sprintf("%d recordings, the first in %s", t.n[id], t.first[id])
		if t.n[id] == 1 {
			where = "one recording, in " + t.first[id]
		}
		switch {
		case i == 5*mostNamed:
			return errors.Join(append(errs, fmt.Errorf("and %d more unknown tasks", len(t.order)-i))...)
		case id == "":
			errs = append(errs, fmt.Errorf("no task is named by %s: name it with --as-task", where))
		default:
			errs = append(errs, fmt.Errorf("suite %q has no task %.100q%s (%s)", s.suite.Name, id, tooleval.DidYouMean(id, known), where))
		}
	}
	return errors.Join(errs...)
}

func jobKey(file string, r *ingest.Recording) string { return file + "\x00" + r.Source.Position }

// all scores every recording and hands out the runs in the order of the files.
func (s *scoring) all(ctx context.Context, keep func(*tooleval.Run) error) error {
	type result chan *tooleval.Run
	n := workers(s.flags.concurrency)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan result, 2*n)
	slots := make(chan struct{}, n)
	var group sync.WaitGroup
	var readErr error
	group.Go(func() {
		defer close(queue)
		readErr = s.each(func(file string, r *ingest.Recording) error {
			at, ok := s.jobs[jobKey(file, r)]
			if !ok {
				return nil
			}
			out := make(result, 1)
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case slots <- struct{}{}:
			}
			group.Go(func() {
				defer func() { <-slots }()
				out <- s.one(ctx, at, r)
			})
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case queue <- out:
			}
			return nil
		}, func(error) {})
	})
	var keepErr error
	for out := range queue {
		run := <-out
		if keepErr == nil {
			if keepErr = keep(run); keepErr != nil {
				cancel(keepErr)
			}
		}
	}
	group.Wait()
	if keepErr != nil {
		return keepErr
	}
	return readErr
}

// one makes a scored run of a recording.
func (s *scoring) one(ctx context.Context, at slot, r *ingest.Recording) *tooleval.Run {
	t := s.tasks[at.task]
	run := &tooleval.Run{SchemaVersion: tooleval.SchemaVersion, Suite: s.suite.Name, TaskID: t.ID, Index: at.index, Mind: at.mind, World: engine.Recorded,
		Seed: engine.Seed(0, s.suite.Name, t.ID, "", at.index), Ending: r.Ending, Error: r.Error, ErrorOwner: r.ErrorOwner,
		Warnings: r.Warnings, EntryPoint: t.EntryPoint, Trajectory: r.Trajectory, Result: r.Result, Task: *t, Tools: s.suite.Toolset(t),
		Provenance: s.header.Provenance, Started: s.header.Started}
	if own := r.Run; own != nil { // ours say more
		run.EntryPoint, run.Started, run.WallMS, run.AgentMS, run.Stack = own.EntryPoint, own.Started, own.WallMS, own.AgentMS, own.Stack
		run.Seed, run.Warnings = own.Seed, slices.Clone(own.Warnings)
	}
	var err error
	if run.Identity, err = engine.RecordedIdentity(s.suite, t, at.mind, r.Source.File+" "+r.Source.Position, at.index); err != nil {
		run.Warnings = append(run.Warnings, tooleval.Text("no identity: "+err.Error()))
	}
	s.strangers(run)
	why := s.finalState(ctx, run, r)
	if why == "" {
		s.grader.Grade(ctx, run)
		return run
	}
	s.grader.GradeAs(ctx, run, tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
		return tooleval.Outcome{Score: tooleval.Unscoredf("%s", why)}, nil
	}))
	return run
}

// strangers warns of calls to tools that the task does not have. Nothing is guessed from their names.
func (s *scoring) strangers(run *tooleval.Run) {
	var told []string
	for i := range run.Trajectory.Calls {
		name := run.Trajectory.Calls[i].Tool
		if name == "" || slices.Contains(run.Task.Toolset, name) || slices.Contains(told, name) || len(told) == 10 {
			continue
		}
		told = append(told, name)
		text := fmt.Sprintf("tool %.100q was called, which is not in the task's toolset", name)
		for _, t := range run.Task.Toolset {
			if len(name) > len(t) && name[len(name)-len(t):] == t {
				text += fmt.Sprintf("; if it is %q, say so with --alias '%.100s=%s'", t, name, t)
			}
		}
		run.Warnings = append(run.Warnings, tooleval.Text(text))
	}
}
