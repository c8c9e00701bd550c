package main

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/tooleval/tooleval"
)

// usage sums up the replies of one run.
type usage struct {
	model                        string
	input, output, cached, turns int64
	vendor                       []json.RawMessage
}

// add counts one reply. The API counts what was read from and written to the cache apart from the other input.
func (u *usage) add(m *anthropic.Message) {
	u.model = m.Model
	u.input += m.Usage.InputTokens + m.Usage.CacheReadInputTokens + m.Usage.CacheCreationInputTokens
	u.cached += m.Usage.CacheReadInputTokens
	u.output += m.Usage.OutputTokens
	u.turns++
	if raw := m.Usage.RawJSON(); json.Valid([]byte(raw)) {
		u.vendor = append(u.vendor, json.RawMessage(raw))
	}
}

// report is the sum; nil before the first reply.
func (u *usage) report() *tooleval.Usage {
	if u.turns == 0 {
		return nil
	}
	r := &tooleval.Usage{
		Model: u.model, InputTokens: &u.input, OutputTokens: &u.output, CachedTokens: &u.cached, Turns: &u.turns,
	}
	if b, err := json.Marshal(u.vendor); err == nil {
		r.Vendor = b
	}
	return r
}
