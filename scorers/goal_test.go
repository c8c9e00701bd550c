package scorers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

// A shop is a world whose one tool, set, puts a value at a key, and whose tool bad says no.
type shop struct{ initial string }

func (s shop) NewWorld(context.Context, tooleval.WorldSpec) (tooleval.World, error) {
	v, err := tooleval.DecodeValue([]byte(s.initial))
	if err != nil {
		return nil, err
	}
	return &shopWorld{state: v.(map[string]any)}, nil
}

type shopWorld struct{ state map[string]any }

func (w *shopWorld) Tools() []tooleval.Tool { return nil }
func (w *shopWorld) Close() error           { return nil }
func (w *shopWorld) State() (tooleval.State, error) {
	return tooleval.CanonicalJSON(w.state), nil
}

func (w *shopWorld) CallTool(_ context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if call.Tool == "bad" {
		return tooleval.ErrorResult("no such thing"), nil
	}
	v, err := tooleval.DecodeValue(call.Args)
	if err != nil {
		return tooleval.ToolResult{}, err
	}
	for k, x := range v.(map[string]any) {
		if x == nil {
			delete(w.state, k)
		} else {
			w.state[k] = x
		}
	}
	return tooleval.TextResult("ok"), nil
}

var world = shop{`{"stock":{"boots":2,"hat":5},"log":[{"at":1,"what":"open"}],"rows":[{"id":1,"v":"a"},{"id":2,"v":"b"}],"note":"n"}`}

func set(args string) scorers.Action { return scorers.Action{Tool: "set", Args: tooleval.Raw(args)} }

// ended is a run that left this state and said this.
func ended(state, said string) *tooleval.Run {
	r := &tooleval.Run{Ending: tooleval.Completed, Result: tooleval.AgentResult{Response: tooleval.Text(said)}}
	if state != "" {
		r.State, r.StateFrom = tooleval.Raw(state), "world"
	}
	return r
}

