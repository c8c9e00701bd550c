package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tooleval/tooleval"
)

// A Mock is a WorldFactory whose worlds answer from fixtures. The first Fixture, in written order, whose tool and
// arguments fit a call answers it, so the narrow ones go before the wide ones. A call that no Fixture covers ends with
// a [tooleval.Gap] that names the nearest one: an incomplete mock is never silently the agent's fault.
//
// Every world counts for itself: no run sees how often a Fixture was used in another. A Mock must not be changed once
// it is in use; it is then safe for concurrent use. Check reports what is wrong with it (Suite.Validate calls it).
type Mock struct {
	Fixtures []Fixture
	// InitialState is the state in which each run starts, as JSON. Nil keeps no state, unless a Fixture has a Keep: the
	// state then starts as an object with an empty list for each.
	InitialState tooleval.State
}

var (
	_ tooleval.WorldFactory  = Mock{}
	_ tooleval.Checker       = Mock{}
	_ tooleval.Fingerprinter = Mock{}
)

// NewWorld returns a fresh world that answers the tools of spec. It never fails.
func (m Mock) NewWorld(_ context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	return &mockWorld{mock: m, tools: spec.Tools, used: make([]atomic.Int64, len(m.Fixtures))}, nil
}

// Fingerprint is everything that shapes the answers.
func (m Mock) Fingerprint() any {
	type answer struct {
		Result    tooleval.ToolResult `json:"result"`
		LatencyNS int64               `json:"latency_ns,omitempty"`
		Err       string              `json:"err,omitempty"`
	}
	type fixture struct {
		Tool          string           `json:"tool"`
		Args          tooleval.Pattern `json:"args,omitzero"`
		Results       []answer         `json:"results"`
		WhenExhausted Policy           `json:"when_exhausted,omitempty"`
		Keep          string           `json:"keep,omitempty"`
	}
	fixtures := make([]fixture, len(m.Fixtures))
	for i, f := range m.Fixtures {
		fixtures[i] = fixture{f.Tool, f.Args, make([]answer, len(f.Results)), f.WhenExhausted, f.Keep}
		for j, a := range f.Results {
			fixtures[i].Results[j] = answer{Result: a.Result, LatencyNS: int64(a.Latency)}
			if a.Err != nil {
				fixtures[i].Results[j].Err = a.Err.Error()
			}
		}
	}
	return struct {
		World        string         `json:"world"`
		Fixtures     []fixture      `json:"fixtures"`
		InitialState tooleval.State `json:"initial_state,omitempty"`
	}{"mock", fixtures, m.InitialState}
}

// keys are the names of the lists that the state keeps, sorted.
func (m Mock) keys() []string {
	var keys []string
	for _, f := range m.Fixtures {
		if f.Keep != "" && !slices.Contains(keys, f.Keep) {
			keys = append(keys, f.Keep)
		}
	}
	slices.Sort(keys)
	return keys
}

// A mockWorld is the world of one run.
type mockWorld struct {
	mock  Mock
	tools []tooleval.Tool
	used  []atomic.Int64 // answers given, by fixture

	// The schemas that have defaults, by tool, and each fixture's pattern with them filled in; nil when none has. They
	// are made by the first call, so that a world that is never called costs nothing.
	once    sync.Once
	schemas map[string]any
	filled  []tooleval.Pattern

	mu   sync.Mutex
	kept map[string][]any
}

func (w *mockWorld) Tools() []tooleval.Tool { return w.tools }
func (w *mockWorld) Close() error           { return nil }

func (w *mockWorld) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	args, err := decodeArgs(call.Args)
	if err != nil { // the recorder answers such calls itself; this is for whoever uses the world without one
		return tooleval.ErrorResult("%v", err), nil
	}
	w.once.Do(w.fillDefaults)
	if schema, ok := w.schemas[call.Tool]; ok {
		args = tooleval.FillDefaults(schema, args)
	}
	for i := range w.mock.Fixtures {
		if w.mock.Fixtures[i].Tool == call.Tool && w.pattern(i).Match(args) {
			return w.answer(ctx, i, args)
		}
	}
	return tooleval.ToolResult{}, w.gap(call.Tool, call.Args, args)
}

