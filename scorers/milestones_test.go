package scorers

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
)

func pat(s string) tooleval.Pattern { return tooleval.ParsePattern([]byte(s)) }

// reach scores a run by milestones.
func reach(t *testing.T, m *Milestones, changes ...change) (tooleval.Outcome, MilestonesReport) {
	t.Helper()
	out, err := m.Score(t.Context(), newRun(changes...))
	if err != nil {
		t.Fatal(err)
	}
	var r MilestonesReport
	if err := json.Unmarshal(out.Detail, &r); err != nil {
		t.Fatal(err)
	}
	return out, r
}

func TestMilestones(t *testing.T) {
	found := Milestone{Name: "found", Tool: "search"}
	paid := Milestone{Name: "paid", Tool: "pay", Args: pat(`{"amount":12,"to":"shop"}`), After: []string{"found"}}
	cart := Milestone{Name: "cart", State: pat(`{"cart":[7],"paid":true}`), After: []string{"paid"}}
	all := &Milestones{Reach: []Milestone{found, paid, cart}}
	for _, c := range []struct {
		name string
		m    *Milestones
		run  []change
		want float64
	}{
		{"all reached", all, []change{calls(`search {}`, `pay {"amount":12.0,"to":"shop"}`)}, 1},
		{"half of the arguments", all, []change{calls(`search {}`, `pay {"amount":13,"to":"shop"}`)}, 2.5 / 3},
		{"a milestone in the wrong place counts nothing", all, []change{calls(`pay {"amount":12,"to":"shop"}`, `search {}`)}, 2.0 / 3},
		{"a failed call reaches nothing", all, []change{calls(`search {}`), addCall(`pay {"amount":12,"to":"shop"}`, tooleval.CallToolError)}, 2.0 / 3},
		{"half of the state", all, []change{calls(`search {}`, `pay {"amount":12,"to":"shop"}`), state(`{"cart":[7],"paid":false}`)}, 2.5 / 3},
		{"no state", all, []change{calls(`search {}`, `pay {"amount":12,"to":"shop"}`), state("")}, 2.0 / 3},
		{"nothing made", &Milestones{Reach: []Milestone{found, paid}}, []change{calls()}, 0},
		{"each has a call of its own", &Milestones{Reach: []Milestone{found, {Name: "again", Tool: "search"}}}, []change{calls("search {}")}, 0.5},
		{"M06 the stricter one needs it", &Milestones{Reach: []Milestone{found, {Name: "x", Tool: "search", Args: pat(`{"q":"x"}`)}}},
			[]change{calls(`search {"q":"x"}`, `search {"q":"y"}`)}, 1},
		{"the order holds across a milestone that was missed", &Milestones{Reach: []Milestone{found, {Name: "b", Tool: "add", After: []string{"found"}},
			{Name: "c", Tool: "pay", After: []string{"b"}}}}, []change{calls(`pay {}`, `search {}`)}, 1.0 / 3},
		{"calls may be missing", all, []change{incomplete, calls(`search {}`)}, unscored},
		{"all seen of an incomplete trajectory", all, []change{incomplete, calls(`search {}`, `pay {"amount":12,"to":"shop"}`)}, 1},
		{"a minefield", &Milestones{Reach: []Milestone{found}, Avoid: []Minefield{{Name: "drop", Tool: "drop"}}},
			[]change{calls(`search {}`, `drop {}`)}, 0},
		{"a minefield that failed", &Milestones{Reach: []Milestone{found}, Avoid: []Minefield{{Name: "drop", Tool: "drop"}}},
			[]change{calls(`search {}`), addCall("drop {}", tooleval.CallToolError)}, 0},
		{"a minefield of other arguments", &Milestones{Reach: []Milestone{found}, Avoid: []Minefield{{Name: "drop", Tool: "drop", Args: pat(`{"all":true}`)}}},
			[]change{calls(`search {}`, `drop {"all":false}`)}, 1},
		{"a minefield of the state", &Milestones{Reach: []Milestone{found}, Avoid: []Minefield{{Name: "paid", State: pat(`{"$subset":{"paid":true}}`)}}}, nil, 0},
		{"a minefield that may not have been seen", &Milestones{Reach: []Milestone{found}, Avoid: []Minefield{{Name: "drop", Tool: "drop"}}}, []change{incomplete}, unscored},
		{"a minefield that was seen", &Milestones{Reach: []Milestone{found}, Avoid: []Minefield{{Name: "pay", Tool: "pay"}}}, []change{incomplete}, 0},
	} {
		out, _ := reach(t, c.m, c.run...)
		wantScore(t, c.name, out.Score, c.want)
	}
	out, r := reach(t, all, calls(`search {}`, `pay {"amount":13,"to":"shop"}`))
	if r.Milestones[1] != (ReachedMilestone{"paid", 0.5, 2}) || !r.Exact || out.Checks[1].Verdict != tooleval.Failed ||
		!strings.Contains(string(out.Checks[1].Note), "call 2 (pay), similarity 0.5: $.amount: want 12, got 13") {
		t.Errorf("got %+v, %+v", r, out.Checks[1])
	}
	if _, err := all.Score(t.Context(), newRun(state("{"))); err == nil {
		t.Error("a broken state of the world is no error")
	} else if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
		t.Errorf("the owner is %q", owner)
	}
}

