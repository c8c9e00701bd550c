package starlark_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
	"github.com/tooleval/tooleval/worlds/starlark"
)

const shop = `
PRICES = {"boots": 40, "hat": 12.5}

def setup(state, ctx):
    state["opened_by"] = ctx.task

def buy(state, args, ctx):
    item = args["item"]
    if state["stock"].get(item, 0) < args["count"]:
        fail("not enough " + item)
    state["stock"][item] -= args["count"]
    state["orders"].append({"id": ctx.id("O", 4), "item": item, "count": args["count"], "at": ctx.now})
    return {"total": PRICES[item] * args["count"], "left": state["stock"][item]}

def look(state, args, ctx):
    return state["stock"]

def leave(state, args, ctx):
    return result({"b": 1, "a": 2}, text = "bye", ends_run = True)

def dice(state, args, ctx):
    ctx.memory["rolled"] = ctx.memory.get("rolled", 0) + 1
    return [ctx.random.int(1, 6), ctx.random.float(), ctx.random.choice(["x", "y"]), ctx.random.shuffle([1, 2, 3]), ctx.id(),
            ctx.memory["rolled"], ctx.call, ctx.tool, ctx.input, ctx.data]

def broken(state, args, ctx):
    return state["stock"]["nope"]

def endless(state, args, ctx):
    for i in range(1000000000):
        pass
`

var tools = func() []tooleval.Tool {
	schema := tooleval.Raw(`{"type":"object","properties":{"item":{"type":"string","enum":["boots","hat"]},
		"count":{"type":"integer","default":1,"minimum":1,"maximum":100},"tags":{"type":"array","maxItems":2,"items":{"type":"string","maxLength":2}}},"required":["item"],"additionalProperties":false}`)
	list := []tooleval.Tool{{Name: "buy", Schema: schema}}
	for _, name := range []string{"look", "leave", "dice", "broken", "endless"} {
		list = append(list, tooleval.Tool{Name: name, Schema: tooleval.Raw(`{"type":"object"}`)})
	}
	return list
}()

func config() starlark.Config {
	return starlark.Config{
		Source: []byte(shop), State: tooleval.Raw(`{"stock":{"boots":2,"hat":12345678901234567890123}}`),
		Parts: map[string]tooleval.Raw{"orders": tooleval.Raw(`[]`)}, Data: map[string]tooleval.Raw{"t": tooleval.Raw(`{"secret":1}`)},
		MaxSteps: 100_000,
	}
}

func newWorld(t testing.TB, c starlark.Config, seed uint64) (*starlark.Factory, tooleval.World) {
	t.Helper()
	f, err := starlark.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.NewWorld(t.Context(), tooleval.WorldSpec{
		Task: tooleval.Task{ID: "t", Input: tooleval.Raw(`{"in":1.0}`)}, Tools: tools, Seed: seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, w
}

func ask(t testing.TB, w tooleval.World, tool, args string) tooleval.ToolResult {
	t.Helper()
	r, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: tool, Args: tooleval.Raw(args)})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, args, err)
	}
	return r
}

