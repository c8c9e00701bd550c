package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
)

func readAnthropic(raw []byte, h http.Header) (Request, error) {
	var in struct {
		Model     string          `json:"model"`
		MaxTokens *int            `json:"max_tokens"`
		System    content         `json:"system"`
		Stream    bool            `json:"stream"`
		Temp      json.RawMessage `json:"temperature"`
		TopP      json.RawMessage `json:"top_p"`
		TopK      json.RawMessage `json:"top_k"`
		Messages  []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
			Strict      bool            `json:"strict"`
		} `json:"tools"`
		ToolChoice struct {
			Type    string `json:"type"`
			Name    string `json:"name"`
			OnlyOne bool   `json:"disable_parallel_tool_use"`
		} `json:"tool_choice"`
	}
	req := Request{Dialect: Anthropic}
	if err := decode(raw, &in); err != nil {
		return req, err
	}
	req.Model, req.Stream, req.System = in.Model, in.Stream, in.System.text()
	req.Choice = Choice{in.ToolChoice.Type, in.ToolChoice.Name, in.ToolChoice.OnlyOne}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema, Strict: t.Strict})
	}
	for _, m := range in.Messages {
		said, results := Message{Role: m.Role}, Message{Role: "tool"}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				said.Calls = append(said.Calls, Call{ID: b.ID, Name: b.Name, Args: string(b.Input)})
			case "tool_result":
				results.Results = append(results.Results, Result{ID: b.ToolUseID, Text: b.Content.text(), IsError: b.IsError})
			}
		}
		said.Text = m.Content.text()
		if len(results.Results) > 0 {
			req.add(results)
		}
		if said.Text != "" || len(said.Calls) > 0 || len(results.Results) == 0 {
			req.add(said)
		}
	}
	version := h.Get("Anthropic-Version")
	switch {
	case version == "":
		return req, fmt.Errorf("anthropic-version: header is required")
	case in.Model == "":
		return req, fmt.Errorf("model: field required")
	case in.MaxTokens == nil:
		return req, fmt.Errorf("max_tokens: field required")
	case len(in.Messages) == 0:
		return req, fmt.Errorf("messages: at least one message is required")
	case version >= "2026-10-21" && (in.Temp != nil || in.TopP != nil || in.TopK != nil):
		return req, fmt.Errorf("temperature, top_p and top_k: not supported in API version %s", version)
	}
	req.MaxTokens = *in.MaxTokens
	if _, ok := req.Tool(req.Choice.Name); req.Choice.Mode == "tool" && !ok {
		return req, fmt.Errorf("tool_choice: tool %q not found in provided tools", req.Choice.Name)
	}
	return req, req.pair()
}

func answerAnthropic(req *Request, r *Reply) any {
	blocks := []object{}
	if r.Thinking != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": r.Thinking, "signature": "sig"})
	}
	if r.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": r.Text})
	}
	for _, c := range r.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": rawArgs(c.Args)})
	}
	m := messageAnthropic(req, r)
	m["content"], m["stop_reason"] = blocks, stopAnthropic(r)
	return m
}

func messageAnthropic(req *Request, r *Reply) object {
	u := r.Usage
	return object{
		"id": fmt.Sprintf("msg_%s_%d", req.Run, req.N), "type": "message", "role": "assistant", "model": req.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{
			"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": u.Output,
			"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		},
	}
}

func stopAnthropic(r *Reply) string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func streamAnthropic(req *Request, r *Reply) []byte {
	var e events
	index := 0
	part := func(start object, deltaType, field string, text []string) {
		e.add("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		for _, s := range text {
			e.add("content_block_delta", object{"type": "content_block_delta", "index": index,
				"delta": object{"type": deltaType, field: s}})
		}
		e.add("content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	e.add("message_start", object{"type": "message_start", "message": messageAnthropic(req, r)})
	e.add("ping", object{"type": "ping"})
	if r.Thinking != "" {
		part(object{"type": "thinking", "thinking": "", "signature": "sig"}, "thinking_delta", "thinking", pieces(r.Thinking))
	}
	if r.Text != "" {
		part(object{"type": "text", "text": ""}, "text_delta", "text", pieces(r.Text))
	}
	for _, c := range r.Calls {
		part(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
			"input_json_delta", "partial_json", pieces(c.Args))
	}
	e.add("message_delta", object{"type": "message_delta",
		"delta": object{"stop_reason": stopAnthropic(r), "stop_sequence": nil},
		"usage": object{"output_tokens": r.Usage.Output}})
	e.add("message_stop", object{"type": "message_stop"})
	return e.buf.Bytes()
}

func failAnthropic(r Reply) any {
	return object{"type": "error", "error": object{"type": r.ErrorType, "message": r.Text}}
}
