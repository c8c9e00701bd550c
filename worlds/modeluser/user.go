package modeluser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// Defaults of a [User].
const (
	DefaultTool       = "ask_user"
	DefaultArg        = "message"
	DefaultStop       = "###STOP###"
	DefaultMaxReplies = 50
)

// A User is a WorldFactory that puts a person behind the tools of another world, as [worlds.User] does, but played by a
// model. The state is that of the other world. A User must not be changed once it is in use; it is then safe for concurrent
// use.
//
// A model that can't be asked is never the agent's fault: the call ends with an error whose owner is the user where it is
// in the setting (no key, an unknown model, a request that the server refuses) and else infra. The world's State then ends
// with it too, unless a later message was answered, so that no run is scored whose user was not there.
type User struct {
	// World answers every other tool. Nil has none, and keeps no state.
	World tooleval.WorldFactory
	// Tool is the name of the tool, Arg that of the string argument with the agent's message. Empty stands for
	// DefaultTool and DefaultArg. The suite's tools have to list it.
	Tool, Arg string
	// Model is openai:MODEL.
	Model string
	// Instruction says who the user is and what they want, in every task; Tasks says it task by task, by task id. Where
	// there are both, that of the task comes after the other. No agent sees them.
	Instruction string
	Tasks       map[string]string
	// Stop is what the model writes when the user is done: it is cut from the answer, and the run ends after it. Empty
	// stands for DefaultStop.
	Stop string
	// MaxReplies is how many answers there are in a run; the last of them ends it. 0 stands for DefaultMaxReplies.
	MaxReplies int
}

var (
	_ tooleval.WorldFactory     = User{}
	_ tooleval.WorldPreflighter = User{}
	_ tooleval.Checker          = User{}
	_ tooleval.Fingerprinter    = User{}
	_ tooleval.StateExpander    = User{}

	_ tooleval.WorldFactory = worlds.User{} // the scripted counterpart
)

func (u User) tool() string    { return cmp.Or(u.Tool, DefaultTool) }
func (u User) arg() string     { return cmp.Or(u.Arg, DefaultArg) }
func (u User) stop() string    { return cmp.Or(u.Stop, DefaultStop) }
func (u User) maxReplies() int { return cmp.Or(u.MaxReplies, DefaultMaxReplies) }

// model is the model's name for the server.
func (u User) model() (string, error) {
	name, ok := strings.CutPrefix(u.Model, "openai:")
	if !ok || strings.TrimSpace(name) == "" {
		return "", fmt.Errorf("model %q: want openai:MODEL", u.Model)
	}
	return name, nil
}

// instruction is what the model is told about the user of a task.
func (u User) instruction(task string) string {
	return strings.TrimSpace(strings.TrimSpace(u.Instruction) + "\n\n" + strings.TrimSpace(u.Tasks[task]))
}

// others are the tools of the other world.
func (u User) others(tools []tooleval.Tool) []tooleval.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t tooleval.Tool) bool { return t.Name == u.tool() })
}

// NewWorld returns a fresh world of the other factory with a user who has heard nothing yet. It asks no model and needs no
// key: only a message does.
func (u User) NewWorld(ctx context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	w := &world{user: u, tools: spec.Tools, turn: make(chan struct{}, 1)}
	var err error
	if w.talk, err = u.newTalk(spec); err != nil {
		return nil, tooleval.Blamef(tooleval.OwnerTask, "user: %w", err)
	}
	if u.World == nil {
		return w, nil
	}
	inner := spec
	inner.Tools = u.others(spec.Tools)
	w.inner, err = u.World.NewWorld(ctx, inner)
	return w, err
}

// PreflightWorlds reports a missing key where a task lets the agent talk to the user, and asks the other world.
func (u User) PreflightWorlds(ctx context.Context, specs []tooleval.WorldSpec) error {
	var errs []error
	inner := slices.Clone(specs)
	for i, s := range specs {
		inner[i].Tools = u.others(s.Tools)
		if len(inner[i].Tools) < len(s.Tools) && len(errs) == 0 {
			if _, err := newClient(s.Getenv); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if f, ok := u.World.(tooleval.WorldPreflighter); ok {
		errs = append(errs, f.PreflightWorlds(ctx, inner))
	}
	return errors.Join(errs...)
}

// Check reports what is wrong with the user, and with the other world.
func (u User) Check(s *tooleval.Suite) error {
	var errs []error
	if _, err := u.model(); err != nil {
		errs = append(errs, fmt.Errorf("user: %w", err))
	}
	if u.MaxReplies < 0 {
		errs = append(errs, errors.New("user: the number of replies is negative"))
	}
	if _, known := s.Tool(u.tool()); !known {
		errs = append(errs, fmt.Errorf("user: the suite has no tool %q; list it, with a string argument %q", u.tool(), u.arg()))
	}
	var ids []string
	for _, t := range s.Tasks {
		ids = append(ids, t.ID)
		if slices.Contains(t.Toolset, u.tool()) && u.instruction(t.ID) == "" {
			errs = append(errs, fmt.Errorf("user: task %q lets the agent call %q, but nothing says who the user is; give an "+
				"instruction", t.ID, u.tool()))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(u.Tasks)) {
		if !slices.Contains(ids, id) {
			errs = append(errs, fmt.Errorf("user: instruction for unknown task %q%s", id, tooleval.DidYouMean(id, ids)))
		}
	}
	if c, ok := u.World.(tooleval.Checker); ok {
		others := *s
		others.Tools = u.others(s.Tools)
		errs = append(errs, c.Check(&others))
	}
	return errors.Join(errs...)
}

// Fingerprint is the model, all that it is told, and the other world's own.
func (u User) Fingerprint() any {
	var inner any
	if f, ok := u.World.(tooleval.Fingerprinter); ok {
		inner = f.Fingerprint()
	}
	return map[string]any{
		"world": "modeluser", "tool": u.tool(), "arg": u.arg(), "model": u.Model, "rules": rules, "instruction": u.Instruction,
		"tasks": u.Tasks, "stop": u.stop(), "max_replies": u.maxReplies(), "behind": inner,
	}
}

// ExpandState is what a state of the other world stands for.
func (u User) ExpandState(state tooleval.State) (any, error) {
	if e, ok := u.World.(tooleval.StateExpander); ok {
		return e.ExpandState(state)
	}
	return tooleval.DecodeValue(state)
}
