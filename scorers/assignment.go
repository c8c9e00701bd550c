package scorers

import (
	"cmp"
	"math"
	"slices"

	"github.com/tooleval/tooleval"
)

// An assignment gives milestones calls of their own so that the sum of the weights is the largest that the order allows.
type assignment struct {
	run    *tooleval.Run
	weight [][]float64 // by milestone and call; 0 is no assignment
	after  [][]bool    // by two milestones: whether the first comes after the second

	pairs, found []int
	used         []bool
	queue        []int     // milestones, each after those that come before it
	rest         []float64 // by place in the queue: the most that it and those behind it can add
	total        float64
	work         int
}

const (
	// mostSteps bounds the search, in candidates looked at: some milliseconds to tenths of a second. It is counted and not
	// timed, so that a run has the same outcome on every machine.
	mostSteps = 1 << 21
	// slack is less than any difference that matters between two sums.
	slack = 1e-12
)

// best is the call of each milestone, or -1; exact is false when the search was cut short.
func (a *assignment) best() (pairs []int, exact bool) {
	pairs = hungarian(a.weight)
	if a.ordered(pairs) {
		return pairs, true // the best of all without order keeps the order too
	}
	n := len(a.weight)
	a.found, a.pairs = make([]int, n), make([]int, n)
	for i := range n {
		a.found[i], a.pairs[i] = -1, -1
		a.queue = append(a.queue, i)
	}
	// The number of milestones before it grows along every chain of the order.
	slices.SortStableFunc(a.queue, func(i, j int) int { return cmp.Compare(count(a.after[i]), count(a.after[j])) })
	a.used = make([]bool, len(a.run.Trajectory.Calls))
	a.rest = make([]float64, n+1)
	for k := n - 1; k >= 0; k-- {
		a.rest[k] = a.rest[k+1]
		if row := a.weight[a.queue[k]]; len(row) > 0 {
			a.rest[k] += slices.Max(row)
		}
	}
	a.total = -1
	a.walk(0, 0)
	return a.found, a.work <= mostSteps
}

func (a *assignment) walk(k int, sum float64) {
	if sum+a.rest[k] <= a.total+slack || a.work > mostSteps && a.total >= 0 {
		return
	}
	if k == len(a.queue) {
		a.total = sum
		copy(a.found, a.pairs)
		return
	}
	i := a.queue[k]
	var list []int
	for j, w := range a.weight[i] {
		if w > 0 && !a.used[j] && a.allowed(i, j) {
			list = append(list, j)
		}
	}
	a.work += len(a.weight[i]) + len(a.queue)
	slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(a.weight[i][y], a.weight[i][x]) })
	for _, j := range list {
		a.pairs[i], a.used[j] = j, true
		a.walk(k+1, sum+a.weight[i][j])
		a.pairs[i], a.used[j] = -1, false
	}
	a.walk(k+1, sum)
}

// allowed reports whether milestone i may have call j beside those that are assigned already.
func (a *assignment) allowed(i, j int) bool {
	calls := a.run.Trajectory.Calls
	for other, c := range a.pairs {
		if c >= 0 && (a.after[i][other] && !calls[c].Before(&calls[j]) || a.after[other][i] && !calls[j].Before(&calls[c])) {
			return false
		}
	}
	return true
}

func (a *assignment) ordered(pairs []int) bool {
	calls := a.run.Trajectory.Calls
	for i, x := range pairs {
		for j, y := range pairs {
			if x >= 0 && y >= 0 && a.after[i][j] && !calls[y].Before(&calls[x]) {
				return false
			}
		}
	}
	return true
}

func count(row []bool) int {
	n := 0
	for _, b := range row {
		if b {
			n++
		}
	}
	return n
}

// hungarian is an assignment of rows to columns, each column used once, with the largest sum of weights, none of which is
// negative; -1 for a row that adds nothing. It takes O(n²·(n+m)).
//
// Source: J. Munkres, "Algorithms for the assignment and transportation problems", J. SIAM 5 (1957), in the form with
// potentials and shortest augmenting paths.
func hungarian(weight [][]float64) []int {
	n := len(weight)
	pairs := make([]int, n)
	if n == 0 {
		return pairs
	}
	m := len(weight[0]) + n // a row that gets no column gets one of n further ones, of weight 0
	cost := func(i, j int) float64 {
		if j < len(weight[i]) {
			return -weight[i][j]
		}
		return 0
	}
	u, v := make([]float64, n+1), make([]float64, m+1)
	row, way := make([]int, m+1), make([]int, m+1) // from 1; 0 is none
	for i := 1; i <= n; i++ {
		row[0] = i
		least := make([]float64, m+1)
		done := make([]bool, m+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		j0 := 0
		for row[j0] != 0 {
			done[j0] = true
			delta, j1 := math.Inf(1), 0
			for j := 1; j <= m; j++ {
				if done[j] {
					continue
				}
				if c := cost(row[j0]-1, j-1) - u[row[j0]] - v[j]; c < least[j] {
					least[j], way[j] = c, j0
				}
				if least[j] < delta {
					delta, j1 = least[j], j
				}
			}
			for j := 0; j <= m; j++ {
				if done[j] {
					u[row[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			j0 = j1
		}
		for j0 != 0 {
			row[j0] = row[way[j0]]
			j0 = way[j0]
		}
	}
	for i := range pairs {
		pairs[i] = -1
	}
	for j := 1; j <= len(weight[0]); j++ {
		if i := row[j] - 1; i >= 0 && weight[i][j-1] > 0 {
			pairs[i] = j - 1
		}
	}
	return pairs
}