// after is the state that actions lead to.
func after(t *testing.T, actions ...scorers.Action) string {
	t.Helper()
	w, err := world.NewWorld(t.Context(), tooleval.WorldSpec{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range actions {
		if _, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: a.Tool, Args: a.Args}); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := w.State()
	return string(s)
}

// verdicts are the checks in one line: name=passed.
func verdicts(o tooleval.Outcome) string {
	var parts []string
	for _, c := range o.Checks {
		mark := ""
		if c.Info {
			mark = "(info)"
		}
		parts = append(parts, fmt.Sprintf("%s%s=%s", c.Name, mark, c.Verdict))
	}
	return strings.Join(parts, " ")
}

func TestTheStateAfterGroundTruthActions(t *testing.T) {
	truth := []scorers.Action{set(`{"stock":{"boots":1,"hat":5}}`), set(`{"rows":[{"id":1,"v":"a"},{"id":2,"v":"c"}],"order":{"item":"boots","n":1}}`)}
	for _, c := range []struct {
		name   string
		change func(*scorers.Goal)
		state  string
		score  float64
		checks string
		diff   string
	}{
		{"all of it", nil, after(t, truth...), 1, "state=passed nothing_else_changed=passed", ""},
		{"another way to the same state", nil, after(t, truth[1], set(`{"stock":{"boots":1.0,"hat":5}}`)), 1, "state=passed nothing_else_changed=passed", ""},
		{"nothing", nil, after(t), 1. / 5, "state=failed nothing_else_changed=passed", "$.order: missing, want"},
		{"half", nil, after(t, truth[0]), 2. / 5, "state=failed nothing_else_changed=passed", "$.rows[1].v: want \"c\", got \"b\""},
		{"collateral damage", nil, after(t, append(truth, set(`{"note":"hacked","new":[1]}`))...), 4. / 5,
			"state=passed nothing_else_changed=failed", "$.new: unexpected [1] (it was not to change)"},
		{"collateral damage that is allowed", func(g *scorers.Goal) { g.Lenient = true },
			after(t, append(truth, set(`{"note":"hacked"}`))...), 1, "state=passed nothing_else_changed(info)=failed", ""},
		{"an ignored place", func(g *scorers.Goal) { g.Ignore = []string{"$.note", "$.log[*].at"} },
			after(t, append(truth, set(`{"note":"x","log":[{"at":2,"what":"open"}]}`))...), 1, "state=passed nothing_else_changed=passed", ""},
		{"a place beside the ignored one", func(g *scorers.Goal) { g.Ignore = []string{"$.log.*.at"} },
			after(t, append(truth, set(`{"log":[{"at":2,"what":"shut"}]}`))...), 4. / 5, "state=passed nothing_else_changed=failed", "$.log[0].what: want \"open\", got \"shut\""},
		{"another order (S01)", nil, after(t, truth[0], set(`{"rows":[{"id":2,"v":"c"},{"id":1,"v":"a"}],"order":{"item":"boots","n":1}}`)),
			3. / 5, "state=failed nothing_else_changed=failed", "$.rows[1].v"},
		{"another order of a list by key (S01)", func(g *scorers.Goal) { g.Unordered = []scorers.List{{Path: "$.rows", Key: "id"}} },
			after(t, truth[0], set(`{"rows":[{"id":2,"v":"c"},{"id":1,"v":"a"}],"order":{"item":"boots","n":1}}`)), 1,
			"state=passed nothing_else_changed=passed", ""},
		{"a wrong row of a list by key", func(g *scorers.Goal) { g.Unordered = []scorers.List{{Path: "$.rows", Key: "id"}} },
			after(t, truth[0], set(`{"rows":[{"id":2,"v":"x"},{"id":1,"v":"a"}],"order":{"item":"boots","n":1}}`)), 4. / 5,
			"state=failed nothing_else_changed=passed", `$.rows[id=2].v: want "c", got "x"`},
		{"another order of a multiset (S01)", func(g *scorers.Goal) { g.Unordered = []scorers.List{{Path: "$.rows"}} },
			after(t, truth[0], set(`{"rows":[{"id":2,"v":"c"},{"id":1,"v":"a"}],"order":{"item":"boots","n":1}}`)), 1,
			"state=passed nothing_else_changed=passed", ""},
		{"a row twice in a multiset", func(g *scorers.Goal) { g.Unordered = []scorers.List{{Path: "$.rows"}} },
			after(t, truth[0], set(`{"rows":[{"id":2,"v":"c"},{"id":1,"v":"a"},{"id":1,"v":"a"}],"order":{"item":"boots","n":1}}`)), -1,
			"state=passed nothing_else_changed=failed", `#2`},
		{"a part of another kind", nil, after(t, append(truth, set(`{"stock":7}`))...), -1, "state=failed nothing_else_changed=passed", "$.stock: want"},
		{"no state at all", nil, "", 0, "state=failed nothing_else_changed=failed", "$: missing"},
	} {
		g := &scorers.Goal{World: world, After: truth}
		if c.change != nil {
			c.change(g)
		}
		out, err := g.Score(t.Context(), ended(c.state, ""))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		score, _ := out.Score.Value()
		var diff []string
		for _, d := range out.Diff {
			diff = append(diff, d.String())
		}
		all := strings.Join(diff, "\n")
		if c.score >= 0 && score != c.score || verdicts(out) != c.checks || !strings.Contains(all, c.diff) || c.score == 1 && all != "" {
			t.Errorf("%s: got %v, %s\n%s\nwant %v, %s, %q", c.name, score, verdicts(out), all, c.score, c.checks, c.diff)
		}
		if score == 1 != (c.score == 1) {
			t.Errorf("%s: the outcome is %v", c.name, score)
		}
	}
}

func TestAStateByPattern(t *testing.T) {
	goal := func() *scorers.Goal {
		return &scorers.Goal{World: world, State: tooleval.Match(tooleval.Subset(map[string]any{"stock": map[string]any{"boots": 1}}))}
	}
	for _, c := range []struct{ name, state, checks string }{
		{"met", after(t, set(`{"stock":{"boots":1,"hat":5}}`)), "state=passed nothing_else_changed=passed"},
		{"not met", after(t), "state=failed nothing_else_changed=passed"},
		{"met, with collateral damage beside it", after(t, set(`{"stock":{"boots":1,"hat":4}}`)), "state=passed nothing_else_changed=failed"},
		{"met, with collateral damage elsewhere", after(t, set(`{"stock":{"boots":1,"hat":5},"note":null}`)), "state=passed nothing_else_changed=failed"},
	} {
		out, err := goal().Score(t.Context(), ended(c.state, ""))
		if err != nil || verdicts(out) != c.checks {
			t.Errorf("%s: got %s, %v; want %s", c.name, verdicts(out), err, c.checks)
		}
	}
	g := goal()
	g.World = nil // then nobody knows what was there before
	out, err := g.Score(t.Context(), ended(after(t, set(`{"stock":{"boots":1}}`)), ""))
	if err != nil || verdicts(out) != "state=passed" {
		t.Errorf("got %s, %v", verdicts(out), err)
	}
}

// S03, S09, R06: each check has its own status, and all that are not marked must hold.
func TestS09EveryPartOfAGoalMustHold(t *testing.T) {
	g := &scorers.Goal{World: world, After: []scorers.Action{set(`{"note":"m"}`)},
		Said: []scorers.Statement{{Number: "42"}, {Words: "thank you", Info: true}}}
	for _, c := range []struct {
		state, said, checks string
		score               float64
	}{
		{after(t, set(`{"note":"m"}`)), "It is 42.", "state=passed nothing_else_changed=passed says: 42=passed says: thank you(info)=failed", 1},
		{after(t), "It is 42. Thank you!", "state=failed nothing_else_changed=passed says: 42=passed says: thank you(info)=passed", 2. / 3},
		{after(t, set(`{"note":"m"}`)), "", "state=passed nothing_else_changed=passed says: 42=failed says: thank you(info)=failed", 2. / 3},
	} {
		out, err := g.Score(t.Context(), ended(c.state, c.said))
		if score, _ := out.Score.Value(); err != nil || verdicts(out) != c.checks || score != c.score {
			t.Errorf("got %s, %v, %v\nwant %s, %v", verdicts(out), score, err, c.checks, c.score)
		}
	}
}

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		s      scorers.Statement
		yes    []string
		no     []string
		broken bool
	}{
		{s: scorers.Statement{Number: "1786"}, yes: []string{"$1,786.00 in total", "1786", "(1786)", "1786.", "it's 1786!", "001786", "€1786"},
			no: []string{"21786", "1786.5", "HAT1786", "1786k", "-1786", "17,86", "1786_0", "", "a1786"}},
		{s: scorers.Statement{Number: "-5"}, yes: []string{"-5", "−5 °C", "is -5.0", "-$5", "($-5)"}, no: []string{"5", "10-5", "x-5"}},
		{s: scorers.Statement{Number: "0.50"}, yes: []string{"0.5", "00.50"}, no: []string{"0.05", "5"}},
		{s: scorers.Statement{Number: "4"}, yes: []string{"4 bags", "bags: 4,"}, no: []string{"4th", "14", "4.2"}},
		{s: scorers.Statement{Words: "Gate b12"}, yes: []string{"gate: B12!", "The GATE\nb12 is"}, no: []string{"gate b123", "gate 12", "gates b12", "gate is b12"}},
		{s: scorers.Statement{Words: "Über"}, yes: []string{"ÜBER uns", "über"}, no: []string{"uber", "überall"}},
		{s: scorers.Statement{Text: "1,786"}, yes: []string{"217860", "1,786", "X1786"}, no: []string{"178 6"}},
		{s: scorers.Statement{Pattern: "(?i)refund(ed)?"}, yes: []string{"REFUNDED"}, no: []string{"re fund"}},
		{s: scorers.Statement{Pattern: "1.*3"}, yes: []string{"1 2 3"}, no: []string{"1\n2\n3"}},
		{s: scorers.Statement{Pattern: "(?s)1.*3"}, yes: []string{"1\n2\n3"}},
		{s: scorers.Statement{Words: "sorry", Not: true}, yes: []string{"fine", ""}, no: []string{"I'm sorry."}},
		// J12: none of them understands a sentence.
		{s: scorers.Statement{Words: "was saved"}, yes: []string{"I can't confirm that it was saved"}},
		{s: scorers.Statement{}, broken: true},
		{s: scorers.Statement{Words: "a", Text: "b"}, broken: true},
		{s: scorers.Statement{Words: "?!"}, broken: true},
		{s: scorers.Statement{Text: ",,"}, broken: true},
		{s: scorers.Statement{Number: "4k"}, broken: true},
		{s: scorers.Statement{Number: "true"}, broken: true},
		{s: scorers.Statement{Pattern: "("}, broken: true},
		{s: scorers.Statement{Pattern: ".*"}, broken: true},
	} {
		g := &scorers.Goal{Said: []scorers.Statement{c.s}}
		for i, message := range append(c.yes, c.no...) {
			out, err := g.Score(t.Context(), ended("", message))
			score, _ := out.Score.Value()
			if want := i < len(c.yes); err != nil || (score == 1) != want {
				t.Errorf("%+v: %q: got %v, %v; want %v", c.s, message, score, err, want)
			}
		}
		if err := g.Check(&tooleval.Suite{}); (err != nil) != c.broken {
			t.Errorf("%+v: check says %v", c.s, err)
		}
		if _, err := g.Score(t.Context(), ended("", "x")); (err != nil) != c.broken {
			t.Errorf("%+v: score says %v", c.s, err)
		}
	}
}

