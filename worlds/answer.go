package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tooleval/tooleval"
)

// Faulted is the error by which an injector of faults tells the recorder that it touched a call: Result and Err are
// then taken as what the handler returned, and Fault is written into the record.
type Faulted struct {
	Fault  string // the name of the fault
	Result tooleval.ToolResult
	Err    error // nil when there is a result
}

// Error names the fault.
func (f *Faulted) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("injected fault %q: %v", f.Fault, f.Err)
	}
	return fmt.Sprintf("injected fault %q", f.Fault)
}

// Unwrap is Err.
func (f *Faulted) Unwrap() error { return f.Err }

// An answer is how a call ended: what the caller gets, and what is written down beside it.
type answer struct {
	result tooleval.ToolResult
	err    error // for the caller, who then gets no result

	status tooleval.CallStatus
	why    tooleval.Text // Call.Error
	gap    string
	fault  string
}

func refused(message string) answer {
	return answer{result: tooleval.ErrorResult("%s", message), status: tooleval.CallRefused, why: tooleval.Text(message)}
}

// ask calls the handler and tells what its answer means. Neither a panic of the handler nor one of its error's methods
// gets out.
func ask(ctx context.Context, inner tooleval.ToolHandler, call tooleval.ToolCall) (a answer) {
	defer func() {
		if v := recover(); v != nil {
			a = broken(call.Tool, fmt.Errorf("panic: %v", v))
			a.why += tooleval.Text("\n" + string(debug.Stack()))
		}
	}()
	if err := context.Cause(ctx); err != nil { // the world must not see calls of a run that is over
		return judge(ctx, call.Tool, tooleval.ToolResult{}, err)
	}
	result, err := inner.CallTool(ctx, call)
	if fault, ok := errors.AsType[*Faulted](err); ok {
		a = judge(ctx, call.Tool, fault.Result, fault.Err)
		a.fault = fault.Fault
		return a
	}
	return judge(ctx, call.Tool, result, err)
}

func judge(ctx context.Context, tool string, result tooleval.ToolResult, err error) answer {
	if err == nil {
		if len(result.Structured) > 0 && !result.Structured.Valid() {
			a := broken(tool, fmt.Errorf("its structured result is not JSON: %.100q", []byte(result.Structured)))
			a.result = result // the evidence
			return a
		}
		if result.IsError {
			return answer{result: result, status: tooleval.CallToolError}
		}
		return answer{result: result, status: tooleval.CallOK}
	}
	if gap, ok := errors.AsType[*tooleval.Gap](err); ok {
		a := answer{result: tooleval.ErrorResult("%s", gap.Message), status: tooleval.CallToolError, gap: gap.Nearest}
		if a.gap == "" {
			a.gap = gap.Message
		}
		return a
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refused(refusal.Message)
	}
	if ctx.Err() != nil {
		return answer{err: err, status: contextStatus(ctx), why: text(err)}
	}
	return broken(tool, err)
}

// broken is the answer when the harness, the world or the transport broke.
func broken(tool string, err error) answer {
	return answer{
		err:    tooleval.Blame(tooleval.OwnerWorld, fmt.Errorf("tool %.100q: %w", tool, err)),
		status: tooleval.CallProtocolError,
		why:    text(err),
	}
}

// text is the message of an error, cut to what is worth keeping.
func text(err error) tooleval.Text { return tooleval.Text(fmt.Sprintf("%.10000s", err)) }

// contextStatus says how a context that is done ended a call: out of time when it, or the cause it was given, is about
// time, as in context.WithTimeoutCause.
func contextStatus(ctx context.Context) tooleval.CallStatus {
	cause := context.Cause(ctx)
	timed, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](cause)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(cause, context.DeadlineExceeded) ||
		ok && timed.Timeout() {
		return tooleval.CallTimeout
	}
	return tooleval.CallCancelled
}

// readArgs is a call's arguments as they are recorded: their compact form if they are JSON, the bytes as they came
// where that is not the same, and why they are not a JSON object. No arguments at all count as {}.
func readArgs(raw tooleval.Raw) (args tooleval.Raw, asSent tooleval.Text, problem string) {
	start := bytes.TrimLeft(raw, " \t\r\n")
	if len(start) == 0 {
		return tooleval.Raw("{}"), tooleval.Text(raw), ""
	}
	var buf bytes.Buffer
	buf.Grow(len(raw))
	if !raw.Valid() || json.Compact(&buf, raw) != nil {
		_, err := tooleval.DecodeValue(raw)
		return nil, tooleval.Text(raw), notJSON(err)
	}
	args = buf.Bytes()
	if !bytes.Equal(args, raw) {
		asSent = tooleval.Text(raw)
	}
	kind := "a number"
	switch start[0] {
	case '{':
		return args, asSent, ""
	case '[':
		kind = "an array"
	case '"':
		kind = "a string"
	case 't', 'f':
		kind = "a boolean"
	case 'n':
		kind = "null"
	}
	return args, asSent, "arguments are " + kind + ", want an object"
}

// notJSON says what is wrong with arguments that DecodeValue does not take.
func notJSON(err error) string {
	if err == nil { // Raw.Valid and DecodeValue disagree
		return "arguments are not JSON"
	}
	return "arguments are not JSON: " + strings.TrimPrefix(err.Error(), "not JSON: ")
}
