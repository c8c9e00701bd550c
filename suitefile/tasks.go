package suitefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
)

// mostTasks bounds the tasks that matrices make.
const mostTasks = 100_000

func (l *loader) buildTasks(e *entry) {
	if e == nil {
		return
	}
	tasks, _ := format().field("tasks")
	switch {
	case !l.plainNode(e.node):
		return
	case e.node.Kind != yaml.SequenceNode:
		e.fail(l, "want a list of tasks, got %s", describe(e.node))
		return
	case len(e.node.Content) == 0:
		e.fail(l, "the list is empty, so there is nothing to run; write a task")
		return
	}
	for _, part := range l.parts(e.node, tasks.shape.include) {
		for _, row := range l.rows(part) {
			if len(l.suite.Tasks) >= mostTasks {
				l.fail(e.at, "the suite has more than %d tasks", mostTasks)
				return
			}
			l.buildTask(part, row)
		}
	}
	l.inferEntryPoints()
}

// buildTask builds the task of one row; a task without a matrix has one row.
func (l *loader) buildTask(p part, r row) {
	outer := l.checker
	defer func() { l.checker = outer }()
	l.checker = *p.checker
	if r.values != nil {
		l.scope, l.note = l.scope.with(r.values), r.note
	}
	before := l.problems.count()
	e := l.check(p.node, taskShape)
	if e == nil {
		return
	}
	id := e.get("id")
	if id == nil {
		return
	}
	t := tooleval.Task{
		ID: id.words + r.suffix, Description: e.get("description").text(), EntryPoint: e.get("entry_point").text(),
		Threshold: e.get("threshold").float(), DoNothingMayPass: e.get("do_nothing_may_pass").text(),
		Tags: e.get("tags").texts(), Limits: buildLimits(e.get("limits")), Toolset: slices.Clone(l.toolset),
	}
	_, taken := l.places[fmt.Sprintf("task %q", t.ID)]
	key := l.define("task", t.ID, id.at)
	if !taken {
		l.nodes[key] = p.node
	}
	if t.Limits.Timeout == 0 {
		t.Limits.Timeout = l.limits.Timeout
	}
	if t.Limits.Calls == 0 {
		t.Limits.Calls = l.limits.Calls
	}
	if p := e.get("entry_point"); p != nil && len(l.suite.EntryPoints) > 0 {
		l.known(p, "entry point", l.entryPointNames())
	}
	if raw, _, ok := l.rawOrFile(e, "input"); ok {
		t.Input = raw
	}
	if names := e.get("toolset"); names != nil {
		t.Toolset = []string{}
		for _, name := range names.list {
			if l.knownTool(name) {
				t.Toolset = append(t.Toolset, name.words)
			}
		}
	}
	if m := e.get("minimal_necessary_calls"); m != nil {
		t.MinimalCalls = tooleval.Minimum(m.int())
	}
	if th := e.get("threshold"); th != nil && th.float() == 0 {
		th.fail(l, "with a threshold of 0 every run passes; leave it out for 1")
	}
	t.Required = l.buildCalls(e.get("required"), true)
	t.Forbidden = l.buildCalls(e.get("forbidden"), false)
	if o := e.get("order"); o.text() == "as_written" {
		l.inOrder(o, t.Required)
	}
	t.Faults, t.WantsRecovery = buildFaults(&l.checker, e.get("faults"), t.Toolset), e.get("wants_recovery").bool()
	t.Trajectory = l.buildTrajectory(e.get("trajectory"))
	t.ExpectedState = l.patternOrFile(e, "expected_state")
	l.judgeTask(e, &t)
	if t.ExpectedState.Err() == nil && !t.ExpectedState.IsZero() && t.ExpectedState.Vacuous() && l.suite.Scorers[t.ID] == nil {
		l.fail(firstOf(e.get("expected_state"), e.get("expected_state_file"), e).at, "it accepts everything, so nothing is checked")
	}
	if script := e.get("scripted"); script != nil && !taken {
		l.addScript(scriptedName, t.ID, script)
	}
	if r := e.get("user"); r != nil && !taken {
		l.users[t.ID] = r
	}
	if d := e.get("data"); d != nil && !taken {
		l.data[t.ID] = d.raw()
	}
	if !taken { // a second task of that name would be mixed up with the first
		l.suite.Tasks = append(l.suite.Tasks, t)
	}
	if l.problems.count() > before {
		l.troubled[key] = true
	}
}

// buildCalls builds required or forbidden calls.
func (l *loader) buildCalls(e *entry, required bool) []tooleval.CallPattern {
	var calls []tooleval.CallPattern
	ids := map[string]place{}
	for _, c := range e.elements() {
		tool := c
		if c.fields != nil {
			tool = c.get("tool")
		}
		l.knownTool(tool)
		call := tooleval.CallPattern{Tool: tool.text(), ID: c.get("id").text(), After: c.get("after").texts()}
		call.Args = c.get("args").pattern()
		for _, key := range []string{"id", "after"} {
			if x := c.get(key); x != nil && !required {
				l.fail(x.key, "%s is for required calls", key)
			}
		}
		if id := c.get("id"); id != nil {
			if first, taken := ids[id.words]; taken {
				id.fail(l, "id %q is used twice; the first is at %s", clip(id.words), first)
			}
			ids[id.words] = id.at
		}
		calls = append(calls, call)
	}
	for _, c := range e.elements() {
		for _, after := range c.get("after").elements() {
			l.known(after, "required call", slices.Sorted(maps.Keys(ids)))
		}
	}
	return calls
}

// inOrder makes each required call come after the one before it.
func (l *loader) inOrder(order *entry, calls []tooleval.CallPattern) {
	if len(calls) < 2 {
		order.fail(l, "an order needs at least two required calls")
		return
	}
	for i := range calls {
		if len(calls[i].After) > 0 {
			order.fail(l, `"order: as_written" and after exclude each other; keep one`)
			return
		}
		if calls[i].ID == "" {
			calls[i].ID = "call " + strconv.Itoa(i+1)
		}
		if i > 0 {
			calls[i].After = []string{calls[i-1].ID}
		}
	}
}

// inferEntryPoints gives an entry point to the tasks that name none, and to the suite those that its tasks name.
func (l *loader) inferEntryPoints() {
	s := l.suite
	declared := len(s.EntryPoints) > 0
	for i := range s.Tasks {
		t := &s.Tasks[i]
		key := fmt.Sprintf("task %q", t.ID)
		switch {
		case t.EntryPoint != "":
		case !declared:
			t.EntryPoint = s.Name
		case len(s.EntryPoints) == 1:
			t.EntryPoint = s.EntryPoints[0].Name
		default:
			l.fail(l.places[key], "the suite has %d entry points, so the task needs to name its entry_point", len(s.EntryPoints))
			l.troubled[key] = true
			continue
		}
		known := slices.ContainsFunc(s.EntryPoints, func(p tooleval.EntryPoint) bool { return p.Name == t.EntryPoint })
		if !known && !declared {
			s.EntryPoints = append(s.EntryPoints, tooleval.EntryPoint{Name: t.EntryPoint})
		}
	}
}

// firstOf is the first entry that is there.
func firstOf(list ...*entry) *entry {
	for _, e := range list {
		if e != nil {
			return e
		}
	}
	return nil
}
