package scorers

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
)

var allModes = []tooleval.MatchMode{tooleval.MatchExact, tooleval.MatchInOrder, tooleval.MatchAnyOrder, tooleval.MatchSubset, tooleval.MatchSuperset}

// truthTable is a table of docs/trajectory-matching.md: its rows by column.
func truthTable(t *testing.T, name string) []map[string]string {
	t.Helper()
	page, err := os.ReadFile("../docs/trajectory-matching.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "<!-- truth table: "+name+" -->\n\n")
	table, _, ended := strings.Cut(after, "\n\n")
	if !found || !ended {
		t.Fatalf("the page has no truth table of %s", name)
	}
	var columns []string
	var rows []map[string]string
	for i, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for k := range cells {
			cells[k] = strings.Trim(cells[k], " `")
		}
		switch {
		case i == 0:
			columns = cells
		case i > 1 && len(cells) != len(columns):
			t.Fatalf("row %q has %d cells", line, len(cells))
		case i > 1:
			row := map[string]string{"line": line}
			for k, c := range columns {
				row[c] = cells[k]
			}
			rows = append(rows, row)
		}
	}
	if len(rows) < 10 {
		t.Fatalf("the table of %s has %d rows", name, len(rows))
	}
	return rows
}

// made are calls as the truth table writes them: "A (B C) D!".
func made(s string) change {
	return func(run *tooleval.Run) {
		run.Trajectory.Calls = nil
		clock, parallel := 0, false
		for _, word := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s)) {
			switch word {
			case "(", ")":
				parallel = word == "("
				clock += 100
				continue
			}
			c := tooleval.Call{Tool: strings.TrimSuffix(word, "!"), Status: tooleval.CallOK, Args: tooleval.Raw("{}")}
			if strings.HasSuffix(word, "!") {
				c.Status = tooleval.CallToolError
			}
			c.Began, c.Ended = clock+1, clock+2
			if parallel {
				c.Ended = clock + 50
			}
			clock++
			if !parallel {
				clock++
			}
			run.Trajectory.Calls = append(run.Trajectory.Calls, c)
		}
	}
}

func want(tools string) []tooleval.ExpectedCall {
	var out []tooleval.ExpectedCall
	for _, tool := range strings.Fields(tools) {
		out = append(out, tooleval.ExpectedCall{Tool: tool})
	}
	return out
}

func expecting(m tooleval.TrajectoryMatch) change {
	return func(r *tooleval.Run) { r.Task.Trajectory = &m }
}

func yesNo(s tooleval.Score) string {
	switch v, ok := s.Value(); {
	case !ok:
		return "unscored"
	case v == 1:
		return "yes"
	case v == 0:
		return "no"
	}
	return "something else"
}

func TestM22TruthTable(t *testing.T) {
	for _, row := range truthTable(t, "modes") {
		for _, mode := range allModes {
			expected := want(row["expected"])
			run := newRun(made(row["made"]), expecting(tooleval.TrajectoryMatch{Mode: mode, Calls: expected}))
			p := Process(run)
			if got := yesNo(component(t, p, MatchedTrajectory)); got != row[string(mode)] {
				t.Errorf("%s: %s: got %s", row["line"], mode, got)
			}
			column := "met"
			if mode.Ordered() {
				column = "met in order"
			}
			met, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				t.Fatal(err)
			}
			wantScore(t, row["line"]+" recall", component(t, p, TrajectoryRecall), met/float64(len(expected)))
			precision := unscored
			if n := len(run.Trajectory.Calls); n > 0 {
				precision = met / float64(n)
			}
			wantScore(t, row["line"]+" precision", component(t, p, TrajectoryPrecision), precision)
			// As a scorer it says the same.
			out, err := Trajectory(*run.Task.Trajectory).Score(t.Context(), run)
			if err != nil || yesNo(out.Score) != row[string(mode)] {
				t.Errorf("%s: %s: the scorer says %v, %v", row["line"], mode, out.Score, err)
			}
		}
	}
}

