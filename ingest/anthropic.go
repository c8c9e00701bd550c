package ingest

import (
	"strings"

	"github.com/tooleval/tooleval"
)

// fitsAnthropic wants messages of user and assistant alone, with the marks of Anthropic's dialect or none of any.
func fitsAnthropic(p *probe) bool {
	first := p.first()
	if first.has("traj") || first.has("recording") || first.has("simulations") || first.has("samples") {
		return false
	}
	list := p.items(isMessage, "messages")
	if len(list) == 0 {
		return false
	}
	for _, m := range list {
		role := m.get("role").str()
		if !isMessage(m) || role != "user" && role != "assistant" || m.has("tool_calls") || m.has("function_call") {
			return false
		}
		if m.get("type").is("message") && !m.has("stop_reason") {
			return false // an item of the Responses API
		}
		for _, block := range m.get("content").list() {
			if t := block.get("type").str(); t == "input_text" || t == "output_text" || t == "image_url" {
				return false
			}
		}
	}
	return true
}

func readAnthropic(s *source, yield func(*Recording, error) bool) {
	s.conversations(isMessage, func(position string, v value, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		b := newBuilder(s, position)
		messages := v.list()
		if v.kind() == '{' {
			b.envelope(v)
			messages = v.get("messages").list()
			if r := v.get("response"); r.get("content") != nil { // a request with its response
				messages = append(messages, r)
			}
		}
		if messages == nil {
			return yield(nil, s.bad(position, errNo("messages", v)))
		}
		b.blocks(messages)
		if stop := v.get("stop_reason"); stop.is("max_tokens") && b.rec.Ending != tooleval.LimitReached {
			b.rec.Ending = tooleval.LimitReached
		}
		b.settled()
		return yield(s.done(b, position))
	})
}

// blocks adds messages. Records with one message id are parts of one message, as a stream writes them.
func (b *builder) blocks(messages []value) {
	for i := 0; i < len(messages); {
		m := messages[i]
		id := m.get("id").str()
		parts := []value{m}
		for i++; id != "" && i < len(messages) && messages[i].get("id").is(id); i++ {
			parts = append(parts, messages[i])
		}
		switch role := m.get("role").str(); role {
		case "assistant":
			b.anthropicTurn(id, parts)
		case "user":
			b.user()
			for _, p := range parts {
				b.toolResults(p.get("content").list())
			}
		default:
			b.warn("a message of the role %.50q is left out", role)
		}
	}
}

func (b *builder) anthropicTurn(id string, parts []value) {
	var text []string
	var calls []found
	var results []value
	for _, p := range parts {
		if t, ok := p.get("content").text(); ok {
			text = append(text, string(t))
		}
		for _, block := range p.get("content").list() {
			switch kind := block.get("type").str(); {
			case kind == "text":
				t, _ := block.get("text").text()
				text = append(text, string(t))
			case kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use":
				f := found{id: block.get("id").name(), tool: block.get("name").str(), args: block.get("input"), server: block.get("server_name").str()}
				if f.tool == "" {
					f.args, f.malformed = block, "it names no tool"
				}
				calls = append(calls, f)
			case strings.HasSuffix(kind, "tool_result"): // of a tool that the provider ran itself
				results = append(results, block)
			case block.kind() != '{':
				b.warn("a block of a message is %s, want an object; it is left out", block.what())
			}
		}
		b.usage.addAnthropic(id, p.get("usage"))
		if p.get("stop_reason").is("max_tokens") {
			b.rec.Ending = tooleval.LimitReached
		}
	}
	b.assistant(tooleval.Text(strings.Join(text, "\n")), calls)
	if len(results) > 0 {
		b.toolResults(results)
	}
}

func (b *builder) toolResults(blocks []value) {
	for _, block := range blocks {
		kind := block.get("type").str()
		if !strings.HasSuffix(kind, "tool_result") {
			continue
		}
		content := block.get("content")
		failed := block.get("is_error").kind() == 't' || strings.HasSuffix(content.get("type").str(), "_error")
		b.result(block.get("tool_use_id").name(), "", contentText(content), failed)
	}
}
