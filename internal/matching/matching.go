// Package matching says which tool calls of a run meet which required and forbidden calls of its task.
//
//	r := matching.Required(run)
//	for i, call := range r.Pairs { … } // required call i is met by Trajectory.Calls[call], or by none: -1
//
// Required calls and made calls are paired one to one, as many as possible: a call is consumed once, and no pairing is
// greedy. A call meets a requirement when it returned no error, is of its tool, and its arguments fit the pattern after
// the defaults of the tool's schema are filled in on both sides.
//
// # Limits
//
// Among the largest pairings the one that keeps most of the declared order is found by search; for tasks with very many
// interchangeable calls the search stops after a fixed number of steps with the best pairing seen.
package matching

import (
	"bytes"
	"slices"

	"github.com/tooleval/tooleval"
)

// A Result is how the required calls of a task were met.
type Result struct {
	// Pairs has for each required call the index into Trajectory.Calls of the call that meets it, or -1.
	Pairs []int
	// Order has every declared "before, after" pair.
	Order []OrderPair
	// Misses say why a required call was not met, in the order of the required calls.
	Misses []Miss
}

// An OrderPair is one declared order between two required calls, given by their indexes. It is kept when both were met
// and the first had ended before the second began; calls that ran at the same time keep no order.
type OrderPair struct {
	Before, After int
	Kept          bool
}

// A Reason is why a required call was not met.
type Reason int

// The reasons, in the order in which they are looked for.
const (
	NeverCalled Reason = iota // its tool was not called at all
	UsedUp                    // every fitting call meets another requirement
	OnlyErrors                // fitting calls were made, and each returned an error
	ArgsDiffer                // its tool was called with other arguments
)

// A Miss is a required call that was not met.
type Miss struct {
	Required int
	Reason   Reason
	// Call is the index of the call that came closest, or -1 when the tool was never called.
	Call int
	// Diff is where the arguments of that call differ; only for ArgsDiffer.
	Diff []tooleval.Difference
}

// A Hit is a call that a forbidden pattern fits, both by index.
type Hit struct {
	Call, Pattern int
}

// Required pairs the calls of a run with the required calls of its task.
func Required(run *tooleval.Run) Result {
	c := newCalls(run)
	required := run.Task.Required
	patterns := make([]tooleval.Pattern, len(required))
	for i := range required {
		patterns[i] = c.pattern(&required[i])
	}
	fits := make([][]bool, len(required))
	for i := range required {
		fits[i] = make([]bool, len(c.calls))
		for j := range c.calls {
			fits[i][j] = c.calls[j].Status == tooleval.CallOK && c.fits(j, required[i].Tool, patterns[i])
		}
	}
	r := Result{Pairs: tooleval.MaxMatching(len(required), len(c.calls), func(i, j int) bool { return fits[i][j] })}
	if r.Order = declared(required); len(r.Order) > 0 {
		s := search{order: r.Order, calls: c.calls, fits: fits, best: r.Pairs, steps: mostSteps}
		r.Pairs = s.run()
		for k := range r.Order {
			r.Order[k].Kept = kept(c.calls, r.Pairs, r.Order[k])
		}
	}
	for i, j := range r.Pairs {
		if j < 0 {
			r.Misses = append(r.Misses, c.miss(i, required[i].Tool, patterns[i], fits[i]))
		}
	}
	return r
}

// Forbidden are the calls that a forbidden pattern fits, by call and then by pattern. What such a call returned makes no
// difference, but a call that was refused because its tool is outside the toolset was never made.
func Forbidden(run *tooleval.Run) []Hit {
	var hits []Hit
	if len(run.Task.Forbidden) == 0 {
		return nil
	}
	c := newCalls(run)
	for j := range c.calls {
		if !slices.Contains(run.Task.Toolset, c.calls[j].Tool) {
			continue
		}
		for i := range run.Task.Forbidden {
			f := &run.Task.Forbidden[i]
			if c.fits(j, f.Tool, c.pattern(f)) {
				hits = append(hits, Hit{j, i})
			}
		}
	}
	return hits
}

