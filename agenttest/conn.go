package agenttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/internal/process"
	"github.com/tooleval/tooleval/internal/wire"
)

// A link is a started agent: its ends and how it is ended.
type link struct {
	in     io.WriteCloser
	out    io.Reader
	exited <-chan struct{}
	// stop ends the agent, at once when it has not exited, and says how it ended: "" for well.
	stop func() string
	// log is the end of the agent's log.
	log func() string
}

// A launcher starts the agent once more.
type launcher func() (*link, error)

// program starts a program as agents.Process does.
func program(command []string, o Options) launcher {
	return func() (*link, error) {
		home, err := process.NewHome()
		if err != nil {
			return nil, err
		}
		dir := o.Dir
		if dir == "" {
			dir = home.Work
		}
		stderr := &process.Capture{}
		p, err := process.Start(process.Spec{
			Command: command, Dir: dir, Env: home.Env(o.Env), Stdin: true, Stderr: stderr})
		if err != nil {
			return nil, errors.Join(err, home.Remove())
		}
		stop := func() string {
			exit := p.Stop(0, o.grace()/2)
			p.Close()
			_ = home.Remove()
			if exit.Alone && exit.State != nil && !exit.State.Success() {
				return exit.String()
			}
			return ""
		}
		return &link{p.Stdin, p.Stdout, p.Exited(), stop, func() string { return stderr.Tail(1000) }}, nil
	}
}

// inProcess serves a Go value over pipes.
func inProcess(newAgent func() tooleval.Agent) launcher {
	return func() (*link, error) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		log := &process.Capture{}
		exited := make(chan struct{})
		var err error
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer close(exited)
			err = agents.Serve(ctx, inR, outW, agents.Server{Name: "in process", Any: newAgent(), Log: log})
			outW.Close()
			inR.Close()
		}()
		stop := func() string {
			cancel()
			inW.Close()
			outR.Close()
			<-exited // Serve is bounded
			if err != nil && !errors.Is(err, context.Canceled) {
				return err.Error()
			}
			return ""
		}
		return &link{inW, outR, exited, stop, func() string { return log.Tail(1000) }}, nil
	}
}

// A conn is one conversation, seen from the harness. It is for one goroutine.
type conn struct {
	*link
	ctx      context.Context
	send     chan wire.Message
	quit     chan struct{}
	messages chan incoming
	lastID   int64
	open     map[int64]bool  // requests without an answer
	calls    map[string]bool // ids of the agent's requests without an answer
	noise    []string
	wrong    []string // breaches that no single check waits for
}

type incoming struct {
	wire.Message
	noise string
}

// pushWait bounds the wait of a message behind many others that the agent does not read.
const pushWait = 5 * time.Second

var (
	errEnded = errors.New("the agent ended or closed its output")
	errSlow  = errors.New("no answer")
)

func dial(ctx context.Context, l *link) *conn {
	c := &conn{link: l, ctx: ctx, send: make(chan wire.Message, 100), quit: make(chan struct{}),
		messages: make(chan incoming, 100), open: map[int64]bool{}, calls: map[string]bool{}}
	go func() { // an agent that does not read must not block the checks
		w := wire.NewWriter(l.in)
		for {
			select {
			case m := <-c.send:
				_ = w.Send(m)
			case <-c.quit:
				return
			}
		}
	}()
	go func() {
		defer close(c.messages)
		r := wire.NewReader(l.out, wire.MaxLine)
		for {
			line, err := r.Next()
			if err != nil && !errors.Is(err, wire.ErrUnended) {
				return
			}
			m, err := wire.Parse(line)
			in := incoming{Message: m}
			if err != nil {
				in.noise = fmt.Sprintf("%q", clip(string(line)))
			}
			select {
			case c.messages <- in:
			case <-c.quit:
				return
			}
		}
	}()
	return c
}

// request sends a request.
func (c *conn) request(method string, params any) int64 {
	c.lastID++
	c.open[c.lastID] = true
	c.push(wire.Message{ID: wire.Number(c.lastID), Method: method, Params: wire.Marshal(params)})
	return c.lastID
}