func TestToolsComputeOverAState(t *testing.T) {
	_, w := newWorld(t, config(), 1)
	for _, c := range []struct {
		tool, args, text string
		isError          bool
	}{
		{"buy", `{"item":"boots"}`, `{"total": 40, "left": 1}`, false}, // the default of count is filled in
		{"buy", `{"item":"boots","count":2}`, "not enough boots", true},
		{"buy", `{"item":"hat","count":3}`, `{"total": 37.5, "left": 12345678901234567890120}`, false},
		{"look", `{}`, `{"boots": 1, "hat": 12345678901234567890120}`, false},
		{"look", ``, `{"boots": 1, "hat": 12345678901234567890120}`, false},
		{"buy", `{}`, `Error: missing argument "item"`, true},
		{"buy", `{"item":7}`, `Error: argument "item": want string, got integer`, true},
		{"buy", `{"item":"gun"}`, `Error: argument "item": want one of ["boots","hat"]`, true},
		{"buy", `{"item":"hat","count":"2"}`, `Error: argument "count": want integer, got string`, true},
		{"buy", `{"item":"hat","count":1.5}`, `Error: argument "count": want integer, got number`, true},
		{"buy", `{"item":"hat","count":true}`, `Error: argument "count": want integer, got boolean`, true},
		{"buy", `{"item":"hat","tags":["a",1]}`, `Error: argument "tags"[1]: want string, got integer`, true},
		{"buy", `{"item":"hat","count":0}`, `Error: argument "count": it breaks minimum 1`, true},
		{"buy", `{"item":"hat","count":1e3}`, `Error: argument "count": it breaks maximum 100`, true},
		{"buy", `{"item":"hat","tags":["a","b","c"]}`, `Error: argument "tags": it breaks maxItems 2`, true},
		{"buy", `{"item":"hat","tags":["ééé"]}`, `Error: argument "tags"[0]: it breaks maxLength 2`, true},
		{"buy", `{"item":"hat","cuont":1}`, `Error: unknown argument "cuont" (did you mean "count"?)`, true},
		{"buy", `[1]`, "arguments are not a JSON object", true},
		{"buy", `{"item":`, "arguments: not JSON: it ends after 8 bytes, want a value", true},
		{"look", `{"n":` + strings.Repeat("9", 5000) + `}`, "arguments: an integer of 5000 digits is too long; at most 4300 are read", true},
		{"look", `{"n":1e999}`, "arguments: number 1e999 is out of range", true},
		{"nope", `{}`, `unknown tool "nope"`, true},
	} {
		r := ask(t, w, c.tool, c.args)
		if string(r.Text) != c.text || r.IsError != c.isError {
			t.Errorf("%s(%.40s): got %q, error %v\nwant %q, %v", c.tool, c.args, r.Text, r.IsError, c.text, c.isError)
		}
	}
	if r := ask(t, w, "leave", `{}`); r.Text != "bye" || string(r.Structured) != `{"b": 1, "a": 2}` || !r.EndsRun {
		t.Errorf("got %+v", r)
	}
	state, err := w.State()
	want := `{"opened_by":"t","orders":[{"at":"2024-01-01T00:00:00Z","count":1,"id":"O`
	if err != nil || !strings.HasPrefix(string(state), want) || !strings.HasSuffix(string(state), `"stock":{"boots":1,"hat":12345678901234567890120}}`) {
		t.Errorf("got %s, %v", state, err)
	}
}

// The same seed gives the same world, another seed another one, and ids do not disturb the random numbers.
func TestEverythingComesFromTheSeed(t *testing.T) {
	roll := func(seed uint64) string {
		_, w := newWorld(t, config(), seed)
		return string(ask(t, w, "dice", `{}`).Text) + string(ask(t, w, "dice", `{}`).Text)
	}
	if a, b := roll(7), roll(7); a != b {
		t.Errorf("the same seed gave\n%s and\n%s", a, b)
	}
	if a, b := roll(7), roll(8); a == b {
		t.Errorf("two seeds gave the same: %s", a)
	}
	// Ids and random numbers have streams of their own, each from the seed.
	part := func(seed uint64, function string) string {
		f, err := starlark.New(starlark.Config{Source: []byte("def ids(s, a, c): return c.id()\n" +
			"def numbers(s, a, c): return c.random.float()\ndef both(s, a, c):\n    c.id()\n    return c.random.float()\n")})
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.NewWorld(t.Context(), tooleval.WorldSpec{Seed: seed, Tools: []tooleval.Tool{{Name: function}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(ask(t, w, function, `{}`).Text)
	}
	if part(7, "ids") == part(8, "ids") || part(7, "numbers") == part(8, "numbers") || part(7, "both") != part(7, "numbers") {
		t.Error("ids or random numbers do not come from the seed alone")
	}
	if got := roll(7); !strings.Contains(got, `2, 2, "dice", {"in": 1.0}, {"secret": 1}]`) {
		t.Errorf("got %s", got)
	}
}

// E12: nothing of one run is seen in the next, nor in one that runs at the same time.
func TestE12RunsDoNotMeet(t *testing.T) {
	f, _ := newWorld(t, config(), 1)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				w, err := f.NewWorld(t.Context(), tooleval.WorldSpec{Task: tooleval.Task{ID: fmt.Sprint(i)}, Tools: tools})
				if err != nil {
					t.Error(err)
					return
				}
				if r := ask(t, w, "buy", `{"item":"boots","count":2}`); string(r.Text) != `{"total": 80, "left": 0}` {
					t.Errorf("got %s", r.Text)
				}
				if s, err := w.State(); err != nil || !strings.Contains(string(s), fmt.Sprintf(`"opened_by":"%d"`, i)) {
					t.Errorf("got %s, %v", s, err)
				}
			}
		})
	}
	wg.Wait()
}

