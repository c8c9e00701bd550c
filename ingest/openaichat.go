package ingest

import (
	"strings"

	"github.com/tooleval/tooleval"
)

func isMessage(v value) bool {
	return v.kind() == '{' && v.get("role").kind() == '"' && v.get("parts") == nil && v.get("messages") == nil
}

// fitsChat wants messages with the marks of OpenAI's dialect, and none of Anthropic's.
func fitsChat(p *probe) bool {
	first := p.first()
	if first.has("traj") || first.has("recording") || first.has("simulations") || first.has("samples") || first.has("resourceSpans") {
		return false
	}
	list := p.items(isMessage, "messages")
	if c := first.path("choices"); c.kind() == '[' && first.get("messages").none() {
		return true // a response by itself
	}
	if len(list) == 0 {
		return false
	}
	anthropic := first.has("stop_reason") || first.has("system") && first.has("messages")
	chat := false
	for _, m := range list {
		if !isMessage(m) || m.get("type").is("message") {
			return false
		}
		switch m.get("role").str() {
		case "tool", "function", "system", "developer":
			chat = true
		}
		if m.has("tool_calls") || m.has("function_call") {
			chat = true
		}
		for _, block := range m.get("content").list() {
			if t := block.get("type").str(); t == "tool_use" || t == "tool_result" || t == "thinking" {
				return false
			}
		}
	}
	return chat || !anthropic
}

func readChat(s *source, yield func(*Recording, error) bool) {
	s.conversations(isMessage, func(position string, v value, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		b := newBuilder(s, position)
		messages := v.list()
		if v.kind() == '{' {
			b.envelope(v)
			messages = v.get("messages").list()
			if messages == nil && v.get("choices").kind() != '[' {
				return yield(nil, s.bad(position, errNo("messages", v)))
			}
		} else if v.kind() != '[' {
			return yield(nil, s.bad(position, errNo("messages", v)))
		}
		for _, m := range messages {
			b.chatMessage(m)
		}
		b.choices(v)
		b.settled()
		return yield(s.done(b, position))
	})
}

// choices adds the message of a response that stands beside the messages of its request.
func (b *builder) choices(v value) {
	choices := v.get("choices").list()
	if len(choices) == 0 {
		return
	}
	if len(choices) > 1 {
		b.warn("the response has %d choices; only the first is a recording", len(choices))
	}
	b.chatMessage(choices[0].get("message"))
	b.usage.add(v.get("id").str(), v.get("usage"), openAI(v.get("usage")))
	if choices[0].get("finish_reason").is("length") {
		b.rec.Ending = tooleval.LimitReached
	}
}

func (b *builder) chatMessage(m value) {
	text := contentText(m.get("content"))
	switch role := m.get("role").str(); role {
	case "assistant":
		b.usage.add(m.get("id").str(), m.get("usage"), openAI(m.get("usage")))
		list := b.chatCalls(m.get("tool_calls"))
		if f := m.get("function_call"); !f.none() {
			list = append(list, chatFunction("", f, m))
		}
		b.assistant(text, list)
	case "tool", "function":
		failed := m.get("is_error").kind() == 't' || m.get("status").is("error")
		b.result(m.get("tool_call_id").name(), m.get("name").str(), text, failed)
	case "user":
		b.user()
	case "system", "developer":
	case "":
		b.warn("a message has no role (it is %s) and is left out", m.what())
	default:
		b.warn("a message of the role %.50q is left out", role)
	}
}

// chatCalls reads the tool_calls of one message. A single call that is not in a list is the same as a list of it.
func (b *builder) chatCalls(v value) []found {
	entries := v.list()
	switch v.kind() {
	case '[', 'n', 0:
	default:
		entries = []value{v}
	}
	list := make([]found, len(entries))
	for i, e := range entries {
		f := e.get("function")
		if f == nil && e.has("name", "arguments") { // the function without its wrapper
			f = e
		}
		list[i] = chatFunction(e.get("id").name(), f, e)
	}
	return list
}

// chatFunction reads {"name", "arguments"}; whole is the entry that it stands in.
func chatFunction(id string, f, whole value) found {
	name := f.get("name").str()
	switch {
	case whole.kind() != '{':
		return found{args: whole, malformed: "it is " + whole.what() + ", want an object"}
	case f.kind() != '{':
		return found{id: id, args: whole, malformed: "its function is " + f.what()}
	case name == "":
		return found{id: id, args: whole, malformed: "it names no function"}
	}
	return found{id: id, tool: name, args: f.get("arguments")}
}

// contentText is the text of a message: a string, or the text parts of a list, a line each. Other parts are named.
func contentText(v value) tooleval.Text {
	if t, ok := v.text(); ok {
		return t
	}
	if v.kind() == '{' {
		return tooleval.Text(v.raw())
	}
	var parts []string
	for _, p := range v.list() {
		if t, ok := p.text(); ok {
			parts = append(parts, string(t))
			continue
		}
		switch kind := p.get("type").str(); kind {
		case "text", "output_text", "input_text":
			t, _ := p.get("text").text()
			parts = append(parts, string(t))
		case "refusal":
			t, _ := p.get("refusal").text()
			parts = append(parts, string(t))
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "reasoning", "reasoning_text", "tool_reference": // not words to anybody
		default:
			parts = append(parts, "["+kind+"]")
		}
	}
	return tooleval.Text(strings.Join(parts, "\n"))
}
