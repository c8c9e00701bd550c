package scorers

import (
	"math/rand"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tooleval/tooleval"
)

// component is the score of one component; a missing one fails the test.
func component(t *testing.T, p tooleval.Process, name string) tooleval.Score {
	t.Helper()
	c := p.Component(name)
	if c == nil {
		t.Fatalf("no component %s in %v", name, p.Components)
	}
	return c.Score
}

func TestProcessWorkedValues(t *testing.T) {
	nine := calls("a {}", "b {}", "c {}", "d {}", "a {}", "b {}", "c {}", "d {}", "a {}")
	run := newRun(nine, required(), forbidden(), minimum(4))
	wantScore(t, "9 calls where 4 do", component(t, Process(run), Efficiency), 4.0/9)

	pipeline := newRun(calls("a {}", "b {}", "x {}", "c {}", "d {}", "x {}", "e {}"), minimum(5), forbidden(call("bomb", "")),
		required(call("a", ""), call("b", ""), call("c", ""), call("d", ""), call("e", "")))
	p := Process(pipeline)
	wantScore(t, "pipeline", p.Score, 6.0/7)
	wantScore(t, "pipeline required", component(t, p, Required), 1)
	wantScore(t, "nothing forbidden in reach", component(t, p, Forbidden), unscored)
}

func TestEfficiency(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []change
		want    float64
	}{
		{"minimum 0 with no call", []change{minimum(0), calls()}, 1},
		{"minimum 0 with a call", []change{minimum(0), calls("search {}")}, 0},
		{"needed but none made", []change{minimum(2), calls()}, 0},
		{"fewer than the minimum", []change{minimum(2), calls("search {}")}, 1},
		{"as many as needed", []change{minimum(2), calls("search {}", "add {}")}, 1},
		{"a refused call counts", []change{minimum(3), addCall("bomb {}", tooleval.CallRefused)}, 0.75},
		{"a failed call counts", []change{minimum(3), addCall("pay {}", tooleval.CallToolError)}, 0.75},
		{"no minimum", []change{noMinimum}, unscored},
		{"calls may be missing", []change{incomplete}, unscored},
	} {
		wantScore(t, c.name, component(t, Process(newRun(c.changes...)), Efficiency), c.want)
	}
	p := Process(newRun(minimum(-1)))
	if s := component(t, p, Efficiency); s.IsScored() || !strings.Contains(string(s.Why), "makes no sense") {
		t.Errorf("a negative minimum: got %v (%q)", s, s.Why)
	}
}

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []change
		want    float64
	}{
		{"all", nil, 1},
		{"none required", []change{required()}, unscored},
		{"none made", []change{calls()}, 0},
		{"one of three", []change{calls("pay {}", "add {\"id\":8}")}, 1.0 / 3},
		{"one call serves one requirement", []change{required(call("pay", ""), call("pay", ""))}, 0.5},
		{"defaults are filled in", []change{calls(`search {"q":"boots","limit":10}`, `add {"id":7}`, "pay {}")}, 1},
		{"all seen of an incomplete trajectory", []change{incomplete}, 1},
		{"not all seen of an incomplete one", []change{incomplete, calls("pay {}")}, unscored},
	} {
		wantScore(t, c.name, component(t, Process(newRun(c.changes...)), Required), c.want)
	}
}

func TestH02AFailedCallSatisfiesNothing(t *testing.T) {
	for _, status := range []tooleval.CallStatus{tooleval.CallToolError, tooleval.CallRefused, tooleval.CallProtocolError,
		tooleval.CallTimeout, tooleval.CallCancelled} {
		run := newRun(calls(`search {"q":"boots"}`, `add {"id":7}`), addCall("pay {}", status))
		wantScore(t, string(status), component(t, Process(run), Required), 2.0/3)
	}
	malformed := newRun(func(r *tooleval.Run) { r.Trajectory.Calls[2].ArgsError = "cut off" })
	wantScore(t, "malformed arguments", component(t, Process(malformed), Required), 2.0/3)
}

func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []change
		want    float64
	}{
		{"in reach, not made", nil, 1},
		{"made", []change{addCall("drop {}", tooleval.CallOK)}, 0},
		{"made, and failed", []change{addCall("drop {}", tooleval.CallToolError)}, 0},
		{"made with other arguments", []change{forbidden(call("drop", `{"id":9}`)), addCall(`drop {"id":8}`, tooleval.CallOK)}, 1},
		{"nothing is forbidden", []change{forbidden()}, unscored},
		{"out of reach", []change{forbidden(call("bomb", ""))}, unscored},
		{"out of reach, tried and refused", []change{forbidden(call("bomb", "")), addCall("bomb {}", tooleval.CallRefused)}, unscored},
		{"refused for another reason", []change{addCall("drop {}", tooleval.CallRefused)}, 0},
		{"seen in an incomplete trajectory", []change{incomplete, addCall("drop {}", tooleval.CallOK)}, 0},
	} {
		wantScore(t, c.name, component(t, Process(newRun(c.changes...)), Forbidden), c.want)
	}
}

func TestM24NothingToLookAt(t *testing.T) {
	run := newRun(incomplete, calls())
	p := Process(run)
	for _, name := range []string{Required, Forbidden, Efficiency} {
		s := component(t, p, name)
		if s.IsScored() || !strings.Contains(string(s.Why), "not evaluable") || !strings.Contains(string(s.Why), "directly") {
			t.Errorf("%s: got %v (%q), want not evaluable, with the reason", name, s, s.Why)
		}
	}
	wantScore(t, "process", p.Score, unscored)
	if v, why := Verdict(run, tooleval.Outcome{Score: tooleval.Scored(1)}, p); v != tooleval.Unscored || why == "" {
		t.Errorf("forbidden calls that nobody could see: got %s (%q), want unscored", v, why)
	}
}

