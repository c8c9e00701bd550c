// Package worlds makes the worlds that an agent's tool calls act on, and puts the harness's own hands on the calls.
//
// A [Mock] answers from fixtures; it is what a Suite's MockWorld usually is:
//
//	MockWorld: worlds.Mock{Fixtures: []worlds.Fixture{{
//		Tool:    "convert",
//		Args:    tooleval.Match(map[string]any{"value": 30, "from": "mi", "to": "km"}),
//		Results: []worlds.Answer{{Result: tooleval.TextResult("48.28")}},
//	}}}
//
// In every run the harness wraps the world, so that each call is judged and written down whatever the agent does:
//
//	rec := worlds.Record(worlds.Guard(world, toolset), worlds.RecordOptions{})
//	result, err := agent.Run(ctx, assignment, rec)
//	rec.Close()
//	calls := rec.Trajectory().Calls
//
// [Guard] refuses what is outside the task's toolset; [Record] writes the trajectory, keeps hostile arguments away from
// the world, and is the one place where refusals, fixture gaps, timeouts and panics get their status.
//
// # Limits
//
// A Mock computes nothing: what a tool answers depends on its arguments and on how often it was asked, never on the
// effect of other calls. What it can show of writes is the list of their arguments ([Fixture.Keep]). The bytes that a
// world is handed are the recorder's own; a world must not change them.
package worlds