// Calls that come at the same time are answered one after the other.
func TestCallsAtOnceAreSerialised(t *testing.T) {
	_, w := newWorld(t, config(), 1)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { ask(t, w, "buy", `{"item":"hat"}`) })
	}
	wg.Wait()
	if r := ask(t, w, "look", `{}`); string(r.Text) != `{"boots": 2, "hat": 12345678901234567890073}` {
		t.Errorf("got %s", r.Text)
	}
}

// A mistake in the script is the world's, says where, and makes the state worthless; fail is neither.
func TestMistakesOfTheScriptAreTheWorlds(t *testing.T) {
	for _, c := range []struct{ tool, want string }{
		{"broken", `world.star:27:26: in broken`}, {"endless", "too many steps"},
	} {
		_, w := newWorld(t, config(), 1)
		if _, err := w.State(); err != nil {
			t.Fatal(err)
		}
		_, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: c.tool})
		owner, _ := tooleval.BlamedOn(err)
		if err == nil || owner != tooleval.OwnerWorld || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, owner %q; want %q", c.tool, err, owner, c.want)
		}
		if _, stateErr := w.State(); !errors.Is(stateErr, err) {
			t.Errorf("%s: the state is still given out: %v", c.tool, stateErr)
		}
	}
}

// A call whose time is over stops between two steps, and is no fault of the world.
func TestACallStopsWithItsContext(t *testing.T) {
	c := config()
	c.MaxSteps = 1 << 40
	_, w := newWorld(t, c, 1)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	if _, err := w.CallTool(ctx, tooleval.ToolCall{Tool: "endless"}); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := w.State(); err != nil {
		t.Errorf("the state: %v", err)
	}
}

func TestBoundsAreKept(t *testing.T) {
	big := `
def big(state, args, ctx):
    return ["x" * 1000] * 10
def grow(state, args, ctx):
    state["x"] = ["x" * 1000] * 10
`
	f, err := starlark.New(starlark.Config{Source: []byte(big), MaxBytes: 5000})
	if err != nil {
		t.Fatal(err)
	}
	two := []tooleval.Tool{{Name: "big"}, {Name: "grow"}}
	w, _ := f.NewWorld(t.Context(), tooleval.WorldSpec{Tools: two})
	if _, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: "big"}); err == nil || !strings.Contains(err.Error(), "5000 bytes") {
		t.Errorf("a large result: got %v", err)
	}
	w, _ = f.NewWorld(t.Context(), tooleval.WorldSpec{Tools: two})
	ask(t, w, "grow", `{}`)
	if _, err := w.State(); err == nil || !strings.Contains(err.Error(), "5000 bytes") {
		t.Errorf("a large state: got %v", err)
	}
}

// With Changes a state says only what changed, and expands to the whole.
func TestAStateOfChanges(t *testing.T) {
	c := config()
	_, whole := newWorld(t, c, 1)
	c.Changes = true
	f, w := newWorld(t, c, 1)
	for _, world := range []tooleval.World{whole, w} {
		ask(t, world, "buy", `{"item":"boots"}`)
	}
	a, err := whole.State()
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.State()
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Base    string           `json:"base_sha256"`
		Changes []map[string]any `json:"changes"`
	}
	if err := json.Unmarshal(b, &p); err != nil || len(p.Changes) != 3 || p.Base != f.StateDigest() {
		t.Errorf("got %s, %v", b, err)
	}
	expanded, err := f.ExpandState(b)
	if err != nil || string(tooleval.CanonicalJSON(expanded)) != string(a) {
		t.Errorf("got %s, %v\nwant %s", tooleval.CanonicalJSON(expanded), err, a)
	}
	c.State = tooleval.Raw(`{}`)
	other, err := starlark.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{string(b), `{"changes":[]}`, `[]`} {
		if _, err := other.ExpandState(tooleval.Raw(s)); err == nil {
			t.Errorf("%s: expanded over another state", s)
		}
	}
}

