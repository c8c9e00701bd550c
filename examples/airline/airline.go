// Package airline is the airline domain of τ-bench as a Suite: 14 tools in Starlark over 3 MB of flights,
// reservations and users, and 50 tasks whose goal is the state after their ground-truth actions. The data are read
// from a folder and are no part of this package:
//
//	suite, err := airline.Suite("../shared/taubench")
//
// It shows a stateful world at its real size, and it is the proof that ours judges as the original does: its tests
// replay 200 recorded runs and hold every tool result, every final state and every reward to the recorded ones.
//
// # Limits
//
// The original has a model play the customer. Here the customer's brief is handed to the agent at once, unless
// [Options.Replies] gives each task a scripted customer behind a tool. 19 of the 50 tasks are passed by doing nothing,
// and the suite leaves them so, for that is how the benchmark is: tooleval's baselines show them.
package airline

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/worlds"
	"github.com/tooleval/tooleval/worlds/starlark"
)

// World is the Starlark file with the tools.
//
//go:embed world.star
var World []byte

// Options say which data are read.
type Options struct {
	// Dir is the folder with airline/tasks.json, airline/tools.json, airline/policy.md and airline/db.
	Dir string
	// Users is the file of the users in airline/db; empty stands for users.json.
	Users string
	// Replies puts a customer behind the tool ask_user, with a script for each task, by its id. The agent is then not told
	// what the customer wants.
	Replies map[string][]worlds.Reply
}

// Suite reads the suite from a folder.
func Suite(dir string) (*tooleval.Suite, error) { return Load(Options{Dir: dir}) }

// Load reads the suite.
func Load(o Options) (*tooleval.Suite, error) {
	if o.Users == "" {
		o.Users = "users.json"
	}
	f := folder{dir: filepath.Join(o.Dir, "airline")}
	var tasks []task
	var specs []struct {
		Function struct {
			Name        string       `json:"name"`
			Description string       `json:"description"`
			Parameters  tooleval.Raw `json:"parameters"`
		} `json:"function"`
	}
	f.decode("tasks.json", &tasks)
	f.decode("tools.json", &specs)
	policy := string(f.read("policy.md"))
	parts := map[string]tooleval.Raw{
		"flights": f.read("db/flights.json"), "reservations": f.read("db/reservations.json"), "users": f.read("db/" + o.Users),
	}
	if err := errors.Join(f.errs...); err != nil {
		return nil, fmt.Errorf("airline: %w", err)
	}
	world, err := starlark.New(starlark.Config{
		Source: World, Parts: parts, Now: "2024-05-15T15:00:00", Changes: true,
		Functions: map[string]string{"calculate": "calculate_expression"},
		Unchecked: []string{"transfer_to_human_agents"}, // it ends the run whatever its arguments
	})
	if err != nil {
		return nil, fmt.Errorf("airline: %w", err)
	}
	s := &tooleval.Suite{
		Name: "airline", Description: "Customer service of an airline, after τ-bench.", Version: "1",
		EntryPoints: []tooleval.EntryPoint{{Name: "airline.agent", Description: "serves one customer by the airline's policy"}},
		MockWorld:   world, Scorers: map[string]tooleval.Scorer{},
	}
	for _, t := range specs {
		s.Tools = append(s.Tools, tooleval.Tool{
			Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters,
		})
	}
	if o.Replies != nil {
		s.Tools = append(s.Tools, tooleval.Tool{
			Name: "ask_user", Description: "Say something to the customer and read their answer.",
			Schema: tooleval.Raw(`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`),
		})
		s.MockWorld = worlds.User{World: world, Replies: o.Replies}
	}
	oracles := map[string]tooleval.Agent{}
	for _, t := range tasks {
		id := strconv.Itoa(t.ID)
		goal := t.goal(world)
		s.Scorers[id], oracles[id] = goal, goal.Oracle()
		s.Tasks = append(s.Tasks, t.task(id, policy, s.Tools, o.Replies != nil))
	}
	s.Minds = []tooleval.Mind{{Name: "scripted", Description: "does the ground truth",
		New: func(context.Context, func(string) string) (tooleval.Agent, error) {
			return tooleval.AgentFunc(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
				return oracles[a.TaskID].Run(ctx, a, tools)
			}), nil
		}}}
	return s, nil
}

// A folder reads files and gathers what goes wrong.
type folder struct {
	dir  string
	errs []error
}

func (f *folder) read(name string) []byte {
	b, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)))
	f.errs = append(f.errs, err)
	return b
}

func (f *folder) decode(name string, v any) {
	b := f.read(name)
	if b == nil {
		return
	}
	if err := json.Unmarshal(b, v); err != nil {
		f.errs = append(f.errs, fmt.Errorf("%s: %w", name, err))
	}
}

// A task as tasks.json has it.
type task struct {
	ID          int    `json:"id"`
	Instruction string `json:"instruction"`
	Actions     []struct {
		Name string       `json:"name"`
		Args tooleval.Raw `json:"kwargs"`
	} `json:"actions"`
	Outputs []string `json:"outputs"`
}

// maxSteps is the number of steps that the original allows: what the agent says and the tools it calls, together.
const maxSteps = 30

func (t *task) task(id, policy string, tools []tooleval.Tool, customer bool) tooleval.Task {
	out := tooleval.Task{ID: id, EntryPoint: "airline.agent", Limits: tooleval.Limits{Calls: maxSteps}}
	for _, tool := range tools {
		out.Toolset = append(out.Toolset, tool.Name)
	}
	out.Description = policy
	if customer {
		out.Description += "\n\nA customer is on the line. Talk to them with ask_user."
	} else {
		out.Description += "\n\nA customer left this brief and can't be asked. Serve them, and answer all their questions in the end.\n\n" +
			t.Instruction
	}
	return out
}

func (t *task) goal(world tooleval.WorldFactory) *scorers.Goal {
	g := &scorers.Goal{World: world, After: []scorers.Action{}, Tells: []scorers.Telling{{Tool: "ask_user", Arg: "message"}}}
	for _, a := range t.Actions {
		g.After = append(g.After, scorers.Action{Tool: a.Name, Args: a.Args})
	}
	for _, text := range t.Outputs { // as the original looks for them
		g.Said = append(g.Said, scorers.Statement{Text: text})
	}
	return g
}
