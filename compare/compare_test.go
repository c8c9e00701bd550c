package compare_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/stats"
)

// TestR04TaskSets: differences are over matched tasks only; everything else is listed and named.
func TestR04TaskSets(t *testing.T) {
	a := evalOf{id: "a", tasks: []string{"A=pppp", "B=ffff", "gone=pppp", "changed=pppp", "unmeasured=pppp", "flaky=pfpf", "worse=pppppppppp"}, runs: 4}
	b := evalOf{id: "b", tasks: []string{"A=pppp", "B=pppp", "new=ffff", "changed=ffff", "unmeasured=uuuu", "flaky=fppp", "worse=ffffffffff"}, runs: 4,
		digests: map[string]string{"changed": "other"}}
	p := pairOf(t, a, b)
	want := map[string]compare.Status{"A": compare.Same, "B": compare.Same, "gone": compare.OnlyBase, "changed": compare.Changed,
		"unmeasured": compare.UnscoredTask, "flaky": compare.Flaky, "worse": compare.Worse, "new": compare.OnlyCandidate}
	for id, status := range want {
		if got := taskOf(t, &p, id); got.Status != status || got.Why == "" {
			t.Errorf("%s is %s (%q), want %s with a reason", id, got.Status, got.Why, status)
		}
	}
	if b := taskOf(t, &p, "B"); !b.Flipped {
		t.Error("B flipped: 0/4 against 4/4, which shows nothing after the correction, but has to be said")
	}
	if p.Compared != 4 || len(p.Tasks) != 8 {
		t.Errorf("compared %d of %d tasks, want 4 of 8", p.Compared, len(p.Tasks))
	}
	// B up by 1, flaky up by 0.25, worse down by 1, A equal: (1+0.25-1)/4
	if d := p.Questions[0].Difference.Value; !d.OK || d.Value != 0.0625 {
		t.Errorf("difference %v, want 0.0625 over the matched tasks", d)
	}
	total := 0
	for _, s := range p.ByStatus {
		total += s.N
	}
	if total != len(p.Tasks) {
		t.Errorf("the statuses count %d of %d tasks", total, len(p.Tasks))
	}
	if _, err := json.Marshal(p); err != nil {
		t.Error(err)
	}
}

// TestR04ChecksThatSwap: one check is fixed while another breaks: the rate is equal, and both are named.
func TestR04ChecksThatSwap(t *testing.T) {
	checks := func(broken string) func(*tooleval.Run) {
		return func(r *tooleval.Run) {
			for _, name := range []string{"alpha", "beta", "gamma"} {
				v := tooleval.Passed
				if name == broken {
					v = tooleval.Failed
				}
				r.Score.Outcome.Checks = append(r.Score.Outcome.Checks, tooleval.Check{Name: name, Verdict: v})
			}
		}
	}
	p := pairOf(t, evalOf{id: "a", tasks: []string{"A=ffffffff"}, change: checks("alpha")}, evalOf{id: "b", tasks: []string{"A=ffffffff"}, change: checks("beta")})
	if got := taskOf(t, &p, "A"); got.Status != compare.Same {
		t.Errorf("the task is %s", got.Status)
	}
	if len(p.Checks) != 2 || p.Checks[0].Name != "alpha" || p.Checks[0].Direction != stats.Higher || p.Checks[1].Name != "beta" ||
		p.Checks[1].Direction != stats.Lower {
		t.Errorf("checks that moved: %+v, want alpha higher and beta lower", p.Checks)
	}
	if !p.Shown() {
		t.Error("nothing shown")
	}
}

// TestR05CannotTell: a single run on a side shows nothing, whatever it did.
func TestR05CannotTell(t *testing.T) {
	p := pairOf(t, evalOf{id: "a", tasks: []string{"A=p"}}, evalOf{id: "b", tasks: []string{"A=f"}})
	if got := taskOf(t, &p, "A"); got.Status != compare.CannotTell || !got.Flipped {
		t.Errorf("got %s, flipped %v", got.Status, got.Flipped)
	}
	if p.Shown() || p.McNemar == nil || p.McNemar.N != 1 {
		t.Errorf("shown %v, McNemar %+v", p.Shown(), p.McNemar)
	}
}

