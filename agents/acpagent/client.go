package acpagent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	acp "github.com/coder/acp-go-sdk"

	"github.com/tooleval/tooleval"
)

const (
	maxText  = 16 << 20 // bytes of what an agent says
	maxCalls = 10_000   // calls whose titles are remembered
)

// A client is our side of ACP: it gathers what the agent says, and answers what it asks.
type client struct {
	refusing
	policy Policy
	names  []string // of the run's tools, as agents have them
	notes  *notes

	mu     sync.Mutex
	before string          // what was said before the last tool call
	text   strings.Builder // what was said since
	size   int
	calls  map[acp.ToolCallId]toolCall
	model  string
	total  *acp.Usage
	cost   *float64
	done   bool
}

// toolCall is what an agent said about a call of its own.
type toolCall struct {
	title string
	kind  acp.ToolKind
	input any
}

func newClient(p Policy, tools []tooleval.Tool, n *notes) *client {
	c := &client{refusing: refusing{n}, policy: p, notes: n, calls: map[acp.ToolCallId]toolCall{}}
	for _, t := range tools {
		c.names = append(c.names, t.Name)
	}
	return c
}

// SessionUpdate takes in what the agent tells.
func (c *client) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		if b := u.AgentMessageChunk.Content; b.Text != nil && !c.done {
			c.say(b.Text.Text)
		}
	case u.ToolCall != nil:
		if said := strings.TrimSpace(c.text.String()); said != "" {
			c.before = said
		}
		c.text.Reset()
		c.remember(u.ToolCall.ToolCallId, toolCall{u.ToolCall.Title, u.ToolCall.Kind, u.ToolCall.RawInput})
	case u.ToolCallUpdate != nil:
		t := u.ToolCallUpdate
		c.remember(t.ToolCallId, c.merge(t.ToolCallId, t.Title, t.Kind, t.RawInput))
	case u.UsageUpdate != nil:
		if cost := u.UsageUpdate.Cost; cost != nil && cost.Currency == "USD" && cost.Amount >= 0 {
			c.cost = &cost.Amount
		}
	}
	return nil
}

func (c *client) say(text string) {
	if c.size+len(text) > maxText {
		c.notes.add("what it said beyond %d bytes is left out", maxText)
		return
	}
	c.size += len(text)
	c.text.WriteString(text)
}

func (c *client) remember(id acp.ToolCallId, t toolCall) {
	if _, known := c.calls[id]; known || len(c.calls) < maxCalls {
		t.title = clip(t.title)
		c.calls[id] = t
	}
}

// merge is a call with what is new about it.
func (c *client) merge(id acp.ToolCallId, title *string, kind *acp.ToolKind, input any) toolCall {
	t := c.calls[id]
	if title != nil {
		t.title = *title
	}
	if kind != nil {
		t.kind = *kind
	}
	if input != nil {
		t.input = input
	}
	return t
}

// answer is what the agent said last: behind its last tool call, or, when it was silent then, before.
func (c *client) answer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if said := strings.TrimSpace(c.text.String()); said != "" {
		return said
	}
	return c.before
}

func (c *client) setModel(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model = name
}

// finish takes in the end of the turn.
func (c *client) finish(r acp.PromptResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.total = true, r.Usage
}

// usage is what the agent reported; nil when it reported nothing.
func (c *client) usage() *tooleval.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total == nil && c.cost == nil && c.model == "" {
		return nil
	}
	u := &tooleval.Usage{Model: c.model, CostUSD: c.cost}
	if t := c.total; t != nil {
		input, output := int64(t.InputTokens), int64(t.OutputTokens)
		if t.CachedReadTokens != nil {
			cached := int64(*t.CachedReadTokens)
			written := int64(0)
			if t.CachedWriteTokens != nil {
				written = int64(*t.CachedWriteTokens)
			}
			// The protocol leaves open whether the input holds what came from the cache; the sum tells.
			if int64(t.TotalTokens) >= input+output+cached+written {
				input += cached + written
			}
			u.CachedTokens = &cached
		}
		u.InputTokens, u.OutputTokens = &input, &output
		if b, err := json.Marshal(t); err == nil {
			u.Vendor = b
		}
	}
	return u
}

// refusing answers what an agent may only ask a client that has files and terminals.
type refusing struct{ notes *notes }

func (r refusing) refuse(what string) error {
	r.notes.add("it asked the harness to %s, and was refused", what)
	return acp.NewMethodNotFound(fmt.Sprintf("this client can't %s", what))
}

func (r refusing) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, r.refuse("read a file")
}

func (r refusing) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, r.refuse("write a file")
}

func (r refusing) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, r.refuse("run a command")
}

func (r refusing) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, r.refuse("end a command")
}

func (r refusing) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, r.refuse("show a command's output")
}

func (r refusing) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, r.refuse("release a terminal")
}

func (r refusing) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, r.refuse("wait for a command")
}
