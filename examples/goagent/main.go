// Command goagent is a whole agent in Go: it solves the suite calc by rules instead of a model.
//
//	go build -o goagent ./examples/goagent
//	tooleval run --suite calc --agent cmd:./goagent --runs 3
package main

import (
	"context"
	"fmt"
	"regexp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
)

var (
	product = regexp.MustCompile(`\d+ \* \d+`)
	length  = regexp.MustCompile(`How many (\w+?)s? are (\d+) (\w+?)s?\?`)
)

func main() {
	agents.Main(agents.Server{Name: "goagent", Any: tooleval.AgentFunc(run)})
}

func run(ctx context.Context, task tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	var call tooleval.ToolCall
	if m := product.FindString(task.Description); m != "" {
		call = tooleval.ToolCall{Tool: "calculate", Args: tooleval.Raw(fmt.Sprintf(`{"expression":%q}`, m))}
	} else if m := length.FindStringSubmatch(task.Description); m != nil {
		call = tooleval.ToolCall{Tool: "convert", Args: tooleval.Raw(fmt.Sprintf(`{"value":%s,"from":%q,"to":%q}`, m[2], m[3], m[1]))}
	} else {
		return tooleval.AgentResult{Response: "I can't do this."}, nil
	}
	result, err := tools.CallTool(ctx, call)
	if err != nil {
		return tooleval.AgentResult{}, err // no answer at all; that a tool says no is result.IsError
	}
	return tooleval.AgentResult{Response: result.Text, State: result.Structured}, nil
}
