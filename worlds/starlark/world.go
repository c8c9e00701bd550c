package starlark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/statepatch"
)

// A world is the world of one run. Calls that come at the same time are answered one after the other.
type world struct {
	factory *Factory
	spec    tooleval.WorldSpec

	mu     sync.Mutex
	state  *dict
	ctx    *callContext
	broken error // the first fault of the script; the state is not to be trusted after it
}

func (w *world) Tools() []tooleval.Tool { return w.spec.Tools }
func (w *world) Close() error           { return nil }

func (w *world) tool(name string) (tooleval.Tool, bool) {
	for _, t := range w.spec.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return tooleval.Tool{}, false
}

// CallTool calls the function of the tool.
func (w *world) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return tooleval.ToolResult{}, err
	}
	t, ok := w.tool(call.Tool)
	if !ok {
		return tooleval.ErrorResult("unknown tool %.100q", call.Tool), nil
	}
	f, err := w.factory.program.function(w.factory.functionOf(t.Name), 3)
	if err != nil {
		return w.fault(err)
	}
	raw := call.Args
	if len(raw) == 0 {
		raw = tooleval.Raw("{}")
	}
	args, err := parseJSON(raw)
	if err != nil {
		return tooleval.ErrorResult("arguments: %v", err), nil
	}
	if _, ok := args.(*starlark.Dict); !ok {
		return tooleval.ErrorResult("arguments are not a JSON object"), nil
	}
	if problem := w.factory.schema(t).check(argument, args); problem != "" {
		return tooleval.ErrorResult("Error: %s", problem), nil
	}
	w.ctx.tool = t.Name
	w.ctx.calls++
	v, err := w.factory.program.call(ctx, f, w.state, args, w.ctx)
	if err == nil {
		var result tooleval.ToolResult
		if result, err = toResult(v, w.factory.config.MaxBytes); err == nil {
			return result, nil
		}
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return tooleval.ErrorResult("%s", r.message), nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return tooleval.ToolResult{}, cause
	}
	return w.fault(err)
}

func (w *world) fault(err error) (tooleval.ToolResult, error) {
	err = tooleval.Blamef(tooleval.OwnerWorld, "%s: %w", w.factory.config.Name, err)
	if w.broken == nil {
		w.broken = err
	}
	return tooleval.ToolResult{}, err
}

// State is the state as JSON with sorted keys, or its changes. After a fault of the script it is that fault.
func (w *world) State() (tooleval.State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return nil, w.broken
	}
	b, err := w.encode()
	if err != nil {
		return nil, tooleval.Blamef(tooleval.OwnerWorld, "%s: the state: %w", w.factory.config.Name, err)
	}
	return b, nil
}

func (w *world) encode() (tooleval.State, error) {
	if !w.factory.config.Changes {
		if !w.state.touched() {
			return w.factory.base.json, nil
		}
		e := encoder{out: make([]byte, 0, len(w.factory.base.json)+4096), max: w.factory.config.MaxBytes}
		err := e.value(w.state, maxDepth)
		return e.out, err
	}
	d := differ{max: w.factory.config.MaxBytes}
	if err := d.diff("", w.factory.base.root, w.state, maxDepth); err != nil {
		return nil, err
	}
	p := statepatch.Patch{Base: w.factory.digest, Ops: d.ops}
	if p.Ops == nil {
		p.Ops = []statepatch.Op{}
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("the changes have no JSON form: %w", err)
	}
	return b, nil
}
