package starlark

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/statepatch"
)

// A Config says what a world is made of.
type Config struct {
	// Name is the name of the Starlark file, for messages; empty stands for world.star.
	Name string
	// Source is the Starlark file.
	Source []byte
	// State is the initial state, a JSON object. Nil stands for {}.
	State tooleval.State
	// Parts are keys of the initial state beside those in State, each with its JSON, as read from a file of its own.
	Parts map[string]tooleval.Raw
	// Functions maps a tool to the function that answers it, where that has another name than the tool.
	Functions map[string]string
	// Unchecked names tools whose arguments are not held to their schema before the function is called.
	Unchecked []string
	// Data is what ctx.data is in a task, by task id; the agent never sees it.
	Data map[string]tooleval.Raw
	// Now is ctx.now; empty stands for 2024-01-01T00:00:00Z. Scripts take it apart with time.parse_time.
	Now string
	// Changes makes State of a world say only what changed in the initial state. Records then stay small, but an
	// expected_state can't be compared with it: such a task needs a scorer that expands it, as scorers.Goal does.
	Changes bool
	// MaxSteps bounds one call of a tool, MaxBytes a result and the state; 0 stands for the defaults.
	MaxSteps uint64
	MaxBytes int
}

// A Factory makes the worlds of a Config. It is immutable and safe for concurrent use.
type Factory struct {
	config  Config
	program *Program
	base    *base
	digest  string // SHA-256 of the initial state
	data    map[string]starlark.Value

	mu      sync.Mutex
	schemas map[string]*schema // by the schema's bytes

	once    sync.Once
	decoded any // the initial state
	err     error
}

var (
	_ tooleval.WorldFactory  = (*Factory)(nil)
	_ tooleval.Checker       = (*Factory)(nil)
	_ tooleval.Fingerprinter = (*Factory)(nil)
	_ tooleval.StateExpander = (*Factory)(nil)
)

