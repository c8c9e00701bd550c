package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tooleval/tooleval"
)

// A Replay is a WorldFactory whose worlds answer from [Recording]s: a call gets the results that the same call, of the same
// tool with the same arguments, got when it was recorded, in that order. What follows the last of them, and what a call
// gets that was never recorded, each Recording says itself.
//
// Where the recorded world kept a state, the final state is known only once every recorded call has been made as often as it
// was; before that State is an error, and the run is unscored.
//
// Every world counts for itself. A Replay must not be changed once it is in use; it is then safe for concurrent use.
type Replay struct {
	Recordings []Recording
	// Redact replaces secrets in the arguments of a call, as was done when they were recorded. Nil replaces nothing.
	Redact func(string) string
}

var (
	_ tooleval.WorldFactory     = (*Replay)(nil)
	_ tooleval.WorldPreflighter = (*Replay)(nil)
	_ tooleval.Checker          = (*Replay)(nil)
	_ tooleval.Fingerprinter    = (*Replay)(nil)
)

func (r *Replay) recording(task string) *Recording {
	for i := range r.Recordings {
		if r.Recordings[i].TaskID == task {
			return &r.Recordings[i]
		}
	}
	return nil
}

func (r *Replay) tasks() []string {
	ids := make([]string, len(r.Recordings))
	for i := range r.Recordings {
		ids[i] = r.Recordings[i].TaskID
	}
	return ids
}

// NewWorld returns a fresh world that answers from the recording of the task. A task without one is an error.
func (r *Replay) NewWorld(_ context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	rec := r.recording(spec.Task.ID)
	if rec == nil {
		return nil, tooleval.Blame(tooleval.OwnerInfra, r.unrecorded(spec.Task.ID))
	}
	w := &replayWorld{recording: rec, tools: spec.Tools, redact: r.Redact, schemas: map[string]any{}, place: map[string]int{},
		used: make([]int, len(rec.Calls))}
	for _, t := range spec.Tools {
		if schema, err := tooleval.DecodeValue(t.Schema); err == nil {
			w.schemas[t.Name] = schema
		}
	}
	for i, c := range rec.Calls {
		key, err := w.key(c.Tool, c.Args)
		if err != nil {
			return nil, tooleval.Blamef(tooleval.OwnerInfra, "recorded call %d of task %q: %w", i+1, spec.Task.ID, err)
		}
		if _, taken := w.place[key]; !taken {
			w.place[key] = i
		}
	}
	return w, nil
}

func (r *Replay) unrecorded(task string) error {
	return fmt.Errorf("task %q has no recording%s; record it, or choose other tasks", task, tooleval.DidYouMean(task, r.tasks()))
}

// PreflightWorlds reports the tasks that were not recorded.
func (r *Replay) PreflightWorlds(_ context.Context, specs []tooleval.WorldSpec) error {
	var errs []error
	for _, spec := range specs {
		if r.recording(spec.Task.ID) == nil {
			errs = append(errs, r.unrecorded(spec.Task.ID))
		}
	}
	return errors.Join(errs...)
}

// Check reports recordings that are not of this suite, or not sound.
func (r *Replay) Check(s *tooleval.Suite) error {
	var errs []error
	known := map[string]bool{}
	for _, t := range s.Tasks {
		known[t.ID] = true
	}
	seen := map[string]bool{}
	for i := range r.Recordings {
		rec := &r.Recordings[i]
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("recording of task %q: %w", rec.TaskID, fmt.Errorf(format, args...)))
		}
		switch {
		case rec.Suite != s.Name:
			fail("it is of suite %q", rec.Suite)
			continue
		case !known[rec.TaskID]:
			fail("the suite has no such task%s", tooleval.DidYouMean(rec.TaskID, slices.Sorted(maps.Keys(known))))
		case seen[rec.TaskID]:
			fail("there is a second one")
		}
		seen[rec.TaskID] = true
		for j, c := range rec.Calls {
			if _, ok := s.Tool(c.Tool); !ok {
				fail("call %d: unknown tool %q%s", j+1, c.Tool, tooleval.DidYouMean(c.Tool, toolNames(s.Tools)))
			}
		}
		if err := rec.Err(); err != nil {
			fail("%w", err)
		}
	}
	return errors.Join(errs...)
}

