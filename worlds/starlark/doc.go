// Package starlark makes worlds whose tools compute: a Starlark file (a small, hermetic Python) with a function for
// each tool, over a state that is loaded from JSON and fresh in every run.
//
//	factory, err := starlark.New(starlark.Config{Source: source, State: tooleval.Raw(`{"stock":{"boots":2}}`)})
//	suite.MockWorld = factory
//
// with the file
//
//	def buy(state, args, ctx):
//	    if state["stock"].get(args["item"], 0) < args["count"]:
//	        fail("not enough " + args["item"])            # an error result, which the agent sees
//	    state["stock"][args["item"]] -= args["count"]
//	    return {"order": ctx.id("O"), "at": ctx.now}      # a dict or list becomes JSON in its own order
//
// A string is returned as it is; result(value, text=…, error=…, ends_run=…) says all that a result can say. Where
// there is a function setup(state, ctx) it is called once before the first tool. Arguments are held to the types of
// the tool's schema before the function sees them, with the defaults filled in.
//
// Beside Starlark's own names there are: fail, result, struct, json (encode, indent, decode, which may take a default
// for what is not JSON, and dumps, which keeps the order), math, time (without now), round, sum, calculate
// (arithmetic in a string) and float_text (a float as Python spells it); and in ctx: now, random (int, float, choice,
// shuffle), id, task, input, data, tool, call, and memory: a dict that lasts as long as the run but is no part of its
// state, for what a user or a rate limit has to remember. Everything that varies comes from the run's seed.
//
// Scorers and scripted minds may be Starlark functions too: [Program.Scorer], [Program.Agent].
//
// # State
//
// The initial state is parsed once and never copied: a script sees thin covers over it, which keep what was changed.
// A fresh state costs nothing, whatever its size, and State writes out only what was touched anew. With
// [Config.Changes] a record holds the changes alone.
//
// What a function did to the state before it called fail stays done, as in Python: check first, then write. A constant
// of the file is frozen; put a copy of it into the state, as in dict(DEFAULTS).
//
// # Limits
//
// Calls are bounded in steps and results in bytes, but both act between steps: one step that allocates a gigabyte or
// multiplies huge integers can't be interrupted. A script is therefore trusted like any other code of its suite. A
// mistake in a script is a fault of the world, with the Starlark stack, and leaves the run unscored.
package starlark
