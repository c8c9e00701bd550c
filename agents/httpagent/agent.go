// Package httpagent evaluates an agent that is a web service: each run is one POST of the assignment to its URL, with
// the address and the token of the run's tools, and the response is the agent's result. docs/protocol-http.md says all
// that the agent's side needs.
//
//	agent, err := httpagent.New("http://localhost:8000/run", httpagent.Options{Token: os.Getenv("TOOLEVAL_HTTP_TOKEN")})
//	result, err := agent.Run(ctx, assignment, tools)
//
// # Limits
//
// The tools are served on loopback, so the agent has to run on this machine or reach it through a tunnel. A request is
// repeated only while no connection can be made: once one is there, the agent may have begun to work. What the service
// keeps between runs is its own affair; every run has an id, by which it can tell them apart.
package httpagent

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agents/mcpagent"
	"github.com/tooleval/tooleval/internal/wire"
)

// ProtocolVersion is the version of docs/protocol-http.md that this package speaks.
const ProtocolVersion = 1

// Options are the settings of an Agent. The zero value works.
type Options struct {
	// Token is sent as a bearer token; empty sends none.
	Token string
	// ConnectWithin bounds the time in which a connection is tried again and again; 0 stands for 10 s.
	ConnectWithin time.Duration
	// MaxResponse bounds the response in bytes; 0 stands for 64 MiB.
	MaxResponse int64
}

// An Agent is a service at a URL. It may be used concurrently.
type Agent struct {
	url     *url.URL
	options Options
}

// New makes an Agent.
func New(address string, o Options) (*Agent, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("agent %q: want http://HOST… or https://HOST…", address)
	case u.User != nil: // it becomes part of records
		return nil, fmt.Errorf(
			"agent %s: want a URL without a user and a password; set TOOLEVAL_HTTP_TOKEN for a bearer token", u.Redacted())
	case u.Fragment != "":
		return nil, fmt.Errorf("agent %q: want a URL without a fragment", address)
	}
	o.ConnectWithin = cmp.Or(o.ConnectWithin, 10*time.Second)
	o.MaxResponse = cmp.Or(o.MaxResponse, wire.MaxLine)
	return &Agent{u, o}, nil
}

// Fingerprint is the URL: what answers there can't be known.
func (a *Agent) Fingerprint() any {
	return struct {
		URL string `json:"url"`
	}{a.url.String()}
}

// request is the body of the POST.
type request struct {
	ProtocolVersion int                 `json:"protocol_version"`
	Run             string              `json:"run"`
	Assignment      tooleval.Assignment `json:"assignment"`
	// TimeLimitMS is the time that is left for the run; absent when there is no limit.
	TimeLimitMS int64 `json:"time_limit_ms,omitempty"`
	MCP         tools `json:"mcp"`
	Calls       tools `json:"calls"`
}

type tools struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Run posts the assignment and waits for the result. The calls are seen at the tools' own server, whatever the agent
// says.
//
// An error is blamed on infra when the agent could not be reached, broke the connection, or answered 408, 429, 502, 503
// or 504; on the user when the answer is a redirect, 401, 403, 404 or 405; on the owner that the agent names in its
// error (agent, infra or user), and else on the agent. When ctx is done first, it is the context's cause.
func (a *Agent) Run(ctx context.Context, as tooleval.Assignment, handler tooleval.ToolHandler) (tooleval.AgentResult, error) {
	e, err := mcpagent.Serve(ctx, as.Tools, handler, mcpagent.Options{PlainCalls: true})
	if err != nil {
		return tooleval.AgentResult{}, err
	}
	defer e.Close()
	id := rand.Text()
	q := request{ProtocolVersion: ProtocolVersion, Run: id, Assignment: as, MCP: tools{e.URL, e.Token}, Calls: tools{e.CallURL, e.Token}}
	if deadline, ok := ctx.Deadline(); ok {
		q.TimeLimitMS = max(1, time.Until(deadline).Milliseconds())
	}
	body, err := wire.Encode(q)
	if err != nil {
		return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerTask, "%s: the assignment has no JSON form: %w", a, err)
	}
	fail := func(err error) (tooleval.AgentResult, error) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return tooleval.AgentResult{}, fmt.Errorf("%s: %w", a, err)
	}
	resp, err := a.post(ctx, id, body)
	if err != nil {
		return fail(tooleval.Blame(tooleval.OwnerInfra, err))
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, a.options.MaxResponse+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return fail(refusal(resp, answer))
	case err != nil:
		return fail(tooleval.Blamef(tooleval.OwnerInfra, "the connection broke in its response: %w", err))
	case int64(len(answer)) > a.options.MaxResponse:
		return fail(tooleval.Blamef(tooleval.OwnerAgent, "its response has more than %d bytes", a.options.MaxResponse))
	}
	e.Close() // what is still called belongs to nothing
	result, warnings, err := agents.ParseResult(answer)
	if err != nil {
		return fail(tooleval.Blame(tooleval.OwnerAgent, err))
	}
	status := e.Status()
	if !status.Connected && len(as.Tools) > 0 {
		if !loopback(a.url) { // a tunnel would have a loopback name
			return fail(tooleval.Blamef(tooleval.OwnerInfra, "it answered without reaching its tools, which are served on "+
				"this machine's loopback alone: run it here, or reach it and its tools through a tunnel"))
		}
		warnings = append(warnings, "it answered without connecting to its tools")
	}
	for _, w := range warnings {
		result.Warnings = append(result.Warnings, tooleval.Text(w))
	}
	result.Warnings = append(result.Warnings, status.Warnings...)
	// How calls were seen is for the harness to say, that some were not is for the agent.
	evidence := tooleval.Evidence{Channel: tooleval.OverHTTP}
	if result.Evidence != nil {
		evidence.Incomplete = result.Evidence.Incomplete
	}
	result.Evidence = &evidence
	return result, nil
}

// String is the agent in messages.
func (a *Agent) String() string { return fmt.Sprintf("agent %s", a.url) }

// loopback reports whether a URL names this machine as itself.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}
