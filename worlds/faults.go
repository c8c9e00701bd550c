package worlds

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// Inject makes faults on purpose in the calls that go through to inner, which should be a [Guard]: a call that it refuses
// is not counted, and no fault befalls it. Every fault that lands is told to the recorder around it by a [*Faulted]. One
// that can't land, such as a stale result before there was any, leaves the call as it is.
//
// Calls are counted as they come in, so which of several calls at once is the n-th is the agent's doing. What is drawn by
// chance depends on the seed, the fault and the number of the call alone. Without faults it is inner itself.
func Inject(inner tooleval.ToolHandler, faults []tooleval.Fault, seed uint64) tooleval.ToolHandler {
	if len(faults) == 0 {
		return inner
	}
	return &injector{inner: inner, faults: slices.Clone(faults), seed: seed, seen: make([]int, len(faults)),
		last: map[string]tooleval.ToolResult{}}
}

type injector struct {
	inner  tooleval.ToolHandler
	faults []tooleval.Fault
	seed   uint64

	mu   sync.Mutex
	seen []int                          // by fault: the calls that it could have befallen
	last map[string]tooleval.ToolResult // by tool: the last real result
}

// CallTool calls inner, unless a fault answers in its stead, and lets a fault change the answer.
func (j *injector) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	if g, ok := j.inner.(*guard); ok {
		if refusal := g.refuse(call.Tool); refusal != nil {
			return tooleval.ToolResult{}, refusal
		}
	}
	for _, d := range j.due(call.Tool) {
		if result, landed := j.instead(d, call.Tool); landed {
			return j.land(ctx, d.fault, result)
		}
		if d.fault.Kind == tooleval.FaultLatency {
			if err := pause(ctx, d.fault.Latency); err != nil {
				return tooleval.ToolResult{}, &Faulted{Fault: d.fault.Label(), Err: err}
			}
			result, err := j.ask(ctx, call)
			return tooleval.ToolResult{}, &Faulted{Fault: d.fault.Label(), Result: result, Err: err}
		}
		if changes(d.fault.Kind) {
			return j.change(ctx, call, d)
		}
	}
	return j.ask(ctx, call)
}

// A due fault befalls a call. Number counts the calls that it could befall, from 1.
type due struct {
	fault  *tooleval.Fault
	index  int
	number int
}

// due are the faults that are to befall the next call of a tool, in written order.
func (j *injector) due(tool string) []due {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []due
	for i := range j.faults {
		f := &j.faults[i]
		if f.Tool != "" && f.Tool != tool {
			continue
		}
		j.seen[i]++
		d := due{f, i, j.seen[i]}
		if f.Call > 0 && d.number != f.Call || f.Probability > 0 && j.random(d, "drawn").Float64() >= f.Probability {
			continue
		}
		out = append(out, d)
	}
	return out
}

// random is the source of what is by chance in one call.
func (j *injector) random(d due, purpose string) *rand.Rand {
	var n [24]byte
	for i, v := range []uint64{j.seed, uint64(d.index), uint64(d.number)} {
		binary.BigEndian.PutUint64(n[8*i:], v)
	}
	return rand.New(rand.NewChaCha8(sha256.Sum256(append(n[:], purpose...))))
}

// instead is the answer of a fault that keeps the call from the tool.
func (j *injector) instead(d due, tool string) (tooleval.ToolResult, bool) {
	say := func(text string) (tooleval.ToolResult, bool) {
		if d.fault.Text != "" {
			text = d.fault.Text
		}
		return tooleval.ErrorResult("%s", text), true
	}
	switch d.fault.Kind {
	case tooleval.FaultError:
		return say("internal error: the tool could not do this")
	case tooleval.FaultTimeout:
		waited := d.fault.Latency
		if waited == 0 {
			waited = 30 * time.Second
		}
		return say(fmt.Sprintf("timed out: no answer within %v", waited))
	case tooleval.FaultRateLimit:
		return say("429 too many requests: try again in a moment")
	case tooleval.FaultStale:
		j.mu.Lock()
		defer j.mu.Unlock()
		last, ok := j.last[tool]
		return copied(last), ok
	}
	return tooleval.ToolResult{}, false
}

func (j *injector) land(ctx context.Context, f *tooleval.Fault, result tooleval.ToolResult) (tooleval.ToolResult, error) {
	return tooleval.ToolResult{}, &Faulted{Fault: f.Label(), Result: result, Err: pause(ctx, f.Latency)}
}

func changes(k tooleval.FaultKind) bool {
	return k == tooleval.FaultGarbage || k == tooleval.FaultTruncated || k == tooleval.FaultInstruction
}

// change calls the tool and hands out something else than it answered. The structured form goes: an agent that reads it
// would not see the fault.
func (j *injector) change(ctx context.Context, call tooleval.ToolCall, d due) (tooleval.ToolResult, error) {
	result, err := j.ask(ctx, call)
	if err != nil { // there is nothing to change
		return result, err
	}
	text := result.Text
	if text == "" {
		text = tooleval.Text(result.Structured)
	}
	switch d.fault.Kind {
	case tooleval.FaultGarbage:
		text = tooleval.Text(d.fault.Text)
		if text == "" {
			text = j.garbage(d)
		}
	case tooleval.FaultTruncated:
		half := len(text) / 2
		for half > 0 && !utf8.RuneStart(text[half]) {
			half--
		}
		if half == 0 { // too short to be cut
			return result, nil
		}
		text = text[:half]
	default:
		if text != "" {
			text += "\n\n"
		}
		text += tooleval.Text(d.fault.Text)
	}
	result.Text, result.Structured = text, nil
	return tooleval.ToolResult{}, &Faulted{Fault: d.fault.Label(), Result: result}
}

// garbage is printable nonsense that is no JSON.
func (j *injector) garbage(d due) tooleval.Text {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789<>{}[]%$#@;:/\\"
	r := j.random(d, "garbage")
	b := make([]byte, 64)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return tooleval.Text("{\"\\x" + string(b))
}

// ask calls the tool and keeps what it answered, for a stale result later.
func (j *injector) ask(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	tool := call.Tool
	result, err := j.inner.CallTool(ctx, call)
	if err == nil {
		j.mu.Lock()
		j.last[tool] = copied(result)
		j.mu.Unlock()
	}
	return result, err
}

// copied is a result that nobody else can write into.
func copied(r tooleval.ToolResult) tooleval.ToolResult {
	r.Structured = slices.Clone(r.Structured)
	return r
}

// pause returns why the context ended, if that came before d had passed.
func pause(ctx context.Context, d time.Duration) error {
	a := Answer{Latency: d}
	return a.wait(ctx)
}
