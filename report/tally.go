package report

import (
	"cmp"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
)

// Others stands for everything beyond the number of distinct things that are counted.
const Others = "(others)"

const (
	maxDistinct = 50  // reasons and warnings that are counted apart
	maxTools    = 200 // tools that are counted apart
	maxText     = 300 // bytes of a reason or note that are kept
	maxName     = 200 // bytes of a tool's name that are kept
)

// A tally counts distinct things, up to a limit: an agent can say something new in every one of a million runs.
type tally[K comparable] struct {
	n     map[K]int
	order []K
	rest  int
}

func (t *tally[K]) add(k K) {
	if _, known := t.n[k]; !known {
		if len(t.order) >= maxDistinct {
			t.rest++
			return
		}
		if t.n == nil {
			t.n = map[K]int{}
		}
		t.order = append(t.order, k)
	}
	t.n[k]++
}

// sorted is the most frequent first, and of the equally frequent what came first.
func (t *tally[K]) sorted() []K {
	keys := slices.Clone(t.order)
	slices.SortStableFunc(keys, func(a, b K) int { return cmp.Compare(t.n[b], t.n[a]) })
	return keys
}

func counts(t *tally[tooleval.Text]) []Count {
	var out []Count
	for _, k := range t.sorted() {
		out = append(out, Count{k, t.n[k]})
	}
	if t.rest > 0 {
		out = append(out, Count{Others, t.rest})
	}
	return out
}

// short cuts text for keeping. The copy is the point: a piece of a string keeps all of it in memory.
func short(t tooleval.Text) tooleval.Text {
	if len(t) <= maxText {
		return t
	}
	return tooleval.Text(plain.Clip(string(t), maxText))
}
