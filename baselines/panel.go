package baselines

import (
	"context"
	"slices"

	"github.com/tooleval/tooleval"
	final "github.com/tooleval/tooleval/internal/answer"
)

// Panel are all trivial agents: those of [All], which every eval runs, and further ones that look for particular flaws
// of a task. `tooleval check` runs them. It is not to be changed.
var Panel = append(slices.Clone(All),
	Baseline{
		Name:        "always-refuse",
		Description: "makes no call and says that it can't be done",
		New:         func(uint64) tooleval.Agent { return tooleval.AgentFunc(refuse) },
	},
	Baseline{
		Name:        "prompt-echo",
		Description: "makes no call and answers with the task's own words and input",
		New:         func(uint64) tooleval.Agent { return tooleval.AgentFunc(echo) },
	},
	Baseline{
		Name:        "spam",
		Description: "calls everything that only reads, with words of the task and of earlier answers, and says all that it saw",
		MockOnly:    true,
		New:         func(seed uint64) tooleval.Agent { return spam{seed} },
	},
)

func refuse(ctx context.Context, _ tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
	return tooleval.AgentResult{Response: "I'm sorry, but I can't help with that."}, context.Cause(ctx)
}

// echo gives the input as its state, or else a JSON object that the description ends with.
func echo(ctx context.Context, a tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
	out := tooleval.AgentResult{Response: tooleval.Text(a.Description)}
	if len(a.Input) > 0 {
		out.Response += "\n" + tooleval.Text(a.Input)
		out.State = slices.Clone(a.Input)
	} else if object, ok := final.JSONObject(a.Description); ok {
		out.State = object
	}
	return out, context.Cause(ctx)
}
