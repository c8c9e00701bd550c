// Package tooleval holds the words of ToolEval as Go types: what a [Suite] of [Task]s is, how an [Agent] is reached, what
// a [World] promises, and what a finished [Run] says. It performs no I/O and knows no domain.
//
// ToolEval scores how well an LLM agent uses tools to finish multi-step tasks. A run is never collapsed to one bit; it
// answers four questions that are kept apart: the outcome (was the goal reached?), the process (was the path
// reasonable?), the variance over many runs, and, when a run fails, the failure's cause and owner.
//
// A Suite is a plain value:
//
//	var Suite = &tooleval.Suite{
//		Name:      "hello",
//		Tools:     []tooleval.Tool{{Name: "greet", Schema: tooleval.Raw(`{"type":"object"}`)}},
//		Tasks:     []tooleval.Task{{ID: "hello.greet", Toolset: []string{"greet"}, …}},
//		MockWorld: worlds.Mock{…},
//		Minds:     []tooleval.Mind{{Name: "scripted", New: …}},
//	}
//
// Everything else is built on these types: package worlds makes Worlds, scorers and taxonomy judge a Run, engine runs a
// plan of them, store keeps each as a file.
//
// # Values
//
// Arguments, states and expectations are JSON and are compared by meaning (see [Equal]): 12, 12.0 and 1.2e1 are one
// number at any depth, integers keep every digit, key order never matters, and nothing is loose unless a matcher in a
// [Pattern] says so.
//
// # Limits
//
// The package reads no clock, file, network or environment, so a Suite that needs the environment takes it as a function
// argument ([Suite.LiveTasks], [Mind.New]).
package tooleval
