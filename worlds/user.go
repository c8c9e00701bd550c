package worlds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/tooleval/tooleval"
)

// A User is a WorldFactory that puts a person behind the tools of another world: one more tool by which the agent talks
// to them. They answer by a script, each task having its own, and may end the run. To the agent it is a tool like any
// other, so every agent can hold such a conversation.
//
//	worlds.User{World: world, Replies: map[string][]worlds.Reply{"change-seat": {
//		{When: "(?i)booking|reservation", Say: "It is Z7GOZK.", Times: 1},
//		{When: "(?i)anything else", Say: "No, thank you. Bye!", Ends: true},
//		{Say: "I'm not sure. I just want to change my seat."},
//	}}}
//
// The state is that of the other world. A User must not be changed once it is in use; it is then safe for concurrent
// use.
type User struct {
	// World answers every other tool. Nil has none, and keeps no state.
	World tooleval.WorldFactory
	// Tool is the name of the tool, Arg that of the string argument with the agent's message. Empty stands for ask_user
	// and message. The suite's tools have to list it.
	Tool, Arg string
	// Replies are the script of each task, by task id. The first that fits a message and is not used up answers it; where
	// none does, the call ends with a [tooleval.Gap].
	Replies map[string][]Reply
}

// A Reply is one answer of a user.
type Reply struct {
	// When is a regular expression that the message must match somewhere; empty fits every message.
	When string `json:"when,omitempty"`
	// Say is the answer.
	Say string `json:"say"`
	// Times is how often this answer may be given; 0 stands for any number.
	Times int `json:"times,omitempty"`
	// Ends ends the run after this answer.
	Ends bool `json:"ends,omitempty"`
}

var (
	_ tooleval.WorldFactory  = User{}
	_ tooleval.Checker       = User{}
	_ tooleval.Fingerprinter = User{}
	_ tooleval.StateExpander = User{}
)

func (u User) tool() string {
	if u.Tool == "" {
		return "ask_user"
	}
	return u.Tool
}

func (u User) arg() string {
	if u.Arg == "" {
		return "message"
	}
	return u.Arg
}

// NewWorld returns a fresh world of the other factory with the user of the task.
func (u User) NewWorld(ctx context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	w := &userWorld{user: u, tools: spec.Tools, script: u.Replies[spec.Task.ID]}
	w.given = make([]int, len(w.script))
	for i, r := range w.script {
		re, err := regexp.Compile(r.When)
		if err != nil {
			return nil, tooleval.Blamef(tooleval.OwnerWorld, "reply %d of the user: %w", i+1, err)
		}
		w.when = append(w.when, re)
	}
	if u.World == nil {
		return w, nil
	}
	inner := spec
	inner.Tools = slices.DeleteFunc(slices.Clone(spec.Tools), func(t tooleval.Tool) bool { return t.Name == u.tool() })
	var err error
	w.inner, err = u.World.NewWorld(ctx, inner)
	return w, err
}

// Check reports what is wrong with the scripts, and with the other world.
func (u User) Check(s *tooleval.Suite) error {
	var errs []error
	if _, known := s.Tool(u.tool()); !known {
		errs = append(errs, fmt.Errorf("user: the suite has no tool %q; list it, with a string argument %q", u.tool(), u.arg()))
	}
	var ids []string
	for _, t := range s.Tasks {
		ids = append(ids, t.ID)
		if slices.Contains(t.Toolset, u.tool()) && len(u.Replies[t.ID]) == 0 {
			errs = append(errs, fmt.Errorf("user: task %q lets the agent call %q, but nobody answers; give it replies",
				t.ID, u.tool()))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(u.Replies)) {
		if !slices.Contains(ids, id) {
			errs = append(errs, fmt.Errorf("user: replies for unknown task %q%s", id, tooleval.DidYouMean(id, ids)))
		}
		for i, r := range u.Replies[id] {
			if _, err := regexp.Compile(r.When); err != nil {
				errs = append(errs, fmt.Errorf("user: task %q: reply %d: %w", id, i+1, err))
			}
			if r.Times < 0 {
				errs = append(errs, fmt.Errorf("user: task %q: reply %d: times is negative", id, i+1))
			}
		}
	}
	if c, ok := u.World.(tooleval.Checker); ok {
		others := *s
		others.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(t tooleval.Tool) bool { return t.Name == u.tool() })
		errs = append(errs, c.Check(&others))
	}
	return errors.Join(errs...)
}

// PreflightWorlds asks the other world, without the user's tool.
func (u User) PreflightWorlds(ctx context.Context, specs []tooleval.WorldSpec) error {
	f, ok := u.World.(tooleval.WorldPreflighter)
	if !ok {
		return nil
	}
	inner := slices.Clone(specs)
	for i := range inner {
		inner[i].Tools = slices.DeleteFunc(slices.Clone(inner[i].Tools), func(t tooleval.Tool) bool { return t.Name == u.tool() })
	}
	return f.PreflightWorlds(ctx, inner)
}

// Fingerprint is the scripts and the other world's own.
func (u User) Fingerprint() any {
	var inner any
	if f, ok := u.World.(tooleval.Fingerprinter); ok {
		inner = f.Fingerprint()
	}
	return map[string]any{"world": "user", "tool": u.tool(), "arg": u.arg(), "replies": u.Replies, "behind": inner}
}

// ExpandState is what a state of the other world stands for.
func (u User) ExpandState(state tooleval.State) (any, error) {
	if e, ok := u.World.(tooleval.StateExpander); ok {
		return e.ExpandState(state)
	}
	return tooleval.DecodeValue(state)
}

type userWorld struct {
	user   User
	inner  tooleval.World // nil when there is only the user
	tools  []tooleval.Tool
	script []Reply
	when   []*regexp.Regexp

	mu    sync.Mutex
	given []int
}

func (w *userWorld) Tools() []tooleval.Tool { return w.tools }

func (w *userWorld) State() (tooleval.State, error) {
	if w.inner == nil {
		return nil, nil
	}
	return w.inner.State()
}

func (w *userWorld) Close() error {
	if w.inner == nil {
		return nil
	}
	return w.inner.Close()
}

func (w *userWorld) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if call.Tool != w.user.tool() {
		if w.inner == nil {
			return tooleval.ErrorResult("unknown tool %.100q", call.Tool), nil
		}
		return w.inner.CallTool(ctx, call)
	}
	var args map[string]json.RawMessage
	var message tooleval.Text
	if err := json.Unmarshal(call.Args, &args); err != nil && len(call.Args) > 0 {
		return tooleval.ErrorResult("arguments are not a JSON object"), nil
	}
	given, ok := args[w.user.arg()]
	if !ok {
		return tooleval.ErrorResult("missing argument %q", w.user.arg()), nil
	}
	if len(given) == 0 || given[0] != '"' || message.UnmarshalJSON(given) != nil {
		return tooleval.ErrorResult("argument %q: want a string", w.user.arg()), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range w.script {
		if (r.Times > 0 && w.given[i] >= r.Times) || !w.when[i].MatchString(string(message)) {
			continue
		}
		w.given[i]++
		return tooleval.ToolResult{Text: tooleval.Text(r.Say), EndsRun: r.Ends}, nil
	}
	return tooleval.ToolResult{}, &tooleval.Gap{
		Message: "the user has no answer to that",
		Nearest: fmt.Sprintf("none of the user's %d replies fits, or those that do are used up", len(w.script)),
	}
}
