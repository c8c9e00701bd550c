package tooleval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Validate reports everything that is wrong with the Suite, joined into one error; nil when it is sound. getenv looks up
// environment variables for LiveTasks; nil stands for an empty environment.
func (s *Suite) Validate(getenv func(string) string) error {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	v := validator{suite: s}
	v.checkSuite()
	if s.LiveTasks != nil && s.LiveWorld == nil {
		v.fail("the suite has live tasks but no live world to run them in")
	}
	for i := range s.Tasks {
		v.checkTask(fmt.Sprintf("task %q", s.Tasks[i].ID), &s.Tasks[i])
	}
	if s.LiveTasks != nil {
		live := s.LiveTasks(getenv)
		for i := range live {
			v.checkTask(fmt.Sprintf("live task %q", live[i].ID), &live[i])
		}
		v.distinct("live task id", names(live, taskID))
		for _, t := range live {
			v.known("live tasks: unknown task", t.ID, names(s.Tasks, taskID))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Scorers)) {
		v.known("scorers: unknown task", id, names(s.Tasks, taskID))
		if s.Scorers[id] == nil {
			v.fail("scorers: the scorer of task %q is nil", id)
		}
		if c, ok := s.Scorers[id].(Checker); ok {
			v.addAll(fmt.Sprintf("scorer of task %q: ", id), c.Check(s))
		}
	}
	for _, part := range []any{s.MockWorld, s.LiveWorld} {
		if c, ok := part.(Checker); ok {
			v.addAll("", c.Check(s))
		}
	}
	return errors.Join(v.errs...)
}

type validator struct {
	suite *Suite
	errs  []error
}

// addAll adds err, one line for each of the errors joined in it.
func (v *validator) addAll(prefix string, err error) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			v.addAll(prefix, e)
		}
		return
	}
	v.fail("%s%w", prefix, err)
}

func (v *validator) fail(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("suite %q: %w", v.suite.Name, fmt.Errorf(format, args...)))
}

// known fails when name is not one of the known names.
func (v *validator) known(what, name string, known []string) {
	if !slices.Contains(known, name) {
		v.fail("%s %q%s", what, name, DidYouMean(name, known))
	}
}

func (v *validator) checkSuite() {
	s := v.suite
	if strings.TrimSpace(s.Name) == "" {
		v.fail("the suite has no name")
	}
	if len(s.Tasks) == 0 {
		v.fail("the suite has no tasks")
	}
	if s.MockWorld == nil && s.LiveWorld == nil {
		v.fail("the suite has neither a mock nor a live world")
	}
	v.distinct("tool", names(s.Tools, toolName))
	v.distinct("entry point", names(s.EntryPoints, entryName))
	v.distinct("mind", names(s.Minds, mindName))
	v.distinct("task id", names(s.Tasks, taskID))
	for _, t := range s.Tools {
		if len(t.Schema) == 0 {
			continue
		}
		schema, err := DecodeValue(t.Schema)
		if err != nil {
			v.fail("tool %q: its schema is not JSON: %w", t.Name, err)
		} else if m, ok := schema.(map[string]any); !ok || m["type"] != "object" {
			v.fail(`tool %q: its schema must be a JSON object with "type": "object"`, t.Name)
		}
	}
	for _, m := range s.Minds {
		if m.New == nil {
			v.fail("mind %q has no New function", m.Name)
		}
		for _, from := range slices.Sorted(maps.Keys(m.Aliases)) {
			v.known(fmt.Sprintf("mind %q: alias for unknown entry point", m.Name), from, names(s.EntryPoints, entryName))
		}
	}
}

// distinct fails on names that are empty, or the same after Unicode normalisation (NFKC) and case folding.
func (v *validator) distinct(kind string, list []string) {
	first := map[string]int{}
	for i, name := range list {
		if strings.TrimSpace(name) == "" {
			v.fail("%s %d of %d is empty", kind, i+1, len(list))
			continue
		}
		if !utf8.ValidString(name) { // the record could not keep it
			v.fail("%s %q (number %d) is not valid UTF-8", kind, name, i+1)
		}
		folded := cases.Fold().String(norm.NFKC.String(name))
		j, seen := first[folded]
		switch {
		case !seen:
			first[folded] = i
		case list[j] == name:
			v.fail("%s %q is used twice, as number %d and number %d", kind, name, j+1, i+1)
		default:
			v.fail("%s %q (number %d) and %q (number %d) differ only in case or Unicode form", kind, list[j], j+1, name, i+1)
		}
	}
}