func TestS11ForbiddenRoute(t *testing.T) {
	m := &Milestones{
		Reach: []Milestone{{Name: "confirmed", Tool: "add", Args: pat(`{"$subset":{"ok":true,"by":{"$one_of":[{"$absent":true},"user"]}}}`)}, {Name: "updated", Tool: "pay"}},
		Avoid: []Minefield{{Name: "unconfirmed write", Tool: "pay", Until: "confirmed"}},
	}
	for _, c := range []struct {
		made []string
		want float64
	}{
		{[]string{`add {"ok":true}`, `pay {}`}, 1},
		{[]string{`pay {}`, `add {"ok":true}`}, 0},
		{[]string{`pay {}`, `add {"ok":true}`, `pay {}`}, 0},
		{[]string{`add {"ok":false}`, `pay {}`}, 0},
		{[]string{`add {"ok":true,"by":"agent"}`, `pay {}`}, 0}, // half of what it asks for
		{[]string{`add {"ok":true}`, `pay {}`, `add {"ok":true}`}, 1},
	} {
		out, r := reach(t, m, calls(c.made...))
		wantScore(t, strings.Join(c.made, ", "), out.Score, c.want)
		if hit := len(r.Hits) > 0; hit != (c.want == 0) {
			t.Errorf("%v: hits %v", c.made, r.Hits)
		}
	}
}

// most tries every assignment.
func (a *assignment) most(i int) float64 {
	if i == len(a.weight) {
		return 0
	}
	best := a.most(i + 1)
	for j, w := range a.weight[i] {
		if w > 0 && !a.used[j] && a.allowed(i, j) {
			a.pairs[i], a.used[j] = j, true
			best = max(best, w+a.most(i+1))
			a.pairs[i], a.used[j] = -1, false
		}
	}
	return best
}

// TestAssignmentIsTheBest holds the search to one that tries everything.
func TestAssignmentIsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		n, m := 1+rng.IntN(5), rng.IntN(6)
		a := assignment{run: &tooleval.Run{}, used: make([]bool, m)}
		for j := range m {
			began := 2 * j
			if j > 0 && rng.IntN(3) == 0 {
				began -= 2 // at the same time as the one before
			}
			a.run.Trajectory.Calls = append(a.run.Trajectory.Calls, tooleval.Call{Began: began, Ended: 2*j + 1})
		}
		reach := &Milestones{Reach: make([]Milestone, n)}
		for i := range n {
			reach.Reach[i].Name = string(rune('a' + i))
			for before := range i {
				if rng.IntN(3) == 0 && round%3 > 0 {
					reach.Reach[i].After = append(reach.Reach[i].After, string(rune('a'+before)))
				}
			}
			a.weight = append(a.weight, make([]float64, m))
			for j := range m {
				a.weight[i][j] = float64(rng.IntN(4)) / 3
			}
			a.pairs = append(a.pairs, -1)
		}
		a.after = reach.closure()
		want := a.most(0)
		search := assignment{run: a.run, weight: a.weight, after: a.after}
		pairs, exact := search.best()
		got, used := 0.0, map[int]bool{}
		for i, j := range pairs {
			if j >= 0 {
				if used[j] {
					t.Fatalf("call %d is used twice: %v", j, pairs)
				}
				used[j] = true
				got += a.weight[i][j]
			}
		}
		if !exact || math.Abs(got-want) > 1e-9 || !search.ordered(pairs) {
			t.Fatalf("got %v (%v, exact %v), want %v for %+v", got, pairs, exact, want, a)
		}
	}
}

