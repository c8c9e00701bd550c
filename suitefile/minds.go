package suitefile

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
)

// scriptedName is the mind that a task's own script belongs to.
const scriptedName = "scripted"

func (l *loader) buildMinds(e *entry) {
	for _, m := range e.elements() {
		name := m.get("name")
		if name == nil {
			continue
		}
		key := l.define("mind", name.words, name.at)
		if l.troubled[key] {
			continue
		}
		mind := tooleval.Mind{Name: name.words, Description: m.get("description").text()}
		if a := m.get("aliases"); a != nil {
			mind.Aliases = map[string]string{}
			for _, from := range a.keys {
				mind.Aliases[from] = a.fields[from].words
			}
		}
		l.nodes[key] = m.node
		l.watch(key, func() {
			if scripts := m.get("scripts"); scripts != nil {
				l.scripts[mind.Name] = &scriptedMind{scripts: map[string]script{}, at: map[string]place{}}
				for _, id := range scripts.keys {
					l.addScript(mind.Name, id, scripts.fields[id])
				}
			} else if f := m.get("starlark"); f != nil {
				if p, function := l.function(f); p != nil {
					mind.New = p.Mind(mind.Name, function).New
				}
			} else if command := m.get("command"); command != nil {
				process := &agents.Process{Name: mind.Name, Command: l.command(command, true), Env: m.get("env").texts()}
				mind.New = func(context.Context, func(string) string) (tooleval.Agent, error) { return process, nil }
			}
			if env := m.get("env"); env != nil && m.get("command") == nil {
				l.fail(env.key, "env is for a command")
			}
		})
		l.suite.Minds = append(l.suite.Minds, mind)
	}
}

// command is a command whose relative paths are made absolute. An agent inside the suite's folder would be told where the
// answer key is, so it is refused.
func (l *loader) command(e *entry, agent bool) []string {
	base, err := filepath.Abs(l.folder.dir)
	if err != nil {
		e.fail(l, "the suite's folder: %v", err)
		return nil
	}
	if real, err := filepath.EvalSymlinks(base); err == nil {
		base = real
	}
	out := make([]string, len(e.list))
	for i, arg := range e.list {
		out[i] = arg.words
		relative := strings.HasPrefix(arg.words, "./") || strings.HasPrefix(arg.words, "../")
		if relative {
			out[i] = filepath.Join(base, filepath.FromSlash(arg.words))
		}
		full := out[i]
		if !filepath.IsAbs(full) {
			if i == 0 && strings.Contains(full, "/") {
				arg.fail(l, "want a program's name, an absolute path, or one that begins with ./ or ../ and is relative to the suite's folder")
			}
			continue
		}
		if real, err := filepath.EvalSymlinks(full); err == nil {
			full = real
		}
		if rel, err := filepath.Rel(base, full); err == nil && filepath.IsLocal(rel) && agent {
			arg.fail(l, "an agent must not lie in the suite's folder, where the answer key is; move it, as in ../agent.py")
		}
	}
	return out
}

// A script is what a scripted mind does in one task.
type script struct {
	Calls    []scriptCall  `json:"calls"`
	Response tooleval.Text `json:"response,omitempty"`
	State    tooleval.Raw  `json:"state,omitempty"`
}

type scriptCall struct {
	Tool string       `json:"tool"`
	Args tooleval.Raw `json:"args"`
}

// A scriptedMind makes canned calls and gives canned answers. It is safe for concurrent use once it is built.
type scriptedMind struct {
	scripts map[string]script // by task id
	at      map[string]place
}

var (
	_ tooleval.Agent         = (*scriptedMind)(nil)
	_ tooleval.Preflighter   = (*scriptedMind)(nil)
	_ tooleval.Fingerprinter = (*scriptedMind)(nil)
)

// Preflight reports the tasks that have no script.
func (m *scriptedMind) Preflight(_ context.Context, list []tooleval.Assignment) error {
	var without []string
	for _, a := range list {
		if _, ok := m.scripts[a.TaskID]; !ok && !slices.Contains(without, a.TaskID) {
			without = append(without, a.TaskID)
		}
	}
	if len(without) == 0 {
		return nil
	}
	const few = 10
	more := ""
	if n := len(without); n > few {
		without, more = without[:few], fmt.Sprintf(" and %d more", n-few)
	}
	return fmt.Errorf("no script for %s%s: write one (scripted: in the task), or choose other tasks with --task",
		strings.Join(without, ", "), more)
}

// Run makes the calls of the task's script, in order, and answers.
func (m *scriptedMind) Run(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	s, ok := m.scripts[a.TaskID]
	if !ok {
		return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerTask, "no script for task %q", a.TaskID)
	}
	for _, c := range s.Calls {
		if _, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: c.Tool, Args: slices.Clone(c.Args)}); err != nil {
			return tooleval.AgentResult{}, err
		}
	}
	return tooleval.AgentResult{Response: s.Response, State: slices.Clone(s.State)}, nil
}

// Fingerprint is all scripts.
func (m *scriptedMind) Fingerprint() any { return m.scripts }

// addScript adds the script of one task to a mind.
func (l *loader) addScript(mind, task string, e *entry) {
	m := l.scripts[mind]
	if m == nil {
		key := fmt.Sprintf("mind %q", mind)
		if at, taken := l.places[key]; taken {
			e.fail(l, "the mind %q at %s is no scripted one; give that another name", mind, at)
			return
		}
		m = &scriptedMind{scripts: map[string]script{}, at: map[string]place{}}
		l.scripts[mind] = m
		l.places[key] = e.at
		l.suite.Minds = append(l.suite.Minds, tooleval.Mind{Name: mind, Description: "canned calls and answers"})
	}
	if first, taken := m.at[task]; taken {
		e.fail(l, "a second script for task %q; the first is at %s", clip(task), first)
		return
	}
	s := script{Response: tooleval.Text(e.get("response").text())}
	s.State, _, _ = l.rawOrFile(e, "state")
	for _, c := range e.get("calls").elements() {
		tool, args := l.call(c)
		s.Calls = append(s.Calls, scriptCall{tool, args})
	}
	m.scripts[task], m.at[task] = s, e.at
}

// checkScripts reports scripts for tasks that do not exist, and hands each mind its scripts.
func (l *loader) checkScripts() {
	ids := make([]string, len(l.suite.Tasks))
	have := make(map[string]bool, len(ids))
	for i, t := range l.suite.Tasks {
		ids[i], have[t.ID] = t.ID, true
	}
	for i := range l.suite.Minds {
		mind := &l.suite.Minds[i]
		m := l.scripts[mind.Name]
		if m == nil {
			continue
		}
		mind.New = func(context.Context, func(string) string) (tooleval.Agent, error) { return m, nil }
		for _, task := range slices.Sorted(maps.Keys(m.at)) {
			at := m.at[task]
			if !have[task] && !l.troubled[fmt.Sprintf("task %q", task)] {
				l.fail(at, "unknown task %q%s", clip(task), tooleval.DidYouMean(task, ids))
			}
		}
	}
}
