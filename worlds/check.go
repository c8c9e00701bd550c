package worlds

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// Check reports everything that is wrong with the Mock as a world of the Suite s, joined: fixtures that can't be right,
// fixtures that no call can reach, and required calls of a task that no fixture could answer.
func (m Mock) Check(s *tooleval.Suite) error {
	c := mockCheck{suite: s, mock: m, open: map[string]int{}, first: map[string]int{}}
	if len(m.Fixtures) == 0 {
		c.fail("it has no fixtures, so it can't answer any call")
		return c.err()
	}
	for i := range m.Fixtures {
		c.fixture(i)
	}
	if m.InitialState != nil && !m.InitialState.Valid() {
		c.fail("the initial state is not JSON")
	} else if _, err := m.initial(m.keys()); err != nil && len(m.keys()) > 0 {
		c.fail("%w", err)
	}
	tools := m.fixtureTools()
	for _, t := range s.Tasks {
		for i, r := range t.Required {
			if _, known := s.Tool(r.Tool); known && !slices.Contains(tools, r.Tool) {
				c.fail("no fixture answers %q, which task %q requires (call %d)", r.Tool, t.ID, i+1)
			}
		}
	}
	return c.err()
}

type mockCheck struct {
	suite *tooleval.Suite
	mock  Mock
	errs  []error
	// open is the first fixture of a tool that answers every call; first is the first with the same tool and arguments.
	// A look at every earlier fixture would take seconds with a thousand of them.
	open, first map[string]int
}

func (c *mockCheck) err() error { return errors.Join(c.errs...) }

func (c *mockCheck) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("mock world: "+format, args...))
}

func (c *mockCheck) fixture(i int) {
	f := &c.mock.Fixtures[i]
	fail := func(format string, args ...any) {
		c.fail("fixture %d (%s): %w", i+1, f.Tool, fmt.Errorf(format, args...))
	}
	tool, known := c.suite.Tool(f.Tool)
	if !known {
		fail("unknown tool %q%s", f.Tool, didYouMean(f.Tool, toolNames(c.suite.Tools)))
	}
	if err := f.Args.Err(); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") { // Err joins all that is wrong, one a line
			fail("args: %s", line)
		}
	} else {
		if !f.Args.IsZero() {
			c.args(f, tool, fail)
		}
		c.reachable(i, fail)
	}
	c.results(f, fail)
}

func (c *mockCheck) results(f *Fixture, fail func(string, ...any)) {
	policies := []string{string(RepeatLast), string(Cycle), string(Fail)}
	switch {
	case len(f.Results) == 0:
		fail("it has no results")
	case f.WhenExhausted == "" && len(f.Results) > 1:
		fail("it has %d results; say what follows the last: %s", len(f.Results), strings.Join(policies, ", "))
	case f.WhenExhausted != "" && !slices.Contains(policies, string(f.WhenExhausted)):
		fail("unknown policy %q%s; the policies are %s", f.WhenExhausted,
			didYouMean(string(f.WhenExhausted), policies), strings.Join(policies, ", "))
	}
	keeps := false
	for j, a := range f.Results {
		if a.Result.Structured != nil && !a.Result.Structured.Valid() {
			fail("result %d: its structured form is not JSON", j+1)
		}
		if a.Latency < 0 {
			fail("result %d: its latency %v is negative", j+1, a.Latency)
		}
		if a.Err != nil && (a.Result.IsError || a.Result.Text != "" || a.Result.Structured != nil) {
			fail("result %d: it has a result and an error; the agent would get only the error", j+1)
		}
		keeps = keeps || a.Err == nil && !a.Result.IsError
	}
	if f.Keep != "" && !keeps && len(f.Results) > 0 {
		fail("it keeps calls in %q, but all of its results are errors, so none is ever kept", f.Keep)
	}
}

// reachable fails when an earlier fixture takes every call that this one could answer.
func (c *mockCheck) reachable(i int, fail func(string, ...any)) {
	f := &c.mock.Fixtures[i]
	open, taken := c.open[f.Tool]
	key := f.Tool + "\x00" + string(tooleval.CanonicalJSON(value(f.Args)))
	twin, twice := c.first[key]
	switch {
	case taken && (!twice || open <= twin):
		fail("no call can reach it: fixture %d answers every call of %q; write the narrow one first", open+1, f.Tool)
	case twice:
		fail("no call can reach it: fixture %d has the same arguments; give that one more results instead", twin+1)
	}
	if !taken && f.Args.Vacuous() {
		c.open[f.Tool] = i
	}
	if !twice {
		c.first[key] = i
	}
}

// value is the JSON form of a sound pattern, decoded.
func value(p tooleval.Pattern) any {
	b, err := p.MarshalJSON()
	if err != nil {
		return nil
	}
	v, err := tooleval.DecodeValue(b)
	if err != nil {
		return nil
	}
	return v
}

// args fails on patterns that no arguments can meet, and on names that the tool's schema doesn't have.
func (c *mockCheck) args(f *Fixture, tool tooleval.Tool, fail func(string, ...any)) {
	names, ok := argNames(value(f.Args))
	if !ok {
		fail("args: no call can meet this pattern, since arguments are always an object")
		return
	}
	properties, closed := closedProperties(tool.Schema)
	if !closed {
		return
	}
	for _, n := range names {
		if !slices.Contains(properties, n) {
			fail(`args: the tool has no argument %q%s; its schema would allow more with "additionalProperties": true`,
				n, didYouMean(n, properties))
		}
	}
}

// argNames are the top-level keys that a pattern of arguments names, sorted; false when it fits no object at all.
func argNames(v any) (names []string, ok bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	for k, inner := range m {
		switch k {
		case "$any":
			return nil, true
		case "$subset", "$exact":
			return argNames(inner)
		case "$literal":
			m, ok := inner.(map[string]any)
			return slices.Sorted(maps.Keys(m)), ok
		case "$one_of":
			return anyArgNames(inner)
		}
		if strings.HasPrefix(k, "$") {
			return nil, false
		}
		names = append(names, k)
	}
	slices.Sort(names)
	return names, true
}

// anyArgNames is argNames for a list of alternatives: one that fits is enough.
func anyArgNames(v any) (names []string, ok bool) {
	patterns, _ := v.([]any)
	for _, p := range patterns {
		if n, fits := argNames(p); fits {
			names, ok = append(names, n...), true
		}
	}
	slices.Sort(names)
	return slices.Compact(names), ok
}

// closedProperties are the argument names of a schema that lists them all. JSON Schema allows further ones unless told
// otherwise, but few authors mean that when they write "properties", and a misspelt name would never be found. So a
// schema counts as open only when it says so, or when it may get properties from elsewhere.
func closedProperties(schema tooleval.Raw) (names []string, closed bool) {
	v, err := tooleval.DecodeValue(schema)
	if err != nil {
		return nil, false
	}
	s, _ := v.(map[string]any)
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return nil, false
	}
	if more, said := s["additionalProperties"]; said && more != false {
		return nil, false
	}
	for _, k := range []string{
		"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas",
	} {
		if _, elsewhere := s[k]; elsewhere {
			return nil, false
		}
	}
	return slices.Sorted(maps.Keys(properties)), true
}

func toolNames(tools []tooleval.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}
