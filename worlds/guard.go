package worlds

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// A Refusal is the error of a call that the harness did not let through. The recorder gives the call the status refused
// and the agent an error result with Message.
type Refusal struct {
	Tool    string
	Message string // for the agent
}

// Error is the message for the agent.
func (r *Refusal) Error() string { return r.Message }

// Guard lets only the calls of these tools through to inner; any other ends with a [*Refusal]. Names must be exact:
// case and Unicode form count.
func Guard(inner tooleval.ToolHandler, toolset []tooleval.Tool) tooleval.ToolHandler {
	g := &guard{inner: inner, names: make([]string, len(toolset)), known: make(map[string]bool, len(toolset))}
	for i, t := range toolset {
		g.names[i] = t.Name
		g.known[t.Name] = true
	}
	return g
}

type guard struct {
	inner tooleval.ToolHandler
	names []string
	known map[string]bool
}

func (g *guard) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if refusal := g.refuse(call.Tool); refusal != nil {
		return tooleval.ToolResult{}, refusal
	}
	return g.inner.CallTool(ctx, call)
}

// refuse says why a call of this tool does not go through; nil when it does.
func (g *guard) refuse(tool string) *Refusal {
	switch {
	case g.known[tool]:
		return nil
	case tool == "":
		return &Refusal{Message: "the call names no tool"}
	}
	return &Refusal{Tool: tool, Message: fmt.Sprintf("unknown tool %.100q%s", tool, didYouMean(tool, g.names))}
}

// didYouMean is tooleval.DidYouMean for a name that may be of any length: a name that long is no slip of the pen.
func didYouMean(name string, names []string) string {
	if len(name) > 100*utf8.UTFMax {
		return ""
	}
	return tooleval.DidYouMean(name, names)
}
