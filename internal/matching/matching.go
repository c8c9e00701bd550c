// Package matching says which calls of a run meet which call patterns of its task, for the packages that judge a run
// (scorers) and that explain it (taxonomy), so that the two never disagree.
//
//	r := matching.Required(run)
//	for i, call := range r.Pairs {
//		fmt.Println(run.Task.Required[i].Tool, "met by call", call) // -1: by none, and r.Misses says why
//	}
//	hits := matching.Forbidden(run)
//
// The rules: each required call is met by one call of its own, and as many as possible are met (a maximum matching, never
// first fit). A call whose status is not ok, or whose arguments are no JSON object, meets nothing. Arguments that are
// missing are {}. Defaults of the tool's schema are filled in on both sides. Of all maximum matchings, one that keeps the
// most declared orders is taken; only where that would take too long is it the best of those that were tried.
//
// Limits: a schema's defaults are those that [tooleval.FillDefaults] knows. The functions read the run and keep nothing of
// it; they may be called concurrently.
package matching

import (
	"slices"

	"github.com/tooleval/tooleval"
)

// A Result says how a run's calls meet the required calls of its task.
type Result struct {
	// Pairs has, for each required call, the index of the call in Run.Trajectory.Calls that meets it, or -1. No call
	// stands in it twice.
	Pairs []int
	// Order is every declared before/after pair of required calls, in the order of declaration.
	Order []OrderPair
	// Misses are the required calls without a call, in their order.
	Misses []Miss
}

// An OrderPair is two required calls, by index, of which one must have ended before the other begins. It is kept when
// both are met, by calls that did so. Calls that ran at the same time keep no order.
type OrderPair struct {
	Before, After int
	Kept          bool
}

// A Reason says why a required call is not met.
type Reason string

// The reasons, strongest last: the first that holds for a fitting call is given.
const (
	NeverCalled Reason = "never_called" // no call of the tool, whatever its status
	ArgsDiffer  Reason = "args_differ"  // the tool was called, but with other, or with malformed arguments
	OnlyErrors  Reason = "only_errors"  // calls fit, but none of them ended ok
	UsedUp      Reason = "used_up"      // calls fit and ended ok, but each meets another required call
	OutOfOrder  Reason = "out_of_order" // a call fits, ended ok and meets nothing else, but stands in the wrong place
)

// A Miss is a required call that no call meets.
type Miss struct {
	// Required is its index in Task.Required.
	Required int
	Reason   Reason
	// Call is the index of the call that shows it: the one that came closest, the first that failed or the first that is
	// used up. It is -1 when the tool was never called.
	Call int
	// Diff is how the arguments of Call differ, when Reason is ArgsDiffer. It is never empty then.
	Diff []tooleval.Difference
}

// A Hit is a call, by its index in Run.Trajectory.Calls, that a forbidden pattern, by its index in Task.Forbidden, fits.
type Hit struct{ Call, Pattern int }

// Required matches the calls of a run with the required calls of its task.
func Required(run *tooleval.Run) Result {
	wants, calls := run.Task.Required, run.Trajectory.Calls
	n, m := len(wants), len(calls)
	if n == 0 {
		return Result{}
	}
	ws := make([]want, n)
	args := arguments{calls: calls}
	edges := graph{n: n, m: m, fits: make([]bool, n*m)}
	for i := range wants {
		ws[i] = prepare(run, &wants[i])
		for j := range calls {
			c := &calls[j]
			edges.fits[i*m+j] = c.Status == tooleval.CallOK && ws[i].fits(&args, j)
		}
	}
	r := Result{Pairs: edges.match(), Order: declared(wants)}
	if !keep(r.Order, r.Pairs, calls) {
		r.Pairs = bestOrder(&edges, r.Pairs, r.Order, calls)
		keep(r.Order, r.Pairs, calls)
	}
	for i, j := range r.Pairs {
		if j < 0 {
			r.Misses = append(r.Misses, miss(i, &ws[i], &args, r.Pairs))
		}
	}
	return r
}

// declared are the before/after pairs that the required calls declare.
func declared(wants []tooleval.CallPattern) []OrderPair {
	var order []OrderPair
	for i := range wants {
		for _, id := range wants[i].After {
			before := slices.IndexFunc(wants, func(c tooleval.CallPattern) bool { return c.ID == id && id != "" })
			if before >= 0 { // Suite.Validate refuses an id that nothing has
				order = append(order, OrderPair{Before: before, After: i})
			}
		}
	}
	return order
}

// keep notes which orders a matching keeps, and reports whether it is all of them.
func keep(order []OrderPair, pairs []int, calls []tooleval.Call) bool {
	all := true
	for k := range order {
		before, after := pairs[order[k].Before], pairs[order[k].After]
		order[k].Kept = before >= 0 && after >= 0 && calls[before].Before(&calls[after])
		all = all && order[k].Kept
	}
	return all
}

// Forbidden are the calls that a forbidden pattern fits, in their order, each with the first pattern that does. What a call
// returned doesn't matter: a forbidden call that failed was made. Only a call that was refused because its tool is outside
// the task's toolset is none, as it reached nothing. A call with malformed arguments fits the patterns that constrain no
// arguments.
func Forbidden(run *tooleval.Run) []Hit { return Hits(run, run.Task.Forbidden) }

// Hits is [Forbidden] for other patterns than the task's.
func Hits(run *tooleval.Run, patterns []tooleval.CallPattern) []Hit {
	calls := run.Trajectory.Calls
	if len(patterns) == 0 || len(calls) == 0 {
		return nil
	}
	var hits []Hit
	args := arguments{calls: calls}
	ws := make([]want, len(patterns))
	for j := range calls {
		c := &calls[j]
		if c.Status == tooleval.CallRefused && !slices.Contains(run.Task.Toolset, c.Tool) {
			continue
		}
		for k := range patterns {
			if patterns[k].Tool != c.Tool {
				continue
			}
			if ws[k].tool == "" {
				ws[k] = prepare(run, &patterns[k])
			}
			if ws[k].open || ws[k].fits(&args, j) {
				hits = append(hits, Hit{Call: j, Pattern: k})
				break
			}
		}
	}
	return hits
}
