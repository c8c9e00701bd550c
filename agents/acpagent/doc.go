// Package acpagent evaluates an agent that speaks ACP, the Agent Client Protocol, on its standard input and output.
// Each run gets a process, a home and a session of its own, in which the run's tools are the one MCP server.
//
//	agent := &acpagent.Agent{Command: []string{"gemini", "--acp"}, Env: []string{"GEMINI_API_KEY"}}
//	if err := agent.Preflight(ctx, nil); err != nil { … } // no such program
//	result, err := agent.Run(ctx, assignment, tools)
//
// # Permissions
//
// The agent is told that its client has no files and no terminal, and is refused both all the same. When it asks for a
// permission, it gets those for the run's tools and no others, unless Policy says otherwise. That is manners and no
// fence: what an agent does without asking can't be refused, so turn its own tools off in its own configuration.
//
// # Limits
//
// A message has at most 10 MiB, a bound of the protocol's library. A call that the agent refuses itself never reaches
// the tools and is not recorded. The agent's own configuration (its model, say) comes from its command line and
// environment.
package acpagent
