package acpagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/mcpagent"
	"github.com/tooleval/tooleval/internal/process"
)

var (
	errGone  = errors.New("its connection ended")
	errStart = errors.New("it took too long to open a session")
)

// serverName is the name of the tools' MCP server in the session; agents build the names of tools from it.
const serverName = "world"

// prefixes are what the agents that were tried put in front of a tool's name.
var prefixes = []string{"mcp__world__", "mcp_world_", "world__", "world_"}

// A session is one run's process and its conversation.
type session struct {
	agent    *Agent
	home     *process.Home
	endpoint *mcpagent.Endpoint
	proc     *process.Process
	stderr   *process.Capture
	conn     *acp.ClientSideConnection
	client   *client
	notes    *notes
	tools    int
	opened   bool // there is a session
	asks     sync.WaitGroup
}

// start starts the program and connects to it.
func (g *Agent) start(home *process.Home, endpoint *mcpagent.Endpoint, a tooleval.Assignment) (*session, error) {
	stderr := &process.Capture{}
	proc, err := process.Start(process.Spec{Command: g.Command, Dir: home.Work, Env: home.Env(g.Env), Stdin: true, Stderr: stderr})
	if err != nil {
		return nil, err
	}
	s := &session{agent: g, home: home, endpoint: endpoint, proc: proc, stderr: stderr, notes: &notes{}, tools: len(a.Tools)}
	s.client = newClient(g.policy(), a.Tools, s.notes)
	out := &gate{reader: proc.Stdout, open: make(chan struct{})}
	s.conn = acp.NewClientSideConnection(s.client, proc.Stdin, out)
	s.conn.SetLogger(slog.New(logger{s.notes}))
	close(out.open)
	return s, nil
}

// A gate holds reading up until the connection has its logger, which the library sets without a lock. At the end it
// waits for a moment: the library forgets an answer that has not been picked up when the connection ends.
type gate struct {
	reader io.Reader
	open   chan struct{}
}

func (g *gate) Read(b []byte) (int, error) {
	<-g.open
	n, err := g.reader.Read(b)
	if err != nil && n == 0 {
		time.Sleep(100 * time.Millisecond)
	}
	return n, err
}

