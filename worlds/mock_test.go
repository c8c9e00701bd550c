package worlds_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

var calcTools = []tooleval.Tool{
	{Name: "calculate", Schema: tooleval.Raw(`{"type":"object","properties":{"expression":{"type":"string"}}}`)},
	{Name: "convert", Schema: tooleval.Raw(`{"type":"object","properties":{
		"value":{"type":"number"},"from":{"type":"string"},"to":{"type":"string","default":"km"}}}`)},
	{Name: "save_output", Schema: tooleval.Raw(`{"type":"object","properties":{
		"path":{"type":"string"},"mode":{"type":"string","default":"new"}}}`)},
}

func args(v any) tooleval.Pattern { return tooleval.Match(v) }

func says(texts ...string) []worlds.Answer {
	var out []worlds.Answer
	for _, s := range texts {
		out = append(out, worlds.Answer{Result: tooleval.TextResult(s)})
	}
	return out
}

func newWorld(t testing.TB, m worlds.Mock) tooleval.World {
	t.Helper()
	w, err := m.NewWorld(t.Context(), tooleval.WorldSpec{Tools: calcTools})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// say calls a tool of a world and returns its text, or its error in angle brackets.
func say(t testing.TB, h tooleval.ToolHandler, tool, args string) string {
	t.Helper()
	res, err := h.CallTool(t.Context(), tooleval.ToolCall{Tool: tool, Args: tooleval.Raw(args)})
	switch {
	case err != nil:
		return "<" + err.Error() + ">"
	case res.IsError:
		return "error: " + string(res.Text)
	}
	return string(res.Text)
}

func TestMockAnswersWithTheFirstFixtureThatFits(t *testing.T) {
	w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{
		{Tool: "calculate", Args: args(map[string]any{"expression": "1/0"}),
			Results: []worlds.Answer{{Result: tooleval.ErrorResult("division by zero")}}},
		{Tool: "calculate", Args: args(map[string]any{"expression": tooleval.Regex(`6\s*\*\s*7`)}), Results: says("42")},
		{Tool: "convert", Args: args(map[string]any{"value": 30, "from": "mi", "to": "km"}), Results: says("48.28")},
		{Tool: "calculate", Results: says("anything")},
	}})
	for _, c := range []struct{ tool, args, want string }{
		{"calculate", `{"expression":"1/0"}`, "error: division by zero"},
		{"calculate", `{"expression":"6 * 7"}`, "42"},
		{"calculate", `{"expression":"6*7"}`, "42"},
		{"calculate", `{"expression":"6*8"}`, "anything"},
		{"calculate", ``, "anything"},
		{"convert", `{"value":30.0,"from":"mi","to":"km"}`, "48.28"},
		{"convert", `{"to":"km","value":3e1,"from":"mi"}`, "48.28"},
		{"convert", `{"value":30,"from":"mi"}`, "48.28"}, // the default is left out
		{"convert", `[1]`, "error: arguments are not a JSON object"},
		{"convert", `{"value":`, "error: arguments are not JSON: "},
	} {
		if got := say(t, w, c.tool, c.args); got != c.want &&
			!(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s(%s): got %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	if state, err := w.State(); state != nil || err != nil {
		t.Errorf("state: got %s, %v; want none", state, err)
	}
	if got := len(w.Tools()); got != len(calcTools) {
		t.Errorf("got %d tools, want %d", got, len(calcTools))
	}
}

func TestMockFillsDefaultsOnBothSides(t *testing.T) {
	w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{
		{Tool: "convert", Args: args(map[string]any{"value": 30, "from": "mi"}), Results: says("48.28")}}})
	if got := say(t, w, "convert", `{"value":30,"from":"mi","to":"km"}`); got != "48.28" {
		t.Errorf("the default spelt out by the call: got %q", got)
	}
	if got := say(t, w, "convert", `{"value":30,"from":"mi","to":"m"}`); !strings.Contains(got, "no fixture for convert(") {
		t.Errorf("another value than the default: got %q, want a gap that says so", got)
	}
}