func TestAssignmentIsBounded(t *testing.T) {
	// A hundred milestones in a row, and a hundred calls in the opposite order that all resemble them.
	m := &Milestones{}
	var made []string
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range MostMilestones {
		name := "m" + strings.Repeat("x", i)
		r := Milestone{Name: name, Tool: "search", Args: pat(`{"a":1,"b":2,"c":3}`)}
		if i > 0 {
			r.After = []string{m.Reach[i-1].Name}
		}
		m.Reach = append(m.Reach, r)
		made = append(made, [...]string{`search {"a":1,"b":2,"c":3}`, `search {"a":1,"b":2}`, `search {"a":1}`}[rng.IntN(3)])
	}
	made = append(made[:90], made[:40]...)
	out, r := reach(t, m, calls(made...))
	if v, ok := out.Score.Value(); !ok || v < 0.5 {
		t.Errorf("got %v", out.Score)
	}
	last := 0
	for _, r := range r.Milestones {
		if r.Call > 0 && r.Call <= last {
			t.Fatalf("the order is not kept: %+v", r)
		}
		last = max(last, r.Call)
	}
	if !r.Exact && out.Checks[len(out.Checks)-1].Name != "assignment" {
		t.Error("nothing says that the search was cut short")
	}
}

func TestMilestonesCheck(t *testing.T) {
	a := Milestone{Name: "a", Tool: "search"}
	for _, c := range []struct {
		m    Milestones
		want string
	}{
		{Milestones{}, "nothing to reach"},
		{Milestones{Reach: []Milestone{{Name: "a"}}}, "either a tool or a state"},
		{Milestones{Reach: []Milestone{{Name: "a", Tool: "search", State: pat("1")}}}, "either a tool or a state"},
		{Milestones{Reach: []Milestone{a, a}}, "used twice"},
		{Milestones{Reach: []Milestone{{Tool: "search"}}}, "without a name"},
		{Milestones{Reach: []Milestone{{Name: "a", Tool: "serch"}}}, `tool "serch" is not in the task's toolset (did you mean "search"?)`},
		{Milestones{Reach: []Milestone{{Name: "a", Tool: "search", After: []string{"b"}}}}, `unknown milestone "b"`},
		{Milestones{Reach: []Milestone{{Name: "a", Tool: "search", After: []string{"b"}}, {Name: "b", Tool: "pay", After: []string{"a"}}}}, "comes after itself"},
		{Milestones{Reach: []Milestone{{Name: "s", State: pat(`{"x":1}`)}, {Name: "b", Tool: "pay", After: []string{"s"}}}}, "known at the end only"},
		{Milestones{Reach: []Milestone{{Name: "s", State: pat(`{"$any":true}`)}}}, "checks nothing"},
		{Milestones{Reach: []Milestone{{Name: "s", Tool: "pay", Args: pat(`{"$anny":true}`)}}}, "unknown matcher"},
		{Milestones{Reach: []Milestone{a}, Avoid: []Minefield{{Name: "x", Tool: "pay", Until: "b"}}}, `unknown milestone "b"`},
		{Milestones{Reach: []Milestone{a}, Avoid: []Minefield{{Name: "x", State: pat("1"), Until: "a"}}}, "until is for calls"},
		{Milestones{Reach: []Milestone{a}, Avoid: []Minefield{{Name: "a", Tool: "pay"}}}, "used twice"},
	} {
		s := &tooleval.Suite{Tasks: []tooleval.Task{{ID: "x", Toolset: []string{"search", "pay"}}}, Scorers: map[string]tooleval.Scorer{"x": &c.m}}
		if err := c.m.Check(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	good := &Milestones{Reach: []Milestone{a}, Avoid: []Minefield{{Name: "x", Tool: "pay", Until: "a"}}}
	if err := good.Check(&tooleval.Suite{Tasks: []tooleval.Task{{ID: "x", Toolset: []string{"search", "pay"}}}, Scorers: map[string]tooleval.Scorer{"x": good}}); err != nil {
		t.Error(err)
	}
}
