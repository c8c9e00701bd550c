package tooleval_test

import (
	"context"
	"fmt"

	"github.com/tooleval/tooleval"
)

func ExamplePattern() {
	p := tooleval.Match(map[string]any{
		"order":  tooleval.Regex("order-[0-9]+"),
		"total":  tooleval.Near(42, 0.005),
		"items":  tooleval.Unordered("boots", "socks"),
		"coupon": tooleval.Absent(),
	})
	state, err := tooleval.DecodeValue([]byte(`{"order":"order-7","total":42.50,"items":["socks","boots"],"note":"thanks"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := p.Compare(state)
	fmt.Printf("%d of %d\n", c.Met, c.Total)
	for _, d := range c.Diff {
		fmt.Println(d)
	}
	// Output:
	// 4 of 6
	// $.total: want {"$number":42,"tolerance":0.005}, got 42.50
	// $.note: unexpected "thanks" (no such key is expected; {"$subset": …} would allow it)
}

func ExamplePattern_Err() {
	fmt.Println(tooleval.ParsePattern([]byte(`{"city":{"$regx":"A.*"}}`)).Err())
	// Output:
	// $.city: unknown matcher "$regx" (did you mean "$regex"?); a key that begins with $ is written {"$literal": …}
}

func ExampleEqual() {
	a, _ := tooleval.DecodeValue([]byte(`{"amount": 12, "ids": [9007199254740993]}`))
	b, _ := tooleval.DecodeValue([]byte(`{"ids": [9007199254740993.0], "amount": 1.2e1}`))
	fmt.Println(tooleval.Equal(a, b), string(tooleval.CanonicalJSON(b)))
	// Output: true {"amount":12,"ids":[9007199254740993]}
}

func ExampleSuite_Validate() {
	suite := &tooleval.Suite{
		Name:        "hello",
		Tools:       []tooleval.Tool{{Name: "greet", Schema: tooleval.Raw(`{"type":"object"}`)}},
		EntryPoints: []tooleval.EntryPoint{{Name: "hello.pipeline"}},
		Tasks: []tooleval.Task{{
			ID:         "hello.greet",
			EntryPoint: "hello.pipeline",
			Toolset:    []string{"greet"},
			Required:   []tooleval.CallPattern{{Tool: "gret"}},
		}},
		MockWorld: tooleval.WorldFunc(func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { return nil, nil }),
	}
	fmt.Println(suite.Validate(nil))
	// Output:
	// suite "hello": task "hello.greet": required call 1: unknown tool "gret" (did you mean "greet"?)
	// suite "hello": task "hello.greet": nothing is checked: give it an expected_state that can differ, or a scorer
}
