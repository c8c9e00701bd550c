package acpagent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"github.com/tooleval/tooleval"
)

// A Policy says which permissions an agent gets when it asks.
type Policy string

// The policies.
const (
	AllowTools Policy = "tools" // the run's own tools and nothing else
	AllowAll   Policy = "all"
	AllowNone  Policy = "none"
)

func (p Policy) check() error {
	known := []string{string(AllowTools), string(AllowAll), string(AllowNone)}
	if p != "" && !slices.Contains(known, string(p)) {
		return fmt.Errorf("unknown policy %q%s; the policies are %s", string(p),
			tooleval.DidYouMean(string(p), known), strings.Join(known, ", "))
	}
	return nil
}

// RequestPermission answers by the policy: for this once, if the agent offers that.
func (c *client) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	c.mu.Lock()
	t := c.merge(r.ToolCall.ToolCallId, r.ToolCall.Title, r.ToolCall.Kind, r.ToolCall.RawInput)
	c.mu.Unlock()
	allowed := c.policy == AllowAll || c.policy == AllowTools && c.isTool(t)
	kinds := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allowed {
		kinds = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	} else {
		c.notes.add("it was refused the permission for %q", clip(t.title))
	}
	for _, kind := range kinds {
		for _, o := range r.Options {
			if o.Kind == kind {
				return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
			}
		}
	}
	if allowed {
		c.notes.add("it offered no way to permit %q", clip(t.title))
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// isTool reports whether a call is one of the run's tools: its input says so, or one word of its title is a tool's
// name, as such or with a prefix ("mcp__world__add", "world_add", "add (world MCP Server)"). A call of a kind that
// changes the machine must name the tools' server besides.
func (c *client) isTool(t toolCall) bool {
	if in, ok := t.input.(map[string]any); ok {
		name, _ := in["tool"].(string)
		if server, _ := in["server"].(string); server == serverName && slices.Contains(c.names, name) {
			return true
		}
	}
	words := strings.FieldsFunc(t.title, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`(),;", r) })
	const longest = 8 // a title of more words is a sentence, or a command
	if len(words) > longest {
		return false
	}
	named, ours := false, false
	for _, w := range words {
		for _, name := range c.names {
			front, found := strings.CutSuffix(w, name)
			if found && (front == "" || strings.ContainsRune("_/.:", rune(front[len(front)-1]))) {
				named = true
			}
		}
		parts := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("_/.:", r) })
		ours = ours || slices.Contains(parts, serverName)
	}
	switch t.kind {
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove, acp.ToolKindExecute:
		return named && ours
	}
	return named
}
