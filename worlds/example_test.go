package worlds_test

import (
	"context"
	"fmt"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

func Example() {
	toolset := []tooleval.Tool{{Name: "calculate"}, {Name: "save_output"}}
	mock := worlds.Mock{Fixtures: []worlds.Fixture{
		{
			Tool:    "calculate",
			Args:    tooleval.Match(map[string]any{"expression": tooleval.Regex(`6\s*\*\s*7`)}),
			Results: []worlds.Answer{{Result: tooleval.TextResult("42")}},
		},
		{
			Tool:    "save_output",
			Keep:    "saved",
			Results: []worlds.Answer{{Result: tooleval.TextResult("saved")}},
		},
	}}

	// What the harness does in every run.
	ctx := context.Background()
	world, err := mock.NewWorld(ctx, tooleval.WorldSpec{Tools: toolset})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec := worlds.Record(worlds.Guard(world, toolset), worlds.RecordOptions{})

	// What an agent does.
	for _, call := range []tooleval.ToolCall{
		{Tool: "calculate", Args: tooleval.Raw(`{"expression": "6 * 7"}`)},
		{Tool: "save_outptu", Args: tooleval.Raw(`{"value": 42}`)},
		{Tool: "save_output", Args: tooleval.Raw(`{"value": 42}`)},
	} {
		result, err := rec.CallTool(ctx, call)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("agent:", result.Text)
	}

	rec.Close()
	for _, c := range rec.Trajectory().Calls {
		fmt.Println("record:", c.Tool, string(c.Args), c.Status)
	}
	state, err := world.State()
	fmt.Println("state:", state, err)
	// Output:
	// agent: 42
	// agent: unknown tool "save_outptu" (did you mean "save_output"?)
	// agent: saved
	// record: calculate {"expression":"6 * 7"} ok
	// record: save_outptu {"value":42} refused
	// record: save_output {"value":42} ok
	// state: {"saved":[{"value":42}]} <nil>
}
