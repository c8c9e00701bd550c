package mcpagent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
)

const (
	maxBody     = 16 << 20 // bytes of a request
	maxParallel = 64       // calls in flight; the others wait
	maxSessions = 256
	closeWait   = time.Second // for calls in flight whose context has ended
)

// ErrClosed is the cause of the context of calls that were in flight when Close was called.
var ErrClosed = errors.New("the run's tools are closed")

// Options are the settings of an Endpoint. The zero value works.
type Options struct {
	// Name is the server's name as clients see it; empty stands for "world". Agents build the names of tools from the name
	// that their own configuration gives to the server, not from this one.
	Name string
	// Instructions are the server's instructions, which most agents show to their model; empty for none.
	Instructions string
	// PlainNames offers a tool whose name is not made of ASCII letters, digits and underscores, 40 at most, under one that
	// is. Calls by either name reach the tool. It is for agents whose client can't take others.
	PlainNames bool
	// Prefixes are cut from the front of a called name that is no tool otherwise, such as "mcp__world__".
	Prefixes []string
	// PlainCalls also takes calls without MCP, at Endpoint.CallURL.
	PlainCalls bool
}

// An Endpoint serves the tools of one run. All its methods may be called concurrently.
type Endpoint struct {
	// URL is the address, with a path of this run. Requests need the Token as a bearer token.
	URL, Token string
	// CallURL takes calls as docs/protocol-http.md says, with the same Token; empty without Options.PlainCalls.
	CallURL string

	ctx    context.Context // of the run; kept for the calls, which come from other goroutines
	cancel context.CancelCauseFunc
	tools  tooleval.ToolHandler
	names  names
	server *mcp.Server
	http   *http.Server
	path   string
	// callPath is where plain calls go; empty when none are taken.
	callPath string
	addr     string
	slots    chan struct{}
	served   chan struct{}
	once     sync.Once
	listed   chan struct{}

	mu       sync.Mutex
	closed   bool
	sessions int
	inFlight int
	idle     chan struct{} // closed when inFlight comes down to 0 after Close
	status   Status
	seen     time.Time
}

// A Status is what an Endpoint has seen of the agent.
type Status struct {
	// Connected reports whether a request with the right token came at all.
	Connected bool
	// Initialized reports whether the client finished the handshake, or spoke the version of the protocol that has none.
	Initialized bool
	// Listed reports whether the client asked for the list of tools and got it.
	Listed bool
	// Calls counts the tool calls that came, those of unknown tools included.
	Calls int
	// Client, ClientVersion and Protocol are what the client called itself and the version it asked for. They come from
	// outside.
	Client, ClientVersion, Protocol tooleval.Text
	// Unauthorized counts the requests for this endpoint without the right token.
	Unauthorized int
	// Warnings are troubles that did not end anything.
	Warnings []tooleval.Text
}

// Missing says which step towards its tools the client did not take; empty when it took all of them.
func (s Status) Missing() string {
	switch {
	case s.Listed:
		return ""
	case !s.Connected && s.Unauthorized > 0:
		return fmt.Sprintf("it reached the tools' MCP server %d times without the run's token", s.Unauthorized)
	case !s.Connected:
		return "it never connected to the tools' MCP server"
	case !s.Initialized:
		return "it connected to the tools' MCP server but never finished the handshake"
	}
	return "it connected to the tools' MCP server but never asked for the list of tools"
}

// Serve starts an endpoint for the tools of one run. It ends with Close; calls also end with ctx. The error is blamed on
// the task when a tool can't be offered over MCP, and on infra when there is no loopback port.
func Serve(ctx context.Context, tools []tooleval.Tool, handler tooleval.ToolHandler, opts Options) (*Endpoint, error) {
	if opts.Name == "" {
		opts.Name = "world"
	}
	e := &Endpoint{
		Token: rand.Text(), path: "/run/" + strings.ToLower(rand.Text()) + "/mcp", tools: handler, names: newNames(tools, opts),
		slots: make(chan struct{}, maxParallel), served: make(chan struct{}), listed: make(chan struct{}),
		idle: make(chan struct{}), seen: time.Now(),
	}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	var err error
	if e.server, err = e.newServer(tools, opts); err != nil {
		e.cancel(ErrClosed)
		return nil, tooleval.Blame(tooleval.OwnerTask, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.cancel(ErrClosed)
		return nil, tooleval.Blame(tooleval.OwnerInfra, fmt.Errorf("the tools' MCP server: %w", err))
	}
	e.addr = listener.Addr().String()
	e.URL = "http://" + e.addr + e.path
	if opts.PlainCalls {
		e.callPath = strings.TrimSuffix(e.path, "/mcp") + "/tools/call"
		e.CallURL = "http://" + e.addr + e.callPath
	}
	// One handler for one run: the session of one run would be served on the path of another otherwise.
	handled := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return e.server },
		&mcp.StreamableHTTPOptions{JSONResponse: true, MaxRequestBodyBytes: maxBody})
	e.http = &http.Server{Handler: e.admit(handled), ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(e.served)
		_ = e.http.Serve(listener) // ends by Close alone
	}()
	return e, nil
}

// Addr is the host and port that the endpoint listens on.
func (e *Endpoint) Addr() string { return e.addr }

// Listed is closed once a client was given the list of tools.
func (e *Endpoint) Listed() <-chan struct{} { return e.listed }

// LastSeen is the time of the last request, or of Serve when there was none.
func (e *Endpoint) LastSeen() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen
}

// Status is what was seen so far.
func (e *Endpoint) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.status
	s.Warnings = append([]tooleval.Text(nil), s.Warnings...)
	return s
}

// Name is the tool that a name as the agent has it stands for.
func (e *Endpoint) Name(offered string) string { return e.names.real(offered) }

// Close ends every session and every call in flight and refuses what comes later. It waits for the calls' handlers, but
// no longer than a second. Closing twice does nothing.
func (e *Endpoint) Close() {
	e.once.Do(func() {
		e.cancel(ErrClosed)
		e.mu.Lock()
		e.closed = true
		if e.inFlight == 0 {
			close(e.idle)
		}
		e.mu.Unlock()
		timer := time.NewTimer(closeWait)
		defer timer.Stop()
		select {
		case <-e.idle:
		case <-timer.C:
			e.warn("a tool call had not returned %v after the end of its context and was left behind", closeWait)
		}
		_ = e.http.Close()
		<-e.served
		// A session's Close waits for its calls, which may be stuck for good.
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for session := range e.server.Sessions() {
				_ = session.Close()
			}
		}()
		timer.Reset(closeWait)
		select {
		case <-ended:
		case <-timer.C:
		}
	})
}

// enter counts a call in; it is refused after Close.
func (e *Endpoint) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.inFlight++
	return true
}

func (e *Endpoint) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inFlight--; e.inFlight == 0 && e.closed {
		close(e.idle)
	}
}

func (e *Endpoint) warn(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	const most = 20
	if len(e.status.Warnings) < most {
		e.status.Warnings = append(e.status.Warnings, tooleval.Text(fmt.Sprintf(format, args...)))
	}
}

// update changes the status.
func (e *Endpoint) update(change func(*Status)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	listed := e.status.Listed
	change(&e.status)
	if e.status.Listed && !listed {
		close(e.listed)
	}
}
