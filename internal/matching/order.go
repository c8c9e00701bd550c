package matching

import (
	"cmp"
	"slices"

	"github.com/tooleval/tooleval"
)

// mostWork bounds the search for the best order, in edges looked at: some milliseconds. Tasks of up to about ten required
// calls stay far below it; above it the best matching so far is taken. Work is counted, not timed, so that the same run
// gives the same matching on every machine.
const mostWork = 1 << 21

// bestOrder is a maximum matching that keeps as many orders as possible, by branch and bound over the required calls that
// stand in an order; the others are filled in by augmenting paths. It starts from a maximum matching and returns that one
// when none is better.
func bestOrder(g *graph, start []int, order []OrderPair, calls []tooleval.Call) []int {
	s := search{g: g, order: order, calls: calls, best: start, pairs: make([]int, g.n), used: make([]bool, g.m)}
	for i, j := range start {
		s.pairs[i] = open
		if j >= 0 {
			s.size++
		}
	}
	s.bestKept = s.kept(start)
	s.queue = inOrder(g.n, order)
	s.walk(0)
	return s.best
}

// open is the partner of a required call that has not been decided on.
const open = -2

type search struct {
	g     *graph
	order []OrderPair
	calls []tooleval.Call
	size  int   // of a maximum matching
	queue []int // the required calls that stand in an order, earlier ones first

	pairs []int
	used  []bool
	work  int

	best     []int
	bestKept int
}

// kept counts the orders that pairs keeps.
func (s *search) kept(pairs []int) int {
	n := 0
	for _, p := range s.order {
		if s.holds(pairs[p.Before], pairs[p.After]) {
			n++
		}
	}
	return n
}

func (s *search) holds(before, after int) bool {
	return before >= 0 && after >= 0 && s.calls[before].Before(&s.calls[after])
}

// possible counts the orders that are kept or could still be.
func (s *search) possible() int {
	n := 0
	for _, p := range s.order {
		before, after := s.pairs[p.Before], s.pairs[p.After]
		switch {
		case before == -1 || after == -1:
		case before == open || after == open, s.holds(before, after):
			n++
		}
	}
	return n
}

// walk decides on the queue from place k on. It reports whether the search is over.
func (s *search) walk(k int) bool {
	s.work += len(s.order) + s.g.m
	if s.work > mostWork || s.bestKept == len(s.order) {
		return true
	}
	if s.possible() <= s.bestKept {
		return false
	}
	full := s.complete()
	if full == nil {
		return false
	}
	if k == len(s.queue) {
		s.best, s.bestKept = full, s.kept(full)
		return false
	}
	i := s.queue[k]
	for _, j := range s.candidates(i) {
		s.pairs[i] = j
		if j >= 0 {
			s.used[j] = true
		}
		over := s.walk(k + 1)
		if j >= 0 {
			s.used[j] = false
		}
		if over {
			return true
		}
	}
	s.pairs[i] = open
	return false
}

// candidates are the calls that i may have, those first that keep the most orders with what is decided, and -1 last.
func (s *search) candidates(i int) []int {
	type candidate struct{ call, kept int }
	var list []candidate
	for j := range s.g.m {
		if s.used[j] || !s.g.fits[i*s.g.m+j] {
			continue
		}
		c := candidate{call: j}
		for _, p := range s.order {
			if p.After == i && s.holds(s.pairs[p.Before], j) || p.Before == i && s.holds(j, s.pairs[p.After]) {
				c.kept++
			}
		}
		list = append(list, c)
		s.work += len(s.order)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.kept, a.kept) })
	calls := make([]int, 0, len(list)+1)
	for _, c := range list {
		calls = append(calls, c.call)
	}
	return append(calls, -1)
}

// complete adds to what is decided as many more pairs as possible. It is nil when that is less than a maximum matching.
func (s *search) complete() []int {
	k := newKuhn(s.g)
	size := 0
	for j, used := range s.used {
		if used {
			k.right[j] = blocked
		}
	}
	for i, j := range s.pairs {
		if j >= 0 {
			k.left[i] = j
			size++
		} else if j == open && k.add(i) {
			size++
		}
	}
	if s.work += k.work + s.g.n + s.g.m; size < s.size {
		return nil
	}
	return k.left
}

// inOrder are the required calls that stand in an order, each after those that come before it.
func inOrder(n int, order []OrderPair) []int {
	before := make([][]int, n)
	constrained := make([]bool, n)
	for _, p := range order {
		before[p.After] = append(before[p.After], p.Before)
		constrained[p.Before], constrained[p.After] = true, true
	}
	var queue []int
	visited := make([]bool, n)
	var visit func(i int)
	visit = func(i int) {
		if visited[i] {
			return
		}
		visited[i] = true
		for _, b := range before[i] {
			visit(b)
		}
		queue = append(queue, i)
	}
	for i := range n {
		if constrained[i] {
			visit(i)
		}
	}
	return queue
}
