package tooleval

import "context"

// A State is a JSON value that says how things stand. Nil means that the World keeps none.
type State = Raw

// A World is what the tools of one run act on. It is made fresh for every run and closed at its end. CallTool may be
// called concurrently; Tools, State and Close are called by the harness alone, State after the agent has ended.
type World interface {
	ToolHandler
	// Tools are the tools that this World answers, as the agent sees them.
	Tools() []Tool
	// State is a snapshot that later calls can't change, or nil when the World keeps no state.
	State() (State, error)
	// Close releases everything the World holds. It is called once.
	Close() error
}

// A WorldSpec says which World is wanted.
type WorldSpec struct {
	Task Task
	// Tools are the suite's tools that the task may use, in the order of its toolset.
	Tools []Tool
	// Seed is the source of everything random in the World. The same seed gives the same World.
	Seed uint64
	// Getenv looks up an environment variable, for live worlds that have settings. Nil stands for an empty environment.
	Getenv func(string) string
}

// A WorldFactory makes a fresh World for every run. NewWorld may be called concurrently.
type WorldFactory interface {
	NewWorld(ctx context.Context, spec WorldSpec) (World, error)
}

// A WorldPreflighter is a WorldFactory that can tell, before any task runs, whether it could make the worlds of the specs.
// An error is trouble of the setup, never an agent's: it says what to do about it, and no run is made.
type WorldPreflighter interface {
	PreflightWorlds(ctx context.Context, specs []WorldSpec) error
}

// WorldFunc makes a WorldFactory of a function.
type WorldFunc func(ctx context.Context, spec WorldSpec) (World, error)

// NewWorld calls f.
func (f WorldFunc) NewWorld(ctx context.Context, spec WorldSpec) (World, error) { return f(ctx, spec) }

// A StateExpander is a WorldFactory whose worlds' State may stand for more than it says, such as the changes to a large
// initial state. Scorers that compare whole states ask it for them.
type StateExpander interface {
	// ExpandState returns what state stands for, as [DecodeValue] gives it. What is the same in two states may be shared by
	// the two values, so they must not be changed. It may be called concurrently.
	ExpandState(state State) (any, error)
}

// A Fingerprinter is a value whose content belongs to the identity of a run. WorldFactories, Scorers and Agents may
// implement it: when the fingerprint changes, stored runs are no longer taken for the same run.
type Fingerprinter interface {
	// Fingerprint returns a value whose JSON encoding says all that matters. It must not hold times or random ids.
	Fingerprint() any
}

// A Checker is a WorldFactory or Scorer that can tell, before anything runs, what is wrong with itself. Suite.Validate
// calls it for each task that it serves.
type Checker interface {
	Check(s *Suite) error
}
