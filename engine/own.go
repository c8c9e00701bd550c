package engine

import (
	"slices"
	"time"

	"github.com/tooleval/tooleval"
)

// mostResult bounds what an agent hands back, in bytes.
const mostResult = 64 << 20

// own is a copy of an agent's result that the agent can't write into any more, without what is out of bounds.
func own(run *tooleval.Run, r tooleval.AgentResult) tooleval.AgentResult {
	if len(r.Response)+len(r.State) > mostResult {
		r.Response, r.State = "", nil
	}
	r.State = slices.Clone(r.State)
	r.Warnings = slices.Clone(r.Warnings)
	if r.Usage != nil {
		usage := *r.Usage
		usage.Vendor = slices.Clone(usage.Vendor)
		r.Usage = &usage
	}
	if r.Evidence != nil {
		evidence := *r.Evidence
		if !slices.Contains(channels, evidence.Channel) {
			warn(run, "the agent names an unknown channel for its evidence, which is taken as %s", tooleval.SelfReported)
			evidence.Channel = tooleval.SelfReported
		}
		r.Evidence = &evidence
	}
	return r
}

var channels = []string{"", tooleval.InProcess, tooleval.OverStdio, tooleval.OverMCP, tooleval.OverHTTP, tooleval.SelfReported}

// cloneTask is a copy whose lists can be written into. Patterns are immutable.
func cloneTask(t *tooleval.Task) tooleval.Task {
	c := *t
	c.Toolset, c.Tags = slices.Clone(t.Toolset), slices.Clone(t.Tags)
	c.Required, c.Forbidden, c.Faults = slices.Clone(t.Required), slices.Clone(t.Forbidden), slices.Clone(t.Faults)
	return c
}

// cloneRun is a copy for a scorer.
func cloneRun(run *tooleval.Run) *tooleval.Run {
	c := *run
	c.Task, c.Tools, c.Warnings = cloneTask(&run.Task), slices.Clone(run.Tools), slices.Clone(run.Warnings)
	c.State = slices.Clone(run.State)
	c.Result.State = slices.Clone(run.Result.State)
	c.Trajectory.Calls = slices.Clone(run.Trajectory.Calls)
	for i := range c.Trajectory.Calls {
		call := &c.Trajectory.Calls[i]
		call.Args, call.Result.Structured = slices.Clone(call.Args), slices.Clone(call.Result.Structured)
	}
	return &c
}

// stuckCall is a tool call that was unanswered when the time was over and had taken more than half of it: then the world
// has used up the agent's time.
func stuckCall(run *tooleval.Run, limit time.Duration) *tooleval.Call {
	for i := range run.Trajectory.Calls {
		c := &run.Trajectory.Calls[i]
		if c.Status == tooleval.CallTimeout && c.TookMS > milliseconds(limit)/2 {
			return c
		}
	}
	return nil
}
