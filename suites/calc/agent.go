package calc

import (
	"context"
	"fmt"

	"github.com/tooleval/tooleval"
)

// calls are what the scripted mind asks for, by entry point.
var calls = map[string]tooleval.ToolCall{
	"calc.arithmetic": {Tool: "calculate", Args: tooleval.Raw(`{"expression":"6 * 7"}`)},
	"calc.convert":    {Tool: "convert", Args: tooleval.Raw(`{"value":5,"from":"mile","to":"kilometer"}`)},
}

// scripted is the offline twin of a real mind: it makes one canned call and returns what the tool said.
func scripted(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	call, ok := calls[a.EntryPoint]
	if !ok {
		return tooleval.AgentResult{}, fmt.Errorf("no script for entry point %q", a.EntryPoint)
	}
	result, err := tools.CallTool(ctx, call)
	if err != nil {
		return tooleval.AgentResult{}, err
	}
	if result.IsError {
		return tooleval.AgentResult{Response: result.Text}, nil
	}
	return tooleval.AgentResult{Response: result.Text, State: result.Structured}, nil
}
