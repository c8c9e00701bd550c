package tooleval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// A Tool is something an agent may call, as the agent sees it.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of the arguments: an object schema. Empty means an object with any properties.
	Schema Raw `json:"input_schema,omitempty"`
}

// A ToolCall is one request of an agent to a tool.
type ToolCall struct {
	// ID is the agent's own name for the call; it may be empty or repeat, and nothing is matched by it.
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool"`
	// Args are the argument bytes as the agent sent them. They should be a JSON object but may be anything: an agent
	// that sends broken JSON is recorded, not repaired.
	Args Raw `json:"args,omitempty"`
}

// A ToolResult is a tool's answer. IsError means that the tool said no; the agent sees that and may go on.
type ToolResult struct {
	// Text is what a model reads.
	Text Text `json:"text,omitempty"`
	// Structured is the same answer as a JSON value, for agents that take one; empty when the tool has only text.
	Structured Raw  `json:"structured,omitempty"`
	IsError    bool `json:"is_error,omitempty"`
	// EndsRun says that nothing is left to be done after this answer: a user said goodbye, or somebody else took over.
	// The harness refuses every later call and ends the agent's context; the run counts as completed.
	EndsRun bool `json:"ends_run,omitempty"`
}

// TextResult is a successful result that carries s alone.
func TextResult(s string) ToolResult { return ToolResult{Text: Text(s)} }

// JSONResult is a successful result whose text is the JSON encoding of v and whose structured form is the same value.
// A value that has no JSON encoding becomes an error result.
func JSONResult(v any) ToolResult {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false) // a model should read <, not \u003c
	if err := e.Encode(v); err != nil {
		return ErrorResult("the result has no JSON form: %v", err)
	}
	b := bytes.TrimRight(buf.Bytes(), "\n")
	return ToolResult{Text: Text(b), Structured: b}
}

// ErrorResult is a tool's refusal, in words for the agent.
func ErrorResult(format string, args ...any) ToolResult {
	return ToolResult{Text: Text(fmt.Sprintf(format, args...)), IsError: true}
}

// A ToolHandler answers tool calls. CallTool may be called concurrently. A returned error means that the harness or the
// world broke, never that the tool said no: that is ToolResult.IsError.
type ToolHandler interface {
	CallTool(ctx context.Context, call ToolCall) (ToolResult, error)
}

// ToolHandlerFunc makes a ToolHandler of a function.
type ToolHandlerFunc func(ctx context.Context, call ToolCall) (ToolResult, error)

// CallTool calls f.
func (f ToolHandlerFunc) CallTool(ctx context.Context, call ToolCall) (ToolResult, error) {
	return f(ctx, call)
}
