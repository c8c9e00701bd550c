// Package stub is the smallest possible Suite: one tool, one task, one mock answer, one scripted mind. It shows that the
// whole way from a task to a result file works, and it is the shortest thing to copy.
package stub

import (
	"context"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// Suite is the stub Suite.
var Suite = &tooleval.Suite{
	Name:        "stub",
	Description: "the smallest possible suite: look up one thing and say it",
	Tools: []tooleval.Tool{{
		Name:        "look_up",
		Description: "Returns the call of a bird.",
		Schema: tooleval.Raw(`{"type": "object", "properties": {"bird": {"type": "string"}}, "required": ["bird"],
			"additionalProperties": false}`),
	}},
	EntryPoints: []tooleval.EntryPoint{{Name: "stub.echo", Description: "look up one thing and return it"}},
	Tasks: []tooleval.Task{{
		ID:            "stub.echo",
		Description:   `What is the call of a heron? Look it up and answer with the JSON object {"call": "<the call>"}.`,
		EntryPoint:    "stub.echo",
		Toolset:       []string{"look_up"},
		Required:      []tooleval.CallPattern{{Tool: "look_up"}},
		MinimalCalls:  tooleval.Minimum(1),
		ExpectedState: tooleval.Match(map[string]any{"call": "fraank"}),
	}},
	MockWorld: &worlds.Mock{Fixtures: []worlds.Fixture{{
		Tool:    "look_up",
		Args:    tooleval.Match(map[string]any{"bird": tooleval.ContainsFold("heron")}),
		Results: []worlds.Answer{{Result: tooleval.JSONResult(map[string]any{"call": "fraank"})}},
	}}},
	Minds: []tooleval.Mind{{
		Name:        "scripted",
		Description: "looks up the heron and returns what it finds",
		New: func(context.Context, func(string) string) (tooleval.Agent, error) {
			return tooleval.AgentFunc(run), nil
		},
	}},
}

func run(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	result, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "look_up", Args: tooleval.Raw(`{"bird":"heron"}`)})
	if err != nil {
		return tooleval.AgentResult{}, err
	}
	return tooleval.AgentResult{Response: result.Text, State: result.Structured}, nil
}
