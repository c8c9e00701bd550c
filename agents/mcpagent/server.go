package mcpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
)

// newServer makes the MCP server that offers the tools.
func (e *Endpoint) newServer(tools []tooleval.Tool, opts Options) (server *mcp.Server, err error) {
	server = mcp.NewServer(&mcp.Implementation{Name: opts.Name, Version: "1"}, &mcp.ServerOptions{
		Instructions: opts.Instructions,
		// Said in full, or the library adds a logging capability and notifications that are never sent.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	server.AddReceivingMiddleware(e.receive)
	for i, t := range tools {
		schema, err := objectSchema(t.Schema)
		if err != nil {
			return nil, fmt.Errorf("tool %q can't be offered over MCP: its schema: %w", t.Name, err)
		}
		if err := add(server, &mcp.Tool{Name: e.names.offered[i], Description: t.Description, InputSchema: schema}); err != nil {
			return nil, fmt.Errorf("tool %q can't be offered over MCP: %w", t.Name, err)
		}
	}
	return server, nil
}

// add is AddTool, which panics when it is not content.
func add(server *mcp.Server, t *mcp.Tool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	server.AddTool(t, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, ErrClosed // calls are answered by receive, which also sees those of unknown tools
	})
	return nil
}

// objectSchema is a tool's schema with the "type" and the "properties" that clients insist on, put in front of what it
// says itself, whose bytes stay as they are.
func objectSchema(schema tooleval.Raw) (json.RawMessage, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	v, err := tooleval.DecodeValue(schema)
	if err != nil {
		return nil, err
	}
	members, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is no JSON object")
	}
	if t, ok := members["type"]; ok && t != "object" {
		return nil, fmt.Errorf(`its "type" is not "object"`)
	}
	var front string
	if _, ok := members["type"]; !ok {
		front = `"type":"object"`
	}
	if _, ok := members["properties"]; !ok {
		if front != "" {
			front += ","
		}
		front += `"properties":{}`
	}
	if front == "" {
		return json.RawMessage(schema), nil
	}
	if len(members) > 0 {
		front += ","
	}
	rest := bytes.TrimSpace(schema)[1:]
	return append([]byte("{"+front), rest...), nil
}

// receive sees every message of the client first.
func (e *Endpoint) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() { // the library lets a panic end the program
			if r := recover(); r != nil {
				e.warn("a panic in %s: %v\n%s", method, r, debug.Stack())
				result, err = nil, internal("the harness broke: %v", r)
			}
		}()
		if call, ok := req.(*mcp.CallToolRequest); ok {
			e.noteClient(req)
			if call.Params == nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "tools/call needs params with the tool's name"}
			}
			return e.call(ctx, call.Params)
		}
		if result, err = next(ctx, method, req); err != nil {
			return result, err
		}
		switch method {
		case "initialize":
			// the handshake ends with notifications/initialized, which some clients never send
			if r, ok := req.(*mcp.ServerRequest[*mcp.InitializeParams]); ok && r.Params != nil {
				e.client(r.Params)
			}
		case "tools/list":
			e.noteClient(req)
			e.update(func(s *Status) { s.Listed = true })
		}
		return result, err
	}
}

// noteClient notes the client of a request that presupposes the handshake.
func (e *Endpoint) noteClient(req mcp.Request) {
	if session, ok := req.GetSession().(*mcp.ServerSession); ok {
		if params := session.InitializeParams(); params != nil {
			e.client(params)
			return
		}
	}
	e.update(func(s *Status) { s.Initialized = true })
}

func (e *Endpoint) client(p *mcp.InitializeParams) {
	e.update(func(s *Status) {
		s.Initialized = true
		s.Protocol = tooleval.Text(p.ProtocolVersion)
		if p.ClientInfo != nil {
			s.Client, s.ClientVersion = tooleval.Text(p.ClientInfo.Name), tooleval.Text(p.ClientInfo.Version)
		}
	})
}

// call is the answer to an MCP client's call.
func (e *Endpoint) call(ctx context.Context, p *mcp.CallToolParamsRaw) (*mcp.CallToolResult, error) {
	result, err := e.ask(ctx, tooleval.ToolCall{Tool: e.names.real(p.Name), Args: tooleval.Raw(p.Arguments)})
	if err != nil {
		return nil, internal("%v", err)
	}
	return toMCP(result), nil
}

// ask hands a call to the run's handler.
func (e *Endpoint) ask(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if !e.enter() {
		return tooleval.ToolResult{}, ErrClosed
	}
	defer e.leave()
	e.update(func(s *Status) { s.Calls++ })
	// The call ends with the run, whose time limit it must show, and when its client cancels it.
	run, cancel := context.WithCancelCause(e.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-run.Done():
		return tooleval.ToolResult{}, context.Cause(run)
	}
	return e.tools.CallTool(run, call)
}

func internal(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf(format, args...)}
}