func TestMockGapNamesTheNearestFixture(t *testing.T) {
	m := worlds.Mock{Fixtures: []worlds.Fixture{
		{Tool: "calculate", Args: args(map[string]any{"expression": "1 + 1"}), Results: says("2")},
		{Tool: "calculate", Args: args(map[string]any{"expression": "6 * 7"}), Results: says("42")},
		{Tool: "convert", Args: args(map[string]any{"value": 1, "from": "kg", "to": "lb"}), Results: says("2.2")},
		{Tool: "convert", Args: args(map[string]any{"value": 30, "from": "mi", "to": "km"}), Results: says("48")},
	}}
	for _, c := range []struct{ tool, args, message, nearest string }{
		{"calculate", `{"expression":"6*8"}`,
			`no fixture for calculate({"expression":"6*8"}); the nearest is fixture 2 of this world`,
			`fixture 2: calculate({"expression":"6 * 7"}): $.expression: want "6 * 7", got "6*8"`},
		{"convert", `{"value":30,"from":"mi","to":"m"}`,
			`no fixture for convert({"value":30,"from":"mi","to":"m"}); the nearest is fixture 4 of this world`,
			`fixture 4: convert({"from":"mi","to":"km","value":30}): $.to: want "km", got "m"`},
		{"calculat", ``, `no fixture for calculat({}); no fixture answers "calculat" (did you mean "calculate"?)`,
			`no fixture answers "calculat"`},
	} {
		w := newWorld(t, m)
		_, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: c.tool, Args: tooleval.Raw(c.args)})
		gap, ok := errors.AsType[*tooleval.Gap](err)
		if !ok {
			t.Fatalf("%s(%s): got %v, want a gap", c.tool, c.args, err)
		}
		if gap.Message != c.message {
			t.Errorf("message\n got %s\nwant %s", gap.Message, c.message)
		}
		if gap.Nearest != c.nearest {
			t.Errorf("nearest\n got %s\nwant %s", gap.Nearest, c.nearest)
		}
	}
}

func TestMockGapStaysShort(t *testing.T) {
	w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{
		{Tool: "calculate", Args: args(map[string]any{"expression": strings.Repeat("1+", 1e5)}), Results: says("2")}}})
	_, err := w.CallTool(t.Context(), tooleval.ToolCall{
		Tool: "calculate", Args: tooleval.Raw(`{"` + strings.Repeat("x", 1e6) + `":1,"a":1,"b":2,"c":3}`)})
	gap, ok := errors.AsType[*tooleval.Gap](err)
	if !ok || len(gap.Message) > 2000 || len(gap.Nearest) > 4000 || !strings.Contains(gap.Nearest, "and 2 more") {
		t.Errorf("got %.300v", err)
	}
	if got := say(t, w, strings.Repeat("é", 1e6), `{}`); len(got) > 2000 {
		t.Errorf("a long name gives %d bytes", len(got))
	}
}

func TestMockUsesResultsInOrder(t *testing.T) {
	for _, c := range []struct {
		policy worlds.Policy
		want   string
	}{
		{worlds.RepeatLast, "a b c c c"},
		{worlds.Cycle, "a b c a b"},
		{worlds.Fail, "a b c gap gap"},
	} {
		w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{
			{Tool: "calculate", Results: says("a", "b", "c"), WhenExhausted: c.policy}}})
		var got []string
		for range 5 {
			s := say(t, w, "calculate", `{}`)
			if s == "<no more results for calculate(any arguments): all 3 were used>" {
				s = "gap"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %q, want %q", c.policy, s, c.want)
		}
	}
	once := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{{Tool: "calculate", Results: says("a")}}})
	if got := say(t, once, "calculate", ``) + say(t, once, "calculate", ``); got != "aa" {
		t.Errorf("a single result is repeated: got %q", got)
	}
}

func TestMockGivesEachResultOnceUnderConcurrency(t *testing.T) {
	const n = 200
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("%03d", i))
	}
	w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{
		{Tool: "save_output", Results: says(texts...), WhenExhausted: worlds.Fail, Keep: "saved"}}})
	got := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { got[i] = say(t, w, "save_output", `{"path":"x"}`) })
	}
	wg.Wait()
	slices.Sort(got)
	if !slices.Equal(got, texts) {
		t.Errorf("got %v", got)
	}
	state, err := w.State()
	if err != nil || strings.Count(string(state), `{"mode":"new","path":"x"}`) != n {
		t.Errorf("state: got %.200s, %v; want %d kept calls", state, err, n)
	}
}

// E12: nothing that one run does is visible in the next.
func TestE12RunsDoNotLeakIntoEachOther(t *testing.T) {
	m := worlds.Mock{
		Fixtures: []worlds.Fixture{
			{Tool: "calculate", Results: says("first", "second"), WhenExhausted: worlds.Fail},
			{Tool: "save_output", Keep: "saved", Results: []worlds.Answer{{
				Result: tooleval.ToolResult{Text: "ok", Structured: tooleval.Raw(`{"canary":0}`)}}}},
		},
		InitialState: tooleval.State(`{"saved":[{"path":"old"}],"user":7.0}`),
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			w := newWorld(t, m)
			if got := say(t, w, "calculate", `{}`) + say(t, w, "calculate", `{}`); got != "firstsecond" {
				t.Errorf("a fresh world answers %q", got)
			}
			res, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: "save_output", Args: tooleval.Raw(`{"path":"canary"}`)})
			if err != nil || string(res.Structured) != `{"canary":0}` {
				t.Errorf("a fresh world answers %s, %v", res.Structured, err)
			}
			copy(res.Structured, `{"canary":1}`) // an agent that writes into what it was given
			state, err := w.State()
			want := `{"saved":[{"path":"old"},{"mode":"new","path":"canary"}],"user":7}`
			if err != nil || string(state) != want {
				t.Errorf("state: got %s, %v; want %s", state, err, want)
			}
		})
	}
	wg.Wait()
	if state, _ := newWorld(t, m).State(); string(state) != `{"saved":[{"path":"old"}],"user":7}` {
		t.Errorf("the next run starts with %s", state)
	}
	if got := string(m.InitialState); got != `{"saved":[{"path":"old"}],"user":7.0}` {
		t.Errorf("the mock's own state is now %s", got)
	}
}

