package main

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/tooleval/tooleval"
)

// open is the first request of a step.
func (x *session) open(w work) (anthropic.MessageNewParams, error) {
	cache := anthropic.NewCacheControlEphemeralParam()
	var tools []anthropic.ToolUnionParam
	for _, name := range w.tools {
		spec, ok := x.spec(name)
		if !ok {
			return anthropic.MessageNewParams{}, tooleval.Blamef(tooleval.OwnerUser,
				"the tool %s is needed and was not offered: add it to the task's toolset", name)
		}
		schema := string(spec.Schema)
		if schema == "" {
			schema = `{"type":"object"}`
		}
		tools = append(tools, tool(spec.Name, spec.Description, schema))
	}
	tools = append(tools, tool(submitTool, "Ends the work and hands in its result.", submitSchema(w.schema)))
	*tools[len(tools)-1].GetCacheControl() = cache
	return anthropic.MessageNewParams{
		Model: x.agent.model, MaxTokens: maxTokens, Tools: tools,
		System:       []anthropic.TextBlockParam{{Text: w.system, CacheControl: cache}},
		Messages:     []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("The input:\n\n" + w.input))},
		CacheControl: cache, // of the conversation so far, moving along with it
	}, nil
}

// tool is a tool with its schema byte for byte; the SDK's own type sorts the properties.
func tool(name, description, schema string) anthropic.ToolUnionParam {
	exact := param.Override[anthropic.ToolInputSchemaParam](json.RawMessage(schema))
	t := anthropic.ToolParam{Name: name, InputSchema: exact}
	if description != "" {
		t.Description = anthropic.String(description)
	}
	return anthropic.ToolUnionParam{OfTool: &t}
}

func (x *session) spec(name string) (tooleval.Tool, bool) {
	for _, t := range x.specs {
		if t.Name == name {
			return t, true
		}
	}
	return tooleval.Tool{}, false
}
