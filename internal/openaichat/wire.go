package openaichat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Request is one request for a completion. Zero fields are not sent.
type Request struct {
	Model       string     `json:"model"`
	Messages    []Message  `json:"messages"`
	Tools       []Tool     `json:"tools,omitempty"`
	ToolChoice  ToolChoice `json:"tool_choice,omitzero"`
	Parallel    *bool      `json:"parallel_tool_calls,omitempty"`
	Temperature *float64   `json:"temperature,omitempty"`
	Seed        *int64     `json:"seed,omitempty"`
	// MaxTokens bounds the output. It is sent as max_completion_tokens to api.openai.com and as max_tokens elsewhere.
	MaxTokens int `json:"-"`
}

type wireRequest struct {
	Request
	MaxTokens           int `json:"max_tokens,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
}

// A Message is one message of the conversation. Role is system, user, assistant or tool.
type Message struct {
	Role    string
	Content string
	// ToolCalls are an assistant's calls; each must be answered by a message of the role tool with its ToolCallID.
	ToolCalls  []ToolCall
	ToolCallID string
	// Refusal and Reasoning are read from replies and not sent back.
	Refusal   string
	Reasoning string
}

// MarshalJSON writes the content as null when an assistant only calls tools: some servers refuse an empty text there.
func (m Message) MarshalJSON() ([]byte, error) {
	w := struct {
		Role       string     `json:"role"`
		Content    *string    `json:"content"`
		ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}{Role: m.Role, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		w.Content = &m.Content
	}
	return encode(w)
}

// UnmarshalJSON reads what servers send: the content may be a string, null or a list of parts.
func (m *Message) UnmarshalJSON(b []byte) error {
	var w struct {
		Role       string     `json:"role"`
		Content    text       `json:"content"`
		ToolCalls  []ToolCall `json:"tool_calls"`
		ToolCallID string     `json:"tool_call_id"`
		Refusal    text       `json:"refusal"`
		Reasoning  text       `json:"reasoning_content"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*m = Message{w.Role, string(w.Content), w.ToolCalls, w.ToolCallID, string(w.Refusal), string(w.Reasoning)}
	return nil
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	// Parameters are the JSON Schema of the arguments, sent byte for byte (but for space).
	Parameters json.RawMessage
	// Strict asks the server to hold the model to the schema.
	Strict bool
}

// MarshalJSON writes the tool in its wrapping.
func (t Tool) MarshalJSON() ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Strict      bool            `json:"strict,omitempty"`
	}
	return encode(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function(t)})
}

// A ToolChoice is auto, none or required, or a tool by its name. The zero ToolChoice leaves it to the server.
type ToolChoice struct {
	Mode string
	// Tool forces the model to call the tool of that name; Mode is ignored then.
	Tool string
}

// MarshalJSON writes a word or an object.
func (c ToolChoice) MarshalJSON() ([]byte, error) {
	if c.Tool == "" {
		return encode(c.Mode)
	}
	return encode(map[string]any{"type": "function", "function": map[string]string{"name": c.Tool}})
}

// A ToolCall is one call of the model.
type ToolCall struct {
	ID   string
	Name string
	// Arguments are the bytes as the model wrote them: they should be a JSON object but may be anything.
	Arguments string
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// MarshalJSON writes the call in its wrapping.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return encode(wireCall{c.ID, "function", wireFunction{c.Name, arguments(c.Arguments)}})
}

// UnmarshalJSON reads a call.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var w wireCall
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*c = ToolCall{w.ID, w.Function.Name, string(w.Function.Arguments)}
	return nil
}

// arguments are a string on the wire; some servers send the object itself, whose bytes are kept.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*a = arguments(s)
		return nil
	}
	*a = arguments(b)
	return nil
}

// text is a string, null or a list of parts with a text each.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s *string
	if json.Unmarshal(b, &s) == nil {
		if s != nil {
			*t = text(*s)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return fmt.Errorf("the content is neither a text nor a list of parts")
	}
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	*t = text(strings.Join(all, ""))
	return nil
}

// Usage counts tokens; nil is unknown.
type Usage struct {
	Input, Output *int64
	// Cached is the part of Input that was read from a cache.
	Cached *int64
}

// A Response is one completion.
type Response struct {
	Model   string
	Message Message
	// Finish is stop, length, tool_calls, content_filter, or a word of the server's own.
	Finish string
	Usage  Usage
	// Raw is the reply's body, without the key.
	Raw []byte
	// Tries counts the requests that were sent.
	Tries int
}

// decode reads a reply of status 200.
func decode(h http.Header, raw []byte) (*Response, *Error) {
	var in struct {
		Model   string `json:"model"`
		Choices []struct {
			Message *Message `json:"message"`
			Finish  string   `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Input   *int64 `json:"prompt_tokens"`
			Output  *int64 `json:"completion_tokens"`
			Details struct {
				Cached *int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	bad := func(format string, args ...any) (*Response, *Error) {
		return nil, &Error{Kind: BadReply, Status: http.StatusOK, Body: raw, Message: fmt.Sprintf(format, args...)}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return bad("the reply can't be read: %v", err)
	}
	if len(in.Error) > 0 && string(in.Error) != "null" && len(in.Choices) == 0 {
		// Some gateways report the errors of the server behind them with status 200.
		e := failure(http.StatusOK, h, raw)
		e.RetryAfter = retryAfter(h, time.Now())
		return nil, e
	}
	if len(in.Choices) == 0 || in.Choices[0].Message == nil {
		return bad("the reply holds no message")
	}
	return &Response{
		Model:   in.Model,
		Message: *in.Choices[0].Message,
		Finish:  in.Choices[0].Finish,
		Usage:   Usage{in.Usage.Input, in.Usage.Output, in.Usage.Details.Cached},
		Raw:     raw,
	}, nil
}

// encode is json.Marshal without the escaping that only HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
