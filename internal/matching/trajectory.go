package matching

import (
	"slices"

	"github.com/tooleval/tooleval"
)

// An Alternative says how the calls of a run relate to one expected trajectory.
type Alternative struct {
	tooleval.ExpectedTrajectory
	// Pairs has, for each expected call, the index of the call that meets it, or -1. No call stands in it twice.
	Pairs []int
	// Met is the number of expected calls that are met: as many as the mode allows.
	Met int
	// Misses are the expected calls without a call; Miss.Required is the index in Calls.
	Misses []Miss
	// Extra are the calls, by index, that meet nothing.
	Extra []int
	// OK says that the trajectory matches in its mode. Certain says that this, or its opposite, also holds if more calls
	// were made than were seen.
	OK, Certain bool
}

// mostCells bounds expected calls × calls made. The default limits of a run stay far below.
const mostCells = 1 << 25

// Trajectory compares a run's calls with each alternative of m. closest is the index of the one that matches, or else of
// the one with the largest share of pairs (by the F1 of precision and recall), the first of several. It is -1 when there
// are too many calls to compare.
func Trajectory(run *tooleval.Run, m *tooleval.TrajectoryMatch) (list []Alternative, closest int) {
	calls := run.Trajectory.Calls
	args := arguments{calls: calls}
	closest = -1
	groups := turns(calls, m.OrderedTurns)
	for _, expected := range m.Alternatives() {
		if len(calls) > 0 && len(expected.Calls) > mostCells/len(calls) {
			return nil, -1
		}
		list = append(list, compare(run, m, expected, &args, groups))
		if a := &list[len(list)-1]; closest < 0 || a.closer(&list[closest], len(calls)) {
			closest = len(list) - 1
		}
	}
	return list, closest
}

// closer reports whether a comes closer than b.
func (a *Alternative) closer(b *Alternative, made int) bool {
	if a.OK != b.OK {
		return a.OK
	}
	// F1 is 2·met/(expected+made), compared by cross products.
	return a.Met*(len(b.Calls)+made) > b.Met*(len(a.Calls)+made)
}

func compare(run *tooleval.Run, m *tooleval.TrajectoryMatch, expected tooleval.ExpectedTrajectory, args *arguments, groups [][]int) Alternative {
	n, calls := len(expected.Calls), run.Trajectory.Calls
	a := Alternative{ExpectedTrajectory: expected}
	edges := graph{n: n, m: len(calls), fits: make([]bool, n*len(calls))}
	ws := make([]want, n)
	for i := range expected.Calls {
		ws[i] = expect(run, m, &expected.Calls[i])
		for j := range calls {
			edges.fits[i*edges.m+j] = ws[i].accepts(&calls[j]) && ws[i].fits(args, j)
		}
	}
	if m.Mode.Ordered() {
		a.Pairs = edges.matchInOrder(groups)
	} else {
		a.Pairs = edges.match()
	}
	used := make([]bool, len(calls))
	for i, j := range a.Pairs {
		if j < 0 {
			a.Misses = append(a.Misses, miss(i, &ws[i], args, a.Pairs))
			continue
		}
		a.Met++
		used[j] = true
	}
	for j := range calls {
		if !used[j] {
			a.Extra = append(a.Extra, j)
		}
	}
	missing, extra := len(a.Misses) > 0, len(a.Extra) > 0
	a.OK = (m.Mode.AllowsMissing() || !missing) && (m.Mode.AllowsExtra() || !extra)
	// Further calls can meet what is missing, but never take an extra call away.
	switch {
	case run.Trajectory.Incomplete == "":
		a.Certain = true
	case a.OK:
		a.Certain = m.Mode.AllowsExtra()
	default:
		a.Certain = extra && !m.Mode.AllowsExtra()
	}
	return a
}

