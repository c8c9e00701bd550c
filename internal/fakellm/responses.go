package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
	Tools       []responsesTool `json:"tools"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   content         `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

func readResponses(raw []byte, _ http.Header) (Request, error) {
	var in struct {
		Model        string          `json:"model"`
		Instructions string          `json:"instructions"`
		Stream       bool            `json:"stream"`
		MaxTokens    int             `json:"max_output_tokens"`
		Parallel     *bool           `json:"parallel_tool_calls"`
		Input        json.RawMessage `json:"input"`
		Tools        []responsesTool `json:"tools"`
		ToolChoice   json.RawMessage `json:"tool_choice"`
	}
	req := Request{Dialect: Responses}
	if err := decode(raw, &in); err != nil {
		return req, err
	}
	req.Model, req.Stream, req.MaxTokens = in.Model, in.Stream, in.MaxTokens
	req.Choice = openAIChoice(in.ToolChoice)
	req.Choice.OnlyOne = in.Parallel != nil && !*in.Parallel
	for _, t := range in.Tools {
		if t.Type == "namespace" {
			for _, f := range t.Tools {
				req.Tools = append(req.Tools, Tool{f.Name, t.Name, f.Description, f.Parameters, f.Strict})
			}
		} else if t.Name != "" {
			req.Tools = append(req.Tools, Tool{t.Name, "", t.Description, t.Parameters, t.Strict})
		}
	}
	var text string
	var items []responsesItem
	if json.Unmarshal(in.Input, &text) == nil {
		items = []responsesItem{{Role: "user", Content: content{{Type: "input_text", Text: text}}}}
	} else if err := decode(in.Input, &items); err != nil {
		return req, fmt.Errorf("input: %w", err)
	}
	system := []string{}
	if in.Instructions != "" {
		system = append(system, in.Instructions)
	}
	for _, it := range items {
		switch {
		case it.Type == "function_call":
			req.add(Message{Role: "assistant", Calls: []Call{{it.CallID, it.Name, it.Namespace, it.Arguments}}})
		case it.Type == "function_call_output":
			var out content
			if err := json.Unmarshal(it.Output, &out); err != nil {
				return req, fmt.Errorf("input: the output of %q is neither text nor a list: %w", it.CallID, err)
			}
			req.add(Message{Role: "tool", Results: []Result{{ID: it.CallID, Text: out.text()}}})
		case it.Role == "system" || it.Role == "developer":
			system = append(system, it.Content.text())
		case it.Role != "":
			req.add(Message{Role: it.Role, Text: it.Content.text()})
		}
	}
	req.System = strings.Join(system, "\n")
	switch {
	case in.Model == "":
		return req, fmt.Errorf("missing required parameter: 'model'")
	case len(items) == 0:
		return req, fmt.Errorf("missing required parameter: 'input'")
	}
	return req, req.pair()
}

// outputItems are the finished items of a reply.
func outputItems(req *Request, r *Reply) []object {
	items := []object{}
	id := func(prefix string) string { return fmt.Sprintf("%s_%s_%d_%d", prefix, req.Run, req.N, len(items)) }
	if r.Thinking != "" {
		items = append(items, object{"type": "reasoning", "id": id("rs"),
			"summary": []object{{"type": "summary_text", "text": r.Thinking}}})
	}
	if r.Text != "" || len(r.Calls) == 0 {
		part := object{"type": "output_text", "text": r.Text, "annotations": []object{}}
		if r.Stop == StopRefusal {
			part = object{"type": "refusal", "refusal": r.Text}
		}
		items = append(items, object{"type": "message", "id": id("msg"), "role": "assistant", "status": "completed",
			"content": []object{part}})
	}
	for _, c := range r.Calls {
		it := object{"type": "function_call", "id": id("fc"), "call_id": c.ID, "name": c.Name, "arguments": c.Args,
			"status": "completed"}
		if c.Namespace != "" {
			it["namespace"] = c.Namespace
		}
		items = append(items, it)
	}
	return items
}

func responseObject(req *Request, r *Reply, status string, output []object) object {
	o := object{"id": fmt.Sprintf("resp_%s_%d", req.Run, req.N), "object": "response", "created_at": 0,
		"model": req.Model, "status": status, "output": output, "error": nil, "incomplete_details": nil, "usage": nil}
	if status != "in_progress" {
		u := r.Usage
		o["usage"] = object{"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  object{"cached_tokens": u.CacheRead},
			"output_tokens_details": object{"reasoning_tokens": 0}}
	}
	if status == "incomplete" {
		o["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	return o
}

func statusResponses(r *Reply) string {
	if r.Stop == StopMaxTokens {
		return "incomplete"
	}
	return "completed"
}

func answerResponses(req *Request, r *Reply) any {
	return responseObject(req, r, statusResponses(r), outputItems(req, r))
}

func streamResponses(req *Request, r *Reply) []byte {
	var e events
	seq := 0
	send := func(name string, data object) {
		data["type"], data["sequence_number"] = name, seq
		seq++
		e.add(name, data)
	}
	send("response.created", object{"response": responseObject(req, r, "in_progress", []object{})})
	send("response.in_progress", object{"response": responseObject(req, r, "in_progress", []object{})})
	items := outputItems(req, r)
	for i, item := range items {
		begun := object{}
		for k, v := range item {
			begun[k] = v
		}
		at := func(more object) object {
			more["item_id"], more["output_index"] = item["id"], i
			return more
		}
		switch item["type"] {
		case "message":
			part := item["content"].([]object)[0]
			kind, field := "output_text", "text"
			if part["type"] == "refusal" {
				kind, field = "refusal", "refusal"
			}
			begun["content"], begun["status"] = []object{}, "in_progress"
			send("response.output_item.added", object{"output_index": i, "item": begun})
			empty := object{"type": part["type"], field: ""}
			send("response.content_part.added", at(object{"content_index": 0, "part": empty}))
			text := part[field].(string)
			for _, s := range pieces(text) {
				send("response."+kind+".delta", at(object{"content_index": 0, "delta": s}))
			}
			send("response."+kind+".done", at(object{"content_index": 0, field: text}))
			send("response.content_part.done", at(object{"content_index": 0, "part": part}))
		case "function_call":
			args := item["arguments"].(string)
			begun["arguments"], begun["status"] = "", "in_progress"
			send("response.output_item.added", object{"output_index": i, "item": begun})
			for _, s := range pieces(args) {
				send("response.function_call_arguments.delta", at(object{"delta": s}))
			}
			send("response.function_call_arguments.done", at(object{"arguments": args}))
		default:
			send("response.output_item.added", object{"output_index": i, "item": begun})
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	status := statusResponses(r)
	send("response."+status, object{"response": responseObject(req, r, status, items)})
	return e.buf.Bytes()
}
