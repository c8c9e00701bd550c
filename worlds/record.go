package worlds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
)

// What bounds the record of one run unless told otherwise.
const (
	DefaultMaxCalls = 1000
	DefaultMaxBytes = 256 << 20
)

// ErrLimit is wrapped by the error that RecordOptions.OnLimit gets.
var ErrLimit = errors.New("limit reached")

// ErrEnded is the reason why a run is over that a tool's result ended ([tooleval.ToolResult.EndsRun]).
var ErrEnded = errors.New("the run was ended by a tool's answer")

// RecordOptions are the settings of a recorder. The zero value works.
type RecordOptions struct {
	// MaxCalls bounds the number of calls; 0 stands for DefaultMaxCalls. The call after the last is refused and recorded
	// as such; those after it are refused and only counted (see Recorder.Late).
	MaxCalls int
	// MaxBytes bounds what is kept of calls and results together; 0 stands for DefaultMaxBytes. A call or a result that
	// does not fit is refused, recorded without its content, and ends the run as MaxCalls does.
	MaxBytes int64
	// OnLimit is called once, when a limit is reached, from the call that reached it. It may cancel the run. Its error
	// wraps ErrLimit. Nil does nothing.
	OnLimit func(error)
	// OnEnd is called once, from the call whose result ends the run, before that result is handed out. It may cancel the
	// run. Nil does nothing.
	OnEnd func()
	// Start is the time from which StartMS counts; zero stands for the time at which Record was called.
	Start time.Time
	// Now is the clock, for display times only; nil stands for time.Now.
	Now func() time.Time
}

// Record returns the harness's own recorder on inner: what an agent gets as its tool handler. It writes every call down
// and gives it its status:
//
//   - ok, tool_error: the tool answered. After an answer with EndsRun every call is refused and only counted. A result with IsError, arguments that are not a JSON object (they never reach
//     inner) and a [tooleval.Gap] are tool errors; the agent gets an error result.
//   - refused: inner returned a [Refusal], a limit was reached, or the run was over; the agent gets an error result.
//   - timeout, cancelled: the call's context ended before the answer; the agent gets the error.
//   - protocol_error: inner returned another error or panicked; the agent gets the error, blamed on the world unless it
//     is blamed already.
func Record(inner tooleval.ToolHandler, opts RecordOptions) *Recorder {
	if opts.MaxCalls <= 0 {
		opts.MaxCalls = DefaultMaxCalls
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Start.IsZero() {
		opts.Start = opts.Now()
	}
	r := &Recorder{inner: inner, opts: opts}
	if i, ok := inner.(*injector); ok {
		inner = i.inner
	}
	r.guard, _ = inner.(*guard)
	return r
}

// A Recorder is a ToolHandler that writes down every call it sees. All its methods may be called concurrently.
type Recorder struct {
	inner tooleval.ToolHandler
	guard *guard // inner, if it is one: it refuses calls whose arguments inner must not see
	opts  RecordOptions

	mu    sync.Mutex
	log   log
	bytes int64
	full  error // the limit that was reached
	ended bool  // a result with EndsRun was handed out
	over  bool  // Close was called
	late  int
}

// A log is the calls in order of their beginning.
type log struct {
	entries []entry
	clock   int // the last Began or Ended number; the first is 1
}

type entry struct {
	tooleval.Call
	// ctx is the context of a call in flight, nil once it has ended. It is kept to tell, if the run ends first, whether
	// the call ran out of time.
	ctx context.Context
}

const runOver = "the run is over"

// CallTool records the call and hands it to inner.
func (r *Recorder) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if ctx == nil { // an agent's slip must not break the record
		ctx = context.Background()
	}
	start := r.opts.Now()
	c := tooleval.Call{ID: call.ID, Tool: call.Tool, StartMS: ms(start.Sub(r.opts.Start))}
	c.Args, c.ArgsText, c.ArgsError = readArgs(call.Args)

	i, refusal := r.begin(ctx, c)
	if i < 0 {
		return tooleval.ErrorResult("%s", refusal), nil
	}
	var a answer
	if c.ArgsError == "" {
		call.Args = slices.Clone(c.Args) // the world may write into it
		a = ask(ctx, r.inner, call)
	} else {
		a = r.rejectArgs(c)
	}
	return r.end(i, a, ms(r.opts.Now().Sub(start)))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// rejectArgs answers a call whose arguments inner must not see. A call outside the toolset stays that first of all.
func (r *Recorder) rejectArgs(c tooleval.Call) answer {
	if r.guard != nil {
		if refusal := r.guard.refuse(c.Tool); refusal != nil {
			return refused(refusal.Message)
		}
	}
	return answer{status: tooleval.CallToolError, result: tooleval.ErrorResult("%s; send a JSON object", c.ArgsError)}
}

// begin writes the call down and returns its place, or -1 and the reason why it is refused.
func (r *Recorder) begin(ctx context.Context, c tooleval.Call) (place int, refusal string) {
	i, refusal, reached := r.tryBegin(ctx, c)
	r.report(reached)
	return i, refusal
}

func (r *Recorder) tryBegin(ctx context.Context, c tooleval.Call) (place int, refusal string, reached error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.ended || r.full != nil {
		r.late++
		if r.over || r.ended {
			return -1, runOver, nil
		}
		return -1, r.full.Error(), nil
	}
	size := int64(len(c.ID) + len(c.Tool) + len(c.Args) + len(c.ArgsText))
	switch {
	case len(r.log.entries) >= r.opts.MaxCalls:
		r.full = fmt.Errorf("%w: %d tool calls in one run", ErrLimit, r.opts.MaxCalls)
	case r.bytes+size > r.opts.MaxBytes:
		r.full = r.tooManyBytes()
		c.ID, c.Tool = "", fmt.Sprintf("%.100s", c.Tool)
		c.Args, c.ArgsText, c.ArgsError = nil, "", fmt.Sprintf("a call of %d bytes is not kept", size)
	}
	if r.full == nil {
		r.bytes += size
		return r.log.begin(ctx, c), "", nil
	}
	a := refused(r.full.Error())
	r.log.end(r.log.begin(ctx, c), a, 0)
	return -1, r.full.Error(), r.full
}

// end writes down how the call ended and returns what the agent is answered.
func (r *Recorder) end(i int, a answer, tookMS float64) (tooleval.ToolResult, error) {
	a, ends, reached := r.tryEnd(i, a, tookMS)
	r.report(reached)
	if ends && r.opts.OnEnd != nil {
		r.opts.OnEnd()
	}
	return a.result, a.err
}

func (r *Recorder) tryEnd(i int, a answer, tookMS float64) (_ answer, ends bool, reached error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over { // Close has written down already how this call ended
		return refused(runOver), false, nil
	}
	size := int64(len(a.result.Text) + len(a.result.Structured) + len(a.why) + len(a.gap) + len(a.fault))
	if r.bytes+size > r.opts.MaxBytes {
		if r.full == nil {
			r.full = r.tooManyBytes()
			reached = r.full
		}
		a = refused(r.tooManyBytes().Error())
		a.why = tooleval.Text(fmt.Sprintf("the tool was called, but its result of %d bytes is not kept: %s", size, a.why))
	} else {
		r.bytes += size
	}
	r.log.end(i, a, tookMS)
	// Agent and world may write into what they share; the record and the next run's fixtures must not see it.
	r.log.entries[i].Result.Structured = slices.Clone(a.result.Structured)
	a.result.Structured = slices.Clone(a.result.Structured)
	ends = a.err == nil && a.result.EndsRun && !r.ended
	r.ended = r.ended || ends
	return a, ends, reached
}

func (r *Recorder) tooManyBytes() error {
	return fmt.Errorf("%w: %d bytes of tool calls and results in one run", ErrLimit, r.opts.MaxBytes)
}

func (r *Recorder) report(reached error) {
	if reached != nil && r.opts.OnLimit != nil {
		r.opts.OnLimit(reached)
	}
}

// Close ends the record. It does not wait for calls in flight: they are written down as timeout or cancelled, and their
// answers are not handed out any more. Every later call is refused and only counted. Closing twice does nothing.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over = true
		r.log.cut(ms(r.opts.Now().Sub(r.opts.Start)))
	}
}

