package calc

import (
	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// The fixtures are loose where a live mind has a choice that doesn't matter: spaces, the order of the factors, the
// spelling of a unit.
var mockWorld = &worlds.Mock{Fixtures: []worlds.Fixture{
	{
		Tool: "calculate",
		Args: tooleval.Match(map[string]any{
			"expression": tooleval.Regex(`\s*(6\s*\*\s*7|7\s*\*\s*6)\s*`),
		}),
		Results: []worlds.Answer{{Result: number(42)}},
	},
	{
		Tool: "calculate",
		Args: tooleval.Match(map[string]any{
			"expression": tooleval.Regex(`\s*(5\s*\*\s*1\.609344|1\.609344\s*\*\s*5)\s*`),
		}),
		Results: []worlds.Answer{{Result: number(8.04672)}},
	},
	{
		Tool: "convert",
		Args: tooleval.Match(map[string]any{
			"value": 5,
			"from":  tooleval.Regex(`(?i)\s*mi(les?)?\s*`),
			"to":    tooleval.Regex(`(?i)\s*(km|kilomet(er|re)s?)\s*`),
		}),
		Results: []worlds.Answer{{Result: number(8.04672)}},
	},
}}

// number is a tool's answer: an object, since some agents can't read a bare number.
func number(v float64) tooleval.ToolResult {
	return tooleval.JSONResult(map[string]float64{"result": v})
}
