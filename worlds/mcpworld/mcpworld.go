package mcpworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
)

// A Config says which server is the world: one that Command starts, or one at URL.
type Config struct {
	// Command is the program and its arguments. It speaks MCP over its standard input and output, and is started for every
	// run, in a fresh folder with a HOME of its own.
	Command []string
	// Env adds to the program's environment, which otherwise holds PATH, HOME, TMPDIR, LANG and TERM: NAME=value sets a
	// variable, NAME alone hands the harness's own one over.
	Env []string
	// URL is a server that speaks MCP's streamable HTTP. Every run gets a session of its own.
	URL string
	// Headers are sent with every request to URL's host. Their values are in no record: where one turns up in a result or an
	// error, its name stands instead.
	Headers map[string]string
	// ErrorWhen is what a result has to meet, as JSON or as text, to count as the tool saying no although the server did not
	// say so, as in {"$subset": {"ok": false}}. The zero Pattern meets nothing.
	ErrorWhen tooleval.Pattern
}

// New returns the factory of such worlds. What is wrong with the Config is said by Check, which Suite.Validate calls.
func New(c Config) *Factory { return &Factory{c} }

// A Factory makes a fresh connection, and where there is a command a fresh server, for every run. It may be used
// concurrently.
type Factory struct{ config Config }

var (
	_ tooleval.WorldFactory     = (*Factory)(nil)
	_ tooleval.WorldPreflighter = (*Factory)(nil)
	_ tooleval.Checker          = (*Factory)(nil)
	_ tooleval.Fingerprinter    = (*Factory)(nil)
)

// Check reports what is wrong with the Config.
func (f *Factory) Check(*tooleval.Suite) error {
	c := &f.config
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("mcp server: "+format, args...)) }
	switch {
	case len(c.Command) == 0 && c.URL == "":
		fail("give a command or a url")
	case len(c.Command) > 0 && c.URL != "":
		fail("command and url exclude each other")
	case len(c.Command) > 0 && c.Command[0] == "":
		fail("the command's program is empty")
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			fail("the url has to begin with http:// or https:// and name a host")
		}
		if len(c.Env) > 0 {
			fail("env is for a command")
		}
	} else if len(c.Headers) > 0 {
		fail("headers are for a url")
	}
	if err := c.ErrorWhen.Err(); err != nil {
		fail("error_when: %w", err)
	} else if !c.ErrorWhen.IsZero() && c.ErrorWhen.Vacuous() {
		fail("error_when fits every result")
	}
	return errors.Join(errs...)
}

// Fingerprint is the command or the URL and the names, not the values, of what may be secret.
func (f *Factory) Fingerprint() any {
	names := make([]string, len(f.config.Env))
	for i, e := range f.config.Env {
		names[i], _, _ = strings.Cut(e, "=")
	}
	out := map[string]any{"world": "mcp", "command": f.config.Command, "url": shownURL(f.config.URL), "env": names,
		"headers": slices.Sorted(maps.Keys(f.config.Headers))}
	if !f.config.ErrorWhen.IsZero() {
		out["error_when"] = f.config.ErrorWhen
	}
	return out
}

// PreflightWorlds connects once and reports whether the server has every tool that the tasks need.
func (f *Factory) PreflightWorlds(ctx context.Context, specs []tooleval.WorldSpec) error {
	s, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // the answer is known by then
	have, err := s.tools(ctx)
	if err != nil {
		return err
	}
	var errs []error
	missing := map[string]bool{}
	for _, spec := range specs {
		for _, t := range spec.Tools {
			if !slices.Contains(have, t.Name) && !missing[t.Name] {
				missing[t.Name] = true
				errs = append(errs, lacks(s.name, t.Name, have, spec.Task.ID))
			}
		}
	}
	return errors.Join(errs...)
}

func lacks(server, tool string, have []string, task string) error {
	const few = 20
	list := have
	more := ""
	if n := len(list); n > few {
		list, more = list[:few], fmt.Sprintf(" and %d more", n-few)
	}
	shown := make([]string, len(list))
	for i, name := range list {
		shown[i] = fmt.Sprintf("%.100q", name)
	}
	return fmt.Errorf("%s lacks the tool %q, which task %q may call%s; its tools are %s%s", server, tool, task,
		tooleval.DidYouMean(tool, have), strings.Join(shown, ", "), more)
}

// NewWorld starts or connects to the server. An error is trouble of the infrastructure, and the run is not started.
func (f *Factory) NewWorld(ctx context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	s, err := f.connect(ctx)
	if err != nil {
		return nil, tooleval.Blame(tooleval.OwnerInfra, err)
	}
	have, err := s.tools(ctx)
	for _, t := range spec.Tools {
		if err == nil && !slices.Contains(have, t.Name) {
			err = lacks(s.name, t.Name, have, spec.Task.ID)
		}
	}
	if err != nil {
		_ = s.close() // the first error is the one that counts
		return nil, tooleval.Blame(tooleval.OwnerInfra, err)
	}
	return &world{session: s, spec: spec.Tools, errorWhen: f.config.ErrorWhen}, nil
}

// A world is the server of one run.
type world struct {
	session   *session
	spec      []tooleval.Tool
	errorWhen tooleval.Pattern
}

func (w *world) Tools() []tooleval.Tool         { return w.spec }
func (w *world) State() (tooleval.State, error) { return nil, nil }
func (w *world) Close() error                   { return w.session.close() }

func (w *world) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	args := json.RawMessage(call.Args)
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	res, err := w.session.client.CallTool(ctx, &mcp.CallToolParams{Name: call.Tool, Arguments: args})
	if err != nil {
		if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok && rpc.Code == jsonrpc.CodeInvalidParams {
			return tooleval.ErrorResult("%s", w.session.clean(rpc.Message)), nil
		}
		if ctx.Err() != nil {
			return tooleval.ToolResult{}, context.Cause(ctx)
		}
		return tooleval.ToolResult{}, tooleval.Blame(tooleval.OwnerWorld, w.session.explain(err))
	}
	return w.answer(res), nil
}

// answer is a result of MCP as ToolEval has it.
func (w *world) answer(res *mcp.CallToolResult) tooleval.ToolResult {
	out := tooleval.ToolResult{IsError: res.IsError}
	var parts []string
	for _, c := range res.Content {
		parts = append(parts, contentText(c))
	}
	out.Text = tooleval.Text(w.session.clean(strings.Join(parts, "\n")))
	if raw, ok := res.StructuredContent.(string); ok { // see exact
		out.Structured = tooleval.Raw(w.session.clean(raw))
		if out.Text == "" {
			out.Text = tooleval.Text(out.Structured)
		}
	}
	out.IsError = out.IsError || w.saysNo(out)
	return out
}

// saysNo reports whether a result that is none by the protocol is an error all the same.
func (w *world) saysNo(r tooleval.ToolResult) bool {
	if w.errorWhen.IsZero() {
		return false
	}
	for _, raw := range []tooleval.Raw{r.Structured, tooleval.Raw(r.Text)} {
		if v, err := tooleval.DecodeValue(raw); len(raw) > 0 && err == nil && w.errorWhen.Match(v) {
			return true
		}
	}
	return w.errorWhen.Match(string(r.Text))
}

// contentText is a block of content as text.
func contentText(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s]", c.URI)
	case *mcp.EmbeddedResource:
		if c.Resource != nil && c.Resource.Text != "" {
			return c.Resource.Text
		}
		if c.Resource != nil {
			return fmt.Sprintf("[resource %s, %d bytes]", c.Resource.URI, len(c.Resource.Blob))
		}
	}
	return "[content of an unknown kind]"
}
