package scorers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/matching"
)

// The components of a process score, in the order in which they are listed.
const (
	Required   = "required"
	Forbidden  = "forbidden"
	Efficiency = "efficiency"
	Order      = "order"
)

// Process judges the path of a run: the plain mean, each in 0..1, of the components that apply to its task.
//
//	required    required calls matched one to one with calls that returned no error / required calls
//	forbidden   1 when no forbidden call was made, else 0; applies when the toolset could have made one
//	efficiency  min(1, minimal_necessary_calls / calls made), 0 when calls were needed and none was made; applies
//	            when the task states a minimum. Every call counts, also those that were refused or failed
//	order       declared before/after pairs that were kept / declared pairs; listed only when the task declares some
//	trajectory  1 when the calls match the task's expected trajectory, else 0; listed only when the task declares one,
//	            with precision and recall beside it
//
// A component that does not apply is listed with an unscored Score that says why, and stays out of the mean. Where
// calls may be missing from the trajectory, an absent call proves nothing: a component whose value rests on one can't
// be told, and neither can the mean then, since the mean of the rest would be another number under the same name.
func Process(run *tooleval.Run) tooleval.Process {
	p := tooleval.Process{Components: make([]tooleval.Component, 0, 7)}
	required, order := matchedComponents(run)
	p.Components = append(p.Components, required, forbiddenComponent(run), efficiencyComponent(run))
	if order.Name != "" {
		p.Components = append(p.Components, order)
	}
	p.Components = append(p.Components, trajectoryComponents(run)...)
	p.Score = mean(run, p.Components)
	return p
}

// mean is the mean of the components that apply, or the reason why there is none.
func mean(run *tooleval.Run, components []tooleval.Component) tooleval.Score {
	sum, n := 0.0, 0
	var unknown []string
	for i := range components {
		c := &components[i]
		if c.Info {
			continue
		}
		if v, ok := c.Score.Value(); ok {
			sum += v
			n++
		} else if run.Trajectory.Incomplete != "" && applies(run, c.Name) {
			unknown = append(unknown, c.Name)
		}
	}
	switch {
	case len(unknown) > 0:
		return tooleval.Unscoredf("not evaluable, since calls may be missing from the trajectory (%s): %s",
			run.Trajectory.Incomplete, strings.Join(unknown, ", "))
	case n == 0:
		return tooleval.Score{Why: "no component applies: " +
			"the task requires no call, has no forbidden call in reach and states no minimum"}
	}
	v := sum / float64(n)
	if v == 1 && sum < float64(n) {
		v = math.Nextafter(1, 0)
	}
	return tooleval.Scored(v)
}

// applies reports whether the task asks for a component at all.
func applies(run *tooleval.Run, component string) bool {
	switch component {
	case Required:
		return len(run.Task.Required) > 0
	case Forbidden:
		return forbiddenInReach(run)
	case Efficiency:
		return run.Task.MinimalCalls != nil && *run.Task.MinimalCalls >= 0
	}
	return true // order and trajectory are listed only when they were declared
}

// forbiddenInReach reports whether the toolset holds a tool that a forbidden call could be made with.
func forbiddenInReach(run *tooleval.Run) bool {
	for i := range run.Task.Forbidden {
		if slices.Contains(run.Task.Toolset, run.Task.Forbidden[i].Tool) {
			return true
		}
	}
	return false
}

func forbiddenComponent(run *tooleval.Run) tooleval.Component {
	c := tooleval.Component{Name: Forbidden}
	if len(run.Task.Forbidden) == 0 {
		c.Score = tooleval.Score{Why: "not applicable: the task forbids no call"}
		return c
	}
	hits := matching.Forbidden(run)
	for _, h := range hits {
		call := &run.Trajectory.Calls[h.Call]
		began := call.Began // a copy: evidence must not change with the record
		note := fmt.Sprintf("call %d of %s is forbidden (forbidden call %d)", h.Call+1, call.Tool, h.Pattern+1)
		if call.Status == tooleval.CallRefused {
			note += "; it was tried and refused"
		}
		c.Notes = append(c.Notes, tooleval.Pointer{Call: &began, Note: tooleval.Text(note)})
	}
	switch {
	case len(hits) > 0:
		c.Score = tooleval.Scored(0)
	case !forbiddenInReach(run):
		c.Score = tooleval.Score{Why: "not applicable: the toolset could not have made a forbidden call"}
	case run.Trajectory.Incomplete != "":
		c.Score = notEvaluable(run, "no forbidden call was seen, but calls may be missing")
	default:
		c.Score = tooleval.Scored(1)
	}
	return c
}

func efficiencyComponent(run *tooleval.Run) tooleval.Component {
	c := tooleval.Component{Name: Efficiency}
	minimum, made := run.Task.MinimalCalls, len(run.Trajectory.Calls)
	switch {
	case minimum == nil:
		c.Score = tooleval.Score{Why: "not applicable: the task states no minimum of calls"}
	case *minimum < 0:
		c.Score = tooleval.Unscoredf("not applicable: a minimum of %d calls makes no sense", *minimum)
	case run.Trajectory.Incomplete != "":
		c.Score = notEvaluable(run, fmt.Sprintf("%d calls were seen, but calls may be missing", made))
	case made <= *minimum && (made > 0 || *minimum == 0):
		c.Score = tooleval.Scored(1)
	default: // none made where some were needed, or more than needed
		c.Score = tooleval.Scored(float64(min(*minimum, made)) / float64(max(made, 1)))
		c.Notes = []tooleval.Pointer{{Note: tooleval.Text(fmt.Sprintf("%d calls made, %d needed", made, *minimum))}}
	}
	return c
}

func notEvaluable(run *tooleval.Run, what string) tooleval.Score {
	return tooleval.Unscoredf("not evaluable: %s (%s)", what, run.Trajectory.Incomplete)
}
