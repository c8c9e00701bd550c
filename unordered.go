package tooleval

import (
	"cmp"
	"slices"
)

type unordered struct{ elements []node }

func (n unordered) vacuous() bool { return false }
func (n unordered) missing() bool { return false }
func (n unordered) want() any     { return Matcher{"$unordered": list(n).want()} }

func (n unordered) match(v any, loose bool) bool {
	l, ok := v.([]any)
	if !ok || len(l) != len(n.elements) {
		return false
	}
	return matched(n.pair(l, loose)) == len(l)
}

// pair assigns elements of the pattern to elements of the list, as many as possible.
func (n unordered) pair(l []any, loose bool) []int {
	fits := remember(len(n.elements), len(l), func(i, j int) bool { return n.elements[i].match(l[j], loose) })
	if len(n.elements) <= len(l) {
		if pairs := inOrder(len(n.elements), fits); pairs != nil {
			return pairs
		}
	}
	return maxMatching(len(n.elements), len(l), fits)
}

// inOrder pairs each of n items with its twin, which is how lists mostly are; nil when that is no matching.
func inOrder(n int, fits func(left, right int) bool) []int {
	pairs := make([]int, n)
	for i := range pairs {
		if !fits(i, i) {
			return nil
		}
		pairs[i] = i
	}
	return pairs
}

func matched(pairs []int) int {
	k := 0
	for _, j := range pairs {
		if j >= 0 {
			k++
		}
	}
	return k
}

func (n unordered) compare(c *Comparison, path string, v any, present, loose bool) {
	l, ok := v.([]any)
	if len(n.elements) == 0 {
		list(n).compare(c, path, v, present, loose)
		return
	}
	if !ok {
		compareOther(c, n, "a list", n.elements, path, v, present, loose)
		return
	}
	pairs := n.pair(l, loose)
	used := make([]bool, len(l))
	for _, j := range pairs {
		if j >= 0 {
			used[j] = true
		}
	}
	near := n.nearest(l, pairs, used, path, loose)
	for i, e := range n.elements {
		if j := pairs[i]; j >= 0 {
			e.compare(c, element(path, j), l[j], true, loose)
			continue
		}
		if inner, ok := near[i]; ok {
			c.Met += inner.Met
			c.Total += inner.Total
			c.Diff = append(c.Diff, inner.Diff...)
			continue
		}
		var inner Comparison
		e.compare(&inner, path, nil, false, loose)
		c.Total += inner.Total
		c.Diff = append(c.Diff, Difference{Path: path, Want: encode(e.want()), Why: "no element left that matches"})
	}
	for j, v := range l {
		if !used[j] {
			c.Total++
			c.Diff = append(c.Diff, Difference{Path: element(path, j), Got: encode(v), Why: "no such element is expected"})
		}
	}
}

// nearest pairs what no element meets in full with the element that is left and meets most of it, so that one wrong field
// costs one field, as it does in an ordered list. It marks those elements as used.
func (n unordered) nearest(l []any, pairs []int, used []bool, path string, loose bool) map[int]Comparison {
	type pair struct {
		i, j  int
		share float64
		c     Comparison
	}
	const most = 1000 // comparisons; a longer list of wrong elements is told as wholly wrong
	var free []int
	for j := range l {
		if !used[j] {
			free = append(free, j)
		}
	}
	if (len(n.elements)-matched(pairs))*len(free) > most {
		return nil
	}
	var candidates []pair
	for i, e := range n.elements {
		for _, j := range free {
			if pairs[i] >= 0 {
				break
			}
			var c Comparison
			if e.compare(&c, element(path, j), l[j], true, loose); c.Met > 0 {
				candidates = append(candidates, pair{i, j, float64(c.Met) / float64(c.Total), c})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b pair) int { return cmp.Compare(b.share, a.share) })
	chosen := map[int]Comparison{}
	for _, p := range candidates {
		if _, taken := chosen[p.i]; !taken && !used[p.j] {
			chosen[p.i], used[p.j] = p.c, true
		}
	}
	return chosen
}

// MaxMatching pairs each of n left items with at most one of m right items, each right item used once, so that as many
// as possible are paired (Kuhn's augmenting paths, O(n·m·edges)). It returns, for each left item, its right item or -1.
// Left items are served in order, take the first right item that is free, and are moved only to make room for another, so
// the result is deterministic. fits must always say the same of the same pair.
func MaxMatching(n, m int, fits func(left, right int) bool) []int {
	return maxMatching(n, m, remember(n, m, fits))
}

func maxMatching(n, m int, fits func(left, right int) bool) []int {
	left := make([]int, n)
	right := make([]int, m)
	for i := range left {
		left[i] = -1
	}
	for j := range right {
		right[j] = -1
	}
	seen := make([]int, m)
	var augment func(i, round int) bool
	augment = func(i, round int) bool {
		for j := range m {
			if right[j] < 0 && fits(i, j) {
				left[i], right[j] = j, i
				return true
			}
		}
		for j := range m {
			if seen[j] == round || !fits(i, j) {
				continue
			}
			if seen[j] = round; augment(right[j], round) {
				left[i], right[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range n {
		augment(i, i+1)
	}
	return left
}

// remember asks fits once a pair, as it may compare whole trees.
func remember(n, m int, fits func(left, right int) bool) func(left, right int) bool {
	const most = 1 << 24 // bytes
	if n == 0 || m == 0 || n > most/m {
		return fits
	}
	const yes, no = 1, 2
	known := make([]uint8, n*m)
	return func(i, j int) bool {
		k := &known[i*m+j]
		if *k == 0 {
			if *k = no; fits(i, j) {
				*k = yes
			}
		}
		return *k == yes
	}
}
