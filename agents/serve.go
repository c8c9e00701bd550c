package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/wire"
)

// ErrCancelled is the cause of an agent's context when the harness asked it to stop.
var ErrCancelled = errors.New("the harness cancelled the run")

// ErrShutdown is the cause of an agent's context when the harness went away during a run.
var ErrShutdown = errors.New("the harness has gone")

// lastWords bounds the time that an agent gets to return after its context is done, when the harness has gone.
const lastWords = 2 * time.Second

// A Server says what an agent is to the harness.
type Server struct {
	Name    string
	Version string
	// EntryPoints are the agents that answer, by entry point.
	EntryPoints map[string]tooleval.Agent
	// Any answers for every other entry point; nil when there are none.
	Any tooleval.Agent
	// Log takes the stack of a panic; nil stands for the standard error.
	Log io.Writer
}

// Main is what an agent's main calls: it serves the harness on the standard input and output and exits, with status 0
// after a shutdown. Meanwhile [os.Stdout] is the standard error, so that a stray print can't spoil the protocol. When
// the standard input is a terminal or a device it says what the program is and exits with status 2.
func Main(s Server) {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "%s is an agent; a harness starts it and speaks ToolEval's stdio protocol with it\n", s.Name)
		os.Exit(2)
	}
	out := os.Stdout
	os.Stdout = os.Stderr
	if err := Serve(context.Background(), os.Stdin, out, s); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve is the agent's side of the protocol. It answers the harness on in and out until it is told to shut down, in
// ends, or ctx is done, and returns nil after the first two. Runs come one at a time. An agent that panics answers its
// run with an error, and one that returns an error says whose fault it is by [tooleval.Blame].
//
// An agent that does not return within 2 s after its context is done is left behind, and so is a read of in when ctx
// ends Serve.
func Serve(ctx context.Context, in io.Reader, out io.Writer, s Server) error {
	if s.Log == nil {
		s.Log = os.Stderr
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v := &server{Server: s, out: wire.NewWriter(out), waiting: map[int64]chan wire.Message{}}
	read := make(chan error, 1)
	go func() { read <- v.read(ctx, wire.NewReader(in, wire.MaxLine)) }()
	var err error
	select {
	case err = <-read:
		cancel(ErrShutdown)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	v.wait(lastWords)
	return err
}

// server is the state of one Serve.
type server struct {
	Server
	out *wire.Writer

	mu          sync.Mutex
	initialized bool
	lastID      int64
	waiting     map[int64]chan wire.Message
	cancel      context.CancelCauseFunc // of the run in progress; nil outside a run
	done        chan struct{}           // closed when the run in progress has been answered
}

// read serves the harness's messages until there are no more.
func (v *server) read(ctx context.Context, in *wire.Reader) error {
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, wire.ErrUnended):
			return fmt.Errorf("reading from the harness: %w", err)
		}
		m, perr := wire.Parse(line)
		var invalid *wire.InvalidError
		var answer wire.Message
		switch {
		case errors.As(perr, &invalid):
			answer = wire.Fail(nil, wire.InvalidRequest, invalid.Why, nil)
		case perr != nil:
			answer = wire.Fail(nil, wire.ParseError, "a line that is no message", nil)
		case m.IsResponse():
			v.answered(m)
			continue
		case m.IsNotification():
			if m.Method == methodShutdown {
				return nil
			}
			if m.Method == methodCancel {
				v.stop(ErrCancelled)
			}
			continue
		case m.Method == methodShutdown:
			return v.out.Send(wire.Message{ID: m.ID, Result: json.RawMessage("null")})
		case m.Method == methodInitialize:
			answer = v.initialize(m)
		case m.Method == methodRun:
			fail := v.run(ctx, m)
			if fail == nil {
				continue
			}
			answer = *fail
		default:
			answer = wire.Fail(m.ID, wire.MethodNotFound, fmt.Sprintf("there is no method %q", clip(m.Method)), nil)
		}
		if err := v.out.Send(answer); err != nil {
			return fmt.Errorf("writing to the harness: %w", err)
		}
	}
}

func (v *server) initialize(m wire.Message) wire.Message {
	var p initializeParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return wire.Fail(m.ID, wire.InvalidParams, fmt.Sprintf("malformed initialize: %v", err), nil)
	}
	v.mu.Lock()
	v.initialized = true
	v.mu.Unlock()
	version := ProtocolVersion
	r := initializeResult{ProtocolVersion: &version, Name: tooleval.Text(v.Name), Version: tooleval.Text(v.Version)}
	if v.Any == nil {
		list := v.entryPoints()
		r.EntryPoints = &list
	}
	return wire.Message{ID: m.ID, Result: wire.Marshal(r)}
}