// What a tool carries to the user counts as said, each message by itself.
func TestSaidToTheUser(t *testing.T) {
	g := &scorers.Goal{Said: []scorers.Statement{{Words: "two bags"}}, Tells: []scorers.Telling{{Tool: "ask_user", Arg: "message"}}}
	call := func(tool, args string, status tooleval.CallStatus) tooleval.Call {
		return tooleval.Call{Tool: tool, Args: tooleval.Raw(args), Status: status}
	}
	for _, c := range []struct {
		calls []tooleval.Call
		want  float64
	}{
		{[]tooleval.Call{call("ask_user", `{"message":"You have TWO bags."}`, tooleval.CallOK)}, 1},
		{[]tooleval.Call{call("ask_user", `{"message":"two"}`, tooleval.CallOK), call("ask_user", `{"message":"bags"}`, tooleval.CallOK)}, 0},
		{[]tooleval.Call{call("note", `{"message":"two bags"}`, tooleval.CallOK)}, 0},
		{[]tooleval.Call{call("ask_user", `{"message":"two bags"}`, tooleval.CallRefused)}, 0},
		{[]tooleval.Call{call("ask_user", `{"message":["two bags"]}`, tooleval.CallOK), call("ask_user", `{`, tooleval.CallToolError), call("ask_user", `{}`, tooleval.CallOK)}, 0},
	} {
		run := ended("", "bye")
		run.Trajectory.Calls = c.calls
		out, err := g.Score(t.Context(), run)
		if score, _ := out.Score.Value(); err != nil || score != c.want {
			t.Errorf("%+v: got %v, %v", c.calls, score, err)
		}
	}
}

