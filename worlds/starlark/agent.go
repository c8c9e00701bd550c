package starlark

import (
	"context"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/tooleval/tooleval"
)

// Agent makes an agent of a function agent(task, tools). task is a dict with id, description, entry_point, input and
// tools (their names). tools.NAME(key = value, …) and tools.call("NAME", {…}) call a tool and return a struct: text,
// data (the structured result, or the text where that is JSON, else None) and error. The function returns the final
// answer as a string, or a dict with response and state; fail("…") gives up.
//
// The agent is bound by the same steps as a tool. It keeps nothing between runs, so it may be used concurrently.
func (p *Program) Agent(function string) (tooleval.Agent, error) {
	f, err := p.function(function, 2)
	if err != nil {
		return nil, err
	}
	return &agent{p, f}, nil
}

// Mind is Agent as a mind of that name.
func (p *Program) Mind(name, function string) tooleval.Mind {
	return tooleval.Mind{Name: name, Description: "scripted in " + p.name,
		New: func(context.Context, func(string) string) (tooleval.Agent, error) { return p.Agent(function) }}
}

type agent struct {
	program *Program
	f       *starlark.Function
}

// Fingerprint is the script.
func (a *agent) Fingerprint() any {
	return map[string]any{"agent": "starlark", "source_sha256": a.program.sha256, "function": a.f.Name()}
}

func (a *agent) Run(ctx context.Context, t tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	names := make([]starlark.Value, len(t.Tools))
	for i, tool := range t.Tools {
		names[i] = starlark.String(tool.Name)
	}
	input := starlark.Value(starlark.None)
	if t.Input != nil {
		var err error
		if input, err = parseJSON(t.Input); err != nil {
			return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerTask, "the task's input: %w", err)
		}
	}
	task := starlark.NewDict(5)
	for _, item := range []starlark.Tuple{
		{starlark.String("id"), starlark.String(t.TaskID)},
		{starlark.String("description"), starlark.String(t.Description)},
		{starlark.String("entry_point"), starlark.String(t.EntryPoint)},
		{starlark.String("input"), input},
		{starlark.String("tools"), starlark.NewList(names)},
	} {
		if err := task.SetKey(item[0], item[1]); err != nil {
			return tooleval.AgentResult{}, err
		}
	}
	v, err := a.program.call(ctx, a.f, task, &toolbox{ctx, tools, t.Tools})
	if err != nil {
		return tooleval.AgentResult{}, fmt.Errorf("%s: %w", a.program.name, err)
	}
	return agentResult(v)
}

func agentResult(v starlark.Value) (tooleval.AgentResult, error) {
	var out tooleval.AgentResult
	switch x := v.(type) {
	case starlark.NoneType:
	case starlark.String:
		out.Response = tooleval.Text(x)
	case *starlark.Dict:
		for _, item := range x.Items() {
			key, _ := starlark.AsString(item[0])
			switch key {
			case "response":
				s, ok := starlark.AsString(item[1])
				if !ok {
					return out, fmt.Errorf("response: want a string, got %s", item[1].Type())
				}
				out.Response = tooleval.Text(s)
			case "state":
				b, err := canonical(item[1], DefaultMaxBytes)
				if err != nil {
					return out, fmt.Errorf("state: %w", err)
				}
				out.State = b
			default:
				return out, fmt.Errorf("unknown key %s in what the agent returned; it may have response and state", item[0])
			}
		}
	default:
		return out, fmt.Errorf("the agent returned a %s; want a string or a dict", v.Type())
	}
	return out, nil
}

// A toolbox is the tools of an agent.
type toolbox struct {
	ctx   context.Context // of this one run, which the script has no other way to hand on
	tools tooleval.ToolHandler
	specs []tooleval.Tool
}

func (t *toolbox) String() string        { return "tools" }
func (t *toolbox) Type() string          { return "tools" }
func (t *toolbox) Freeze()               {}
func (t *toolbox) Truth() starlark.Bool  { return len(t.specs) > 0 }
func (t *toolbox) Hash() (uint32, error) { return 0, errUnhashable("tools") }

func (t *toolbox) AttrNames() []string {
	names := []string{"call"}
	for _, s := range t.specs {
		names = append(names, s.Name)
	}
	return names
}

func (t *toolbox) Attr(name string) (starlark.Value, error) {
	if name == "call" {
		return starlark.NewBuiltin("call", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
			kwargs []starlark.Tuple) (starlark.Value, error) {
			var tool string
			var arguments starlark.Value = new(starlark.Dict)
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "tool", &tool, "args?", &arguments); err != nil {
				return nil, err
			}
			return t.call(tool, arguments)
		}), nil
	}
	for _, s := range t.specs {
		if s.Name == name {
			return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
				kwargs []starlark.Tuple) (starlark.Value, error) {
				if len(args) > 0 {
					return nil, fmt.Errorf("%s: give the arguments by name", name)
				}
				arguments := starlark.NewDict(len(kwargs))
				for _, kw := range kwargs {
					if err := arguments.SetKey(kw[0], kw[1]); err != nil {
						return nil, err
					}
				}
				return t.call(name, arguments)
			}), nil
		}
	}
	return nil, nil
}

func (t *toolbox) call(tool string, arguments starlark.Value) (starlark.Value, error) {
	raw, err := dumps(arguments, DefaultMaxBytes)
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s: %w", tool, err)
	}
	r, err := t.tools.CallTool(t.ctx, tooleval.ToolCall{Tool: tool, Args: raw})
	if err != nil {
		return nil, err
	}
	return resultStruct(r), nil
}

// resultStruct is a tool's result as scripts see it.
func resultStruct(r tooleval.ToolResult) starlark.Value {
	data := starlark.Value(starlark.None)
	raw := r.Structured
	if raw == nil {
		raw = tooleval.Raw(r.Text)
	}
	if v, err := parseJSON(raw); err == nil {
		data = v
	}
	return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{
		"text": starlark.String(r.Text), "data": data, "error": starlark.Bool(r.IsError), "ends_run": starlark.Bool(r.EndsRun),
	})
}
