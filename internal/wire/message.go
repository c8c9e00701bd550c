// Package wire reads and writes JSON-RPC 2.0 messages, one a line: the framing of docs/protocol.md. Both sides of the
// protocol and the program that checks a side share it.
//
//	r := wire.NewReader(stdout, wire.MaxLine)
//	line, err := r.Next()
//	m, err := wire.Parse(line)
//
// Values inside a message stay the bytes that they came as, so numbers keep every digit and strings their escapes.
// Batches are not part of the protocol.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/tooleval/tooleval"
)

// The error codes of the protocol. The first five are JSON-RPC's own.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603

	RunFailed  = -32000 // the agent could not do its work; data.owner says whose fault it is
	Cancelled  = -32001 // the run ended because of cancel
	NoRun      = -32002 // a tools/call outside a run
	CallFailed = -32003 // the harness or the world broke during a tools/call; the tool itself said nothing
)

// A Message is one JSON-RPC message: a request (Method and ID), a notification (Method alone), or a response (ID and
// one of Result and Error).
type Message struct {
	// ID is a string or a number as it was spelt, or null in a response to a request whose id could not be read.
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// An Error is the error member of a response.
type Error struct {
	Code    int           `json:"code"`
	Message tooleval.Text `json:"message"`
	Data    tooleval.Raw  `json:"data,omitempty"`
}

// Error is the message with its code.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", string(e.Message), e.Code) }

// IsRequest reports whether m wants an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m is a notification.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether m is an answer.
func (m *Message) IsResponse() bool { return m.Method == "" }

// Answers reports whether m is the response to the request with this number. A peer whose numbers are floats may spell
// it 1.0.
func (m *Message) Answers(id int64) bool {
	n, ok := m.AnswerTo()
	return ok && n == id
}

// AnswerTo is the number of the request that m answers, where its id is a number without a fraction.
func (m *Message) AnswerTo() (int64, bool) {
	if !m.IsResponse() || len(m.ID) == 0 {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(m.ID), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(m.ID), 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// An InvalidError is a line that is a JSON-RPC 2.0 message in intent but breaks its rules. A peer answers a broken
// request with it, so that the sender does not wait for ever.
type InvalidError struct{ Why string }

// Error is the reason.
func (e *InvalidError) Error() string { return e.Why }

// errNoise is any other line.
var errNoise = errors.New("not a JSON-RPC 2.0 message")

// Parse reads one line. The message aliases nothing of it. The error is an *InvalidError for a message that breaks the
// rules and any other error for a line that is none: no JSON object, or one without "jsonrpc": "2.0".
func Parse(line []byte) (Message, error) {
	var raw struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t\r"), []byte("{")) {
		return Message{}, errNoise // cheaply: there may be a flood of it
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return Message{}, fmt.Errorf("%w: %w", errNoise, err)
	}
	if string(raw.JSONRPC) != `"2.0"` {
		return Message{}, errNoise
	}
	m := Message{ID: raw.ID, Params: raw.Params, Result: raw.Result}
	if raw.Method != nil {
		if json.Unmarshal(raw.Method, &m.Method) != nil || m.Method == "" {
			return m, &InvalidError{"the method is not a name"}
		}
		if raw.ID != nil && !isID(raw.ID) {
			return m, &InvalidError{"the id of a request is neither a string nor a number"}
		}
		return m, nil
	}
	if raw.Error != nil && string(raw.Error) != "null" {
		// Some libraries send "result": null beside an error.
		if m.Result != nil && string(m.Result) != "null" {
			return m, &InvalidError{"a response has both a result and an error"}
		}
		m.Result = nil
		if err := json.Unmarshal(raw.Error, &m.Error); err != nil {
			return m, &InvalidError{fmt.Sprintf("the error of a response is malformed: %v", err)}
		}
	}
	switch {
	case m.Result == nil && m.Error == nil:
		return m, &InvalidError{"neither a method, nor a result, nor an error"}
	case m.ID == nil:
		return m, &InvalidError{"a response without an id"}
	case !isID(m.ID) && string(m.ID) != "null":
		return m, &InvalidError{"the id of a response is neither a string nor a number"}
	}
	return m, nil
}

func isID(b []byte) bool {
	return len(b) > 0 && (b[0] == '"' || b[0] == '-' || b[0] >= '0' && b[0] <= '9')
}

// Append appends m as one line, line feed included. Line breaks inside raw values, which can only be insignificant
// space there, become spaces; every other byte of them stays.
func (m *Message) Append(out []byte) []byte {
	out = append(out, `{"jsonrpc":"2.0"`...)
	if m.ID != nil {
		out = appendRaw(append(out, `,"id":`...), m.ID)
	}
	if m.Method != "" {
		out = append(append(out, `,"method":`...), Marshal(m.Method)...)
		if m.Params != nil {
			out = appendRaw(append(out, `,"params":`...), m.Params)
		}
		return append(out, "}\n"...)
	}
	if m.Error != nil {
		out = append(append(out, `,"error":`...), Marshal(m.Error)...)
	} else {
		out = appendRaw(append(out, `,"result":`...), m.Result)
	}
	return append(out, "}\n"...)
}

func appendRaw(out, raw []byte) []byte {
	if len(raw) == 0 {
		return append(out, "null"...)
	}
	at := len(out)
	out = append(out, raw...)
	for i := at; i < len(out); i++ {
		if out[i] == '\n' || out[i] == '\r' {
			out[i] = ' '
		}
	}
	return out
}

// Encode encodes v without escaping <, > and &.
func Encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Marshal is Encode of a value that always has an encoding; another gives null.
func Marshal(v any) json.RawMessage {
	b, err := Encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// Number is n as an id.
func Number(n int64) json.RawMessage { return strconv.AppendInt(nil, n, 10) }

// Fail is the response to a request that failed. Data is nil where there is none.
func Fail(id json.RawMessage, code int, message string, data any) Message {
	if id == nil {
		id = json.RawMessage("null")
	}
	e := &Error{Code: code, Message: tooleval.Text(bytes.ToValidUTF8([]byte(message), []byte("\uFFFD")))}
	if data != nil {
		e.Data = tooleval.Raw(Marshal(data))
	}
	return Message{ID: id, Error: e}
}