// Fingerprint is all recordings.
func (r *Replay) Fingerprint() any {
	return map[string]any{"world": "replay", "recordings": r.Recordings}
}

type replayWorld struct {
	recording *Recording
	tools     []tooleval.Tool
	redact    func(string) string
	schemas   map[string]any
	place     map[string]int // of a recorded call, by its key

	mu   sync.Mutex
	used []int // by recorded call: the answers given
}

func (w *replayWorld) Tools() []tooleval.Tool { return w.tools }
func (w *replayWorld) Close() error           { return nil }

// key is what makes two calls the same: the tool and the canonical arguments, with defaults filled in and secrets replaced.
func (w *replayWorld) key(tool string, raw tooleval.Raw) (string, error) {
	args, err := decodeArgs(raw)
	if err != nil {
		return "", err
	}
	if schema, ok := w.schemas[tool]; ok {
		args = tooleval.FillDefaults(schema, args)
	}
	text := string(tooleval.CanonicalJSON(args))
	if w.redact != nil {
		text = w.redact(text)
	}
	return tool + "\x00" + text, nil
}

func (w *replayWorld) CallTool(_ context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	key, err := w.key(call.Tool, call.Args)
	if err != nil {
		return tooleval.ErrorResult("%v", err), nil
	}
	i, ok := w.place[key]
	if !ok {
		return w.missing(call)
	}
	c := &w.recording.Calls[i]
	w.mu.Lock()
	n := w.used[i]
	w.used[i]++
	w.mu.Unlock()
	if n >= len(c.Results) {
		switch w.recording.WhenExhausted {
		case Cycle:
			n %= len(c.Results)
		case Fail:
			return tooleval.ToolResult{}, &tooleval.Gap{
				Message: fmt.Sprintf("no more recorded answers for %s: all %d were used", shownCall(call.Tool, call.Args), len(c.Results)),
				Nearest: fmt.Sprintf("recorded call %d: %s was made %d times", i+1, shownCall(c.Tool, c.Args), len(c.Results)),
			}
		default:
			n = len(c.Results) - 1
		}
	}
	return copied(c.Results[n]), nil
}

// missing is the answer to a call that was never recorded.
func (w *replayWorld) missing(call tooleval.ToolCall) (tooleval.ToolResult, error) {
	said := shownCall(call.Tool, call.Args)
	message := "no recorded answer for " + said
	if w.recording.WhenMissing == MissIsToolError {
		return tooleval.ErrorResult("%s", message), nil
	}
	var calls []string
	place := map[string]int{}
	for i, c := range w.recording.Calls {
		if c.Tool == call.Tool {
			s := shownCall(c.Tool, c.Args)
			calls, place[s] = append(calls, s), i
		}
	}
	if len(calls) == 0 {
		return tooleval.ToolResult{}, &tooleval.Gap{Message: message, Nearest: fmt.Sprintf("no call of %.100q was recorded", call.Tool)}
	}
	nearest := tooleval.Nearest(said, calls)
	if nearest == "" {
		nearest = calls[0]
	}
	return tooleval.ToolResult{}, &tooleval.Gap{Message: message, Nearest: fmt.Sprintf("recorded call %d: %s", place[nearest]+1, nearest)}
}

// shownCall is a call in words, with long arguments cut.
func shownCall(tool string, args tooleval.Raw) string {
	if len(args) == 0 {
		args = tooleval.Raw("{}")
	}
	return fmt.Sprintf("%.100s(%.200s)", tool, strings.ToValidUTF8(string(args), "\uFFFD"))
}

// State is the recorded final state, once the calls that led to it have been made.
func (w *replayWorld) State() (tooleval.State, error) {
	if w.recording.State == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range w.recording.Calls[:min(w.recording.StateAfter, len(w.recording.Calls))] {
		if w.used[i] < len(c.Results) {
			return nil, tooleval.Blamef(tooleval.OwnerWorld,
				"the state was recorded after calls that this run did not make, such as %s", shownCall(c.Tool, c.Args))
		}
	}
	return slices.Clone(w.recording.State), nil
}