// Late is the number of calls that came after the end, whether that was Close, a limit or a result that ended the run. They were refused, and the
// trajectory doesn't list them.
func (r *Recorder) Late() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late
}

// Trajectory is a snapshot of the record that no later call changes; its bytes must not be changed. It is final after
// Close; before, calls in flight look as Close would leave them.
func (r *Recorder) Trajectory() tooleval.Trajectory {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := log{slices.Clone(r.log.entries), r.log.clock}
	if !r.over {
		l.cut(ms(r.opts.Now().Sub(r.opts.Start)))
	}
	t := tooleval.Trajectory{Calls: make([]tooleval.Call, len(l.entries)), Channel: tooleval.InProcess}
	for i := range l.entries {
		t.Calls[i] = l.entries[i].Call
	}
	return t
}

func (l *log) begin(ctx context.Context, c tooleval.Call) int {
	l.clock++
	c.Began = l.clock
	l.entries = append(l.entries, entry{c, ctx})
	return len(l.entries) - 1
}

func (l *log) end(i int, a answer, tookMS float64) {
	l.clock++
	e := &l.entries[i]
	e.ctx = nil
	e.Ended, e.TookMS = l.clock, tookMS
	e.Status, e.Result, e.Error, e.FixtureGap, e.Fault = a.status, a.result, a.why, a.gap, a.fault
}

// cut ends every call in flight.
func (l *log) cut(nowMS float64) {
	for i := range l.entries {
		e := &l.entries[i]
		if e.ctx == nil {
			continue
		}
		a := answer{status: tooleval.CallCancelled, why: "the run ended before the answer"}
		if e.ctx.Err() != nil {
			a.status = contextStatus(e.ctx)
			a.why = tooleval.Text(context.Cause(e.ctx).Error())
		}
		l.end(i, a, max(0, nowMS-e.StartMS))
	}
}
