package matching

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tooleval/tooleval"
)

// mostInOrder tries everything: the most expected calls that can be met in order by calls grouped into turns.
func mostInOrder(expected []string, turn []int, calls []tooleval.Call, used []bool, at int) int {
	if len(expected) == 0 {
		return 0
	}
	best := mostInOrder(expected[1:], turn, calls, used, at)
	for j := range calls {
		if !used[j] && turn[j] >= at && calls[j].Tool == expected[0] {
			used[j] = true
			best = max(best, 1+mostInOrder(expected[1:], turn, calls, used, turn[j]))
			used[j] = false
		}
	}
	return best
}

// TestOrderedMatchingIsTheBest holds the search to one that tries everything.
func TestOrderedMatchingIsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", "c"}
	for range 3000 {
		var expected []string
		m := &tooleval.TrajectoryMatch{Mode: tooleval.MatchInOrder}
		for range 1 + rng.IntN(5) {
			expected = append(expected, letters[rng.IntN(3)])
			m.Calls = append(m.Calls, tooleval.ExpectedCall{Tool: expected[len(expected)-1]})
		}
		var list []string
		for i := range rng.IntN(7) {
			s := letters[rng.IntN(3)]
			if i > 0 && rng.IntN(2) == 0 {
				s = "& " + s
			}
			list = append(list, s)
		}
		run := newRun(nil, made(list...))
		got, closest := Trajectory(run, m)
		if closest != 0 {
			t.Fatal("nothing was compared")
		}
		turn := make([]int, len(list))
		for k, group := range turns(run.Trajectory.Calls, false) {
			for _, j := range group {
				turn[j] = k
			}
		}
		if want := mostInOrder(expected, turn, run.Trajectory.Calls, make([]bool, len(list)), 0); got[0].Met != want {
			t.Fatalf("%v made as %v: got %d, want %d", expected, list, got[0].Met, want)
		}
		last := 0
		for i, j := range got[0].Pairs {
			if j < 0 {
				continue
			}
			if turn[j] < last || run.Trajectory.Calls[j].Tool != expected[i] || slices.Index(got[0].Pairs, j) != i {
				t.Fatalf("%v made as %v: pairs %v", expected, list, got[0].Pairs)
			}
			last = turn[j]
		}
	}
}
