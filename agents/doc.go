// Package agents holds the ways to reach an agent that is not a Go function in the same program (for one that is, use
// [tooleval.AgentFunc]). [Process] starts a program and speaks the stdio protocol of docs/protocol.md with it; [Serve]
// and [Main] are the protocol's other side, for agents in Go.
//
//	agent := &agents.Process{Name: "mine", Command: []string{"python3", "/src/agent.py"}, Env: []string{"MY_API_KEY"}}
//	if err := agent.Preflight(ctx, assignments); err != nil { … }
//	result, err := agent.Run(ctx, assignment, tools)
//
// and in the agent:
//
//	func main() { agents.Main(agents.Server{Name: "mine", Any: tooleval.AgentFunc(run)}) }
//
// # Limits
//
// Calls that an agent makes in parallel reach the tools in the order in which they were sent only when each is sent
// after the answer to the one before. What a process can do to escape from being ended is told in internal/process.
// There is no sandbox here: an agent's process can read what its user can read.
package agents