func TestMockKeepsOnlyWhatSucceeded(t *testing.T) {
	w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{
		{Tool: "save_output", Args: args(map[string]any{"path": "/etc", "mode": "new"}), Keep: "saved",
			Results:       []worlds.Answer{{Result: tooleval.ErrorResult("no")}, {Err: errors.New("disk gone")}, {}},
			WhenExhausted: worlds.Fail},
		{Tool: "convert", Keep: "converted", Results: says("1")}}})
	for _, want := range []string{"error: no", "<fixture 1 (save_output): disk gone>", ""} {
		if got := say(t, w, "save_output", `{"path":"/etc"}`); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	want := `{"converted":[],"saved":[{"mode":"new","path":"/etc"}]}`
	if state, err := w.State(); string(state) != want || err != nil {
		t.Errorf("state: got %s, %v; want %s", state, err, want)
	}
}

func TestMockLatency(t *testing.T) {
	m := worlds.Mock{Fixtures: []worlds.Fixture{{Tool: "save_output", Keep: "saved",
		Results: []worlds.Answer{{Result: tooleval.TextResult("late"), Latency: 3 * time.Second}}}}}
	synctest.Test(t, func(t *testing.T) {
		w, start := newWorld(t, m), time.Now()
		if got := say(t, w, "save_output", `{}`); got != "late" || time.Since(start) != 3*time.Second {
			t.Errorf("got %q after %v, want late after 3s", got, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w, start, why := newWorld(t, m), time.Now(), errors.New("time is up")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		_, err := w.CallTool(ctx, tooleval.ToolCall{Tool: "save_output"})
		if !errors.Is(err, why) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v, want the cause after 1s", err, time.Since(start))
		}
		if state, _ := w.State(); string(state) != `{"saved":[]}` {
			t.Errorf("a call that was cut short left %s", state)
		}
	})
}

func TestMockErrorIsTheWorldsFault(t *testing.T) {
	broke := errors.New("db gone")
	w := newWorld(t, worlds.Mock{Fixtures: []worlds.Fixture{{Tool: "calculate", Results: []worlds.Answer{{Err: broke}}}}})
	_, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: "calculate"})
	if owner, _ := tooleval.BlamedOn(err); !errors.Is(err, broke) || owner != tooleval.OwnerWorld {
		t.Errorf("got %v of %q, want db gone of world", err, owner)
	}
}

func TestMockFingerprint(t *testing.T) {
	base := func() worlds.Mock {
		return worlds.Mock{InitialState: tooleval.State(`{}`), Fixtures: []worlds.Fixture{{
			Tool: "convert", Args: args(map[string]any{"value": 1}), Results: says("a"),
			WhenExhausted: worlds.Cycle, Keep: "k"}}}
	}
	print := func(m worlds.Mock) string {
		b, err := json.Marshal(m.Fingerprint())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if first, again := print(base()), print(base()); first != again {
		t.Error("equal mocks differ")
	}
	for name, change := range map[string]func(*worlds.Mock){
		"tool":    func(m *worlds.Mock) { m.Fixtures[0].Tool = "x" },
		"args":    func(m *worlds.Mock) { m.Fixtures[0].Args = args(map[string]any{"value": 2}) },
		"result":  func(m *worlds.Mock) { m.Fixtures[0].Results = says("b") },
		"latency": func(m *worlds.Mock) { m.Fixtures[0].Results[0].Latency = 1 },
		"err":     func(m *worlds.Mock) { m.Fixtures[0].Results[0].Err = errors.New("x") },
		"policy":  func(m *worlds.Mock) { m.Fixtures[0].WhenExhausted = worlds.Fail },
		"keep":    func(m *worlds.Mock) { m.Fixtures[0].Keep = "" },
		"state":   func(m *worlds.Mock) { m.InitialState = nil },
		"one":     func(m *worlds.Mock) { m.Fixtures = nil },
	} {
		m := base()
		change(&m)
		if print(m) == print(base()) {
			t.Errorf("the fingerprint does not see another %s", name)
		}
	}
}
