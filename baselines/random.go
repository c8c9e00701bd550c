package baselines

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/tooleval/tooleval"
)

// Bounds of the random agent. They keep it cheap; none of them is meant to be reached by a sane task.
const (
	mostCalls = 6   // calls of one run
	mostSeen  = 200 // values kept from answers
)

// random calls tools at random. It keeps no state: every run has its own source, made of the seed and the task's id.
type random struct{ seed uint64 }

// Run makes 1 to mostCalls calls (none without tools) and answers with something it saw or made up. It stops at the
// first error of the harness, which it hands on.
func (a random) Run(
	ctx context.Context, as tooleval.Assignment, tools tooleval.ToolHandler,
) (tooleval.AgentResult, error) {
	h := fnv.New64a()
	h.Write([]byte(as.TaskID))
	r := rand.New(rand.NewPCG(a.seed, h.Sum64()))
	var seen pool
	seen.add(as.Input)
	var results []tooleval.ToolResult
	if len(as.Tools) > 0 {
		for range 1 + r.IntN(mostCalls) {
			if err := context.Cause(ctx); err != nil {
				return tooleval.AgentResult{}, err
			}
			tool := as.Tools[r.IntN(len(as.Tools))]
			res, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: tool.Name, Args: arguments(r, tool.Schema, seen)})
			if err != nil {
				return tooleval.AgentResult{}, tooleval.Blame(tooleval.OwnerWorld, err)
			}
			if !res.IsError {
				results = append(results, res)
				seen.add(res.Structured)
				seen.add(tooleval.Raw(res.Text))
			}
		}
	}
	return answer(r, results, seen), context.Cause(ctx)
}

// answer is a response and a state, each taken from an answer or made up.
func answer(r *rand.Rand, results []tooleval.ToolResult, seen pool) tooleval.AgentResult {
	var out tooleval.AgentResult
	g := generator{r: r, seen: seen, budget: mostNodes}
	if len(results) > 0 && r.IntN(3) > 0 {
		res := results[r.IntN(len(results))]
		out.Response = res.Text
		if out.State = slices.Clone(res.Structured); !out.State.Valid() {
			out.State = tooleval.Raw(res.Text)
		}
	} else {
		out.Response = tooleval.Text(g.words())
	}
	if !out.State.Valid() {
		out.State = encode(g.any(0))
	}
	return out
}

// arguments are random arguments for a tool.
func arguments(r *rand.Rand, schema tooleval.Raw, seen pool) tooleval.Raw {
	g := generator{r: r, seen: seen, budget: mostNodes}
	s, err := tooleval.DecodeValue(schema)
	if err != nil { // no schema, or a broken one: anything may be sent
		return encode(map[string]any{})
	}
	g.root = s
	v := g.value(s, 0)
	if _, ok := v.(map[string]any); !ok {
		v = map[string]any{}
	}
	return encode(v)
}

// encode is the JSON of a generated value. One that has none (a const from a hostile schema) becomes an empty object.
func encode(v any) tooleval.Raw {
	b, err := json.Marshal(v)
	if err != nil {
		return tooleval.Raw("{}")
	}
	return b
}

// A pool is the scalars that were seen, in the order in which they came, without repeats.
type pool struct {
	strings []string
	numbers []json.Number
}

// add adds every scalar inside a JSON value; what is not JSON counts as one string.
func (p *pool) add(raw tooleval.Raw) {
	if len(raw) == 0 {
		return
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		v = string(raw)
	}
	p.walk(v)
}

func (p *pool) walk(v any) {
	switch x := v.(type) {
	case string:
		if len(p.strings) < mostSeen && len(x) <= 200 && !slices.Contains(p.strings, x) {
			p.strings = append(p.strings, x)
		}
	case json.Number:
		if len(p.numbers) < mostSeen && !slices.Contains(p.numbers, x) {
			p.numbers = append(p.numbers, x)
		}
	case []any:
		for _, e := range x[:min(len(x), mostSeen)] {
			p.walk(e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			p.walk(x[k])
		}
	}
}