func TestArgumentsTruthTable(t *testing.T) {
	tool := tooleval.Tool{Name: "t", Schema: tooleval.Raw(`{"type":"object","properties":{"unit":{"default":"C"}}}`)}
	for _, row := range truthTable(t, "arguments") {
		for _, mode := range []tooleval.ArgsMode{tooleval.ArgsMatchers, tooleval.ArgsExact, tooleval.ArgsIgnore, tooleval.ArgsSubset, tooleval.ArgsSuperset} {
			c := tooleval.ExpectedCall{Tool: "t"}
			if row["expected"] != "nothing" {
				c.Args = tooleval.ParsePattern([]byte(row["expected"]))
			}
			call := tooleval.Call{Began: 1, Ended: 2, Tool: "t", Status: tooleval.CallOK, Args: tooleval.Raw(row["made"])}
			if row["made"] == "not JSON" {
				call.ArgsError = "not JSON"
			}
			// The mode for all, for the tool and for the call mean the same; the narrower one wins.
			for i, m := range []tooleval.TrajectoryMatch{
				{Args: mode}, {Args: tooleval.ArgsSuperset, Tools: map[string]tooleval.ArgsMode{"t": mode}},
				{Tools: map[string]tooleval.ArgsMode{"t": tooleval.ArgsIgnore}},
			} {
				c.ArgsMode = ""
				if i == 2 {
					c.ArgsMode = mode
				}
				m.Mode, m.Calls = tooleval.MatchExact, []tooleval.ExpectedCall{c}
				run := newRun(expecting(m))
				run.Tools, run.Trajectory.Calls = []tooleval.Tool{tool}, []tooleval.Call{call}
				if got := yesNo(component(t, Process(run), MatchedTrajectory)); got != row[string(mode)] {
					t.Errorf("%s: %s (%d): got %s", row["line"], mode, i, got)
				}
			}
		}
	}
}

func TestM06TrajectoryPairsOptimally(t *testing.T) {
	strict := tooleval.ExpectedCall{Tool: "search", Args: tooleval.ParsePattern([]byte(`{"q":"x"}`))}
	any := tooleval.ExpectedCall{Tool: "search"}
	for _, mode := range allModes {
		for _, expected := range [][]tooleval.ExpectedCall{{any, strict}, {strict, any}} {
			run := newRun(calls(`search {"q":"x"}`, `search {"q":"y"}`), expecting(tooleval.TrajectoryMatch{Mode: mode, Calls: expected}))
			want := "yes"
			if mode.Ordered() && expected[0].Args.IsZero() {
				want = "no" // the strict one stands second, and its call is the first
			}
			if got := yesNo(component(t, Process(run), MatchedTrajectory)); got != want {
				t.Errorf("%s: got %s, want %s", mode, got, want)
			}
		}
	}
}

func TestM28ParallelCallsAreUnordered(t *testing.T) {
	m := tooleval.TrajectoryMatch{Mode: tooleval.MatchExact, Calls: want("match weather")}
	if got := yesNo(component(t, Process(newRun(made("(weather match)"), expecting(m))), MatchedTrajectory)); got != "yes" {
		t.Errorf("got %s", got)
	}
	m.OrderedTurns = true
	if got := yesNo(component(t, Process(newRun(made("(weather match)"), expecting(m))), MatchedTrajectory)); got != "no" {
		t.Errorf("with ordered_turns: got %s", got)
	}
}

func TestTrajectoryMayFail(t *testing.T) {
	for made, want := range map[string][2]string{"S!": {"no", "yes"}, "S": {"yes", "yes"}} {
		for i, mayFail := range []bool{false, true} {
			m := tooleval.TrajectoryMatch{Mode: tooleval.MatchExact, Calls: []tooleval.ExpectedCall{{Tool: "S", MayFail: mayFail}}}
			run := newRun(calls(), expecting(m))
			if addCall("S {}", tooleval.CallOK)(run); made == "S!" {
				run.Trajectory.Calls[0].Status = tooleval.CallToolError
			}
			if got := yesNo(component(t, Process(run), MatchedTrajectory)); got != want[i] {
				t.Errorf("%s, may_fail %v: got %s", made, mayFail, got)
			}
		}
	}
	// A call that never reached its tool is no error of the tool.
	run := newRun(calls(), addCall("S {}", tooleval.CallRefused), expecting(tooleval.TrajectoryMatch{
		Mode: tooleval.MatchExact, Calls: []tooleval.ExpectedCall{{Tool: "S", MayFail: true}}}))
	if got := yesNo(component(t, Process(run), MatchedTrajectory)); got != "no" {
		t.Errorf("a refused call: %s", got)
	}
}

