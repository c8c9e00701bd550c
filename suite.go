package tooleval

import (
	"context"
	"slices"
)

// A Suite is the only place where domain knowledge lives: tools, tasks, worlds, minds and scorers of one domain. It is a
// plain value that is never changed once it is used; main writes down the list of those it serves.
type Suite struct {
	Name        string
	Description string
	// Version is raised when a change that is not visible in the Suite's data (a scorer's or a world's code) makes
	// earlier runs incomparable. It is part of every run's identity.
	Version string

	Tools       []Tool
	EntryPoints []EntryPoint
	Tasks       []Task
	// LiveTasks gives the tasks under a live world: the same ids with real inputs. The argument looks up an environment
	// variable. Nil means that Tasks serve both worlds.
	LiveTasks func(getenv func(string) string) []Task

	// MockWorld and LiveWorld make the world of one run; a Suite has at least one of them.
	MockWorld WorldFactory
	LiveWorld WorldFactory

	// Minds are the agent backends that the Suite brings along, by name: "scripted" is the offline twin, "real" the
	// agent that the Suite was made for.
	Minds []Mind

	// Scorers judge the outcome of the tasks, by task id, instead of the comparison with ExpectedState.
	Scorers map[string]Scorer
}

// A Mind is an agent backend that answers for a Suite.
type Mind struct {
	Name        string
	Description string
	// New makes the agent once per eval. The argument looks up an environment variable. An error should say what to do
	// about it; it is reported before any task runs.
	New func(ctx context.Context, getenv func(string) string) (Agent, error)
	// Aliases maps an entry point of the Suite to the one in this mind that serves it. Others keep their names.
	Aliases map[string]string
}

// A Preflighter is an Agent that can tell before any task runs whether it could serve the assignments.
type Preflighter interface {
	Preflight(ctx context.Context, assignments []Assignment) error
}

// Tool is the tool of that name.
func (s *Suite) Tool(name string) (Tool, bool) {
	for _, t := range s.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Mind is the mind of that name.
func (s *Suite) Mind(name string) (Mind, bool) {
	for _, m := range s.Minds {
		if m.Name == name {
			return m, true
		}
	}
	return Mind{}, false
}

// TasksIn are the tasks of one kind of world.
func (s *Suite) TasksIn(live bool, getenv func(string) string) []Task {
	if live && s.LiveTasks != nil {
		return s.LiveTasks(getenv)
	}
	return s.Tasks
}

// World is the factory of one kind of world; nil when the Suite has none.
func (s *Suite) World(live bool) WorldFactory {
	if live {
		return s.LiveWorld
	}
	return s.MockWorld
}

// Toolset are the tools of a task, in its order. Names that the Suite doesn't know are left out.
func (s *Suite) Toolset(t *Task) []Tool {
	tools := make([]Tool, 0, len(t.Toolset))
	for _, name := range t.Toolset {
		if tool, ok := s.Tool(name); ok {
			tools = append(tools, tool)
		}
	}
	return tools
}

// Assignment is the part of a task that an agent may see. Nothing in it aliases the Suite.
func (s *Suite) Assignment(t *Task, m *Mind) Assignment {
	entry := t.EntryPoint
	if m != nil {
		if alias, ok := m.Aliases[entry]; ok {
			entry = alias
		}
	}
	tools := s.Toolset(t)
	for i := range tools {
		tools[i].Schema = slices.Clone(tools[i].Schema)
	}
	return Assignment{TaskID: t.ID, Description: t.Description, EntryPoint: entry, Input: slices.Clone(t.Input), Tools: tools}
}
