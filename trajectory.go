package tooleval

// A Trajectory is every tool call that was seen in one run, in the order in which the calls began. The harness's recorder
// writes it, never the agent.
type Trajectory struct {
	Calls []Call `json:"calls"`
	// Channel says how the calls were seen: in_process, stdio, mcp, http or self_reported.
	Channel string `json:"channel"`
	// Incomplete says why calls may be missing; empty when every call was seen. An absent call proves nothing in an
	// incomplete trajectory.
	Incomplete string `json:"incomplete,omitempty"`
}

// Channels through which calls are seen.
const (
	InProcess    = "in_process"
	OverStdio    = "stdio"
	OverMCP      = "mcp"
	OverHTTP     = "http"
	SelfReported = "self_reported"
)

// A CallStatus is how a tool call ended.
type CallStatus string

// The ways in which a tool call ends.
const (
	CallOK            CallStatus = "ok"
	CallToolError     CallStatus = "tool_error"     // the tool said no
	CallRefused       CallStatus = "refused"        // outside the toolset, over a limit, or after the end
	CallProtocolError CallStatus = "protocol_error" // the harness, the world or the transport broke
	CallTimeout       CallStatus = "timeout"        // the run's time was over before the answer
	CallCancelled     CallStatus = "cancelled"      // the run was cancelled before the answer
)

// A Call is one tool call as the recorder saw it. Began and Ended come from one counter a run, so that order never
// depends on a clock: two calls ran at the same time when each began before the other ended.
type Call struct {
	Began int    `json:"began"`
	Ended int    `json:"ended"`
	ID    string `json:"id,omitempty"`
	Tool  string `json:"tool"`
	// Caller names the agent that made the call, in a run of several agents; empty where there is one.
	Caller string `json:"caller,omitempty"`
	Args   Raw    `json:"args,omitempty"`
	// ArgsText are the argument bytes as they came, where they are not the compact form of Args.
	ArgsText Text `json:"args_text,omitempty"`
	// ArgsError says why the arguments are not a JSON object; such a call satisfies nothing.
	ArgsError string     `json:"args_error,omitempty"`
	Status    CallStatus `json:"status"`
	// Result is what the agent was answered.
	Result ToolResult `json:"result"`
	// Error is the harness's own error where Status is not ok or tool_error.
	Error Text `json:"error,omitempty"`
	// FixtureGap says which fixture came nearest when a mock world had none for this call.
	FixtureGap string `json:"fixture_gap,omitempty"`
	// Fault names the fault that was injected into this call.
	Fault string `json:"fault,omitempty"`
	// StartMS and TookMS are milliseconds since the start of the run, for display.
	StartMS float64 `json:"start_ms"`
	TookMS  float64 `json:"took_ms"`
}

// Before reports whether c had ended when d began.
func (c *Call) Before(d *Call) bool { return c.Ended < d.Began }

// A Gap is the error that a mock world's answer wraps, together with its result, when no fixture covers a call. The
// recorder turns it into an error result for the agent and a note in the record.
type Gap struct {
	Message string // for the agent
	Nearest string // for the record
}

// Error is the message for the agent.
func (g *Gap) Error() string { return g.Message }
