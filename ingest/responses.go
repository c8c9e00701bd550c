package ingest

import (
	"strings"

	"github.com/tooleval/tooleval"
)

// isItem reports whether v is an item of the Responses API that is no plain chat message.
func isItem(v value) bool {
	if v.kind() != '{' || v.has("jsonrpc") || v.has("object") {
		return false
	}
	switch t := v.get("type").str(); t {
	case "function_call", "function_call_output", "reasoning", "mcp_call", "custom_tool_call", "custom_tool_call_output":
		return true
	case "message":
		return v.has("role") && !v.has("stop_reason")
	}
	return false
}

// isLooseItem also takes the messages without a type that an input may hold.
func isLooseItem(v value) bool { return isItem(v) || v.get("type") == nil && isMessage(v) }

func fitsResponses(p *probe) bool {
	first := p.first()
	if first.get("object").is("response") {
		return true
	}
	list := p.items(isLooseItem, "input", "output", "items")
	seen := false
	for _, v := range list {
		if !isLooseItem(v) {
			return false
		}
		seen = seen || isItem(v)
	}
	return seen
}

func readResponses(s *source, yield func(*Recording, error) bool) {
	s.conversations(isLooseItem, func(position string, v value, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		b := newBuilder(s, position)
		items := v.list()
		if v.kind() == '{' {
			b.envelope(v)
			for _, k := range []string{"input", "items", "output"} {
				if list := v.get(k).list(); list != nil {
					items = append(append([]value{}, items...), list...)
				}
			}
			b.usage.add(v.get("id").str(), v.get("usage"), openAI(v.get("usage")))
		}
		if items == nil {
			return yield(nil, s.bad(position, errNo("items (input, output or items)", v)))
		}
		b.items(items)
		b.responseStatus(v)
		return yield(s.done(b, position))
	})
}

// items adds items. Calls between which nobody answered were made at once.
func (b *builder) items(items []value) {
	var group []found
	var text []string
	flush := func() {
		b.assistant(tooleval.Text(strings.Join(text, "\n")), group)
		group, text = nil, nil
	}
	for _, v := range items {
		switch kind := v.get("type").str(); {
		case kind == "function_call":
			group = append(group, responseCall(v, v.get("arguments")))
		case kind == "custom_tool_call": // its input is free text, which is no object
			t, _ := v.get("input").text()
			f := responseCall(v, nil)
			f.argsText = &t
			group = append(group, f)
		case kind == "function_call_output", kind == "custom_tool_call_output":
			flush()
			b.result(v.get("call_id").name(), "", contentText(v.get("output")), v.get("is_error").kind() == 't')
		case kind == "mcp_call":
			flush()
			f := responseCall(v, v.get("arguments"))
			f.server = v.get("server_label").str()
			f.id = v.get("id").name()
			b.calls([]found{f})
			i := len(b.open) - 1
			if e := v.get("error"); !e.none() {
				b.answer(i, contentText(e), true)
			} else if o, ok := v.get("output").text(); ok {
				b.answer(i, o, false)
			}
			b.last = "result"
		case v.get("role").is("assistant"):
			text = append(text, string(contentText(v.get("content"))))
			if len(group) == 0 && !nextIsCall(items, v) {
				flush()
			}
		case v.get("role").is("user"):
			flush()
			b.user()
		case v.get("role").kind() == '"' || kind == "reasoning":
		default:
			b.warn("an item of the type %.50q is left out", kind)
		}
	}
	flush()
	b.settled()
}

// nextIsCall reports whether a call follows an item in the same turn, so that the item's text stands beside a call.
func nextIsCall(items []value, v value) bool {
	for i := range items {
		if len(items[i]) == 0 || &items[i][0] != &v[0] {
			continue
		}
		for _, next := range items[i+1:] {
			switch next.get("type").str() {
			case "function_call", "mcp_call", "custom_tool_call":
				return true
			case "reasoning":
			default:
				return false
			}
		}
	}
	return false
}

func responseCall(v, args value) found {
	name := v.get("name").str()
	if name == "" {
		return found{id: v.get("call_id").name(), args: v, malformed: "it names no function"}
	}
	return found{id: v.get("call_id").name(), tool: name, args: args}
}

// responseStatus takes the status of a response object.
func (b *builder) responseStatus(v value) {
	switch v.get("status").str() {
	case "failed":
		why, _ := v.path("error", "message").text()
		b.broke(tooleval.Errored, tooleval.OwnerInfra, "the response failed: "+why)
	case "incomplete":
		if v.path("incomplete_details", "reason").is("max_output_tokens") {
			b.rec.Ending = tooleval.LimitReached
		} else {
			b.rec.Ending = ""
		}
	case "cancelled":
		b.rec.Ending = tooleval.Cancelled
	}
}