func TestH07CallChecksWithoutCalls(t *testing.T) {
	seen := newRun(incomplete, forbidden(), noMinimum)
	wantScore(t, "all required calls were seen", Process(seen).Score, 1)
	half := newRun(incomplete, forbidden())
	wantScore(t, "a mean of the rest is another number", Process(half).Score, unscored)
	if v, why := Verdict(seen, tooleval.Outcome{Score: tooleval.Scored(1)}, Process(seen)); v != tooleval.Passed {
		t.Errorf("nothing forbidden, state as expected: got %s (%q)", v, why)
	}
}

func TestS11OrderIsItsOwnComponent(t *testing.T) {
	confirmFirst := required(
		tooleval.CallPattern{ID: "ok", Tool: "search"},
		tooleval.CallPattern{ID: "write", Tool: "pay", After: []string{"ok"}})
	right := newRun(confirmFirst, calls("search {}", "pay {}"), minimum(2))
	wantScore(t, "kept", component(t, Process(right), Order), 1)
	wantScore(t, "kept: process", Process(right).Score, 1)

	wrong := newRun(confirmFirst, calls("pay {}", "search {}"), minimum(2))
	p := Process(wrong)
	wantScore(t, "not kept", component(t, p, Order), 0)
	wantScore(t, "not kept: the calls were made", component(t, p, Required), 1)
	wantScore(t, "not kept: process", p.Score, 0.75)
	if n := p.Component(Order).Notes; len(n) != 1 || !strings.Contains(string(n[0].Note), "ok") {
		t.Errorf("notes of the order: %v", n)
	}
	if v, _ := Verdict(wrong, tooleval.Outcome{Score: tooleval.Scored(1)}, p); v != tooleval.Passed {
		t.Errorf("order decides the verdict: %s", v)
	}
	if p := Process(newRun()); p.Component(Order) != nil {
		t.Error("an order that nobody declared is listed")
	}
	wantScore(t, "kept, calls may be missing", component(t, Process(newRun(confirmFirst, calls("search {}", "pay {}"), incomplete)), Order), 1)
	wantScore(t, "not seen, calls may be missing", component(t, Process(newRun(confirmFirst, calls("pay {}"), incomplete)), Order), unscored)
}

func TestProcessThatAsksForNothing(t *testing.T) {
	p := Process(newRun(required(), forbidden(), noMinimum))
	wantScore(t, "process", p.Score, unscored)
	for _, c := range p.Components {
		wantScore(t, c.Name, c.Score, unscored)
	}
	if len(p.Components) != 3 {
		t.Errorf("components that don't apply are not listed: %v", p.Components)
	}
	wantScore(t, "the zero run", Process(&tooleval.Run{}).Score, unscored)
}

// anyRun draws a run of a few calls over a few tools.
func anyRun(t *rapid.T) *tooleval.Run {
	tools := rapid.SampledFrom([]string{"search", "add", "pay", "drop", "bomb"})
	args := rapid.SampledFrom([]string{``, `{}`, `{"id":1}`, `{"id":2}`, `{"id":1.0,"limit":10}`, `[1]`, `{"id`})
	status := rapid.SampledFrom([]tooleval.CallStatus{tooleval.CallOK, tooleval.CallOK, tooleval.CallToolError, tooleval.CallRefused})
	patterns := rapid.Custom(func(t *rapid.T) tooleval.CallPattern {
		return call(tools.Draw(t, "tool"), rapid.SampledFrom([]string{``, `{"id":1}`, `{"id":{"$any":true}}`}).Draw(t, "args"))
	})
	run := newRun(calls(), required(rapid.SliceOfN(patterns, 0, 5).Draw(t, "required")...),
		forbidden(rapid.SliceOfN(patterns, 0, 2).Draw(t, "forbidden")...))
	for range rapid.IntRange(0, 7).Draw(t, "calls") {
		addCall(tools.Draw(t, "tool")+" "+args.Draw(t, "args"), status.Draw(t, "status"))(run)
	}
	if rapid.Bool().Draw(t, "stated") {
		minimum(rapid.IntRange(-1, 5).Draw(t, "minimum"))(run)
	} else {
		noMinimum(run)
	}
	if rapid.IntRange(0, 4).Draw(t, "incomplete") == 0 {
		incomplete(run)
	}
	return run
}

func TestScoresAreInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Process(anyRun(t))
		for _, s := range append([]tooleval.Component{{Name: "mean", Score: p.Score}}, p.Components...) {
			if v, ok := s.Score.Value(); ok && !(v >= 0 && v <= 1) || !ok && s.Score.Why == "" {
				t.Fatalf("%s: %v %q", s.Name, v, s.Score.Why)
			}
		}
	})
}

func TestAnotherCallNeverRaisesEfficiency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun(t)
		p := Process(run)
		before := p.Component(Efficiency).Score
		if len(run.Trajectory.Calls) == 0 { // the first call that is needed is the one exception
			return
		}
		addCall("search {}", tooleval.CallOK)(run)
		p = Process(run)
		after := p.Component(Efficiency).Score
		v, ok := before.Value()
		w, still := after.Value()
		if ok != still || w > v {
			t.Fatalf("efficiency went from %v to %v", v, w)
		}
	})
}

func TestOrderOfTheRequiredListChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun(t)
		before := Process(run)
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		r.Shuffle(len(run.Task.Required), func(i, j int) {
			l := run.Task.Required
			l[i], l[j] = l[j], l[i]
		})
		after := Process(run)
		v, ok := before.Score.Value()
		if w, still := after.Score.Value(); ok != still || v != w {
			t.Fatalf("the score went from %v to %v", v, w)
		}
	})
}