func declared(required []tooleval.CallPattern) []OrderPair {
	var order []OrderPair
	for after := range required {
		for _, id := range required[after].After {
			before := slices.IndexFunc(required, func(c tooleval.CallPattern) bool { return c.ID == id })
			if before >= 0 {
				order = append(order, OrderPair{Before: before, After: after})
			}
		}
	}
	return order
}

func kept(calls []tooleval.Call, pairs []int, o OrderPair) bool {
	a, b := pairs[o.Before], pairs[o.After]
	return a >= 0 && b >= 0 && calls[a].Before(&calls[b])
}

// calls are the calls of one run, their arguments decoded when first asked for.
type calls struct {
	run     *tooleval.Run
	calls   []tooleval.Call
	args    []any
	decoded []bool
	schemas map[string]any // by tool; only of those with a default in them
}

func newCalls(run *tooleval.Run) *calls {
	return &calls{run: run, calls: run.Trajectory.Calls}
}

// schema is the schema of a tool, or nil when it has no defaults to fill in.
func (c *calls) schema(tool string) any {
	if s, ok := c.schemas[tool]; ok {
		return s
	}
	var schema any
	for i := range c.run.Tools {
		t := &c.run.Tools[i]
		if t.Name != tool || !bytes.Contains(t.Schema, []byte(`"default"`)) {
			continue
		}
		if v, err := tooleval.DecodeValue(t.Schema); err == nil {
			schema = v
		}
	}
	if c.schemas == nil {
		c.schemas = map[string]any{}
	}
	c.schemas[tool] = schema
	return schema
}

func (c *calls) pattern(p *tooleval.CallPattern) tooleval.Pattern {
	if p.Args.IsZero() {
		return p.Args
	}
	if schema := c.schema(p.Tool); schema != nil {
		return p.Args.FillDefaults(schema)
	}
	return p.Args
}

// value is a call's arguments with defaults filled in; ok is false when they are not an object.
func (c *calls) value(j int) (v any, ok bool) {
	if c.calls[j].ArgsError != "" {
		return nil, false
	}
	if c.args == nil {
		c.args, c.decoded = make([]any, len(c.calls)), make([]bool, len(c.calls))
	}
	if !c.decoded[j] {
		c.decoded[j] = true
		c.args[j] = c.decode(&c.calls[j])
	}
	_, ok = c.args[j].(map[string]any)
	return c.args[j], ok
}

func (c *calls) decode(call *tooleval.Call) any {
	var v any = map[string]any{}
	if len(call.Args) > 0 {
		var err error
		if v, err = tooleval.DecodeValue(call.Args); err != nil {
			return nil
		}
	}
	return tooleval.FillDefaults(c.schema(call.Tool), v)
}

func (c *calls) fits(j int, tool string, p tooleval.Pattern) bool {
	if c.calls[j].Tool != tool {
		return false
	}
	if p.IsZero() {
		return true
	}
	v, ok := c.value(j)
	return ok && p.Match(v)
}

// miss says why a required call was not met.
func (c *calls) miss(i int, tool string, p tooleval.Pattern, fits []bool) Miss {
	m := Miss{Required: i, Reason: NeverCalled, Call: -1}
	closest := -1.0
	for j := range c.calls {
		if c.calls[j].Tool != tool {
			continue
		}
		if fits[j] {
			return Miss{Required: i, Reason: UsedUp, Call: j}
		}
		if c.fits(j, tool, p) {
			if m.Reason != OnlyErrors {
				m = Miss{Required: i, Reason: OnlyErrors, Call: j}
			}
			continue
		}
		if m.Reason == OnlyErrors {
			continue
		}
		compared := p.CompareMissing()
		if v, ok := c.value(j); ok {
			compared = p.Compare(v)
		}
		if share := float64(compared.Met) / float64(max(compared.Total, 1)); share > closest {
			closest = share
			m = Miss{Required: i, Reason: ArgsDiffer, Call: j, Diff: compared.Diff}
		}
	}
	return m
}