func TestM15TheReasonNamesWhatDiffers(t *testing.T) {
	m := tooleval.TrajectoryMatch{Mode: tooleval.MatchInOrder, Calls: []tooleval.ExpectedCall{
		{Tool: "search"}, {Tool: "add", Args: tooleval.ParsePattern([]byte(`{"id":7}`))}, {Tool: "drop"}, {Tool: "drop"}, {Tool: "pay"},
	}}
	p := Process(newRun(calls(`pay {}`, `search {"q":"x"}`, `add {"id":8}`, `drop {}`, `search {}`), expecting(m)))
	c := p.Component(MatchedTrajectory)
	var got []string
	for _, n := range c.Notes {
		got = append(got, string(n.Note))
	}
	all := strings.Join(got, "\n")
	for _, part := range []string{
		"does not match the expected trajectory (in_order): 2 of 5 expected calls met by 2 of 5 calls made",
		"expected call 2 (add): the arguments of call 3 differ at $.id: want 7, got 8",
		"expected call 5 (pay): call 1 fits but stands in another place of the order",
		"expected call 3 (drop): call 4 fits but meets another expected call",
		"call 1 (pay) meets no expected call", "call 3 (add) meets no expected call", "call 5 (search) meets no expected call",
	} {
		if !strings.Contains(all, part) {
			t.Errorf("the notes lack %q:\n%s", part, all)
		}
	}
	if c.Notes[1].Path != "$.id" || c.Notes[1].Call == nil || *c.Notes[1].Call != 5 {
		t.Errorf("the second note points at %+v", c.Notes[1])
	}
}

