package fakellm

import (
	"bytes"
	"net/http"
	"unicode/utf8"
)

// A dialect is one of the three wire formats.
type dialect struct {
	name      string
	requestID string // the header that carries the request's id
	callID    string // the prefix of a call's id
	read      func(raw []byte, h http.Header) (Request, error)
	answer    func(*Request, *Reply) any
	stream    func(*Request, *Reply) []byte
	failure   func(Reply) any
}

var dialects = map[string]*dialect{
	"/v1/messages": {
		name: Anthropic, requestID: "Request-Id", callID: "toolu_",
		read: readAnthropic, answer: answerAnthropic, stream: streamAnthropic, failure: failAnthropic,
	},
	"/v1/chat/completions": {
		name: Chat, requestID: "X-Request-Id", callID: "call_",
		read: readChat, answer: answerChat, stream: streamChat, failure: failOpenAI,
	},
	"/v1/responses": {
		name: Responses, requestID: "X-Request-Id", callID: "call_",
		read: readResponses, answer: answerResponses, stream: streamResponses, failure: failOpenAI,
	},
}

type object = map[string]any

// events collects server-sent events.
type events struct{ buf bytes.Buffer }

// add appends an event; an empty name leaves the event line out.
func (e *events) add(name string, data any) {
	if name != "" {
		e.buf.WriteString("event: " + name + "\n")
	}
	e.buf.WriteString("data: ")
	e.buf.Write(encode(data))
	e.buf.WriteString("\n\n")
}

// pieces cuts a text as a model streams it: at most eight pieces, between characters, of at least four bytes.
func pieces(s string) []string {
	size := max(4, (len(s)+7)/8)
	var out []string
	for len(s) > size {
		cut := size
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

func failOpenAI(r Reply) any {
	return object{"error": object{"message": r.Text, "type": r.ErrorType, "param": nil, "code": r.ErrorType}}
}
