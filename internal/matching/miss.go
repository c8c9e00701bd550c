package matching

import (
	"slices"

	"github.com/tooleval/tooleval"
)

// mostCompared is how many calls of a tool are compared in search of the closest.
const mostCompared = 200

// miss says why no call meets required call i.
func miss(i int, w *want, args *arguments, pairs []int) Miss {
	called, failed, used, free, broken := -1, -1, -1, -1, -1
	var candidates []int
	for j := range args.calls {
		c := &args.calls[j]
		if c.Tool != w.tool {
			continue
		}
		if called < 0 {
			called = j
		}
		switch {
		case w.fits(args, j) && w.accepts(c):
			if used < 0 {
				used = j
			}
			if free < 0 && !slices.Contains(pairs, j) {
				free = j
			}
		case w.fits(args, j):
			if failed < 0 {
				failed = j
			}
		case isMalformed(w, args, j):
			if broken < 0 {
				broken = j
			}
		default:
			candidates = append(candidates, j)
		}
	}
	switch {
	case called < 0:
		return Miss{Required: i, Reason: NeverCalled, Call: -1}
	case free >= 0: // it would meet this, if its place did not forbid that
		return Miss{Required: i, Reason: OutOfOrder, Call: free}
	case used >= 0:
		return Miss{Required: i, Reason: UsedUp, Call: used}
	case failed >= 0:
		return Miss{Required: i, Reason: OnlyErrors, Call: failed}
	case len(candidates) > 0:
		j, diff := closest(w, args, candidates, pairs)
		return Miss{Required: i, Reason: ArgsDiffer, Call: j, Diff: diff}
	}
	return Miss{Required: i, Reason: ArgsDiffer, Call: broken, Diff: []tooleval.Difference{brokenDiff(w, &args.calls[broken])}}
}

func isMalformed(w *want, args *arguments, j int) bool {
	if args.calls[j].ArgsError != "" {
		return true
	}
	_, ok := args.of(j, w.schema)
	return !ok
}

// closest is the candidate that meets most of what is wanted, the first of several; one that meets another required call
// already is taken only when there is no other.
func closest(w *want, args *arguments, candidates, pairs []int) (call int, diff []tooleval.Difference) {
	free := slices.DeleteFunc(slices.Clone(candidates), func(j int) bool { return slices.Contains(pairs, j) })
	if len(free) > 0 {
		candidates = free
	}
	best := -1.0
	for _, j := range candidates[:min(len(candidates), mostCompared)] {
		v, _ := args.of(j, w.schema)
		c := w.compare(v)
		if share := float64(c.Met) / float64(max(c.Total, 1)); share > best {
			best, call, diff = share, j, c.Diff
		}
	}
	return call, diff
}

// brokenDiff is the difference between what is wanted and arguments that are no object.
func brokenDiff(w *want, c *tooleval.Call) tooleval.Difference {
	d := tooleval.Difference{Path: "$", Want: tooleval.Raw("{}"), Got: c.Args, Why: "malformed arguments: " + c.ArgsError}
	if c.ArgsError == "" {
		d.Why = "malformed arguments: not a JSON object"
	}
	if !w.args.IsZero() {
		if b, err := w.args.MarshalJSON(); err == nil {
			d.Want = b
		}
	}
	if len(d.Got) == 0 && c.ArgsText != "" {
		d.Got = tooleval.Raw(c.ArgsText)
	}
	return d
}