// The text of tools is what Python's json.dumps gives, with what JSON has no form for told as the world's fault.
func TestResults(t *testing.T) {
	for expr, want := range map[string]string{
		`{"z": 1, "a": [1.0, 2.50, 1e16, 1e-5, -0.0]}`: `{"z": 1, "a": [1.0, 2.5, 1e+16, 1e-05, -0.0]}`,
		`"text"`: `text`, `None`: ``, `True`: `true`, `7`: `7`, `2.0`: `2.0`, `(1, "a")`: `[1, "a"]`, `1 << 70`: `1180591620717411303424`,
		`"é\u2028<&>\"\n"`: "é\u2028<&>\"\n", `["é\u2028<&>\"\n"]`: `["é\u2028<&>\"\n"]`, `json.dumps({"b": None, "a": "x"})`: `{"b": null, "a": "x"}`,
		`json.decode('{"n": 12345678901234567890, "f": 1.0}')`: `{"n": 12345678901234567890, "f": 1.0}`,
		`json.decode("{", default = 7)`:                        `7`, `json.decode("{")`: `!decode: not JSON`, `json.decode("[" * 100000)`: `!nested more than`,
		`time.parse_time("2024-05-15T15:00:00Z").unix`: `1715785200`, `math.floor(2.7)`: `2`, `sum([1, 2.5])`: `3.5`, `float_text(3)`: `3.0`,
		`round(2.675, 2)`: `2.67`, `round(1234.5, -2)`: `1200.0`, `round(0.5)`: `0`, `calculate("7 // 2 * 2.5")`: `7.5`, `calculate("2+2", digits = 2)`: `4.0`,
		`result(text = "t", error = True)`: `t`, `time.now()`: `!no .now`, `float("inf")`: `!no JSON form`, `{1: 2}`: `!no string`, `len`: `!no JSON form`,
		`calculate("1/0")`: `Error: division by zero`, `fail("a", 1)`: `a 1`, `load`: `!load`,
	} {
		f, err := starlark.New(starlark.Config{Source: []byte("def f(state, args, ctx):\n    return " + expr + "\n")})
		var got string
		if err == nil {
			w, _ := f.NewWorld(t.Context(), tooleval.WorldSpec{Tools: []tooleval.Tool{{Name: "f"}}})
			var r tooleval.ToolResult
			r, err = w.CallTool(t.Context(), tooleval.ToolCall{Tool: "f"})
			got = string(r.Text)
			if r.Structured != nil && !r.Structured.Valid() {
				t.Errorf("%s: the structured result is not JSON: %s", expr, r.Structured)
			}
		}
		if bad, ok := strings.CutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s: got %q, %v; want an error with %q", expr, got, err, bad)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", expr, got, err, want)
		}
	}
}