func TestM25AnyOfNamesTheClosest(t *testing.T) {
	m := tooleval.TrajectoryMatch{Mode: tooleval.MatchExact, AnyOf: []tooleval.ExpectedTrajectory{
		{Calls: want("A B C")}, {Name: "short", Calls: want("A C")}, {Calls: want("C A")},
	}}
	score := func(s string) (string, string, TrajectoryReport) {
		run := newRun(made(s), expecting(m))
		c := Process(run).Components
		i := slices.IndexFunc(c, func(c tooleval.Component) bool { return c.Name == MatchedTrajectory })
		out, err := Trajectory(m).Score(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		var r TrajectoryReport
		if err := json.Unmarshal(out.Detail, &r); err != nil {
			t.Fatal(err)
		}
		return yesNo(c[i].Score), string(c[i].Notes[0].Note), r
	}
	if got, note, _ := score("A C"); got != "yes" || !strings.Contains(note, "matches short, one of 3") {
		t.Errorf("got %s, %s", got, note)
	}
	got, note, r := score("A B X")
	if got != "no" || !strings.Contains(note, "alternative 1, the closest of 3") || r.Closest != 0 || len(r.Alternatives) != 3 {
		t.Errorf("got %s, %s, %+v", got, note, r)
	}
	if a := r.Alternatives[0]; a.Missing[0].Tool != "C" || a.Missing[0].Reason != "never_called" || a.Extra[0] != (UnexpectedCall{3, "X"}) {
		t.Errorf("alternative 1: %+v", a)
	}
}

func TestTrajectoryCounts(t *testing.T) {
	for _, c := range []struct {
		counts  tooleval.MatchCounts
		process float64
		verdict tooleval.Verdict
	}{
		{"", 0.75, tooleval.Passed}, // required, forbidden, efficiency are 1
		{tooleval.CountsProcess, 0.75, tooleval.Passed},
		{tooleval.CountsGate, 0.75, tooleval.Failed},
		{tooleval.CountsInfo, 1, tooleval.Passed},
	} {
		run := newRun(expecting(tooleval.TrajectoryMatch{Mode: tooleval.MatchExact, Calls: want("pay"), Counts: c.counts}))
		s, err := Grade(t.Context(), run, nil)
		if err != nil || s.Verdict != c.verdict {
			t.Errorf("counts %q: %s (%s), %v", c.counts, s.Verdict, s.Why, err)
		}
		wantScore(t, string(c.counts), s.Process.Score, c.process)
	}
	gate := tooleval.TrajectoryMatch{Mode: tooleval.MatchExact, Calls: want("search add"), Counts: tooleval.CountsGate}
	if s, _ := Grade(t.Context(), newRun(expecting(gate)), nil); s.Why != "the trajectory is not the expected one: it does not match "+
		"the expected trajectory (exact): 2 of 2 expected calls met by 2 of 3 calls made: call 3 (pay) meets no expected call" {
		t.Errorf("the reason of a gate: %s", s.Why)
	}
	gate.Calls = want("search add pay")
	if s, _ := Grade(t.Context(), newRun(expecting(gate)), nil); s.Verdict != tooleval.Passed {
		t.Errorf("a gate that is met: %s (%s)", s.Verdict, s.Why)
	}
	if s, _ := Grade(t.Context(), newRun(expecting(gate), forbidden(), incomplete), nil); s.Verdict != tooleval.Unscored {
		t.Errorf("a gate that can't be told: %s", s.Verdict)
	}
}

func TestTrajectoryWhereCallsMayBeMissing(t *testing.T) {
	for _, c := range []struct{ expected, made, want string }{
		{"S Q", "S Q", "unscored yes unscored unscored yes"},
		{"S Q", "S", "unscored unscored unscored unscored unscored"},
		{"S Q", "S X", "no unscored no no unscored"},
	} {
		var got []string
		for _, mode := range allModes {
			run := newRun(made(c.made), incomplete, expecting(tooleval.TrajectoryMatch{Mode: mode, Calls: want(c.expected)}))
			got = append(got, yesNo(component(t, Process(run), MatchedTrajectory)))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s made of %s: got %s, want %s", c.made, c.expected, g, c.want)
		}
	}
}

func TestTrajectoryIsBounded(t *testing.T) {
	// A thousand expected calls of one tool, and turns of ten: quick, and still the best.
	m := tooleval.TrajectoryMatch{Mode: tooleval.MatchExact, Calls: want(strings.Repeat("A ", 500))}
	run := newRun(made(strings.Repeat("(A A A A A A A A A A) ", 50)), expecting(m))
	if got := yesNo(component(t, Process(run), MatchedTrajectory)); got != "yes" {
		t.Errorf("got %s", got)
	}
	run = newRun(expecting(m))
	run.Trajectory.Calls = make([]tooleval.Call, 1<<17)
	if s := component(t, Process(run), MatchedTrajectory); s.IsScored() || !strings.Contains(string(s.Why), "too many") {
		t.Errorf("got %v", s)
	}
}

func TestTrajectoryCheck(t *testing.T) {
	pattern := func(s string) tooleval.Pattern { return tooleval.ParsePattern([]byte(s)) }
	for _, c := range []struct {
		m    tooleval.TrajectoryMatch
		want string
	}{
		{tooleval.TrajectoryMatch{Mode: "in_ordr", Calls: want("search")}, `mode is "in_ordr" (did you mean "in_order"?)`},
		{tooleval.TrajectoryMatch{Calls: want("search")}, "mode is missing"},
		{tooleval.TrajectoryMatch{Mode: "exact"}, "no call is expected"},
		{tooleval.TrajectoryMatch{Mode: "exact", AnyOf: []tooleval.ExpectedTrajectory{{}}}, "alternative 1: no call is expected"},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: want("serch")}, `expected call 1: tool "serch" is not in the task's toolset (did you mean "search"?)`},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: want("search"), Args: "ignored"}, `(did you mean "ignore"?)`},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: want("search"), Counts: "gates"}, `(did you mean "gate"?)`},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: want("search"), Tools: map[string]tooleval.ArgsMode{"x": "exact"}}, `tool "x" is not`},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: want("search"), AnyOf: []tooleval.ExpectedTrajectory{{Calls: want("pay")}}}, "exclude each other"},
		{tooleval.TrajectoryMatch{Mode: "exact", AnyOf: []tooleval.ExpectedTrajectory{{Name: "a", Calls: want("pay")}, {Name: "a", Calls: want("pay")}}}, "two alternatives"},
		{tooleval.TrajectoryMatch{Mode: "exact", Args: "exact", Calls: []tooleval.ExpectedCall{{Tool: "pay", Args: pattern(`{"a":{"$any":true}}`)}}}, "matcher $any has no meaning"},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: []tooleval.ExpectedCall{{Tool: "pay", Args: pattern(`{"a":{"$regx":"x"}}`)}}}, "unknown matcher"},
		{tooleval.TrajectoryMatch{Mode: "exact", Calls: []tooleval.ExpectedCall{{Tool: "pay", Args: pattern(`[1]`)}}}, "never fits"},
		{tooleval.TrajectoryMatch{Mode: "exact", Args: "ignore", Calls: []tooleval.ExpectedCall{{Tool: "pay", Args: pattern(`{}`)}}}, "are ignored"},
	} {
		err := c.m.Check([]string{"search", "add", "pay"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
		s := &tooleval.Suite{Tasks: []tooleval.Task{{ID: "x", Toolset: []string{"search", "add", "pay"}}}}
		scorer := Trajectory(c.m)
		s.Scorers = map[string]tooleval.Scorer{"x": scorer}
		if err := scorer.(tooleval.Checker).Check(s); err == nil {
			t.Errorf("the scorer accepts %+v", c.m)
		}
	}
	good := tooleval.TrajectoryMatch{Mode: "exact", Calls: want("search pay")}
	if err := good.Check([]string{"search", "pay"}); err != nil {
		t.Error(err)
	}
	b, err := json.Marshal(tooleval.Task{Trajectory: &good})
	if err != nil || !strings.Contains(string(b), `"trajectory":{"calls":[{"tool":"search"},{"tool":"pay"}],"mode":"exact"}`) {
		t.Errorf("the task is written as %s, %v", b, err)
	}
}
