package tooleval

import (
	"context"
)

// An Assignment is the part of a Task that an agent may see. It never holds the answer key: no expectation, no required
// or forbidden call, no threshold, no tag.
type Assignment struct {
	TaskID      string `json:"task_id"`
	Description string `json:"description"`
	// EntryPoint names the thing in the agent that is to run: one Step or a whole Pipeline.
	EntryPoint string `json:"entry_point"`
	Input      Raw    `json:"input,omitempty"`
	Tools      []Tool `json:"tools"`
}

// An Agent is the Contract: the one interface through which every agent is reached, whatever language it is in. The
// harness never re-implements an agent's loop; it hands over an Assignment and a way to call tools, and waits.
//
// Run must return soon after ctx is done. It may call tools concurrently. It returns an error when it could not do its
// work; wrap it with [Blame] when the fault is not the agent's own (a rate limit, a missing key). Run is called
// concurrently for different runs, so an Agent must keep no state between them.
type Agent interface {
	Run(ctx context.Context, a Assignment, tools ToolHandler) (AgentResult, error)
}

// AgentFunc makes an Agent of a function.
type AgentFunc func(ctx context.Context, a Assignment, tools ToolHandler) (AgentResult, error)

// Run calls f.
func (f AgentFunc) Run(ctx context.Context, a Assignment, tools ToolHandler) (AgentResult, error) {
	return f(ctx, a, tools)
}

// An AgentResult is what an agent hands back.
type AgentResult struct {
	// Response is the final answer in words.
	Response Text `json:"response,omitempty"`
	// State is the agent's typed output as JSON. Where the World keeps a state of its own, that one is scored instead:
	// what happened outweighs what was claimed.
	State Raw `json:"state,omitempty"`
	// Usage is nil when the agent did not report any.
	Usage *Usage `json:"usage,omitempty"`
	// Evidence says how the calls of this run were seen when the harness did not see them itself. Nil is the usual case.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Warnings are troubles that did not stop the agent, its own and those that the way of reaching it noticed.
	Warnings []Text `json:"warnings,omitempty"`
}

// Evidence tells how the calls of a run became known.
type Evidence struct {
	// Channel is in_process, stdio, mcp, http or self_reported. Empty means in_process.
	Channel string `json:"channel,omitempty"`
	// Incomplete says why calls may be missing from the trajectory; empty when the harness saw every call. An absent
	// call proves nothing in an incomplete trajectory.
	Incomplete string `json:"incomplete,omitempty"`
}

// Usage is what a run consumed, as reported by the agent. A nil count is unknown, which is not zero.
type Usage struct {
	Model        string   `json:"model,omitempty"`
	InputTokens  *int64   `json:"input_tokens,omitempty"`
	OutputTokens *int64   `json:"output_tokens,omitempty"`
	CachedTokens *int64   `json:"cached_tokens,omitempty"` // part of InputTokens that was read from a cache
	Turns        *int64   `json:"turns,omitempty"`         // requests to the model
	CostUSD      *float64 `json:"cost_usd,omitempty"`
	// Vendor is the vendor's own usage record, untouched.
	Vendor Raw `json:"vendor,omitempty"`
}