// A script that can't be read, and a state that is none, are told at once and together, with the place.
func TestNewSaysEverythingThatIsWrong(t *testing.T) {
	_, err := starlark.New(starlark.Config{Name: "w.star", Source: []byte("def f(:\n"), State: tooleval.Raw(`[1]`),
		Data: map[string]tooleval.Raw{"t": tooleval.Raw(`{`)}})
	for _, want := range []string{"w.star:1:8", "want a JSON object", `data of task "t"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for source, want := range map[string]string{
		"x = undefined_name": "w.star:1:5: undefined: undefined_name", "x = [1][2]": "w.star:1:8", "while True: pass": "w.star:1:1",
		"def f(n): return f(n)\nx = f(1)": "recursively", `load("a.star", "b")`: "load not implemented",
		"x = [i for i in range(1000000000)]": "too many steps", `fail("no")`: "fail: no", "x = [0]\ndef f(): x.append(1)\ny = open": "open",
	} {
		if _, err := starlark.Load("w.star", []byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", source, err, want)
		}
	}
	c := config()
	c.Parts = map[string]tooleval.Raw{"stock": tooleval.Raw(`{}`), "bad": tooleval.Raw(`{`)}
	if _, err := starlark.New(c); err == nil || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("got %v", err)
	}
	delete(c.Parts, "bad")
	if _, err := starlark.New(c); err == nil || !strings.Contains(err.Error(), "has that key already") {
		t.Errorf("got %v", err)
	}
}

func TestCheckHoldsTheWorldToItsSuite(t *testing.T) {
	c := config()
	c.Changes = true
	c.Functions = map[string]string{"look": "lok"}
	c.Unchecked = []string{"byu"}
	c.Data["x"] = tooleval.Raw(`1`)
	f, err := starlark.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &tooleval.Suite{Tools: append([]tooleval.Tool{{Name: "setup"}, {Name: "PRICES"}}, tools...),
		Tasks: []tooleval.Task{{ID: "t", ExpectedState: tooleval.Match(map[string]any{"a": 1})}}}
	err = f.Check(s)
	for _, want := range []string{
		`defines no function "lok" (did you mean "look"?)`, `unknown tool "byu"`, `data of unknown task "x"`,
		`task "t": the state holds changes only`, `function "setup" has 2 parameters, but is called with 3`, `"PRICES" is no function`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %q", err, want)
		}
	}
	sound, err := starlark.New(config())
	if err != nil {
		t.Fatal(err)
	}
	if err := sound.Check(&tooleval.Suite{Tools: tools, Tasks: []tooleval.Task{{ID: "t"}}}); err != nil {
		t.Error(err)
	}
}

// What shapes the answers is in the fingerprint.
func TestTheFingerprintChangesWithTheWorld(t *testing.T) {
	print := func(change func(*starlark.Config)) string {
		c := config()
		change(&c)
		f, err := starlark.New(c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(f.Fingerprint())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	same := print(func(*starlark.Config) {})
	for name, change := range map[string]func(*starlark.Config){
		"source": func(c *starlark.Config) { c.Source = append(c.Source, '\n') },
		"state":  func(c *starlark.Config) { c.State = tooleval.Raw(`{"stock":{"boots":3}}`) },
		"data":   func(c *starlark.Config) { c.Data = nil },
		"now":    func(c *starlark.Config) { c.Now = "2025-01-01T00:00:00Z" },
	} {
		if print(change) == same {
			t.Errorf("%s: the fingerprint is the same", name)
		}
	}
	if print(func(c *starlark.Config) {
		c.State = tooleval.Raw(` {"stock": {"hat":12345678901234567890123, "boots":2.0}}`)
	}) != same {
		t.Error("another spelling of the same state changes the fingerprint")
	}
}

func TestAgentsAndScorersInStarlark(t *testing.T) {
	p, err := starlark.Load("mind.star", []byte(`
def agent(task, tools):
    bought = tools.buy(item = "boots", count = 1)
    again = tools.call("buy", {"item": "boots", "count": 5})
    return {"response": "%s %s %s" % (task["id"], bought.data["left"], again.error), "state": {"n": bought.data["total"]}}

def lazy(task, tools):
    fail("no idea")

def score(run, ctx):
    ctx.check("bought", any([c.tool == "buy" and c.args["item"] == "boots" and not c.error for c in run.calls]))
    ctx.check("said", "False" in run.response, note = run.response)
    ctx.check("shown only", False, info = True)

def half(run, ctx):
    return run.state["n"] / 80

def never(run, ctx):
    ctx.unscored("no way to tell")

def nothing(run, ctx):
    pass

def wrong(run, ctx):
    run.calls.append(1)
`))
	if err != nil {
		t.Fatal(err)
	}
	_, w := newWorld(t, config(), 1)
	rec := worlds.Record(worlds.Guard(w, tools), worlds.RecordOptions{})
	agent, err := p.Mind("scripted", "agent").New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := agent.Run(t.Context(), tooleval.Assignment{TaskID: "t", Tools: tools}, rec)
	if err != nil || res.Response != "t 1 True" || string(res.State) != `{"n":40}` {
		t.Fatalf("got %+v, %v", res, err)
	}
	run := &tooleval.Run{TaskID: "t", Result: res, State: res.State, StateFrom: "agent", Trajectory: rec.Trajectory()}
	for function, want := range map[string]string{
		"score": "0.5", "half": "0.5", "never": "no way to tell", "nothing": "!made no check", "wrong": "!frozen list",
	} {
		s, err := p.Scorer(function, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Score(t.Context(), run)
		if bad, ok := strings.CutPrefix(want, "!"); ok {
			owner, _ := tooleval.BlamedOn(err)
			if err == nil || owner != tooleval.OwnerTask || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s: got %v, owner %s", function, err, owner)
			}
			continue
		}
		got := string(out.Score.Why)
		if v, ok := out.Score.Value(); ok {
			got = fmt.Sprint(v)
		}
		if err != nil || got != want || function == "score" && len(out.Checks) != 3 {
			t.Errorf("%s: got %+v, %v; want %s", function, out, err, want)
		}
	}
	lazy, err := p.Agent("lazy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lazy.Run(t.Context(), tooleval.Assignment{}, rec); err == nil || !strings.Contains(err.Error(), "no idea") {
		t.Errorf("got %v", err)
	}
	if _, err := p.Agent("agnet"); err == nil || !strings.Contains(err.Error(), `did you mean "agent"`) {
		t.Errorf("got %v", err)
	}
	// An error of the harness stays whose it is on its way through the script.
	gone := tooleval.Blamef(tooleval.OwnerInfra, "the server is gone")
	_, err = agent.Run(t.Context(), tooleval.Assignment{Tools: tools}, tooleval.ToolHandlerFunc(
		func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			return tooleval.ToolResult{}, gone
		}))
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra {
		t.Errorf("got %v, owner %q", err, owner)
	}
}
