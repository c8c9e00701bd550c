// Package calc is a small Suite to learn from: two tools, two tasks, a mock and a live world, a scripted mind and one
// scorer of its own. Read it in the order tasks, fixtures, scorers, agent, suite; live.go is the world that truly
// computes.
package calc

import (
	"context"

	"github.com/tooleval/tooleval"
)

// Suite is the calc Suite.
var Suite = &tooleval.Suite{
	Name:        "calc",
	Description: "arithmetic and unit conversion with two tools",
	Tools:       tools,
	EntryPoints: []tooleval.EntryPoint{
		{Name: "calc.arithmetic", Description: "evaluate one expression"},
		{Name: "calc.convert", Description: "convert one quantity"},
	},
	Tasks:     tasks,
	MockWorld: mockWorld,
	LiveWorld: tooleval.WorldFunc(newLiveWorld),
	Minds: []tooleval.Mind{{
		Name:        "scripted",
		Description: "canned calls, answers read from the tools",
		New: func(context.Context, func(string) string) (tooleval.Agent, error) {
			return tooleval.AgentFunc(scripted), nil
		},
	}},
	Scorers: map[string]tooleval.Scorer{"calc.convert": tooleval.ScorerFunc(scoreConvert)},
}