// seeded is an eval of a random agent: each run passes with the task's chance.
func seeded(t testing.TB, id string, seed uint64, tasks, runs int, chance func(task int) float64) []*compare.Side {
	rnd := rand.New(rand.NewPCG(seed, 7))
	var specs []string
	for k := range tasks {
		s := make([]byte, runs)
		for i := range s {
			s[i] = 'f'
			if rnd.Float64() < chance(k) {
				s[i] = 'p'
			}
		}
		specs = append(specs, fmt.Sprintf("t%d=%s", k, s))
	}
	return evalOf{id: id, tasks: specs}.sides(t)
}

// TestR05SameAgentTwice: of the same agent twice nothing is shown in at least 95 of 100 seeded repeats.
func TestR05SameAgentTwice(t *testing.T) {
	quiet := 0
	for i := range uint64(100) {
		chance := func(task int) float64 { return 0.1 + 0.8*float64(task%10)/9 }
		p := compare.Compare(seeded(t, "a", 2*i, 20, 5, chance)[0], seeded(t, "b", 2*i+1, 20, 5, chance)[0], compare.Options{Seed: i})
		if !p.Shown() {
			quiet++
		}
	}
	t.Logf("nothing shown in %d of 100", quiet)
	if quiet < 95 {
		t.Errorf("nothing shown in %d of 100 repeats, want at least 95", quiet)
	}
}

// TestKnownDifferenceIsFound: agents of a known difference are told apart.
func TestKnownDifferenceIsFound(t *testing.T) {
	found := 0
	for i := range uint64(20) {
		a := seeded(t, "a", 2*i, 20, 5, func(int) float64 { return 0.8 })
		b := seeded(t, "b", 2*i+1, 20, 5, func(int) float64 { return 0.4 })
		p := compare.Compare(a[0], b[0], compare.Options{Seed: i})
		if p.Questions[0].Direction == stats.Lower {
			found++
		}
	}
	if found < 19 {
		t.Errorf("a fall from 0.8 to 0.4 was found in %d of 20", found)
	}
}

// TestAttempts: of several attempts at one run the newest counts, in whatever order they come.
func TestAttempts(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		g := compare.NewGatherer(tooleval.Eval{ID: "a", Suite: "s", Minds: []string{"m"}, Runs: 2, Tasks: []tooleval.EvalTask{{ID: "A"}}})
		for _, attempt := range order {
			run := runOf("a", "A", 0, rune("uf"[attempt]))
			run.Provenance.Attempts = attempt
			g.Add(run, fmt.Sprint(attempt))
		}
		g.Add(runOf("a", "A", 7, 'p'), "") // outside of the plan
		g.Add(nil, "")
		p := compare.Compare(g.Sides()[0], g.Sides()[0], compare.Options{})
		s := taskOf(t, &p, "A").Base
		if s.Scored != 1 || s.Passed != 0 || s.Planned != 2 || s.Unscored != 1 || s.Retried != 1 {
			t.Errorf("order %v: %+v", order, s)
		}
		if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "outside of the plan") }) {
			t.Errorf("warnings %q", p.Warnings)
		}
	}
}

