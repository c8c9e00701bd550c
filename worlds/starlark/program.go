package starlark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/tooleval/tooleval"
)

// What bounds one call into a script unless told otherwise.
const (
	// DefaultMaxSteps is the number of steps (roughly: operations) of one call, some tenths of a second.
	DefaultMaxSteps = 10_000_000
	// DefaultMaxBytes is the size of one result, and of a state.
	DefaultMaxBytes = 64 << 20
)

// A Program is a Starlark file that has been read and run once. What it defined is frozen, so any number of runs may
// use it at the same time.
type Program struct {
	name    string
	sha256  string
	globals starlark.StringDict
	steps   uint64
}

// Load reads and runs a Starlark file. The name is for messages. Its top level may define functions and constants;
// there is no load statement, no while and no recursion, and no clock, file, network or random source. An error names
// the file, line and column.
func Load(name string, source []byte) (*Program, error) {
	options := &syntax.FileOptions{Set: true}
	f, err := options.Parse(name, source, 0)
	if err != nil {
		return nil, err
	}
	rewrite(f)
	compiled, err := starlark.FileProgram(f, predeclared.Has)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(source)
	p := &Program{name: name, sha256: hex.EncodeToString(sum[:]), steps: DefaultMaxSteps}
	err = p.guarded(context.Background(), "<toplevel>", func(thread *starlark.Thread) error {
		p.globals, err = compiled.Init(thread, predeclared)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.globals.Freeze()
	return p, nil
}

// Functions are the names of the functions that the file defines, sorted.
func (p *Program) Functions() []string {
	var names []string
	for name, v := range p.globals {
		if _, ok := v.(*starlark.Function); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// function is the function of that name, which takes n positional arguments.
func (p *Program) function(name string, n int) (*starlark.Function, error) {
	v, ok := p.globals[name]
	if !ok {
		return nil, fmt.Errorf("%s defines no function %q%s", p.name, name, tooleval.DidYouMean(name, p.Functions()))
	}
	f, ok := v.(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("%s: %q is no function but a %s", p.name, name, v.Type())
	}
	required := f.NumParams() - f.NumKwonlyParams()
	if f.HasVarargs() {
		required--
	}
	if f.HasKwargs() {
		required--
	}
	optional := 0
	for i := range required {
		if f.ParamDefault(i) != nil {
			optional++
		}
	}
	if n < required-optional || n > required && !f.HasVarargs() {
		return nil, fmt.Errorf("%s: function %q has %d parameters, but is called with %d arguments", f.Position(), name, required, n)
	}
	return f, nil
}

// call calls a function. An error is the script's: a *refusal from fail, or a *Fault.
func (p *Program) call(ctx context.Context, f *starlark.Function, args ...starlark.Value) (v starlark.Value, err error) {
	err = p.guarded(ctx, f.Name(), func(thread *starlark.Thread) error {
		v, err = starlark.Call(thread, f, args, nil)
		return err
	})
	return v, err
}

// A Fault is what went wrong inside a script: not a refusal by fail, but a mistake in it or a bound that it hit.
type Fault struct {
	Err error
	// Stack is the Starlark stack, outermost first, with file, line and column; empty when there is none.
	Stack string
}

// Error is the message, with the place in the script.
func (f *Fault) Error() string {
	if f.Stack != "" {
		return f.Err.Error() + "\n" + f.Stack
	}
	return f.Err.Error()
}

// Unwrap is Err.
func (f *Fault) Unwrap() error { return f.Err }

// guarded runs f on a fresh thread that is stopped with ctx and by the number of steps. Panics of the interpreter
// become faults.
func (p *Program) guarded(ctx context.Context, name string, f func(*starlark.Thread) error) (err error) {
	thread := &starlark.Thread{Name: name, Print: func(*starlark.Thread, string) {}}
	thread.SetMaxExecutionSteps(p.steps)
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { thread.Cancel("the time is over") })
		defer stop()
	}
	defer func() {
		if v := recover(); v != nil {
			err = &Fault{Err: fmt.Errorf("the interpreter broke: %v", v), Stack: thread.CallStack().String()}
		}
	}()
	if err = f(thread); err == nil {
		return nil
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	fault := &Fault{Err: err}
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		fault.Stack = e.CallStack.String()
		fault.Err = errors.New(e.Msg)
		if e.Unwrap() != nil {
			fault.Err = e.Unwrap()
		}
	}
	return fault
}
