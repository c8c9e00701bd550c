// Package engine runs a plan: it takes Suites and agents, makes a [Plan] of [Job]s, does each Job in a fresh World and
// hands out one finished [tooleval.Run] a Job, in plan order whatever order they finish in.
//
//	plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 3})
//	runner, err := engine.NewRunner(suites, backends, engine.RunnerOptions{})
//	err = engine.Execute(ctx, plan, runner.Do, engine.Pool{}, sink)
//
// A Job is a small plain value, and Do is a function of it, so that a remote worker built with the same lists can do it.
// Whatever an agent, a world or a scorer does (panic, hang, lie), Do returns a Run that says so.
//
// # Limits
//
// Code in this process can't be killed: an in-process agent that ignores its context is left behind in its goroutine,
// with its World closed to it, and the Run says so.
package engine