// S04, V03: a goal that checks nothing, or whose ground truth can't be played, is invalid before anything runs.
func TestAGoalThatIsNotSound(t *testing.T) {
	for name, c := range map[string]struct {
		goal scorers.Goal
		want string
	}{
		"nothing":               {scorers.Goal{}, "it checks nothing"},
		"an empty pattern":      {scorers.Goal{State: tooleval.Match(tooleval.Any())}, "checks nothing"},
		"a bad pattern":         {scorers.Goal{State: tooleval.Match(tooleval.Regex("("))}, "regex"},
		"both":                  {scorers.Goal{World: world, After: []scorers.Action{}, State: tooleval.Match(1)}, "not both"},
		"no world":              {scorers.Goal{After: []scorers.Action{}}, "need a world"},
		"an action that errors": {scorers.Goal{World: world, After: []scorers.Action{{Tool: "bad"}}}, "returned an error: no such thing; correct it, or mark it"},
		"an unknown tool":       {scorers.Goal{World: world, After: []scorers.Action{{Tool: "sett"}}}, `unknown tool "sett" (did you mean "set"?)`},
		"a bad path":            {scorers.Goal{World: world, After: []scorers.Action{}, Ignore: []string{"stock"}}, "want it to begin with $"},
		"ignoring all":          {scorers.Goal{World: world, After: []scorers.Action{}, Ignore: []string{"$"}}, "ignoring everything"},
		"a bad element":         {scorers.Goal{World: world, After: []scorers.Action{}, Unordered: []scorers.List{{Path: "$.a[x]"}}}, "want [*] or a number"},
		"two of a name":         {scorers.Goal{Said: []scorers.Statement{{Words: "a"}, {Words: "a"}}}, "two statements are named"},
	} {
		g := c.goal
		s := &tooleval.Suite{Tools: []tooleval.Tool{{Name: "set"}, {Name: "bad"}}, Tasks: []tooleval.Task{{ID: "t"}},
			Scorers: map[string]tooleval.Scorer{"t": &g}}
		if err := g.Check(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	g := &scorers.Goal{World: world, After: []scorers.Action{{Tool: "bad", MayFail: true}, set(`{"note":"m"}`)}}
	s := &tooleval.Suite{Tools: []tooleval.Tool{{Name: "set"}, {Name: "bad"}}, Tasks: []tooleval.Task{{ID: "t"}}, Scorers: map[string]tooleval.Scorer{"t": g}}
	if err := g.Check(s); err != nil {
		t.Error(err)
	}
	for _, bad := range []scorers.Goal{
		{World: world, After: []scorers.Action{{Tool: "bad"}}}, {World: world, After: []scorers.Action{}, Lenient: true},
	} {
		_, err := bad.Score(t.Context(), ended(after(t), ""))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerTask {
			t.Errorf("%+v: got %v, owner %q", bad, err, owner)
		}
	}
	if _, err := g.Score(t.Context(), ended(`{`, "")); err == nil {
		t.Error("a state that is not JSON was scored")
	} else if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
		t.Errorf("got %v, owner %q", err, owner)
	}
}

func TestPathsOfAGoal(t *testing.T) {
	state := `{"a b":{"c.d":[1,2]},"x":1}`
	odd := shop{state}
	for path, ignored := range map[string]bool{
		`$["a b"]["c.d"][1]`: true, `$["a b"].*[*]`: true, `$.*`: true, `$["a b"]["c.d"][0]`: false, `$["a b"]["c"][1]`: false, `$.x`: false,
	} {
		g := &scorers.Goal{World: odd, After: []scorers.Action{}, Ignore: []string{path}}
		out, err := g.Score(t.Context(), ended(`{"a b":{"c.d":[1,3]},"x":1}`, ""))
		if score, _ := out.Score.Value(); err != nil || (score == 1) != ignored {
			t.Errorf("%s: got %v, %v %v", path, score, err, out.Diff)
		}
	}
	for _, bad := range []string{"", "a", "$a", "$.", "$..a", `$["a]`, `$["a"`, "$[]", "$[*", "$[-1]", "$.a[1"} {
		g := &scorers.Goal{World: odd, After: []scorers.Action{}, Ignore: []string{bad}}
		if err := g.Check(&tooleval.Suite{}); err == nil {
			t.Errorf("path %q was taken", bad)
		}
	}
}

// A record keeps no second copy of a large state.
func TestDifferencesAreBounded(t *testing.T) {
	big := shop{`{"a":"` + strings.Repeat("x", 100_000) + `"}`}
	out, err := (&scorers.Goal{World: big, After: []scorers.Action{}}).Score(t.Context(), ended(`{"a":1}`, ""))
	if err != nil || len(out.Diff) != 1 || len(out.Diff[0].Want) > 100 || string(out.Diff[0].Got) != "1" {
		t.Errorf("got %d differences, %v", len(out.Diff), err)
	}
}

// The oracle does the ground truth and says what has to be said, and what shapes a goal is in its fingerprint.
func TestTheOracleAndTheFingerprint(t *testing.T) {
	g := &scorers.Goal{World: world, After: []scorers.Action{set(`{"note":"m"}`)},
		Said: []scorers.Statement{{Number: "42"}, {Words: "gate b12"}, {Words: "sorry", Not: true}}}
	w, err := world.NewWorld(t.Context(), tooleval.WorldSpec{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := g.Oracle().Run(t.Context(), tooleval.Assignment{}, w)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := w.State()
	out, err := g.Score(t.Context(), ended(string(state), string(res.Response)))
	if score, _ := out.Score.Value(); err != nil || score != 1 {
		t.Errorf("the oracle gets %v: %s, %v", score, verdicts(out), err)
	}
	print := func() string {
		b, err := json.Marshal(g.Fingerprint())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := print()
	g.Lenient = true
	if print() == before {
		t.Error("the fingerprint does not say that other changes are allowed")
	}
}
