package calc

import "github.com/tooleval/tooleval"

var tools = []tooleval.Tool{
	{
		Name:        "calculate",
		Description: "Evaluates an arithmetic expression with + - * / and parentheses.",
		Schema: tooleval.Raw(`{
			"type": "object",
			"properties": {"expression": {"type": "string", "description": "for example (2 + 3) * 4"}},
			"required": ["expression"],
			"additionalProperties": false
		}`),
	},
	{
		Name:        "convert",
		Description: "Converts a quantity from one unit into another.",
		Schema: tooleval.Raw(`{
			"type": "object",
			"properties": {
				"value": {"type": "number"},
				"from": {"type": "string", "description": "the unit's name or symbol, for example mile"},
				"to": {"type": "string", "description": "the unit's name or symbol, for example kilometer"}
			},
			"required": ["value", "from", "to"],
			"additionalProperties": false
		}`),
	},
}

var tasks = []tooleval.Task{
	{
		ID:          "calc.arithmetic",
		Description: `What is 6 * 7? Compute it with a tool and answer with the JSON object {"result": <number>}.`,
		EntryPoint:  "calc.arithmetic",
		Toolset:     []string{"calculate", "convert"},
		Required:    []tooleval.CallPattern{{Tool: "calculate"}},
		// Nothing is to be converted here: an agent that tries is guessing at tools.
		Forbidden:     []tooleval.CallPattern{{Tool: "convert"}},
		MinimalCalls:  tooleval.Minimum(1),
		ExpectedState: tooleval.Match(map[string]any{"result": 42}),
		Tags:          []string{"arithmetic"},
	},
	{
		ID:           "calc.convert",
		Description:  `How many kilometers are 5 miles? Convert with a tool and answer with the JSON object {"result": <number>}.`,
		EntryPoint:   "calc.convert",
		Toolset:      []string{"calculate", "convert"},
		Required:     []tooleval.CallPattern{{Tool: "convert"}},
		MinimalCalls: tooleval.Minimum(1),
		// What the result must be is said by the task's own scorer: see scorers.go.
		Tags: []string{"units"},
	},
}
