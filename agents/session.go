package agents

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/process"
	"github.com/tooleval/tooleval/internal/wire"
)

// drain bounds the time in which the last words of a program that has exited are awaited: a child may hold the pipe
// open.
const drain = 500 * time.Millisecond

// stuck bounds the time for tool calls to return after their context was cut and the process ended.
const stuck = 100 * time.Millisecond

// A session is one conversation with one process, seen from the harness.
type session struct {
	p      *Process
	proc   *process.Process
	home   *process.Home
	stderr *process.Capture
	out    *wire.Writer
	in     *wire.Reader
	calls  calls
	notes  notes

	ended chan struct{} // closed when nothing more can be read; readErr says why
	// readErr is nil at the end of file.
	readErr error
	writes  sync.WaitGroup

	mu      sync.Mutex
	lastID  int64
	waiting map[int64]chan wire.Message
	runID   int64     // the run in progress; 0 outside a run
	killBy  time.Time // when the process is to be killed; zero as long as nothing asks it to stop
}

func newSession(p *Process, proc *process.Process, home *process.Home, stderr *process.Capture, tools tooleval.ToolHandler,
	in *wire.Reader) *session {
	s := &session{p: p, proc: proc, home: home, stderr: stderr, out: wire.NewWriter(proc.Stdin), in: in,
		ended: make(chan struct{}), waiting: map[int64]chan wire.Message{}}
	s.calls.init(tools, s.out)
	go s.read()
	return s
}

// read takes the agent's messages until there are none.
func (s *session) read() {
	defer close(s.ended)
	for {
		line, err := s.in.Next()
		if err != nil && !errors.Is(err, wire.ErrUnended) {
			if errors.Is(err, wire.ErrTooLong) {
				s.readErr = err
			}
			return
		}
		m, perr := wire.Parse(line)
		var invalid *wire.InvalidError
		switch {
		case errors.As(perr, &invalid):
			s.notes.noise("an invalid message ("+invalid.Why+")", line)
			if m.Method != "" || m.ID == nil {
				s.reply(wire.Fail(nil, wire.InvalidRequest, invalid.Why, nil))
			}
		case perr != nil:
			s.notes.noise("a line that is no message", line)
		case m.IsResponse():
			s.answered(m)
		case m.Method == methodCall && m.IsRequest():
			s.calls.serve(m, s.inRun())
		case m.IsRequest():
			s.reply(wire.Fail(m.ID, wire.MethodNotFound, fmt.Sprintf("there is no method %q", clip(m.Method)), nil))
		}
	}
}

func (s *session) reply(m wire.Message) {
	_ = s.out.Send(m) // a program that has closed its input will be noticed by what it does not say
}

func (s *session) inRun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runID != 0
}

// answered hands a response to whoever waits for it. The run is over with its answer: a call read after it is refused.
func (s *session) answered(m wire.Message) {
	id, _ := m.AnswerTo()
	s.mu.Lock()
	ch, ok := s.waiting[id]
	delete(s.waiting, id)
	known := id > 0 && id <= s.lastID
	if ok && id == s.runID {
		s.runID = 0
		if n := s.calls.pending(); n > 0 {
			s.notes.add("the run was answered while %d of its tool calls had no answer yet", n)
		}
	}
	s.mu.Unlock()
	switch {
	case ok:
		ch <- m
	case known:
		s.notes.add("a second answer to request %d was ignored", id)
	default:
		s.notes.add("an answer to a request that was never made was ignored (id %s)", clip(string(m.ID)))
	}
}

// request sends a request without waiting: an agent that does not read must not stop the harness.
func (s *session) request(method string, params any) <-chan wire.Message {
	ch := make(chan wire.Message, 1)
	s.mu.Lock()
	s.lastID++
	id := s.lastID
	s.waiting[id] = ch
	if method == methodRun {
		s.runID = id
	}
	s.mu.Unlock()
	s.send(wire.Message{ID: wire.Number(id), Method: method, Params: wire.Marshal(params)}, false)
	return ch
}

// send writes a message in the background and then closes the agent's input, if this is the last one.
func (s *session) send(m wire.Message, last bool) {
	s.writes.Go(func() {
		_ = s.out.Send(m)
		if last {
			s.proc.Stdin.Close()
		}
	})
}

// errGone is an agent whose output has ended.
var errGone = errors.New("gone")

// await waits for an answer, the end of the agent, or the end of ctx.
func (s *session) await(ctx context.Context, ch <-chan wire.Message) (wire.Message, error) {
	exited := s.proc.Exited()
	var late <-chan time.Time
	for {
		select {
		case m := <-ch:
			return m, nil
		case <-s.ended:
		case <-exited:
			exited, late = nil, time.After(drain)
			continue
		case <-late:
		case <-ctx.Done():
		}
		select {
		case m := <-ch: // it came at the same time, and counts
			return m, nil
		default:
		}
		if ctx.Err() != nil {
			return wire.Message{}, context.Cause(ctx)
		}
		return wire.Message{}, errGone
	}
}

// gone says how the agent went away, and whose fault that is in a run. The process is stopped first, to know its exit
// status.
func (s *session) gone(before string) (tooleval.Owner, error) {
	select {
	case <-s.ended:
		if s.readErr != nil {
			return tooleval.OwnerAgent, fmt.Errorf("its message is too long: %w", s.readErr)
		}
	default:
	}
	exit := s.proc.Stop(min(drain, s.p.grace()/2), s.p.grace()/2)
	switch {
	case !exit.Alone:
		return tooleval.OwnerAgent,
			fmt.Errorf("it closed its standard output before it answered %s, and went on running", before)
	case exit.KilledBy() == 9:
		// Nothing of ours sends this signal to a program that was not asked to stop.
		return tooleval.OwnerInfra, fmt.Errorf("it ended before it answered %s: %v (out of memory?)", before, exit)
	default:
		return tooleval.OwnerAgent, fmt.Errorf("it ended before it answered %s: %v", before, exit)
	}
}