func (v *server) entryPoints() []string {
	return append([]string{}, slices.Sorted(maps.Keys(v.EntryPoints))...)
}

// run starts a run, or says why it can't.
func (v *server) run(ctx context.Context, m wire.Message) *wire.Message {
	fail := func(code int, format string, args ...any) *wire.Message {
		answer := wire.Fail(m.ID, code, fmt.Sprintf(format, args...), errorData{Owner: tooleval.OwnerUser})
		return &answer
	}
	var a tooleval.Assignment
	if err := json.Unmarshal(m.Params, &a); err != nil {
		return fail(wire.InvalidParams, "malformed assignment: %v", err)
	}
	agent, ok := v.EntryPoints[a.EntryPoint]
	if !ok {
		agent = v.Any
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case !v.initialized:
		return fail(wire.InvalidRequest, "initialize comes before run")
	case v.cancel != nil:
		return fail(wire.InvalidRequest, "a run is in progress, and runs come one at a time")
	case agent == nil:
		list := v.entryPoints()
		return fail(wire.InvalidParams, "there is no entry point %q%s; there are: %s", clip(a.EntryPoint),
			tooleval.DidYouMean(a.EntryPoint, list), strings.Join(list, ", "))
	}
	ctx, v.cancel = context.WithCancelCause(ctx)
	done := make(chan struct{})
	v.done = done
	go func() {
		defer close(done)
		result, err := v.guarded(ctx, agent, a)
		answer := wire.Message{ID: m.ID}
		if err == nil {
			if answer.Result, err = wire.Encode(result); err != nil {
				err = fmt.Errorf("the result has no JSON form: %w", err)
			}
		}
		if err != nil {
			answer = wire.Fail(m.ID, runCode(ctx), err.Error(), errorData{Owner: ownerOf(err)})
		}
		// The next run may come as soon as this one is answered.
		v.mu.Lock()
		v.cancel(nil)
		v.cancel = nil
		v.mu.Unlock()
		_ = v.out.Send(answer) // if the harness has gone, the reader notices
	}()
	return nil
}

func runCode(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), ErrCancelled) {
		return wire.Cancelled
	}
	return wire.RunFailed
}

func ownerOf(err error) tooleval.Owner {
	if owner, ok := tooleval.BlamedOn(err); ok {
		return owner
	}
	return tooleval.OwnerAgent
}

// guarded runs the agent and turns a panic into an error.
func (v *server) guarded(
	ctx context.Context, agent tooleval.Agent, a tooleval.Assignment,
) (result tooleval.AgentResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(v.Log, "panic: %v\n%s", r, debug.Stack())
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return agent.Run(ctx, a, tooleval.ToolHandlerFunc(v.call))
}

// call asks the harness to call a tool.
func (v *server) call(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if ctx.Err() != nil {
		return tooleval.ToolResult{}, context.Cause(ctx)
	}
	ch := make(chan wire.Message, 1)
	v.mu.Lock()
	v.lastID++
	id := v.lastID
	v.waiting[id] = ch
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		delete(v.waiting, id)
		v.mu.Unlock()
	}()
	if err := v.out.Send(wire.Message{ID: wire.Number(id), Method: methodCall, Params: appendCall(call)}); err != nil {
		return tooleval.ToolResult{}, tooleval.Blamef(tooleval.OwnerHarness, "calling tool %q: %w", call.Tool, err)
	}
	select {
	case m := <-ch:
		if m.Error != nil {
			owner := ownerIn(m.Error)
			if owner == "" {
				owner = tooleval.OwnerAgent // the call itself was at fault
			}
			return tooleval.ToolResult{}, tooleval.Blamef(owner, "calling tool %q: %w", call.Tool, m.Error)
		}
		var r tooleval.ToolResult
		if err := json.Unmarshal(m.Result, &r); err != nil {
			return r, tooleval.Blamef(tooleval.OwnerHarness, "calling tool %q: malformed answer: %w", call.Tool, err)
		}
		return r, nil
	case <-ctx.Done():
		return tooleval.ToolResult{}, context.Cause(ctx)
	}
}

func (v *server) answered(m wire.Message) {
	id, ok := m.AnswerTo()
	if !ok {
		return
	}
	v.mu.Lock()
	ch := v.waiting[id]
	delete(v.waiting, id)
	v.mu.Unlock()
	if ch != nil {
		ch <- m
	}
}

// stop cancels the run in progress, if there is one.
func (v *server) stop(cause error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cancel != nil {
		v.cancel(cause)
	}
}

// wait waits for the run in progress, if there is one.
func (v *server) wait(limit time.Duration) {
	v.mu.Lock()
	done := v.done
	v.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(limit):
	}
}
