package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/wire"
)

// maxParallel bounds the tool calls that are served at once; the agent's further messages wait in the pipe meanwhile.
const maxParallel = 64

// calls serves the tools/call requests of one session, each in its own goroutine.
type calls struct {
	tools   tooleval.ToolHandler
	out     *wire.Writer
	notes   notes
	slots   chan struct{}
	stopped chan struct{}

	mu     sync.Mutex
	ctx    context.Context // of the run in progress; kept for its calls, which come from another goroutine
	cancel context.CancelFunc
	active int           // calls whose goroutine has not ended
	asked  int           // calls that have no answer yet
	idle   chan struct{} // closed when active comes down to 0
	owners map[tooleval.Owner]bool
}

func (c *calls) init(tools tooleval.ToolHandler, out *wire.Writer) {
	c.tools, c.out = tools, out
	c.slots, c.stopped, c.idle = make(chan struct{}, maxParallel), make(chan struct{}), make(chan struct{})
	c.ctx, c.cancel = context.WithCancel(context.Background())
}

// begin gives the calls of a run their context.
func (c *calls) begin(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	c.ctx, c.cancel = context.WithCancel(ctx)
}

// serve answers one request, in the background unless it is refused.
func (c *calls) serve(m wire.Message, inRun bool) {
	if !inRun {
		c.notes.add("a tool call after the run's end was refused")
		_ = c.out.Send(wire.Fail(m.ID, wire.NoRun, "there is no run in progress", nil))
		return
	}
	call, err := parseCall(m.Params)
	if err != nil {
		c.notes.add("a tool call was refused: %v: %s", err, clip(string(m.Params)))
		_ = c.out.Send(wire.Fail(m.ID, wire.InvalidParams, err.Error(), nil))
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.stopped:
		return
	}
	c.mu.Lock()
	ctx := c.ctx
	c.active++
	c.asked++
	c.mu.Unlock()
	go func() {
		answer := c.call(ctx, m.ID, call)
		c.mu.Lock()
		c.asked-- // before the agent can know
		c.mu.Unlock()
		_ = c.out.Send(answer)
		<-c.slots
		c.mu.Lock()
		if c.active--; c.active == 0 {
			close(c.idle)
			c.idle = make(chan struct{})
		}
		c.mu.Unlock()
	}()
}

// call is the answer to one call. A panic of the tools is a fault of the harness and must not end it.
func (c *calls) call(ctx context.Context, id json.RawMessage, call tooleval.ToolCall) (answer wire.Message) {
	broken := func(owner tooleval.Owner, message string) wire.Message {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.owners == nil {
			c.owners = map[tooleval.Owner]bool{}
		}
		c.owners[owner] = true
		return wire.Fail(id, wire.CallFailed, message, errorData{Owner: owner})
	}
	defer func() {
		if r := recover(); r != nil {
			c.notes.add("a panic in a tool call: %v\n%s", r, debug.Stack())
			answer = broken(tooleval.OwnerHarness, fmt.Sprintf("the harness broke: %v", r))
		}
	}()
	result, err := c.tools.CallTool(ctx, call)
	switch {
	case err == nil:
		return wire.Message{ID: id, Result: wire.Marshal(result)}
	case ctx.Err() != nil:
		return wire.Fail(id, wire.NoRun, "the run has ended", nil)
	}
	owner, ok := tooleval.BlamedOn(err)
	if !ok {
		owner = tooleval.OwnerWorld
	}
	return broken(owner, err.Error())
}

// broke reports whether a call failed with that owner, so that the agent may name it.
func (c *calls) broke(owner tooleval.Owner) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owners[owner]
}

// pending is the number of calls that have no answer yet.
func (c *calls) pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// finish lets the calls that were sent before the run's answer have their effect, and cuts what takes too long.
func (c *calls) finish(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.waitFor(ctx)
	c.cut()
}

// cut cancels the calls in flight.
func (c *calls) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
}

// stop makes serve return at once from now on. It is called once.
func (c *calls) stop() { close(c.stopped) }

// wait waits until no call is served and returns how many still are.
func (c *calls) wait(limit time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c.waitFor(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

func (c *calls) waitFor(ctx context.Context) {
	for {
		c.mu.Lock()
		active, idle := c.active, c.idle
		c.mu.Unlock()
		if active == 0 {
			return
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return
		}
	}
}