// TestR11ToolErrors: a tool that often fails raises a warning on the comparison.
func TestR11ToolErrors(t *testing.T) {
	calls := func(r *tooleval.Run) {
		for i := range 10 {
			c := tooleval.Call{Tool: "search", Status: tooleval.CallOK}
			if i == 0 {
				c.Status = tooleval.CallProtocolError
			}
			r.Trajectory.Calls = append(r.Trajectory.Calls, c)
		}
	}
	p := pairOf(t, evalOf{id: "a", tasks: []string{"A=pp"}}, evalOf{id: "b", tasks: []string{"A=pp"}, change: calls})
	if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, `tool "search": 2 of 20 calls of the candidate`) }) {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// TestFailuresThatMoved: kinds of failure are counted side by side, what moved most first.
func TestFailuresThatMoved(t *testing.T) {
	p := pairOf(t, evalOf{id: "a", tasks: []string{"A=pppp", "B=puuu"}}, evalOf{id: "b", tasks: []string{"A=ffff", "B=pppu"}})
	if len(p.Failures) != 2 || p.Failures[0].Category != tooleval.WrongArgs || p.Failures[0].Candidate != 4 || p.Failures[1].Base != 3 || p.Failures[1].Candidate != 1 {
		t.Errorf("got %+v", p.Failures)
	}
}

// TestSidesOfMinds: one eval of several minds is its first against the others; several evals go mind by mind.
func TestSidesOfMinds(t *testing.T) {
	of := func(id string, minds ...string) []*compare.Side {
		return compare.NewGatherer(tooleval.Eval{ID: id, Minds: minds}).Sides()
	}
	names := func(pairs [][2]*compare.Side) (out []string) {
		for _, p := range pairs {
			out = append(out, p[0].Eval().ID+p[0].Mind()+"-"+p[1].Eval().ID+p[1].Mind())
		}
		return out
	}
	for _, c := range []struct {
		evals [][]*compare.Side
		want  string
	}{
		{[][]*compare.Side{of("a", "x", "y", "z")}, "[ax-ay ax-az]"},
		{[][]*compare.Side{of("a", "x"), of("b", "y"), of("c", "x")}, "[ax-by ax-cx]"},
		{[][]*compare.Side{of("a", "x", "y"), of("b", "y", "x")}, "[ay-by ax-bx]"},
	} {
		pairs, err := compare.Sides(c.evals)
		if got := fmt.Sprint(names(pairs)); err != nil || got != c.want {
			t.Errorf("got %s and %v, want %s", got, err, c.want)
		}
	}
	if _, err := compare.Sides([][]*compare.Side{of("a", "x")}); err == nil {
		t.Error("one eval of one mind was compared with nothing")
	}
	if _, err := compare.Sides(nil); err == nil {
		t.Error("nothing was compared with nothing")
	}
}

// BenchmarkCompare compares two evals of 100,000 runs each: 5,000 tasks of 20 runs with three calls and two checks. heap
// is what the comparison holds at its end.
func BenchmarkCompare(b *testing.B) {
	const tasks, runs = 5_000, 20
	header := func(id string) tooleval.Eval {
		h := tooleval.Eval{ID: id, Suite: "s", Minds: []string{"m"}, Runs: runs}
		for k := range tasks {
			h.Tasks = append(h.Tasks, tooleval.EvalTask{ID: fmt.Sprintf("t%d", k), Digest: "d"})
		}
		return h
	}
	run := runOf("", "", 0, 'p')
	run.Score.Outcome.Checks = []tooleval.Check{{Name: "a", Verdict: tooleval.Passed}, {Name: "b", Verdict: tooleval.Failed}}
	run.Trajectory.Calls = []tooleval.Call{{Tool: "x", Status: tooleval.CallOK}, {Tool: "y", Status: tooleval.CallOK}, {Tool: "x", Status: tooleval.CallToolError}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		var sides []*compare.Side
		for e, id := range []string{"a", "b"} {
			g := compare.NewGatherer(header(id))
			for k := range tasks {
				for i := range runs {
					run.TaskID, run.Index = fmt.Sprintf("t%d", k), i
					run.Score.Verdict = tooleval.Passed
					if (k*31+i*17)%(3+e) == 0 {
						run.Score.Verdict = tooleval.Failed
					}
					g.Add(run, "runs/x.json")
				}
			}
			sides = append(sides, g.Sides()[0])
		}
		p := compare.Compare(sides[0], sides[1], compare.Options{Seed: 1})
		if p.Compared != tasks {
			b.Fatal(p.Compared)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20), "heap-MiB")
		runtime.KeepAlive(p)
		runtime.KeepAlive(sides)
	}
}

