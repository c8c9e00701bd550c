package modeluser

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/tooleval/tooleval"
)

type world struct {
	user  User
	inner tooleval.World // nil when there is only the user
	tools []tooleval.Tool
	turn  chan struct{} // held by the one call that talks; the others wait, or give up with their context
	talk  *talk

	mu    sync.Mutex
	fault error // why the last message was not answered
}

// Tools are those of the task.
func (w *world) Tools() []tooleval.Tool { return w.tools }

// State is that of the other world, or why the user could not be asked.
func (w *world) State() (tooleval.State, error) {
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault != nil {
		return nil, fault
	}
	if w.inner == nil {
		return nil, nil
	}
	return w.inner.State()
}

// Close closes the other world.
func (w *world) Close() error {
	if w.inner == nil {
		return nil
	}
	return w.inner.Close()
}

// CallTool hands a message to the user, and any other call to the other world.
func (w *world) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if call.Tool != w.user.tool() {
		if w.inner == nil {
			return tooleval.ErrorResult("unknown tool %.100q", call.Tool), nil
		}
		return w.inner.CallTool(ctx, call)
	}
	var args map[string]json.RawMessage
	var message tooleval.Text
	if err := json.Unmarshal(call.Args, &args); err != nil && len(call.Args) > 0 {
		return tooleval.ErrorResult("arguments are not a JSON object"), nil
	}
	given, ok := args[w.user.arg()]
	if !ok {
		return tooleval.ErrorResult("missing argument %q", w.user.arg()), nil
	}
	if len(given) == 0 || given[0] != '"' || message.UnmarshalJSON(given) != nil {
		return tooleval.ErrorResult("argument %q: want a string", w.user.arg()), nil
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return tooleval.ToolResult{}, context.Cause(ctx)
	}
	if w.talk.over {
		return tooleval.ErrorResult("the user has left"), nil
	}
	text, err := w.talk.say(ctx, string(message))
	if err != nil && ctx.Err() != nil { // it is the run that is over, and not the user who is missing
		return tooleval.ToolResult{}, context.Cause(ctx)
	}
	w.mu.Lock()
	w.fault = err
	w.mu.Unlock()
	if err != nil {
		return tooleval.ToolResult{}, brief(err)
	}
	return tooleval.ToolResult{Text: tooleval.Text(text), EndsRun: w.talk.over}, nil
}
