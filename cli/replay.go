package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/ingest"
	"github.com/tooleval/tooleval/internal/answer"
	"github.com/tooleval/tooleval/worlds"
)

// replayLimit bounds the replay of one recording.
const replayLimit = time.Minute

// replayed counts what replays found. It may be used concurrently.
type replayed struct {
	mu              sync.Mutex
	runs, calls     int
	differing, gaps map[string]int // by tool
	example         string
}

// A difference is a call that a world answered otherwise than was recorded.
type difference struct {
	tool, recorded, replayed string
	gap                      bool
}

// finalState fills in the state that a run is scored by: what was recorded, else what replaying the calls leads to, else
// what the agent claimed, if need be by the JSON object that its last words are or end with. It returns why the run can't be scored when there is none and its task is judged by it.
func (s *scoring) finalState(ctx context.Context, run *tooleval.Run, r *ingest.Recording) (why string) {
	if r.State != nil {
		run.State, run.StateFrom = r.State, "world"
		return ""
	}
	why = "the recording has no final state, and it was not replayed (--state recorded)"
	if s.flags.state == stateAuto {
		state, err := s.rerun(ctx, run)
		switch {
		case err != nil:
			why = "the recording has no final state, and replaying its calls failed: " + err.Error()
			run.Warnings = append(run.Warnings, tooleval.Text(why))
			return why
		case state != nil:
			run.State, run.StateFrom = state, "world"
			return ""
		}
		why = "the recording has no final state, and the suite's world keeps none"
	}
	if run.Result.State == nil && len(r.Said) > 0 { // as the answer of a bare model is read
		if state, ok := answer.JSONObject(string(r.Said[len(r.Said)-1])); ok {
			run.Result.State = state
		}
	}
	if run.Result.State != nil && run.Result.State.Valid() {
		run.State, run.StateFrom = run.Result.State, "agent"
		return ""
	}
	if s.flags.state == stateAuto && s.grader.Own(run.TaskID) {
		return "" // its scorer has to do without, as in any world that keeps no state
	}
	return why
}

// rerun replays the calls of a run in a fresh mock world and returns the state that they lead to; nil when the world keeps
// none, and then nothing is replayed.
func (s *scoring) rerun(ctx context.Context, run *tooleval.Run) (tooleval.State, error) {
	factory := s.suite.MockWorld
	if factory == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, replayLimit, fmt.Errorf("it took longer than %v", replayLimit))
	defer cancel()
	type outcome struct {
		state tooleval.State
		diffs []difference
		err   error
	}
	done := make(chan outcome, 1)
	calls := run.Trajectory.Calls
	spec := tooleval.WorldSpec{Task: run.Task, Tools: run.Tools, Seed: run.Seed}
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o = outcome{err: fmt.Errorf("the world panicked: %v", v)}
			}
			done <- o
		}()
		o.state, o.diffs, o.err = replay(ctx, factory, spec, calls)
	}()
	select {
	case o := <-done:
		if o.err == nil && o.state != nil {
			s.replay.add(run, o.diffs)
		}
		return o.state, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// replay makes the calls one after another in the order in which they began. Those that never reached a tool are left out.
func replay(ctx context.Context, factory tooleval.WorldFactory, spec tooleval.WorldSpec, calls []tooleval.Call) (tooleval.State, []difference, error) {
	world, err := factory.NewWorld(ctx, spec)
	if err == nil && world == nil {
		err = errors.New("the factory returned no world")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("making the world: %w", err)
	}
	defer func() { _ = world.Close() }() // what it holds is of no use any more
	before, err := world.State()
	if err != nil {
		return nil, nil, fmt.Errorf("taking the world's state: %w", err)
	}
	if before == nil {
		return nil, nil, nil
	}
	recorder := worlds.Record(worlds.Guard(world, spec.Tools), worlds.RecordOptions{MaxCalls: len(calls) + 1})
	var made []*tooleval.Call
	for i := range calls {
		c := &calls[i]
		if c.ArgsError != "" || c.Status == tooleval.CallRefused {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, context.Cause(ctx)
		}
		made = append(made, c)
		// What it answers is in the record, also when it breaks.
		_, _ = recorder.CallTool(ctx, tooleval.ToolCall{ID: c.ID, Tool: c.Tool, Args: slices.Clone(c.Args)})
	}
	recorder.Close()
	var diffs []difference
	again := recorder.Trajectory().Calls
	for i, c := range made {
		if i >= len(again) { // the world ended the run before this call
			diffs = append(diffs, difference{tool: c.Tool, recorded: string(c.Result.Text), replayed: "the world had ended the run"})
			continue
		}
		if d := &again[i]; !sameResult(c, d) {
			text := string(d.Result.Text)
			if d.Error != "" {
				text = string(d.Error)
			}
			diffs = append(diffs, difference{c.Tool, string(c.Result.Text), text, d.FixtureGap != ""})
		}
	}
	state, err := world.State()
	if err == nil && state != nil && !state.Valid() {
		err = errors.New("it is not JSON")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("taking the world's state: %w", err)
	}
	return slices.Clone(state), diffs, nil
}

// sameResult reports whether two answers mean the same: as JSON where both are, else as text.
func sameResult(recorded, again *tooleval.Call) bool {
	if recorded.Status == tooleval.CallCancelled { // no answer was recorded, so that there is nothing to compare
		return true
	}
	if recorded.Result.IsError != again.Result.IsError || again.Status != tooleval.CallOK && again.Status != tooleval.CallToolError {
		return false
	}
	a, b := string(recorded.Result.Text), string(again.Result.Text)
	if strings.TrimSpace(a) == strings.TrimSpace(b) {
		return true
	}
	x, err := tooleval.DecodeValue([]byte(a))
	if err != nil {
		return false
	}
	y, err := tooleval.DecodeValue([]byte(b))
	return err == nil && tooleval.Equal(x, y)
}

// add counts the replay of a run and warns in the run of what differs.
func (r *replayed) add(run *tooleval.Run, diffs []difference) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.differing == nil {
		r.differing, r.gaps = map[string]int{}, map[string]int{}
	}
	r.runs++
	r.calls += len(run.Trajectory.Calls)
	tools := map[string]bool{}
	for _, d := range diffs {
		if d.gap {
			r.gaps[d.tool]++
		}
		r.differing[d.tool]++
		tools[d.tool] = true
		if example := fmt.Sprintf("task %q, run %d, %s: recorded %.200q, replayed %.200q", run.TaskID, run.Index, d.tool, d.recorded, d.replayed); r.example == "" || example < r.example {
			r.example = example // the same one, whatever order runs end in
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		run.Warnings = append(run.Warnings, tooleval.Text(fmt.Sprintf("replay: %s answered otherwise than was recorded", tool)))
	}
}

// summary says what replays found, in a line or a few.
func (r *replayed) summary() string {
	if r.runs == 0 {
		return ""
	}
	total := 0
	var parts []string
	for _, tool := range slices.Sorted(maps.Keys(r.differing)) {
		n := r.differing[tool]
		total += n
		text := fmt.Sprintf("%s %d", tool, n)
		if g := r.gaps[tool]; g > 0 {
			text += fmt.Sprintf(" (%d without a fixture)", g)
		}
		parts = append(parts, text)
	}
	text := fmt.Sprintf("replayed %d recordings with %d calls for their final state; ", r.runs, r.calls)
	if total == 0 {
		return text + "every result was as recorded"
	}
	return text + fmt.Sprintf("%d results were not as recorded: %s\nfor example %s", total, strings.Join(parts, ", "), r.example)
}
