package chatagent

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/openaichat"
)

// used is what one reply cost, in tokens; nil is unknown.
type used struct {
	model string
	// input is everything that was read, cached and written included; the other two are parts of it.
	input, cached, written *int64
	output                 *int64
	vendor                 json.RawMessage // as the server said it; nil when it said nothing
}

func anthropicUsage(m *anthropic.Message) *used {
	u := &used{model: m.Model}
	raw := m.Usage.RawJSON()
	if raw == "" || raw == "null" {
		return u
	}
	u.vendor = json.RawMessage(raw)
	if !m.Usage.JSON.InputTokens.Valid() || !m.Usage.JSON.OutputTokens.Valid() {
		return u
	}
	// Anthropic's input_tokens leaves out what was read from and written to the cache.
	cached, written, output := m.Usage.CacheReadInputTokens, m.Usage.CacheCreationInputTokens, m.Usage.OutputTokens
	input := m.Usage.InputTokens + cached + written
	u.input, u.cached, u.written, u.output = &input, &cached, &written, &output
	return u
}

func openAIUsage(r *openaichat.Response) *used {
	u := &used{model: r.Model, input: r.Usage.Input, output: r.Usage.Output, cached: r.Usage.Cached, written: new(int64)}
	if u.cached == nil && u.input != nil {
		u.cached = new(int64) // servers without a cache don't mention one
	}
	var body struct {
		Usage json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(r.Raw, &body) == nil && string(body.Usage) != "null" {
		u.vendor = body.Usage
	}
	return u
}

// A usage is the sum over a run.
type usage struct {
	turns  []used
	vendor []json.RawMessage
}

func (u *usage) add(t used) {
	if t.vendor != nil {
		u.vendor = append(u.vendor, t.vendor)
	}
	u.turns = append(u.turns, t)
}

// total is the sum. A count that is missing in one turn is unknown in the sum; so is the cost, when the model has no
// price.
func (u *usage) total(p *Prices, model string) *tooleval.Usage {
	turns := int64(len(u.turns))
	out := &tooleval.Usage{Model: model, Turns: &turns}
	if turns == 0 {
		return out
	}
	sum := func(of func(used) *int64) *int64 {
		total := int64(0)
		for _, t := range u.turns {
			n := of(t)
			if n == nil || *n < 0 {
				return nil
			}
			total += *n
		}
		return &total
	}
	replied := u.turns[len(u.turns)-1].model
	if replied != "" {
		out.Model = replied
	}
	out.InputTokens = sum(func(t used) *int64 { return t.input })
	out.CachedTokens = sum(func(t used) *int64 { return t.cached })
	out.OutputTokens = sum(func(t used) *int64 { return t.output })
	out.CostUSD = p.cost([]string{model, replied}, tokens{
		input: out.InputTokens, cached: out.CachedTokens, output: out.OutputTokens,
		written: sum(func(t used) *int64 { return t.written }),
	})
	if len(u.vendor) > 0 {
		if b, err := json.Marshal(u.vendor); err == nil {
			out.Vendor = b
		}
	}
	return out
}