// New reads the script and the state. The errors say everything that is wrong with either.
func New(c Config) (*Factory, error) {
	if c.Name == "" {
		c.Name = "world.star"
	}
	if c.Now == "" {
		c.Now = "2024-01-01T00:00:00Z"
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	f := &Factory{config: c, schemas: map[string]*schema{}, data: map[string]starlark.Value{}}
	program, err := Load(c.Name, c.Source)
	if err == nil && c.MaxSteps > 0 {
		program.steps = c.MaxSteps
	}
	f.program = program
	errs := []error{err}
	whole, err := assemble(c.State, c.Parts)
	if err == nil {
		f.base, err = newBase(whole)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("initial state: %w", err))
	} else {
		sum := sha256.Sum256(f.base.json)
		f.digest = hex.EncodeToString(sum[:])
	}
	for _, id := range slices.Sorted(maps.Keys(c.Data)) {
		v, err := parseJSON(c.Data[id])
		if err != nil {
			errs = append(errs, fmt.Errorf("data of task %q: %w", id, err))
			continue
		}
		v.Freeze()
		f.data[id] = v
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return f, nil
}

// assemble puts an initial state together.
func assemble(state tooleval.State, parts map[string]tooleval.Raw) ([]byte, error) {
	out := []byte("{}")
	if state != nil {
		out = bytes.TrimSpace(state)
		if !tooleval.Raw(out).Valid() || out[0] != '{' {
			_, err := tooleval.DecodeValue(out)
			return nil, errors.Join(errors.New("want a JSON object"), err)
		}
	}
	if len(parts) == 0 {
		return out, nil
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(out, &top); err != nil {
		return nil, err
	}
	out = bytes.Clone(bytes.TrimRight(out[:len(out)-1], " \t\r\n"))
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if _, err := tooleval.DecodeValue(parts[key]); err != nil {
			return nil, fmt.Errorf("part %q: %w", key, err)
		}
		if _, taken := top[key]; taken {
			return nil, fmt.Errorf("part %q: the state has that key already", key)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendText(out, key), ':')
		out = append(out, parts[key]...)
	}
	return append(out, '}'), nil
}

// NewWorld returns a fresh world. Where the script defines setup(state, ctx), that is called first.
func (f *Factory) NewWorld(ctx context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	w := &world{factory: f, spec: spec, state: &dict{over: f.base.root.(*baseDict)}}
	data := starlark.Value(starlark.None)
	if v, ok := f.data[spec.Task.ID]; ok {
		data = v
	}
	w.ctx = newContext(&w.spec, f.config.Now, data)
	if _, ok := f.program.globals["setup"]; !ok {
		return w, nil
	}
	setup, err := f.program.function("setup", 2)
	if err == nil {
		_, err = f.program.call(ctx, setup, w.state, w.ctx)
	}
	if err != nil {
		return nil, tooleval.Blamef(tooleval.OwnerWorld, "setup: %w", err)
	}
	return w, nil
}

// functionOf is the name of the function that answers a tool.
func (f *Factory) functionOf(tool string) string {
	if name, ok := f.config.Functions[tool]; ok {
		return name
	}
	return tool
}

// schema is the compiled schema of a tool; nil when its arguments are not checked.
func (f *Factory) schema(t tooleval.Tool) *schema {
	if len(t.Schema) == 0 || slices.Contains(f.config.Unchecked, t.Name) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s, known := f.schemas[string(t.Schema)]
	if !known {
		if v, err := tooleval.DecodeValue(t.Schema); err == nil { // what is no schema, Suite.Validate reports
			s = compileSchema(v)
		}
		f.schemas[string(t.Schema)] = s
	}
	return s
}

// Check reports tools that no function answers, and tasks whose expectation the state can't be compared with.
func (f *Factory) Check(s *tooleval.Suite) error {
	var errs []error
	for _, t := range s.Tools {
		if _, err := f.program.function(f.functionOf(t.Name), 3); err != nil {
			errs = append(errs, fmt.Errorf("world: tool %q: %w", t.Name, err))
		}
	}
	var names []string
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	for _, tool := range slices.Concat(slices.Sorted(maps.Keys(f.config.Functions)), f.config.Unchecked) {
		if !slices.Contains(names, tool) {
			errs = append(errs, fmt.Errorf("world: unknown tool %q%s", tool, tooleval.DidYouMean(tool, names)))
		}
	}
	var ids []string
	for _, t := range s.Tasks {
		ids = append(ids, t.ID)
		if f.config.Changes && s.Scorers[t.ID] == nil && !t.ExpectedState.Vacuous() {
			errs = append(errs, fmt.Errorf("world: task %q: the state holds changes only, which an expected_state can't be "+
				"compared with; give the task a goal, or the world its whole state", t.ID))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.config.Data)) {
		if !slices.Contains(ids, id) {
			errs = append(errs, fmt.Errorf("world: data of unknown task %q%s", id, tooleval.DidYouMean(id, ids)))
		}
	}
	return errors.Join(errs...)
}

// Fingerprint is everything that shapes the answers.
func (f *Factory) Fingerprint() any {
	return map[string]any{
		"world": "starlark", "source_sha256": f.program.sha256, "state_sha256": f.digest, "functions": f.config.Functions,
		"unchecked": f.config.Unchecked, "data": f.config.Data, "now": f.config.Now, "changes": f.config.Changes,
	}
}

// StateDigest is the SHA-256, in hexadecimal, of the initial state as JSON with sorted keys and no space.
func (f *Factory) StateDigest() string { return f.digest }

// ExpandState returns what a state of this factory's worlds stands for, as [tooleval.DecodeValue] gives it. What is the
// same as in the initial state is shared with it and with what other calls return, so nothing of it must be changed.
func (f *Factory) ExpandState(state tooleval.State) (any, error) {
	f.once.Do(func() { f.decoded, f.err = tooleval.DecodeValue(f.base.json) })
	if f.err != nil {
		return nil, f.err
	}
	if !f.config.Changes {
		if bytes.Equal(state, f.base.json) {
			return f.decoded, nil
		}
		return tooleval.DecodeValue(state)
	}
	p, err := statepatch.Parse(state)
	if err != nil {
		return nil, err
	}
	if p.Base != f.digest {
		return nil, fmt.Errorf("the state was recorded over another initial state (%.12s…, now %.12s…)", p.Base, f.digest)
	}
	return statepatch.Apply(f.decoded, p.Ops)
}
