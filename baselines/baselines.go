// Package baselines holds trivial agents that validate a task, not an agent. When an agent that does nothing passes a
// task, or one that calls tools at random does, the task says nothing about skill.
//
//	for _, b := range baselines.All {
//		if b.MockOnly && live {
//			continue
//		}
//		run := engine.Do(ctx, job with b.New(seed))
//		// a pass is a defect of the task, unless Task.DoNothingMayPass says why not
//	}
//
// # Limits
//
// A baseline that fails proves little: it may have been unlucky. Run the random one with several seeds.
package baselines

import (
	"context"

	"github.com/tooleval/tooleval"
)

// A Baseline is a trivial agent.
type Baseline struct {
	// Name is stable; it stands in run records.
	Name        string
	Description string
	// MockOnly forbids the baseline on a live world, where what it does at random would be done for real.
	MockOnly bool
	// New makes the agent. The same seed gives an agent that does the same on the same assignment and answers, whatever
	// else runs. The agent may be used concurrently.
	New func(seed uint64) tooleval.Agent
}

// All are the baselines. It is not to be changed.
var All = []Baseline{
	{
		Name:        "do-nothing",
		Description: "makes no call and answers nothing",
		New:         func(uint64) tooleval.Agent { return tooleval.AgentFunc(doNothing) },
	},
	{
		Name:        "random",
		Description: "calls random tools with random arguments that their schemas allow, then answers at random",
		MockOnly:    true,
		New:         func(seed uint64) tooleval.Agent { return random{seed} },
	},
}

// Named is the baseline of that name.
func Named(name string) (Baseline, bool) {
	for _, b := range All {
		if b.Name == name {
			return b, true
		}
	}
	return Baseline{}, false
}

func doNothing(ctx context.Context, _ tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
	return tooleval.AgentResult{}, context.Cause(ctx)
}