// expect makes an expected call ready for comparison.
func expect(run *tooleval.Run, m *tooleval.TrajectoryMatch, c *tooleval.ExpectedCall) want {
	mode, args := m.ArgsModeOf(c), c.Args
	if args.IsZero() && (mode == tooleval.ArgsExact || mode == tooleval.ArgsSubset) {
		args = tooleval.ParsePattern([]byte("{}"))
	}
	switch mode {
	case tooleval.ArgsIgnore:
		args = tooleval.Pattern{}
	case tooleval.ArgsSuperset:
		if !args.IsZero() {
			args = tooleval.Match(map[string]any{"$subset": args})
		}
	}
	w := prepare(run, &tooleval.CallPattern{Tool: c.Tool, Args: args})
	w.mayFail = c.MayFail
	if mode == tooleval.ArgsSubset {
		if b, err := args.MarshalJSON(); err == nil {
			if v, ok := object(b); ok {
				w.all = tooleval.FillDefaults(w.schema, v)
			}
		}
	}
	return w
}

// turns groups calls that were made in one turn: a call joins the turn of those before it when it began before any of them
// had ended. With ordered every call is a turn.
func turns(calls []tooleval.Call, ordered bool) [][]int {
	var groups [][]int
	ended := 0
	for j := range calls {
		c := &calls[j]
		if k := len(groups) - 1; k >= 0 && !ordered && c.Began < ended {
			groups[k] = append(groups[k], j)
			ended = min(ended, c.Ended)
			continue
		}
		groups, ended = append(groups, []int{j}), c.Ended
	}
	return groups
}

// matchInOrder pairs as many expected calls as possible so that of two, the later one's call is of the same or a later turn:
// a longest common subsequence whose elements are turns. best[j] is the most pairs among the first j expected calls and the
// turns so far; a turn takes the expected calls from i to j, of which a maximum matching with its calls is paired.
func (g *graph) matchInOrder(groups [][]int) []int {
	best := make([]int, g.n+1)
	from := make([][]int32, 0, len(groups)) // by turn and j: the i; j itself when the turn takes none
	work := 0
	for t := 0; t < len(groups); t++ {
		turn := groups[t]
		if len(turn) > 1 && work > mostTurnWork {
			// Too much to try: the calls of this turn are taken in the order in which they began.
			groups = slices.Concat(groups[:t:t], single(turn), groups[t+1:])
			turn = groups[t]
		}
		next, back := slices.Clone(best), make([]int32, g.n+1)
		for j := range back {
			back[j] = int32(j) // nothing of the turn is used
		}
		if len(turn) == 1 {
			for i := range g.n { // the plain longest common subsequence
				switch {
				case g.fits[i*g.m+turn[0]] && best[i] == best[i+1]:
					next[i+1], back[i+1] = best[i]+1, int32(i)
				case next[i] > next[i+1]:
					next[i+1], back[i+1] = next[i], back[i]
				}
			}
			best, from = next, append(from, back)
			continue
		}
		part := g.only(turn)
		for i := range g.n {
			if i > 0 && best[i] == best[i-1] {
				continue // the turn might as well begin earlier
			}
			k, size := newKuhn(part), 0
			for j := i; j < g.n; j++ {
				if size < len(turn) && k.add(j) {
					size++
				}
				if best[i]+size > next[j+1] {
					next[j+1], back[j+1] = best[i]+size, int32(i)
				}
			}
			work += k.work + g.n
		}
		best, from = next, append(from, back)
	}
	pairs := make([]int, g.n)
	for i := range pairs {
		pairs[i] = -1
	}
	for t, j := len(groups)-1, g.n; t >= 0; t-- {
		i := int(from[t][j])
		k := newKuhn(g.only(groups[t]))
		for e := i; e < j; e++ {
			k.add(e)
		}
		for e := i; e < j; e++ {
			if c := k.left[e]; c >= 0 {
				pairs[e] = groups[t][c]
			}
		}
		j = i
	}
	return pairs
}

// mostTurnWork bounds the search over parallel turns, in edges looked at.
const mostTurnWork = 1 << 24

func single(turn []int) [][]int {
	out := make([][]int, len(turn))
	for k, j := range turn {
		out[k] = []int{j}
	}
	return out
}

// only is the graph with the calls of one turn.
func (g *graph) only(turn []int) *graph {
	if len(turn) == g.m {
		return g
	}
	s := &graph{n: g.n, m: len(turn), fits: make([]bool, g.n*len(turn))}
	for i := range g.n {
		for c, j := range turn {
			s.fits[i*s.m+c] = g.fits[i*g.m+j]
		}
	}
	return s
}
