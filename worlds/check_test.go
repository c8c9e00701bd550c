package worlds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

func TestMockCheck(t *testing.T) {
	fixture := func(tool string, args any, results ...worlds.Answer) worlds.Fixture {
		f := worlds.Fixture{Tool: tool, Results: results}
		if args != nil {
			f.Args = tooleval.Match(args)
		}
		return f
	}
	ok := worlds.Answer{Result: tooleval.TextResult("ok")}
	with := func(f worlds.Fixture, change func(*worlds.Fixture)) worlds.Fixture { change(&f); return f }
	cases := []struct {
		name  string
		mock  worlds.Mock
		wants []string // each is in its own line; none means sound
	}{
		{"sound", mock(fixture("calculate", obj{"expression": "1"}, ok), fixture("calculate", nil, ok)), nil},
		{"empty", worlds.Mock{}, []string{"it has no fixtures"}},
		{"unknown tool", mock(fixture("calculat", nil, ok), fixture("calculate", nil, ok)),
			[]string{`fixture 1 (calculat): unknown tool "calculat" (did you mean "calculate"?)`}},
		{"no results", mock(fixture("calculate", nil)), []string{"fixture 1 (calculate): it has no results"}},
		{"no policy", mock(fixture("calculate", nil, ok, ok)),
			[]string{"it has 2 results; say what follows the last: repeat_last, cycle, fail"}},
		{"unknown policy", mock(with(fixture("calculate", nil, ok), func(f *worlds.Fixture) { f.WhenExhausted = "cycel" })),
			[]string{`unknown policy "cycel" (did you mean "cycle"?)`}},
		{"bad patterns", mock(
			fixture("calculate", obj{"expression": tooleval.Regex("(")}, ok),
			fixture("convert", obj{"from": obj{"$rege": "x"}, "value": tooleval.Regex("[")}, ok)),
			[]string{"fixture 1 (calculate): args: $.expression: $regex:",
				"fixture 2 (convert): args: $.from: unknown matcher",
				"fixture 2 (convert): args: $.value: $regex:"}},
		{"structured", mock(fixture("calculate", nil,
			worlds.Answer{Result: tooleval.ToolResult{Structured: tooleval.Raw("{")}})),
			[]string{"result 1: its structured form is not JSON"}},
		{"latency", mock(fixture("calculate", nil, worlds.Answer{Latency: -1})),
			[]string{"result 1: its latency -1ns is negative"}},
		{"result and error", mock(fixture("calculate", nil, worlds.Answer{Result: ok.Result, Err: errors.New("x")})),
			[]string{"it has a result and an error"}},
		{"shadowed", mock(fixture("calculate", nil, ok), fixture("calculate", obj{"expression": "1"}, ok)),
			[]string{"fixture 2 (calculate): no call can reach it: fixture 1 answers every call"}},
		{"shadowed by a matcher", mock(fixture("calculate", tooleval.Any(), ok), fixture("calculate", nil, ok)),
			[]string{"fixture 2 (calculate): no call can reach it"}},
		{"twice", mock(fixture("convert", obj{"value": 1, "to": "m"}, ok),
			fixture("convert", obj{"to": "m", "value": 1.0}, ok)),
			[]string{"fixture 2 (convert): no call can reach it: fixture 1 has the same arguments"}},
		{"misspelt argument", mock(fixture("calculate", obj{"expresion": "1"}, ok)),
			[]string{`args: the tool has no argument "expresion" (did you mean "expression"?)`}},
		{"misspelt in alternatives", mock(fixture("calculate", tooleval.OneOf(obj{"expression": "1"},
			tooleval.Subset(obj{"expr": "1"})), ok)), []string{`args: the tool has no argument "expr"`}},
		{"open schemas", mock(fixture("open", obj{"x": 1}, ok), fixture("free", obj{"x": 1}, ok),
			fixture("elsewhere", obj{"x": 1}, ok)), nil},
		{"never an object", mock(fixture("calculate", "1", ok), fixture("calculate", tooleval.Near(1, 0), ok),
			fixture("calculate", tooleval.OneOf(1, 2), ok)),
			[]string{"fixture 1 (calculate): args: no call can meet this pattern",
				"fixture 2 (calculate): args: no call can meet",
				"fixture 3 (calculate): args: no call can meet"}},
		{"null is not any arguments", mock(worlds.Fixture{Tool: "calculate", Args: tooleval.ParsePattern([]byte("null")),
			Results: []worlds.Answer{ok}}, fixture("calculate", nil, ok)),
			[]string{"fixture 1 (calculate): args: no call can meet this pattern"}},
		{"keeps nothing", mock(with(fixture("calculate", nil,
			worlds.Answer{Result: tooleval.ErrorResult("no")}),
			func(f *worlds.Fixture) { f.Keep = "saved" })),
			[]string{`it keeps calls in "saved", but all of its results are errors`}},
		{"state", worlds.Mock{Fixtures: []worlds.Fixture{fixture("calculate", nil, ok)}, InitialState: tooleval.State("{")},
			[]string{"the initial state is not JSON"}},
		{"state is taken", worlds.Mock{Fixtures: []worlds.Fixture{with(fixture("calculate", nil, ok),
			func(f *worlds.Fixture) { f.Keep = "saved" })}, InitialState: tooleval.State(`{"saved":1}`)},
			[]string{`the initial state's "saved" must be a list`}},
		{"state is no object", worlds.Mock{Fixtures: []worlds.Fixture{with(fixture("calculate", nil, ok),
			func(f *worlds.Fixture) { f.Keep = "saved" })}, InitialState: tooleval.State(`[]`)}, []string{"must be an object"}},
		{"required but without a fixture", mock(fixture("convert", nil, ok)),
			[]string{`no fixture answers "calculate", which task "t" requires (call 1)`}},
	}
	suite := &tooleval.Suite{
		Tools: append([]tooleval.Tool{
			{Name: "open", Schema: tooleval.Raw(`{"type":"object","properties":{},"additionalProperties":true}`)},
			{Name: "free", Schema: tooleval.Raw(`{"type":"object"}`)},
			{Name: "elsewhere", Schema: tooleval.Raw(`{"type":"object","properties":{},"allOf":[{"properties":{"x":{}}}]}`)},
		}, calcTools...),
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			suite.Tasks = nil
			if strings.HasPrefix(c.name, "required") {
				suite.Tasks = []tooleval.Task{{ID: "t", Required: []tooleval.CallPattern{{Tool: "calculate"}}}}
			}
			err := c.mock.Check(suite)
			if err == nil {
				if c.wants != nil {
					t.Fatalf("got no error, want %q", c.wants)
				}
				return
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.wants) {
				t.Fatalf("got %d errors, want %d:\n%v", len(lines), len(c.wants), err)
			}
			for i, want := range c.wants {
				if !strings.HasPrefix(lines[i], "mock world: ") || !strings.Contains(lines[i], want) {
					t.Errorf("got %s\nwant %s", lines[i], want)
				}
			}
		})
	}
}

type obj = map[string]any

func mock(fixtures ...worlds.Fixture) worlds.Mock { return worlds.Mock{Fixtures: fixtures} }
