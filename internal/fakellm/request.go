package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Names of the three dialects.
const (
	Anthropic = "anthropic"
	Chat      = "chat"
	Responses = "responses"
)

// A Request is one request to a model, in words that all dialects share.
type Request struct {
	// Run is the name in the URL's prefix; N counts the run's earlier requests.
	Run string
	N   int
	// Dialect is anthropic, chat or responses.
	Dialect string
	Path    string
	Header  http.Header
	// Key is the bearer token or the x-api-key.
	Key string
	// Raw is the body as it came.
	Raw []byte
	// Problem says why the request was refused before the script saw it; empty for all others.
	Problem string

	Model     string
	System    string // system and developer texts, joined by newlines
	Messages  []Message
	Tools     []Tool
	Choice    Choice
	Stream    bool
	MaxTokens int
	// includeUsage is the chat dialect's stream_options.include_usage.
	includeUsage bool
}

// A Message is one turn of the conversation. Role is user, assistant or tool; Anthropic's tool results, which come in a
// user's message, make a message of the role tool before the rest of it.
type Message struct {
	Role    string
	Text    string
	Calls   []Call
	Results []Result
}

// A Tool is one tool that the model is offered.
type Tool struct {
	Name        string
	Namespace   string // codex groups the tools of an MCP server in one
	Description string
	Schema      json.RawMessage
	Strict      bool
}

// A Call is one tool call of the model.
type Call struct {
	ID        string
	Name      string
	Namespace string
	// Args are the argument bytes.
	Args string
}

// A Result is what the agent answered to a call.
type Result struct {
	ID      string
	Name    string // the tool's name, from the call
	Text    string
	IsError bool // always false in the dialects of OpenAI, which can't say it
}

// A Choice is what the request says about calling tools: auto, none, any, or tool with a Name. Empty stands for auto.
type Choice struct {
	Mode string
	Name string
	// OnlyOne forbids parallel calls.
	OnlyOne bool
}

// Tool finds a tool by its name, or by the end of its name behind an underscore or in its namespace: agents prefix the
// names of MCP tools, each in its own way (mcp__world__x, mcp_world_x, world_x).
func (r Request) Tool(name string) (Tool, bool) {
	for _, t := range r.Tools {
		if t.Name == name {
			return t, true
		}
	}
	for _, t := range r.Tools {
		if strings.HasSuffix(t.Name, "_"+name) || t.Namespace != "" && t.Namespace+"__"+t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Turn counts the assistant's messages so far: how far the conversation is, however often a request was repeated.
func (r Request) Turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// Results are the tool results since the assistant's last message.
func (r Request) Results() []Result {
	var out []Result
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		out = append(append([]Result(nil), r.Messages[i].Results...), out...)
	}
	return out
}

// LastResult is the newest tool result; the zero Result when there is none.
func (r Request) LastResult() Result {
	if all := r.Results(); len(all) > 0 {
		return all[len(all)-1]
	}
	return Result{}
}

// LastText is the newest text of a user.
func (r Request) LastText() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// pair names the tool results after their calls and refuses what the real servers refuse: a result without its call, a
// call without its result before the conversation goes on.
func (r *Request) pair() error {
	names, open := map[string]string{}, []string{}
	for i := range r.Messages {
		m := &r.Messages[i]
		for j := range m.Results {
			res := &m.Results[j]
			name, ok := names[res.ID]
			if !ok {
				return fmt.Errorf("messages.%d: the tool result %q has no tool call before it", i, res.ID)
			}
			res.Name = name
			for k, id := range open {
				if id == res.ID {
					open = append(open[:k], open[k+1:]...)
					break
				}
			}
		}
		if len(m.Results) == 0 && len(open) > 0 && !(m.Role == "assistant" && r.Dialect == Responses) {
			return fmt.Errorf("messages.%d: the tool call %q has no result", i, open[0])
		}
		for _, c := range m.Calls {
			names[c.ID] = c.Name
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the tool call %q has no result", open[0])
	}
	return nil
}

// add appends a message, joining it to the one before when both are the same kind of thing.
func (r *Request) add(m Message) {
	if n := len(r.Messages); n > 0 {
		last := &r.Messages[n-1]
		if last.Role == m.Role && m.Role != "user" {
			if last.Text != "" && m.Text != "" {
				last.Text += "\n"
			}
			last.Text += m.Text
			last.Calls = append(last.Calls, m.Calls...)
			last.Results = append(last.Results, m.Results...)
			return
		}
	}
	r.Messages = append(r.Messages, m)
}

// content is a string or a list of blocks, as all dialects have it.
type content []block

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Anthropic's blocks.
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   content         `json:"content"`
	IsError   bool            `json:"is_error"`
}

// UnmarshalJSON reads a string, null, one block or a list of blocks.
func (c *content) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case string(b) == "null":
		*c = nil
		return nil
	case len(b) > 0 && b[0] == '"':
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: s}}
		return nil
	case len(b) > 0 && b[0] == '{':
		*c = make(content, 1)
		return json.Unmarshal(b, &(*c)[0])
	}
	return json.Unmarshal(b, (*[]block)(c))
}

// text joins the text blocks by newlines.
func (c content) text() string {
	var parts []string
	for _, b := range c {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