func decodeArgs(raw tooleval.Raw) (any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		return nil, errors.New(notJSON(err))
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, errors.New("arguments are not a JSON object")
	}
	return v, nil
}

func (w *mockWorld) fillDefaults() {
	for _, t := range w.tools {
		if !bytes.Contains(t.Schema, []byte(`"default"`)) {
			continue
		}
		schema, err := tooleval.DecodeValue(t.Schema)
		if err != nil { // Suite.Validate reports it; without a schema there are no defaults
			continue
		}
		if w.schemas == nil {
			w.schemas = map[string]any{}
		}
		w.schemas[t.Name] = schema
	}
	if w.schemas == nil {
		return
	}
	w.filled = make([]tooleval.Pattern, len(w.mock.Fixtures))
	for i, f := range w.mock.Fixtures {
		w.filled[i] = f.Args
		if schema, ok := w.schemas[f.Tool]; ok {
			w.filled[i] = f.Args.FillDefaults(schema)
		}
	}
}

// pattern is the pattern of a fixture with the defaults filled in.
func (w *mockWorld) pattern(i int) tooleval.Pattern {
	if w.filled != nil {
		return w.filled[i]
	}
	return w.mock.Fixtures[i].Args
}

func (w *mockWorld) answer(ctx context.Context, i int, args any) (tooleval.ToolResult, error) {
	f := &w.mock.Fixtures[i]
	a, ok := f.pick(int(w.used[i].Add(1) - 1))
	if !ok {
		return tooleval.ToolResult{}, &tooleval.Gap{
			Message: fmt.Sprintf("no more results for %s: all %d were used", f.call(), len(f.Results)),
			Nearest: fmt.Sprintf("fixture %d: %s has only %d results", i+1, f.call(), len(f.Results)),
		}
	}
	if err := a.wait(ctx); err != nil {
		return tooleval.ToolResult{}, err
	}
	if a.Err != nil {
		return tooleval.ToolResult{}, tooleval.Blamef(tooleval.OwnerWorld, "fixture %d (%s): %w", i+1, f.Tool, a.Err)
	}
	if f.Keep != "" && !a.Result.IsError {
		w.mu.Lock()
		if w.kept == nil {
			w.kept = map[string][]any{}
		}
		w.kept[f.Keep] = append(w.kept[f.Keep], args)
		w.mu.Unlock()
	}
	// The caller may do what it likes with its result; the fixture serves other runs too.
	a.Result.Structured = slices.Clone(a.Result.Structured)
	return a.Result, nil
}

// State is InitialState with the kept arguments appended, in the order in which the calls were answered.
func (w *mockWorld) State() (tooleval.State, error) {
	keys := w.mock.keys()
	if len(keys) == 0 {
		return slices.Clone(w.mock.InitialState), nil
	}
	state, err := w.mock.initial(keys)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, calls := range w.kept {
		state[k] = slices.Concat(state[k].([]any), calls)
	}
	return tooleval.CanonicalJSON(state), nil
}

// initial is the state at the start of a run, with a list for each key.
func (m Mock) initial(keys []string) (map[string]any, error) {
	state := map[string]any{}
	if m.InitialState != nil {
		v, err := tooleval.DecodeValue(m.InitialState)
		if err != nil {
			return nil, fmt.Errorf("the initial state is not JSON: %w", err)
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("the initial state must be an object, since a fixture keeps calls in it")
		}
		state = object
	}
	for _, k := range keys {
		if _, ok := state[k].([]any); ok {
			continue
		}
		if _, taken := state[k]; taken {
			return nil, fmt.Errorf("the initial state's %q must be a list, since a fixture keeps calls there", k)
		}
		state[k] = []any{}
	}
	return state, nil
}

// fixtureTools are the tools that have fixtures, in order of their names.
func (m Mock) fixtureTools() []string {
	tools := map[string]bool{}
	for _, f := range m.Fixtures {
		tools[f.Tool] = true
	}
	return slices.Sorted(maps.Keys(tools))
}
