package scorers

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/matching"
)

// matchedComponents are the two components that rest on the matching of calls to requirements. The order has no name
// when the task declares none.
func matchedComponents(run *tooleval.Run) (required, order tooleval.Component) {
	required.Name = Required
	if len(run.Task.Required) == 0 {
		required.Score = tooleval.Score{Why: "not applicable: the task requires no call"}
		return required, order
	}
	r := matching.Required(run)
	met := 0
	for _, i := range r.Pairs {
		if i >= 0 {
			met++
		}
	}
	required.Score = Fraction(met, len(r.Pairs))
	for i := range r.Misses {
		required.Notes = append(required.Notes, missNote(run, &r.Misses[i]))
	}
	if met < len(r.Pairs) && run.Trajectory.Incomplete != "" {
		required.Score = notEvaluable(run,
			fmt.Sprintf("%d of %d required calls were seen, but calls may be missing", met, len(r.Pairs)))
	}
	if len(r.Order) == 0 {
		return required, order
	}

	order.Name = Order
	kept := 0
	for _, p := range r.Order {
		if p.Kept {
			kept++
			continue
		}
		order.Notes = append(order.Notes, orderNote(run, r.Pairs, p))
	}
	order.Score = Fraction(kept, len(r.Order))
	if kept < len(r.Order) && run.Trajectory.Incomplete != "" {
		order.Score = notEvaluable(run,
			fmt.Sprintf("%d of %d orders were seen to be kept, but calls may be missing", kept, len(r.Order)))
	}
	return required, order
}

// orderNote says why a declared order was not kept.
func orderNote(run *tooleval.Run, pairs []int, p matching.OrderPair) tooleval.Pointer {
	before, after := requiredName(run, p.Before), requiredName(run, p.After)
	if pairs[p.Before] < 0 || pairs[p.After] < 0 {
		missing := before
		if pairs[p.Before] >= 0 {
			missing = after
		}
		note := fmt.Sprintf("%s must end before %s begins, but %s was not met", before, after, missing)
		return tooleval.Pointer{Note: tooleval.Text(note)}
	}
	began := run.Trajectory.Calls[pairs[p.After]].Began
	return tooleval.Pointer{Call: &began, Note: tooleval.Text(fmt.Sprintf("%s began before %s had ended", after, before))}
}

// requiredName names a required call: by its id, or by its tool and place.
func requiredName(run *tooleval.Run, i int) string {
	c := &run.Task.Required[i]
	if c.ID != "" {
		return fmt.Sprintf("%q", c.ID)
	}
	return fmt.Sprintf("required call %d (%s)", i+1, c.Tool)
}

// missNote says why a required call was not met.
func missNote(run *tooleval.Run, m *matching.Miss) tooleval.Pointer {
	name := requiredName(run, m.Required)
	var p tooleval.Pointer
	if m.Call >= 0 {
		began := run.Trajectory.Calls[m.Call].Began
		p.Call = &began
	}
	switch m.Reason {
	case matching.NeverCalled:
		p.Note = tooleval.Text(name + ": the tool was never called")
	case matching.OnlyErrors:
		p.Note = tooleval.Text(name + ": every fitting call returned an error")
	case matching.UsedUp:
		p.Note = tooleval.Text(name + ": every fitting call meets another requirement")
	default:
		p.Note = tooleval.Text(name + ": the arguments differ")
		if len(m.Diff) > 0 {
			p.Path = m.Diff[0].Path
			p.Note += tooleval.Text(": " + strings.TrimPrefix(m.Diff[0].String(), p.Path+": "))
		}
	}
	return p
}
