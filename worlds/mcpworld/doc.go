// Package mcpworld makes a server of the Model Context Protocol the world of a run: the tools of a task are the server's
// real ones. Every run gets a server of its own, started by a command and gone with the run, or a session of its own with a
// server at a URL.
//
//	world := mcpworld.New(mcpworld.Config{Command: []string{"my-server", "--stdio"}})
//	suite.LiveWorld = world
//
// Before any run the world is asked whether it could serve (PreflightWorlds): a command that is not there, a 401, a server
// without tools or without one that a task names is trouble of the setup, and no run is made. A server that dies during a
// run is the world's fault and stands in the record.
//
// # What an agent gets
//
// The text of a result are its text blocks, one below the other; other content is named, not kept. Structured content keeps
// every digit. A result with isError, and JSON-RPC's "invalid params", is the tool saying no; a result that fits
// Config.ErrorWhen is too. Every other JSON-RPC error is trouble of the world.
//
// # Limits
//
// A server keeps no state that could be scored: the agent's own final state is. A server at a URL may carry over what one
// run did to the next; that is for the server to prevent.
package mcpworld