// TestQuestionsAreCorrectedTogether: six tasks that all got better have p = 2/64 on the pass rate, which is not enough for
// three questions; seven are.
func TestQuestionsAreCorrectedTogether(t *testing.T) {
	for tasks, want := range map[int]stats.Direction{6: stats.CannotTell, 7: stats.Higher} {
		var a, b []string
		for i := range tasks {
			a, b = append(a, fmt.Sprintf("t%d=ff", i)), append(b, fmt.Sprintf("t%d=pp", i))
		}
		p := pairOf(t, evalOf{id: "a", tasks: a}, evalOf{id: "b", tasks: b})
		q := p.Questions[0]
		if q.Direction != want || q.P.Value > 0.05 || (want == stats.CannotTell) != strings.Contains(q.Why, "corrected") {
			t.Errorf("%d tasks: %s, %q, p %v", tasks, q.Direction, q.Why, q.P)
		}
	}
}

// TestChecksOfOneName: of two checks with one name both have to pass.
func TestChecksOfOneName(t *testing.T) {
	checks := func(second tooleval.Verdict) func(*tooleval.Run) {
		return func(r *tooleval.Run) {
			r.Score.Outcome.Checks = []tooleval.Check{{Name: "a", Verdict: tooleval.Passed}, {Name: "a", Verdict: second}}
		}
	}
	p := pairOf(t, evalOf{id: "a", tasks: []string{"A=pppp"}, change: checks(tooleval.Passed)}, evalOf{id: "b", tasks: []string{"A=pppp"}, change: checks(tooleval.Failed)})
	if len(p.Checks) != 1 || p.Checks[0].AfterCount != (stats.Count{Successes: 0, Trials: 4}) {
		t.Errorf("%+v", p.Checks)
	}
}

// TestT05SurvivorsShowNothing: a side whose missing verdicts could turn a difference round has not shown it.
func TestT05SurvivorsShowNothing(t *testing.T) {
	side := func(passed, scored, planned int) *compare.Side {
		h := tooleval.Eval{ID: "e", Suite: "s", Minds: []string{"m"}, Runs: planned}
		for k := range 10 {
			h.Tasks = append(h.Tasks, tooleval.EvalTask{ID: fmt.Sprintf("t%d", k), Digest: "d"})
		}
		g := compare.NewGatherer(h)
		for _, task := range h.Tasks {
			for i := range planned {
				run := &tooleval.Run{Suite: "s", Mind: "m", TaskID: task.ID, Index: i, Eval: "e", Score: tooleval.TaskScore{Verdict: tooleval.Unscored}}
				if i < scored {
					run.Score.Verdict = tooleval.Failed
					outcome := 0.0
					if i < passed {
						run.Score.Verdict, outcome = tooleval.Passed, 1
					}
					run.Score.Outcome.Score, run.Score.Process.Score = tooleval.Scored(outcome), tooleval.Scored(1)
				}
				g.Add(run, "")
			}
		}
		return g.Sides()[0]
	}
	rate := func(candidate *compare.Side) stats.Direction {
		p := compare.Compare(side(2, 4, 4), candidate, compare.Options{})
		return p.Questions[0].Direction
	}
	if got := rate(side(4, 4, 4)); got == stats.CannotTell {
		t.Errorf("4 of 4 against 2 of 4 in ten tasks: got %s, want a difference", got)
	}
	if got := rate(side(1, 1, 4)); got != stats.CannotTell {
		t.Errorf("1 of 1 scored, 3 missing, against 2 of 4: got %s, want none", got)
	}
}
