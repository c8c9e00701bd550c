package ingest

import (
	"bytes"

	"github.com/tooleval/tooleval"
)

// A usage adds up what the steps of one run consumed. A step that is written twice, under one id, counts once. What no step
// reports stays unknown.
type usage struct {
	in, out, cached, turns int64
	hasIn, hasOut, hasHit  bool
	cost                   *float64
	seen                   map[string]bool
	vendor                 [][]byte
}

// maxVendor bounds the vendor's own records that are kept.
const maxVendor = 1000

// A step is the usage of one request; a missing number is unknown.
type step struct{ in, out, cached value }

// add takes one step; the same id, unless empty, is the same step.
func (u *usage) add(id string, vendor value, s step, more ...value) {
	if vendor.kind() != '{' {
		return
	}
	if id != "" {
		if u.seen[id] {
			return
		}
		if u.seen == nil {
			u.seen = map[string]bool{}
		}
		u.seen[id] = true
	}
	u.turns++
	if len(u.vendor) < maxVendor {
		u.vendor = append(u.vendor, vendor.raw())
	}
	add := func(to *int64, has *bool, v value) {
		if n, ok := v.integer(); ok && n >= 0 && *to <= 1<<60 && n <= 1<<60 {
			*to += n
			*has = true
		}
	}
	add(&u.in, &u.hasIn, s.in)
	for _, v := range more { // parts that a vendor counts beside the input
		add(&u.in, &u.hasIn, v)
	}
	add(&u.out, &u.hasOut, s.out)
	add(&u.cached, &u.hasHit, s.cached)
}

// openAI are the two usage shapes of OpenAI: cached tokens are part of the input.
func openAI(v value) step {
	if v.has("input_tokens") {
		return step{v.get("input_tokens"), v.get("output_tokens"), v.path("input_tokens_details", "cached_tokens")}
	}
	return step{v.get("prompt_tokens"), v.get("completion_tokens"), v.path("prompt_tokens_details", "cached_tokens")}
}

// addAnthropic adds a step of Anthropic, where input_tokens leaves out what was read from and written to the cache.
func (u *usage) addAnthropic(id string, v value) {
	u.add(id, v, step{v.get("input_tokens"), v.get("output_tokens"), v.get("cache_read_input_tokens")},
		v.get("cache_read_input_tokens"), v.get("cache_creation_input_tokens"))
}

func (u *usage) total(model string) *tooleval.Usage {
	if len(u.vendor) == 0 && u.cost == nil {
		return nil
	}
	out := &tooleval.Usage{Model: model, CostUSD: u.cost}
	set := func(to **int64, has bool, n int64) {
		if has {
			*to = &n
		}
	}
	set(&out.InputTokens, u.hasIn, u.in)
	set(&out.OutputTokens, u.hasOut, u.out)
	set(&out.CachedTokens, u.hasHit, u.cached)
	set(&out.Turns, u.turns > 0, u.turns)
	if len(u.vendor) > 0 {
		out.Vendor = append(append(tooleval.Raw("["), bytes.Join(u.vendor, []byte(","))...), ']')
	}
	return out
}
