package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/store"
	"github.com/tooleval/tooleval/suitefile"
	"github.com/tooleval/tooleval/worlds"
)

// replayDir is the folder in replay:DIR.
func replayDir(world string) (string, error) {
	dir, ok := strings.CutPrefix(world, engine.Replay+":")
	if !ok || dir == "" {
		return "", fmt.Errorf("--world %q: give replay:DIR, the folder that tooleval record wrote; real tools are --live, and mocks need no flag", world)
	}
	return dir, nil
}

// inWorld is the suite with the world and the faults that the flags ask for, and the kind of that world.
func (a *App) inWorld(s *tooleval.Suite, f *runFlags) (*tooleval.Suite, string, error) {
	kind := engine.Mock
	if f.live {
		kind = engine.Live
	}
	if f.world != "" {
		var err error
		if s, err = a.replayed(s, f.world); err != nil {
			return nil, "", err
		}
		kind = engine.Replay
	}
	if f.faults != "" {
		faults, err := suitefile.LoadFaults(f.faults, toolsOfTasks(s, f.live, a.getenv))
		if _, ok := errors.AsType[*suitefile.Error](err); ok {
			return nil, "", err // it names its file by itself
		} else if err != nil {
			return nil, "", fmt.Errorf("--faults: %w", err)
		}
		s = faults.Apply(s)
	}
	if f.record != nil {
		s = withoutFaults(s) // what is recorded is what the tools say
	}
	return s, kind, nil
}

// replayed is the suite over the recordings in a folder, with the tasks that were recorded: those of the live world where
// that was the one.
func (a *App) replayed(s *tooleval.Suite, world string) (*tooleval.Suite, error) {
	dir, err := replayDir(world)
	if err != nil {
		return nil, err
	}
	recordings, err := worlds.LoadRecordings(dir)
	if err != nil {
		return nil, fmt.Errorf("--world: %w", err)
	}
	for _, r := range recordings {
		if r.World != recordings[0].World {
			return nil, fmt.Errorf("--world: %s holds recordings of a live and of a mock world; keep them in folders of their own", dir)
		}
	}
	out := *s
	out.Tasks, out.LiveTasks, out.LiveWorld = s.TasksIn(recordings[0].World == engine.Live, a.getenv), nil, nil
	out.MockWorld = &worlds.Replay{Recordings: recordings, Redact: store.NewRedactor(store.SecretsFromEnv(a.Env)).Text}
	return &out, nil
}

// toolsOfTasks are the tools that some task may call.
func toolsOfTasks(s *tooleval.Suite, live bool, getenv func(string) string) []string {
	var out []string
	for _, t := range s.TasksIn(live, getenv) {
		out = append(out, t.Toolset...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func withoutFaults(s *tooleval.Suite) *tooleval.Suite {
	out := *s
	strip := func(tasks []tooleval.Task) []tooleval.Task {
		tasks = slices.Clone(tasks)
		for i := range tasks {
			tasks[i].Faults = nil
		}
		return tasks
	}
	out.Tasks = strip(s.Tasks)
	if live := s.LiveTasks; live != nil {
		out.LiveTasks = func(getenv func(string) string) []tooleval.Task { return strip(live(getenv)) }
	}
	return &out
}