func (c *conn) notify(method string, params any) {
	m := wire.Message{Method: method}
	if params != nil {
		m.Params = wire.Marshal(params)
	}
	c.push(m)
}

// push queues a message; one for an agent that reads nothing is dropped in the end.
func (c *conn) push(m wire.Message) {
	select {
	case c.send <- m:
	case <-c.exited:
	case <-c.ctx.Done():
	case <-time.After(pushWait):
	}
}

// next is the next message; noise is put aside.
func (c *conn) next(limit <-chan time.Time) (wire.Message, error) {
	for {
		select {
		case in, ok := <-c.messages:
			if !ok {
				return wire.Message{}, errEnded
			}
			if in.noise == "" {
				return in.Message, nil
			}
			if len(c.noise) < 5 {
				c.noise = append(c.noise, in.noise)
			}
		case <-limit:
			return wire.Message{}, errSlow
		case <-c.ctx.Done():
			return wire.Message{}, context.Cause(c.ctx)
		}
	}
}

// await waits for the answer to a request and hands the agent's calls to onCall; nil refuses them.
func (c *conn) await(id int64, limit time.Duration, onCall func(wire.Message)) (wire.Message, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		m, err := c.next(timer.C)
		if errors.Is(err, errSlow) {
			err = fmt.Errorf("%w within %v", err, limit)
		}
		if err != nil {
			return m, err
		}
		if c.take(m, id, onCall) {
			return m, nil
		}
	}
}

// take handles one message and reports whether it answers the request.
func (c *conn) take(m wire.Message, id int64, onCall func(wire.Message)) bool {
	switch {
	case m.IsResponse():
		n, ok := m.AnswerTo()
		if !ok || !c.open[n] {
			c.breach("it answered what was not asked, or answered twice: id %s", clip(string(m.ID)))
			return false
		}
		delete(c.open, n)
		return n == id
	case m.IsRequest() && c.calls[string(m.ID)]:
		c.breach("it used id %s for two open requests", clip(string(m.ID)))
	case m.IsRequest():
		c.calls[string(m.ID)] = true
		switch {
		case m.Method != "tools/call":
			c.answer(wire.Fail(m.ID, wire.MethodNotFound, "there is no such method", nil))
		case onCall == nil:
			c.answer(wire.Fail(m.ID, wire.NoRun, "there is no run in progress", nil))
			c.breach("it called a tool outside a run")
		default:
			onCall(m)
		}
	}
	return false
}

func (c *conn) breach(format string, args ...any) {
	if len(c.wrong) < 5 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// answer answers a request of the agent's.
func (c *conn) answer(m wire.Message) {
	delete(c.calls, string(m.ID))
	c.push(m)
}

// exits waits for the agent to end by itself, and says what is wrong with how it does.
func (c *conn) exits(limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	messages := c.messages
	for {
		select {
		case in, ok := <-messages:
			switch {
			case !ok:
				messages = nil
			case in.noise != "" && len(c.noise) < 5:
				c.noise = append(c.noise, in.noise)
			case in.noise == "":
				c.take(in.Message, 0, func(wire.Message) {})
			}
		case <-c.exited:
			if how := c.stop(); how != "" {
				return fmt.Errorf("it ended badly: %s%s", how, c.tail())
			}
			return nil
		case <-timer.C:
			return fmt.Errorf("it still runs after %v", limit)
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
}

// close ends the conversation, whatever state it is in.
func (c *conn) close() {
	c.stop()
	close(c.quit)
	for in := range c.messages { // until the reader has ended
		if in.noise != "" && len(c.noise) < 5 {
			c.noise = append(c.noise, in.noise)
		}
	}
}

// tail is the end of the log, for a note.
func (c *conn) tail() string {
	if s := strings.TrimSpace(c.log()); s != "" {
		return fmt.Sprintf("; the end of its stderr: %q", s)
	}
	return ""
}

func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