// initialize is the first exchange. Its failures are no agent's fault in a task: the agent was not given one.
func (s *session) initialize(ctx context.Context) (initializeResult, error) {
	limit := s.p.startTimeout()
	errSlow := fmt.Errorf("it did not answer initialize within %v: does it speak the protocol on its standard output?",
		limit)
	start, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	m, err := s.await(start, s.request(methodInitialize, initializeParams{ProtocolVersion, peerID{Name: "tooleval"}}))
	infra := func(err error) (initializeResult, error) {
		s.stopNow()
		return initializeResult{}, tooleval.Blame(tooleval.OwnerInfra, err)
	}
	switch {
	case errors.Is(err, errGone):
		_, err := s.gone(methodInitialize)
		return infra(fmt.Errorf("%w%s", err, s.p.fileHint()))
	case err != nil && ctx.Err() != nil:
		s.stopNow()
		return initializeResult{}, tooleval.Blamef(tooleval.OwnerInfra,
			"stopped before it answered initialize: does it speak the protocol on its standard output? %w", context.Cause(ctx))
	case err != nil:
		return infra(err)
	case m.Error != nil:
		return infra(fmt.Errorf("it answered initialize with an error: %w", m.Error))
	}
	init, err := parseInitialize(m.Result)
	if err != nil {
		return infra(err)
	}
	return init, nil
}

// runOne gives the agent an assignment and waits for its answer.
func (s *session) runOne(ctx context.Context, a tooleval.Assignment) (tooleval.AgentResult, error) {
	s.calls.begin(ctx)
	ch := s.request(methodRun, a)
	m, err := s.await(ctx, ch)
	if err == nil {
		s.calls.finish(ctx, s.p.grace())
		return s.result(m)
	}
	if errors.Is(err, errGone) {
		s.endRun()
		return tooleval.AgentResult{}, tooleval.Blame(s.gone(methodRun))
	}
	// Time is up, or the harness stops. The agent may still say what it has.
	stopped := fmt.Errorf("stopped: %w", err)
	s.stopBy(s.p.cancelGrace())
	s.send(wire.Message{Method: methodCancel}, false)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.p.cancelGrace()/2)
	defer cancel()
	m, err = s.await(last, ch)
	s.endRun()
	if err != nil {
		return tooleval.AgentResult{}, stopped
	}
	if result, err := s.result(m); err == nil {
		return result, stopped
	}
	return tooleval.AgentResult{}, stopped
}

// endRun refuses later calls and cuts those in flight.
func (s *session) endRun() {
	s.mu.Lock()
	s.runID = 0
	s.mu.Unlock()
	s.calls.cut()
}

// result reads the answer to run.
func (s *session) result(m wire.Message) (tooleval.AgentResult, error) {
	if m.Error != nil {
		owner := ownerIn(m.Error)
		switch {
		case owner == tooleval.OwnerAgent, owner == tooleval.OwnerInfra, owner == tooleval.OwnerUser:
		case owner != "" && s.calls.broke(owner):
			// A broken world, as the harness itself told the agent.
		default:
			if owner != "" {
				s.notes.add("the agent blames its error on %q, which it can't know", clip(string(owner)))
			}
			owner = tooleval.OwnerAgent
		}
		return tooleval.AgentResult{}, tooleval.Blamef(owner, "answered the run with an error: %w", m.Error)
	}
	result, warnings, err := ParseResult(m.Result)
	if err != nil {
		return tooleval.AgentResult{}, tooleval.Blame(tooleval.OwnerAgent, err)
	}
	for _, w := range warnings {
		s.notes.add("%s", w)
	}
	incomplete := ""
	if result.Evidence != nil {
		incomplete = result.Evidence.Incomplete
	}
	// How calls were seen is for the harness to say, that some were not is for the agent.
	result.Evidence = &tooleval.Evidence{Channel: tooleval.OverStdio, Incomplete: incomplete}
	return result, nil
}

func (s *session) stopBy(in time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killBy.IsZero() {
		s.killBy = time.Now().Add(in)
	}
}

// stopNow asks for SIGTERM without waiting: the program does nothing that is worth waiting for.
func (s *session) stopNow() { s.stopBy(s.p.cancelGrace()) }

// close shuts the agent down, ends its process tree and removes its home.
func (s *session) close() process.Exit {
	s.endRun()
	s.send(wire.Message{Method: methodShutdown}, true)
	s.stopBy(s.p.grace())
	left := max(0, time.Until(s.killBy))
	exit := s.proc.Stop(left/2, left/2)
	s.calls.stop()
	if n := s.calls.wait(stuck); n > 0 {
		s.notes.add("%d tool calls had not returned when the run ended", n)
	}
	<-s.ended // Stop makes reads end
	s.writes.Wait()
	s.proc.Close()
	if exit.Strays > 0 {
		s.notes.add("it left %d processes behind, which were ended", exit.Strays)
	}
	if err := s.home.Remove(); err != nil {
		s.notes.add("its folder can't be removed: %v", err)
	}
	return exit
}

// fail is an error with the evidence, after close.
func (s *session) fail(exit process.Exit, err error) error {
	e := &ProcessError{Agent: s.p.name(), Err: err, Stderr: tooleval.Text(s.stderr.String()), Warnings: s.warnings()}
	if exit.Alone {
		e.Exit = exit.String()
	}
	return e
}

func (s *session) warnings() []tooleval.Text { return append(s.notes.list(), s.calls.notes.list()...) }
