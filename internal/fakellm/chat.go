package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

func readChat(raw []byte, _ http.Header) (Request, error) {
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		MaxTokens     int    `json:"max_tokens"`
		MaxCompletion int    `json:"max_completion_tokens"`
		Parallel      *bool  `json:"parallel_tool_calls"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role       string  `json:"role"`
			Content    content `json:"content"`
			ToolCallID string  `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Strict      bool            `json:"strict"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	req := Request{Dialect: Chat}
	if err := decode(raw, &in); err != nil {
		return req, err
	}
	req.Model, req.Stream, req.includeUsage = in.Model, in.Stream, in.StreamOptions.IncludeUsage
	req.MaxTokens = max(in.MaxTokens, in.MaxCompletion)
	req.Choice = openAIChoice(in.ToolChoice)
	req.Choice.OnlyOne = in.Parallel != nil && !*in.Parallel
	for _, t := range in.Tools {
		f := t.Function
		req.Tools = append(req.Tools, Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters, Strict: f.Strict})
	}
	var system []string
	for _, m := range in.Messages {
		switch m.Role {
		case "system", "developer":
			system = append(system, m.Content.text())
		case "tool":
			req.add(Message{Role: "tool", Results: []Result{{ID: m.ToolCallID, Text: m.Content.text()}}})
		default:
			said := Message{Role: m.Role, Text: m.Content.text()}
			for _, c := range m.ToolCalls {
				said.Calls = append(said.Calls, Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
			}
			req.add(said)
		}
	}
	req.System = strings.Join(system, "\n")
	switch {
	case in.Model == "":
		return req, fmt.Errorf("you must provide a model parameter")
	case len(in.Messages) == 0:
		return req, fmt.Errorf("messages: at least one message is required")
	}
	return req, req.pair()
}

// openAIChoice reads a tool_choice: a word, or an object that names a function (nested in the chat dialect).
func openAIChoice(raw json.RawMessage) Choice {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word == "required" {
			word = "any"
		}
		return Choice{Mode: word}
	}
	var named struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &named) == nil && named.Name+named.Function.Name != "" {
		return Choice{Mode: "tool", Name: named.Name + named.Function.Name}
	}
	return Choice{}
}

func answerChat(req *Request, r *Reply) any {
	m := object{"role": "assistant", "content": r.Text, "refusal": nil}
	if r.Text == "" && len(r.Calls) > 0 {
		m["content"] = nil
	}
	if r.Stop == StopRefusal {
		m["content"], m["refusal"] = nil, r.Text
	}
	if r.Thinking != "" {
		m["reasoning_content"] = r.Thinking
	}
	if len(r.Calls) > 0 {
		calls := []object{}
		for _, c := range r.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function",
				"function": object{"name": c.Name, "arguments": c.Args}})
		}
		m["tool_calls"] = calls
	}
	return object{
		"id": fmt.Sprintf("chatcmpl-%s-%d", req.Run, req.N), "object": "chat.completion", "created": 0, "model": req.Model,
		"choices": []object{{"index": 0, "message": m, "finish_reason": stopChat(r), "logprobs": nil}},
		"usage":   usageChat(r),
	}
}

func stopChat(r *Reply) string {
	switch {
	case r.Stop == StopMaxTokens:
		return "length"
	case r.Stop == StopRefusal:
		return "content_filter"
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func usageChat(r *Reply) object {
	u := r.Usage
	return object{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead}}
}

func streamChat(req *Request, r *Reply) []byte {
	var e events
	chunk := func(choices []object, usage any) {
		c := object{"id": fmt.Sprintf("chatcmpl-%s-%d", req.Run, req.N), "object": "chat.completion.chunk", "created": 0,
			"model": req.Model, "choices": choices}
		if usage != nil {
			c["usage"] = usage
		}
		e.add("", c)
	}
	delta := func(d object, finish any) {
		chunk([]object{{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, s := range pieces(r.Thinking) {
		delta(object{"reasoning_content": s}, nil)
	}
	field := "content"
	if r.Stop == StopRefusal {
		field = "refusal"
	}
	for _, s := range pieces(r.Text) {
		delta(object{field: s}, nil)
	}
	for i, c := range r.Calls {
		delta(object{"tool_calls": []object{{"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, s := range pieces(c.Args) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": s}}}}, nil)
		}
	}
	delta(object{}, stopChat(r))
	if req.includeUsage {
		chunk([]object{}, usageChat(r))
	}
	e.buf.WriteString("data: [DONE]\n\n")
	return e.buf.Bytes()
}
