package worlds_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

func TestGuardRefusesWhatIsOutsideTheToolset(t *testing.T) {
	g := worlds.Guard(echo(), calcTools)
	for _, c := range []struct{ tool, want string }{
		{"convert", "{}"},
		{"convrt", `<unknown tool "convrt" (did you mean "convert"?)>`},
		{"Convert", `<unknown tool "Convert" (did you mean "convert"?)>`},
		{"convert ", `<unknown tool "convert " (did you mean "convert"?)>`},
		{"rm", `<unknown tool "rm">`},
		{"", `<the call names no tool>`},
		{"\x1b[2J\xff", `<unknown tool "\x1b[2J\xff">`},
	} {
		if got := say(t, g, c.tool, `{}`); got != c.want {
			t.Errorf("%q: got %s, want %s", c.tool, got, c.want)
		}
	}
	_, err := g.CallTool(t.Context(), tooleval.ToolCall{Tool: strings.Repeat("é", 1e6)})
	if refusal, ok := errors.AsType[*worlds.Refusal](err); !ok || len(refusal.Message) > 300 {
		t.Errorf("a name of 2 MB: got %.300v", err)
	}
	if got := say(t, worlds.Guard(echo(), nil), "convert", `{}`); got != `<unknown tool "convert">` {
		t.Errorf("an empty toolset: got %s", got)
	}
}

// M18: calls that are hardly calls are refused and recorded; nothing panics, and the run goes on.
func TestM18MalformedCalls(t *testing.T) {
	reached := 0
	world := handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		reached++
		return tooleval.TextResult("ok"), nil
	})
	r := worlds.Record(worlds.Guard(world, calcTools), worlds.RecordOptions{})
	for _, c := range []tooleval.ToolCall{
		{}, {Args: tooleval.Raw(`{}`)}, {Args: tooleval.Raw(`{"`)}, {Tool: "convrt", Args: tooleval.Raw("null")},
		{Tool: "convert", Args: tooleval.Raw("null")}, {Tool: "convert"},
	} {
		if _, err := r.CallTool(t.Context(), c); err != nil {
			t.Errorf("%+v: got error %v", c, err)
		}
	}
	want := []tooleval.CallStatus{"refused", "refused", "refused", "refused", "tool_error", "ok"}
	calls := r.Trajectory().Calls
	if len(calls) != len(want) || reached != 1 {
		t.Fatalf("got %d calls of which %d reached the world, want %d and 1", len(calls), reached, len(want))
	}
	for i, c := range calls {
		if c.Status != want[i] {
			t.Errorf("call %d: got %s, want %s", i, c.Status, want[i])
		}
	}
	if calls[2].ArgsText != `{"` || calls[2].ArgsError == "" || calls[3].ArgsError == "" {
		t.Errorf("a refused call has lost its arguments: %+v", calls[2:4])
	}
}

// M24: a call outside the toolset is in the record, and a record without calls is an empty list that says it is whole.
func TestM24RefusedCallsAreEvidence(t *testing.T) {
	r := worlds.Record(worlds.Guard(echo(), calcTools), worlds.RecordOptions{})
	empty := r.Trajectory()
	if b, _ := json.Marshal(empty); string(b) != `{"calls":[],"channel":"in_process"}` {
		t.Errorf("an empty trajectory is %s", b)
	}
	res, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "delete_all", Args: tooleval.Raw(`{"really":true}`)})
	got := only(t, r)
	if err != nil || !res.IsError || res.Text != `unknown tool "delete_all"` {
		t.Errorf("the agent got %+v, %v", res, err)
	}
	if got.Tool != "delete_all" || got.Status != tooleval.CallRefused || string(got.Args) != `{"really":true}` {
		t.Errorf("the record says %+v", got)
	}
}

// A gap in the mock is the world's fault, and the record says so.
func TestFixtureGapIsRecorded(t *testing.T) {
	m := mock(worlds.Fixture{Tool: "calculate", Args: args(obj{"expression": "6 * 7"}), Results: says("42")})
	r := worlds.Record(worlds.Guard(newWorld(t, m), calcTools), worlds.RecordOptions{})
	got := say(t, r, "calculate", `{"expression":"6*8"}`)
	if got != `error: no fixture for calculate({"expression":"6*8"}); the nearest is fixture 1 of this world` {
		t.Errorf("the agent got %q", got)
	}
	c := only(t, r)
	if c.Status != tooleval.CallToolError || !strings.HasPrefix(c.FixtureGap, "fixture 1: calculate(") {
		t.Errorf("the record says %s, gap %q", c.Status, c.FixtureGap)
	}
}
