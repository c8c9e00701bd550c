package suitefile

import (
	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

var argsModes = oneWordOf("matchers", "exact", "ignore", "subset", "superset")

var expectedCallShape = &shape{
	kind: record, name: "trajectory.calls[]", doc: "A call of an expected trajectory. The name of a tool alone means a call of it, whatever its arguments.",
	fields: []field{
		must("tool", aText, "the tool"),
		may("args", aPattern, "the arguments, compared as the mode says; left out: any, or none in the modes exact and subset"),
		may("args_mode", argsModes, "how the arguments of this call are compared"),
		may("may_fail", aBoolean, "whether a call that returned an error will do too"),
	},
}

var expectedCalls = listOf(&shape{kind: either, of: []*shape{aText, expectedCallShape}})

var trajectoryShape = &shape{
	kind: record, name: "trajectory", doc: "What the whole trajectory has to look like; docs/trajectory-matching.md has the truth table of all modes.",
	fields: []field{
		must("mode", oneWordOf("exact", "in_order", "any_order", "subset", "superset"), "how the calls that were made relate to the expected ones"),
		may("calls", expectedCalls, "the expected calls, in their order"),
		may("any_of", listOf(&shape{kind: record, name: "any_of[]", doc: "One of several trajectories that are right.", fields: []field{
			may("name", aText, "what reports call it"), must("calls", expectedCalls, "the expected calls, in their order"),
		}}), "trajectories of which one is enough"),
		may("args_mode", argsModes, "how arguments are compared; left out: matchers"),
		may("tools", dictOf(argsModes), "how the arguments of single tools are compared, by tool"),
		may("ordered_turns", aBoolean, "whether the calls of one parallel turn are ordered among themselves too"),
		may("counts", oneWordOf("process", "gate", "info"), "what a mismatch costs in the process score; left out: process"),
	},
	groups: []group{exactlyOne("calls", "any_of")},
}

// buildTrajectory is an expected trajectory; nil when there is none.
func (l *loader) buildTrajectory(e *entry) *tooleval.TrajectoryMatch {
	if e == nil {
		return nil
	}
	m := &tooleval.TrajectoryMatch{
		Mode: tooleval.MatchMode(e.get("mode").text()), Args: tooleval.ArgsMode(e.get("args_mode").text()),
		OrderedTurns: e.get("ordered_turns").bool(), Counts: tooleval.MatchCounts(e.get("counts").text()),
		Calls: l.expectedCalls(e.get("calls")),
	}
	for _, a := range e.get("any_of").elements() {
		m.AnyOf = append(m.AnyOf, tooleval.ExpectedTrajectory{Name: a.get("name").text(), Calls: l.expectedCalls(a.get("calls"))})
	}
	if tools := e.get("tools"); tools != nil {
		m.Tools = map[string]tooleval.ArgsMode{}
		for _, name := range tools.names() {
			m.Tools[name] = tooleval.ArgsMode(tools.fields[name].words)
		}
	}
	return m
}

func (l *loader) expectedCalls(e *entry) []tooleval.ExpectedCall {
	var calls []tooleval.ExpectedCall
	for _, c := range e.elements() {
		tool := c
		if c.fields != nil {
			tool = c.get("tool")
		}
		l.knownTool(tool)
		calls = append(calls, tooleval.ExpectedCall{
			Tool: tool.text(), Args: c.get("args").pattern(), ArgsMode: tooleval.ArgsMode(c.get("args_mode").text()), MayFail: c.get("may_fail").bool(),
		})
	}
	return calls
}

func buildTrajectoryScorer(l *loader, _ string, e *entry) tooleval.Scorer {
	if c := e.get("counts"); c != nil {
		c.fail(l, "counts is for a task's trajectory; a scorer's is the outcome")
	}
	return scorers.Trajectory(*l.buildTrajectory(e))
}

var milestonesShape = &shape{
	kind: record, name: "scorers.*.milestones", doc: "What has to be reached, in a partial order, and what must never happen: the outcome is 0 when it " +
		"did, else the mean similarity of the milestones.",
	fields: []field{
		must("reach", listOf(&shape{kind: record, name: "reach[]", doc: "Something to be reached: a call, or a part of the final state.", fields: []field{
			must("name", aText, "its name"),
			may("tool", aText, "the tool of a call that must be made"),
			may("args", aPattern, "what its arguments have to meet; left out: any arguments"),
			may("state", aPattern, "what the final state has to meet"),
			may("after", texts, "the milestones that have to be reached before this one"),
		}, groups: []group{exactlyOne("tool", "state"), atMostOne("args", "state")}}), "the milestones"),
		may("avoid", listOf(&shape{kind: record, name: "avoid[]", doc: "Something that must never happen: a call, whatever it returned, or a final state.", fields: []field{
			must("name", aText, "its name"),
			may("tool", aText, "the tool of a call that must not be made"),
			may("args", aPattern, "the arguments that make it one; left out: any"),
			may("state", aPattern, "a final state that must not be"),
			may("until", aText, "the milestone from which on the call is allowed"),
		}, groups: []group{exactlyOne("tool", "state"), atMostOne("args", "state")}}), "the minefields"),
	},
}

func buildMilestones(l *loader, _ string, e *entry) tooleval.Scorer {
	m := &scorers.Milestones{}
	for _, r := range e.get("reach").elements() {
		l.knownTool(r.get("tool"))
		m.Reach = append(m.Reach, scorers.Milestone{
			Name: r.get("name").text(), Tool: r.get("tool").text(), Args: r.get("args").pattern(), State: r.get("state").pattern(), After: r.get("after").texts(),
		})
	}
	for _, f := range e.get("avoid").elements() {
		l.knownTool(f.get("tool"))
		m.Avoid = append(m.Avoid, scorers.Minefield{
			Name: f.get("name").text(), Tool: f.get("tool").text(), Args: f.get("args").pattern(), State: f.get("state").pattern(), Until: f.get("until").text(),
		})
	}
	return m
}
