package starlark

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval"
)

// A callContext is the ctx of a tool: everything that is neither state nor argument. All of it comes from the suite and
// the run's seed.
type callContext struct {
	spec   *tooleval.WorldSpec
	now    string
	data   starlark.Value // frozen
	input  starlark.Value // frozen; nil until it is asked for
	tool   string
	calls  int
	memory *starlark.Dict // of this run, and no part of the state
	random *random
	ids    *rand.Rand
}

func newContext(spec *tooleval.WorldSpec, now string, data starlark.Value) *callContext {
	return &callContext{spec: spec, now: now, data: data, memory: new(starlark.Dict), random: &random{rng(spec.Seed, 1)}, ids: rng(spec.Seed, 2)}
}

// rng gives each purpose a stream of its own, so that one more id does not change what comes out of ctx.random.
func rng(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

func (c *callContext) String() string        { return "ctx" }
func (c *callContext) Type() string          { return "ctx" }
func (c *callContext) Freeze()               {}
func (c *callContext) Truth() starlark.Bool  { return true }
func (c *callContext) Hash() (uint32, error) { return 0, errUnhashable("ctx") }

var contextNames = []string{"call", "data", "id", "input", "memory", "now", "random", "task", "tool"}

func (c *callContext) AttrNames() []string { return contextNames }

func (c *callContext) Attr(name string) (starlark.Value, error) {
	switch name {
	case "call":
		return starlark.MakeInt(c.calls), nil
	case "data":
		return c.data, nil
	case "id":
		return idBuiltin.BindReceiver(c), nil
	case "input":
		if c.input == nil {
			c.input = starlark.None
			if c.spec.Task.Input != nil {
				v, err := parseJSON(c.spec.Task.Input)
				if err != nil {
					return nil, fmt.Errorf("the task's input: %w", err)
				}
				v.Freeze()
				c.input = v
			}
		}
		return c.input, nil
	case "memory":
		return c.memory, nil
	case "now":
		return starlark.String(c.now), nil
	case "random":
		return c.random, nil
	case "task":
		return starlark.String(c.spec.Task.ID), nil
	case "tool":
		return starlark.String(c.tool), nil
	}
	return nil, nil
}

var idBuiltin = starlark.NewBuiltin("id", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error) {
	prefix, length := "", 8
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "prefix?", &prefix, "length?", &length); err != nil {
		return nil, err
	}
	if length < 1 || length > 64 {
		return nil, fmt.Errorf("id: length %d is not in 1..64", length)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	out := []byte(prefix)
	for range length {
		out = append(out, letters[b.Receiver().(*callContext).ids.IntN(len(letters))])
	}
	return starlark.String(out), nil
})

// random is ctx.random.
type random struct{ rng *rand.Rand }

func (r *random) String() string        { return "ctx.random" }
func (r *random) Type() string          { return "random" }
func (r *random) Freeze()               {}
func (r *random) Truth() starlark.Bool  { return true }
func (r *random) Hash() (uint32, error) { return 0, errUnhashable("random") }
func (r *random) AttrNames() []string   { return []string{"choice", "float", "int", "shuffle"} }

func (r *random) Attr(name string) (starlark.Value, error) { return attr(randomMethods, name, r) }

var randomMethods = methods(map[string]method{
	"choice": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var from starlark.Indexable
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &from); err != nil {
			return nil, err
		}
		if from.Len() == 0 {
			return nil, errors.New("nothing to choose from")
		}
		return from.Index(b.Receiver().(*random).rng.IntN(from.Len())), nil
	},
	"float": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return starlark.Float(b.Receiver().(*random).rng.Float64()), starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0)
	},
	"int": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var low, high int64
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &low, &high); err != nil {
			return nil, err
		}
		if low > high {
			return nil, fmt.Errorf("there is no integer in %d..%d", low, high)
		}
		if span := uint64(high - low); span < 1<<63-1 {
			return starlark.MakeInt64(low + int64(b.Receiver().(*random).rng.Uint64N(span+1))), nil
		}
		return nil, fmt.Errorf("%d..%d is too wide", low, high)
	},
	"shuffle": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var from starlark.Iterable
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &from); err != nil {
			return nil, err
		}
		var out []starlark.Value
		for v := range starlark.Elements(from) {
			out = append(out, v)
		}
		b.Receiver().(*random).rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return starlark.NewList(out), nil
	},
})
