package ingest

import (
	"strings"

	"github.com/tooleval/tooleval"
)

func isContent(v value) bool {
	parts := v.get("parts")
	if v.kind() != '{' || parts.kind() != '[' {
		return false
	}
	for _, p := range parts.list() {
		if p.get("type").kind() == '"' { // the GenAI conventions have parts with a type
			return false
		}
	}
	return true
}

func fitsGemini(p *probe) bool {
	first := p.first()
	if first.get("candidates").kind() == '[' {
		return true
	}
	list := p.items(isContent, "contents")
	for _, v := range list {
		if !isContent(v) {
			return false
		}
	}
	return len(list) > 0
}

func readGemini(s *source, yield func(*Recording, error) bool) {
	s.conversations(isContent, func(position string, v value, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		b := newBuilder(s, position)
		contents := v.list()
		var candidate value
		if v.kind() == '{' {
			b.envelope(v)
			contents = v.get("contents").list()
			if list := v.get("candidates").list(); len(list) > 0 {
				candidate = list[0]
				contents = append(contents, candidate.get("content"))
			}
			if m := v.get("modelVersion").str(); m != "" {
				b.rec.Source.Agent = m
			}
			u := v.get("usageMetadata")
			b.usage.add(v.get("responseId").str(), u, step{u.get("promptTokenCount"), u.get("candidatesTokenCount"), u.get("cachedContentTokenCount")})
			if n, ok := u.get("thoughtsTokenCount").integer(); ok && n >= 0 && n < 1<<60 { // counted beside the candidates
				b.usage.out, b.usage.hasOut = b.usage.out+n, true
			}
		}
		if contents == nil {
			return yield(nil, s.bad(position, errNo("contents", v)))
		}
		for _, c := range contents {
			b.content(c)
		}
		if candidate.get("finishReason").is("MAX_TOKENS") {
			b.rec.Ending = tooleval.LimitReached
		}
		b.settled()
		return yield(s.done(b, position))
	})
}

// content adds one content. Whose it is follows from its parts: results come under the role user, tool or function.
func (b *builder) content(c value) {
	model := c.get("role").is("model")
	var text []string
	var calls []found
	for _, p := range c.get("parts").list() {
		if r := either(p, "functionResponse", "function_response"); !r.none() {
			out, failed := geminiResult(r.get("response"))
			b.result(r.get("id").name(), r.get("name").str(), out, failed)
			continue
		}
		call := either(p, "functionCall", "function_call")
		switch {
		case call != nil && model:
			calls = append(calls, geminiCall(call))
		case call != nil:
			b.warn("a function call in a content of the role %.50q is left out", c.get("role").str())
		case p.get("thought").kind() == 't':
		case model:
			if t, ok := p.get("text").text(); ok {
				text = append(text, string(t))
			}
		case p.get("text").kind() == '"':
			b.user()
		}
	}
	if model {
		b.assistant(tooleval.Text(strings.Join(text, "")), calls)
	}
}

func either(v value, a, b string) value {
	if x := v.get(a); x != nil {
		return x
	}
	return v.get(b)
}

// geminiCall reads a functionCall. Empty arguments may be left out there.
func geminiCall(v value) found {
	f := found{id: v.get("id").name(), tool: v.get("name").str(), args: v.get("args")}
	if f.args.none() {
		f.args = value("{}")
	}
	if v.kind() != '{' {
		return found{args: v, malformed: "it is " + v.what() + ", want an object"}
	}
	if f.tool == "" {
		f.args, f.malformed = v, "it names no function"
	}
	return f
}

// geminiResult is the text of a function response. Its keys output and result hold the result when they stand alone, and
// error makes it one; those are the keys that the API's documentation names.
func geminiResult(v value) (tooleval.Text, bool) {
	only, n := value(nil), 0
	failed := !v.get("error").none()
	v.each(func(k, val value) bool {
		if n++; k.is("output") || k.is("result") || k.is("error") {
			only = val
		}
		return true
	})
	if n == 1 && only != nil {
		v = only
	}
	if t, ok := v.text(); ok {
		return t, failed
	}
	return tooleval.Text(v.raw()), failed
}
