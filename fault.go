package tooleval

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A FaultKind is a way in which a tool can let an agent down.
type FaultKind string

// The kinds of fault. Those of the first group answer in the tool's stead, which is then not called; those of the second
// change what it answered.
const (
	FaultError     FaultKind = "error"      // an error of the tool
	FaultTimeout   FaultKind = "timeout"    // an error that says that the tool did not answer in time
	FaultRateLimit FaultKind = "rate_limit" // an error that asks to try again later
	FaultStale     FaultKind = "stale"      // the result that this tool gave the last time

	FaultLatency     FaultKind = "latency"              // the tool's own answer, later
	FaultGarbage     FaultKind = "garbage"              // a text that makes no sense
	FaultTruncated   FaultKind = "truncated"            // the first half of the result's text
	FaultInstruction FaultKind = "injected_instruction" // the result's text, and below it one that wants the agent to do something else
)

// FaultKinds are all kinds of fault.
var FaultKinds = []FaultKind{FaultError, FaultTimeout, FaultRateLimit, FaultStale, FaultLatency, FaultGarbage, FaultTruncated, FaultInstruction}

// A Fault is trouble that is made on purpose, to see how an agent copes with it. Without Call and Probability it befalls
// every call.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Tool is the tool whose calls it befalls; empty means any.
	Tool string `json:"tool,omitempty"`
	// Call is the one call that it befalls, counted from 1 in each run over the calls of Tool; 0 means no such limit.
	Call int `json:"call,omitempty"`
	// Probability in 0..1 is the chance of each call, drawn from the run's seed: the same seed gives the same faults. 0
	// means no such limit. A Fault has a Call or a Probability, not both.
	Probability float64 `json:"probability,omitempty"`
	// Latency passes before the answer. It is what a latency fault is made of; for a timeout it is optional.
	Latency time.Duration `json:"latency_ns,omitempty"`
	// Text is what the agent reads: the error, the garbage or the instruction. Empty stands for a common wording, except for
	// an instruction, which needs one.
	Text string `json:"text,omitempty"`
}

// Label names the fault in records, as in "timeout of look_up, call 2". Two faults of one task have different labels.
func (f *Fault) Label() string {
	var b strings.Builder
	b.WriteString(string(f.Kind))
	of := "any tool"
	if f.Tool != "" {
		of = f.Tool
	}
	fmt.Fprintf(&b, " of %s", of)
	switch {
	case f.Call > 0:
		fmt.Fprintf(&b, ", call %d", f.Call)
	case f.Probability > 0:
		fmt.Fprintf(&b, ", with probability %s", strconv.FormatFloat(f.Probability, 'g', -1, 64))
	default:
		b.WriteString(", every call")
	}
	return b.String()
}

// Err is what is wrong with the fault by itself, everything joined; nil when it is sound.
func (f *Fault) Err() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !slices.Contains(FaultKinds, f.Kind) {
		kinds := make([]string, len(FaultKinds))
		for i, k := range FaultKinds {
			kinds[i] = string(k)
		}
		fail("unknown kind %q%s; the kinds are %s", f.Kind, DidYouMean(string(f.Kind), kinds), strings.Join(kinds, ", "))
	}
	if f.Call < 0 {
		fail("call %d: calls are counted from 1", f.Call)
	}
	if !(f.Probability >= 0 && f.Probability <= 1) {
		fail("probability %v is not in 0..1", f.Probability)
	}
	if f.Call > 0 && f.Probability > 0 {
		fail("call and probability exclude each other: keep one")
	}
	switch {
	case f.Latency < 0:
		fail("latency %v is negative", f.Latency)
	case f.Kind == FaultLatency && f.Latency == 0:
		fail("a latency fault needs a latency, as in 2s")
	case f.Latency > 0 && f.Kind != FaultLatency && f.Kind != FaultTimeout:
		fail("a latency is for the kinds latency and timeout")
	}
	switch f.Kind {
	case FaultInstruction:
		if strings.TrimSpace(f.Text) == "" {
			fail("an injected instruction needs its text")
		}
	case FaultLatency, FaultStale, FaultTruncated:
		if f.Text != "" {
			fail("a %s fault has no text of its own", f.Kind)
		}
	}
	if f.Kind == FaultStale && f.Call == 1 {
		fail("the first call has no earlier result to repeat: give a later call")
	}
	return errors.Join(errs...)
}

// UndeliveredFaults are the labels of the task's faults that befell none of the run's calls, in the order of the task.
// Those with a probability are left out: that none was drawn is no sign of anything.
func (r *Run) UndeliveredFaults() []string {
	var out []string
	for i := range r.Task.Faults {
		f := &r.Task.Faults[i]
		label := f.Label()
		landed := slices.ContainsFunc(r.Trajectory.Calls, func(c Call) bool { return c.Fault == label })
		if !landed && f.Probability == 0 {
			out = append(out, label)
		}
	}
	return out
}

// LandedFaults counts the calls that a fault befell.
func (r *Run) LandedFaults() int {
	n := 0
	for i := range r.Trajectory.Calls {
		if r.Trajectory.Calls[i].Fault != "" {
			n++
		}
	}
	return n
}

// checkFaults checks the faults of a task.
func (v *validator) checkFaults(where string, t *Task) {
	first := map[string]int{}
	for i := range t.Faults {
		f := &t.Faults[i]
		name := fmt.Sprintf("%s: fault %d", where, i+1)
		v.addAll(name+": ", f.Err())
		if f.Tool != "" {
			v.known(name+": unknown tool", f.Tool, names(v.suite.Tools, toolName))
			if _, known := v.suite.Tool(f.Tool); known && !slices.Contains(t.Toolset, f.Tool) {
				v.fail("%s: tool %q is not in the task's toolset, so it can't land", name, f.Tool)
			}
		}
		if j, taken := first[f.Label()]; taken {
			v.fail("%s: it is the same as fault %d (%s); only one of them could land", name, j+1, f.Label())
		} else {
			first[f.Label()] = i
		}
	}
}
