// Package mcpagent gives the tools of one run to an agent that takes its tools over MCP (the Model Context Protocol): as
// an HTTP endpoint on loopback, made for the run and gone with it, and through [Shim] for agents that only start
// programs. Every call goes through the harness's own handler, so what was called is known first-hand, whatever the agent
// says about it.
//
//	e, err := mcpagent.Serve(ctx, assignment.Tools, tools, mcpagent.Options{})
//	… start the agent with e.URL and e.Token, wait for its end …
//	e.Close()
//	if s := e.Status(); !s.Listed { … it never saw its tools, so the run says nothing about it … }
//
// # What agents see
//
// Tools have the names and schemas of the assignment (a schema that lacks "type" or "properties" gets them, since some
// agents refuse it). A result is its text and, when it is JSON, the same as an object in structuredContent; a bare value
// v stands there as {"result": v}, because some agents take a text such as 42 or [1] for an error otherwise. Numbers keep
// every digit. Bytes that are not UTF-8 become U+FFFD. A tool's refusal is a result with isError; trouble of the harness
// or the world is a JSON-RPC error.
//
// # Limits
//
// An agent that checks arguments itself, or does not know the tool that its model asked for, never sends that call: it is
// not recorded, and had no effect. Requests are bounded to 16 MiB, calls in flight to 64, sessions to 256.
package mcpagent