func (v *validator) checkTask(where string, t *Task) {
	s := v.suite
	fail := func(format string, args ...any) { v.fail(where+": "+format, args...) }
	v.known(where+": unknown entry point", t.EntryPoint, names(s.EntryPoints, entryName))
	for _, name := range t.Toolset {
		v.known(where+": unknown tool", name, names(s.Tools, toolName))
	}
	for i, name := range t.Toolset {
		if slices.Contains(t.Toolset[:i], name) {
			fail("its toolset names %q twice", name)
		}
	}
	if t.Input != nil {
		if _, err := DecodeValue(t.Input); err != nil {
			fail("its input: %w", err)
		}
	}
	v.checkCalls(where, t)
	v.checkFaults(where, t)
	if t.Trajectory != nil {
		v.addAll(where+": trajectory: ", t.Trajectory.Check(t.Toolset))
	}
	v.addAll(where+": expected_state: ", t.ExpectedState.Err())
	if s.Scorers[t.ID] == nil && t.ExpectedState.Vacuous() {
		fail("nothing is checked: give it an expected_state that can differ, or a scorer")
	}
	if !(t.Threshold >= 0 && t.Threshold <= 1) {
		fail("threshold %v is not in 0..1", t.Threshold)
	}
	if m := t.MinimalCalls; m != nil {
		switch {
		case *m < 0:
			fail("minimal_necessary_calls is negative")
		case *m < len(t.Required):
			fail("minimal_necessary_calls is %d, but %d calls are required", *m, len(t.Required))
		case *m > 0 && len(t.Toolset) == 0:
			fail("minimal_necessary_calls is %d, but the toolset is empty", *m)
		}
	}
	if t.Limits.Calls < 0 || t.Limits.Timeout < 0 {
		fail("limits must not be negative")
	}
	if m := t.MinimalCalls; m != nil && t.Limits.Calls > 0 && *m > t.Limits.Calls {
		fail("minimal_necessary_calls is %d, but only %d calls are allowed", *m, t.Limits.Calls)
	}
	if t.Limits.Calls > 0 && len(t.Required) > t.Limits.Calls {
		fail("%d calls are required, but only %d are allowed", len(t.Required), t.Limits.Calls)
	}
}

// checkCalls checks the required and the forbidden calls of a task.
func (v *validator) checkCalls(where string, t *Task) {
	s := v.suite
	fail := func(format string, args ...any) { v.fail(where+": "+format, args...) }
	var ids []string
	for i, c := range t.Required {
		name := fmt.Sprintf("required call %d", i+1)
		v.known(where+": "+name+": unknown tool", c.Tool, names(s.Tools, toolName))
		if _, known := s.Tool(c.Tool); known && !slices.Contains(t.Toolset, c.Tool) {
			fail("%s: tool %q is not in the task's toolset", name, c.Tool)
		}
		v.checkArgs(where+": "+name, c.Args)
		if c.ID != "" {
			ids = append(ids, c.ID)
		}
	}
	v.distinct(where+": id of a required call", ids)
	for i, c := range t.Required {
		for _, id := range c.After {
			v.known(fmt.Sprintf("%s: required call %d comes after unknown call", where, i+1), id, ids)
		}
	}
	if cycle := orderCycle(t.Required); cycle != "" {
		fail("the order of the required calls has a cycle: %s", cycle)
	}
	for i, c := range t.Forbidden {
		name := fmt.Sprintf("forbidden call %d", i+1)
		v.known(where+": "+name+": unknown tool", c.Tool, names(s.Tools, toolName))
		v.checkArgs(where+": "+name, c.Args)
		if c.ID != "" || len(c.After) > 0 {
			fail("%s: id and after are for required calls", name)
		}
		for j, r := range t.Required {
			if r.Tool == c.Tool && (c.Args.IsZero() || c.Args.Vacuous() || samePattern(c.Args, r.Args)) {
				fail("a call of %q is required (number %d) and forbidden (number %d) at once", c.Tool, j+1, i+1)
			}
		}
	}
}

// checkArgs checks a pattern for the arguments of a call, which are always an object.
func (v *validator) checkArgs(where string, args Pattern) {
	if args.Err() != nil {
		v.addAll(where+": args: ", args.Err())
	} else if args.root != nil && !fitsObjects(args.root) {
		v.fail("%s: args: arguments are an object, which %s never fits", where, clip(string(encode(args.root.want()))))
	}
}

// fitsObjects reports whether there is an object that n could match.
func fitsObjects(n node) bool {
	switch x := n.(type) {
	case object, anything:
		return true
	case scope:
		return fitsObjects(x.inner)
	case oneOf:
		return slices.ContainsFunc(x.patterns, fitsObjects)
	case literal:
		_, ok := x.value.(map[string]any)
		return ok
	}
	return false
}

func samePattern(p, q Pattern) bool {
	a, err := DecodeValue(p.raw)
	if err != nil {
		return false
	}
	b, err := DecodeValue(q.raw)
	return err == nil && Equal(a, b)
}

// orderCycle names a cycle in the declared order, as in "pay, book, pay"; empty when there is none.
func orderCycle(calls []CallPattern) string {
	after := map[string][]string{}
	for _, c := range calls {
		if c.ID != "" {
			after[c.ID] = c.After
		}
	}
	const visiting, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(id string) string
	visit = func(id string) string {
		switch state[id] {
		case done:
			return ""
		case visiting:
			return strings.Join(append(path[slices.Index(path, id):], id), ", ")
		}
		state[id] = visiting
		path = append(path, id)
		for _, before := range after[id] {
			if cycle := visit(before); cycle != "" {
				return cycle
			}
		}
		path = path[:len(path)-1]
		state[id] = done
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(after)) {
		if cycle := visit(id); cycle != "" {
			return cycle
		}
	}
	return ""
}

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = name(x)
	}
	return out
}

func toolName(t Tool) string        { return t.Name }
func taskID(t Task) string          { return t.ID }
func entryName(e EntryPoint) string { return e.Name }
func mindName(m Mind) string        { return m.Name }