// ask sends one request and waits for its answer or for ctx. A program that does not read blocks the sending, whatever
// its context; it ends with the program, and stop waits for it.
func ask[T any](ctx context.Context, s *session, send func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	s.asks.Go(func() {
		v, err := send()
		replies <- reply{v, err}
	})
	select {
	case r := <-replies:
		if r.err != nil && lost(r.err) {
			<-s.conn.Done()
			return r.value, fmt.Errorf("%w: %w", errGone, r.err)
		}
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// lost reports whether an error is the library's own for a connection that ended. It has no type for that.
func lost(err error) bool {
	var e *acp.RequestError
	if !errors.As(err, &e) || e.Code != internalError {
		return false
	}
	data, _ := e.Data.(map[string]any)
	text, _ := data["error"].(string)
	return strings.HasPrefix(text, "peer disconnected") ||
		strings.Contains(text, os.ErrClosed.Error()) || strings.Contains(text, syscall.EPIPE.Error())
}

// converse does the handshake and the prompt.
func (s *session) converse(ctx context.Context, text string) error {
	start, cancel := context.WithTimeoutCause(ctx, s.agent.startTimeout(), errStart)
	defer cancel()
	life := context.WithoutCancel(ctx) // requests end with the program; see ask
	id, err := s.open(start, life)
	if err != nil {
		if errors.Is(err, errStart) {
			err = fmt.Errorf("%w (%v)", err, s.agent.startTimeout())
		}
		if ctx.Err() != nil || errors.Is(err, errGone) {
			return err
		}
		return tooleval.Blame(tooleval.OwnerInfra, s.fault("opening a session", err))
	}
	s.opened = true
	// One goroutine sends the prompt; it may be answered after a cancel.
	type reply struct {
		response acp.PromptResponse
		err      error
	}
	done := make(chan reply, 1)
	_, err = ask(ctx, s, func() (struct{}, error) {
		r, err := s.conn.Prompt(life, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
		done <- reply{r, err}
		return struct{}{}, err
	})
	if ctx.Err() != nil {
		s.cancel(life, id)
		select {
		case r := <-done: // it may have said what it has
			s.client.finish(r.response)
		case <-time.After(s.agent.grace() / 2):
		}
		return context.Cause(ctx)
	}
	if err != nil {
		if errors.Is(err, errGone) {
			return err
		}
		return tooleval.Blame(tooleval.OwnerAgent, s.fault("the prompt", err))
	}
	r := <-done
	s.client.finish(r.response)
	switch r.response.StopReason {
	case acp.StopReasonEndTurn:
	case acp.StopReasonMaxTurnRequests:
		s.notes.add("it stopped at a limit of its own: max_turn_requests")
	case acp.StopReasonRefusal:
		s.notes.add("the model refused to go on")
	case acp.StopReasonMaxTokens:
		return tooleval.Blamef(tooleval.OwnerAgent, "its answer was cut off at the model's limit of tokens")
	case acp.StopReasonCancelled:
		return tooleval.Blamef(tooleval.OwnerAgent, "it ended as cancelled, which nobody asked for")
	default:
		s.notes.add("it stopped for an unknown reason, %q", clip(string(r.response.StopReason)))
	}
	return nil
}

// open introduces the two sides and opens a session that has the run's tools.
func (s *session) open(ctx, life context.Context) (acp.SessionId, error) {
	hello, err := ask(ctx, s, func() (acp.InitializeResponse, error) {
		return s.conn.Initialize(life, acp.InitializeRequest{
			ProtocolVersion: acp.ProtocolVersionNumber,
			ClientInfo:      &acp.Implementation{Name: "tooleval", Version: "1"},
		})
	})
	if err != nil {
		return "", err
	}
	if hello.ProtocolVersion != acp.ProtocolVersionNumber {
		return "", tooleval.Blamef(tooleval.OwnerUser, "it speaks version %d of ACP, and this harness speaks %d",
			hello.ProtocolVersion, acp.ProtocolVersionNumber)
	}
	var server acp.McpServer
	switch shim := s.agent.Shim; {
	case hello.AgentCapabilities.McpCapabilities.Http:
		server.Http = &acp.McpServerHttpInline{Name: serverName, Type: "http", Url: s.endpoint.URL,
			Headers: []acp.HttpHeader{{Name: "Authorization", Value: "Bearer " + s.endpoint.Token}}}
	case len(shim) > 0:
		args := append([]string{}, shim[1:]...) // never null
		server.Stdio = &acp.McpServerStdio{Name: serverName, Command: shim[0], Args: args, Env: []acp.EnvVariable{
			{Name: "TOOLEVAL_MCP_URL", Value: s.endpoint.URL}, {Name: "TOOLEVAL_MCP_TOKEN", Value: s.endpoint.Token}}}
	default:
		return "", tooleval.Blamef(tooleval.OwnerUser, "it takes no MCP servers over HTTP, and there is no stdio server to give it")
	}
	opened, err := ask(ctx, s, func() (acp.NewSessionResponse, error) {
		return s.conn.NewSession(life, acp.NewSessionRequest{Cwd: s.home.Work, McpServers: []acp.McpServer{server}})
	})
	if err != nil {
		return "", err
	}
	if opened.Models != nil {
		s.client.setModel(string(opened.Models.CurrentModelId))
	}
	return opened.SessionId, nil
}

// cancel tells the agent to stop.
func (s *session) cancel(ctx context.Context, id acp.SessionId) {
	s.asks.Go(func() { _ = s.conn.Cancel(ctx, acp.CancelNotification{SessionId: id}) })
}

// Error codes of ACP and JSON-RPC.
const (
	authRequired  = -32000
	internalError = -32603
)

// fault is an error of the agent's own, with its owner where the text tells one.
func (s *session) fault(what string, err error) error {
	if _, ok := tooleval.BlamedOn(err); ok {
		return err
	}
	var e *acp.RequestError
	if !errors.As(err, &e) {
		return err
	}
	text := e.Message
	if e.Data != nil {
		text = e.Error()
	}
	if e.Code == authRequired {
		return tooleval.Blamef(tooleval.OwnerUser, "it wants a login or a key: %q; log in with its own command, "+
			"or hand its key over by naming the variable in TOOLEVAL_AGENT_ENV", clip(text))
	}
	if line, ok := providerFault(text); ok {
		return tooleval.Blamef(tooleval.OwnerInfra, "%s was answered with error %d: %q", what, e.Code, line)
	}
	return fmt.Errorf("%s was answered with error %d: %q", what, e.Code, clip(text))
}

// stop ends the program and everything that it started.
func (s *session) stop() process.Exit {
	_ = s.proc.Stdin.Close() // most agents exit then
	alone := min(aloneTime, s.agent.grace()/4)
	exit := s.proc.Stop(alone, s.agent.grace()/4)
	<-s.conn.Done() // Stop makes reads end
	s.asks.Wait()
	s.proc.Close()
	if exit.Strays > 0 {
		s.notes.add("it left %d processes behind, which were ended", exit.Strays)
	}
	return exit
}
