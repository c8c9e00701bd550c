package matching

import (
	"slices"

	"github.com/tooleval/tooleval"
)

// mostSteps bounds the search for the pairing that keeps most of the declared order.
const mostSteps = 20_000

// A search goes through the pairings of required calls (in order) with calls (in order, each used once) and keeps the
// first of those with the most pairs and, among them, the most orders kept.
type search struct {
	order []OrderPair
	calls []tooleval.Call
	fits  [][]bool
	best  []int
	steps int

	pairs []int
	used  []bool
	size  int // pairs that the best pairing has
	most  int // orders that it keeps
}

func (s *search) run() []int {
	s.pairs = make([]int, len(s.fits))
	for i := range s.pairs {
		s.pairs[i] = -1
	}
	s.used = make([]bool, len(s.calls))
	s.size, s.most = s.value(s.best)
	if s.most < len(s.order) {
		s.visit(0, 0)
	}
	return s.best
}

func (s *search) value(pairs []int) (size, orders int) {
	for _, j := range pairs {
		if j >= 0 {
			size++
		}
	}
	for _, o := range s.order {
		if kept(s.calls, pairs, o) {
			orders++
		}
	}
	return size, orders
}

// visit decides on required call i and those after it; paired counts the pairs so far.
func (s *search) visit(i, paired int) {
	s.steps--
	if s.steps < 0 || s.most == len(s.order) || paired+len(s.fits)-i < s.size {
		return
	}
	if i == len(s.fits) {
		if size, orders := s.value(s.pairs); size == s.size && orders > s.most {
			s.best, s.most = slices.Clone(s.pairs), orders
		}
		return
	}
	for j := range s.calls {
		if s.fits[i][j] && !s.used[j] {
			s.pairs[i], s.used[j] = j, true
			s.visit(i+1, paired+1)
			s.pairs[i], s.used[j] = -1, false
		}
	}
	s.visit(i+1, paired)
}
