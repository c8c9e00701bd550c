package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// tell makes the recording of a trace.
func (t *trace) tell(b *builder) {
	slices.SortStableFunc(t.spans, func(x, y *span) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.order, y.order)) })
	var tools, models []*span
	for _, sp := range t.spans {
		if id := sp.attrs["tooleval.task_id"]; !id.none() {
			b.rec.TaskID = id.name()
		}
		b.trial(sp.attrs["tooleval.trial"])
		switch {
		case sp.op() == "execute_tool":
			tools = append(tools, sp)
		case sp.isModel():
			models = append(models, sp)
			if m := sp.attrs["gen_ai.request.model"].str(); b.rec.Source.Agent == "" {
				b.rec.Source.Agent = m
			}
			t.spend(b, sp)
		}
	}
	if len(tools) > 0 {
		t.calls(b, tools)
		t.said(b, models)
	} else if !t.conversation(b, models) {
		for _, sp := range models {
			if strings.Contains(string(sp.attrs["gen_ai.response.finish_reasons"]), "tool_call") {
				b.rec.Trajectory.Incomplete = "the model asked for tools, but neither tool spans nor messages were captured"
			}
		}
	}
	t.ended(b, models)
}

func (t *trace) spend(b *builder, sp *span) {
	in, out := sp.attrs["gen_ai.usage.input_tokens"], sp.attrs["gen_ai.usage.output_tokens"]
	if in == nil && out == nil {
		return
	}
	raw := value("{")
	for _, k := range []string{"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens"} {
		if v := sp.attrs[k]; v != nil {
			if len(raw) > 1 {
				raw = append(raw, ',')
			}
			raw = append(append(appendKey(raw, k), ':'), v...)
		}
	}
	b.usage.add(sp.id, append(raw, '}'), step{in, out, sp.attrs["gen_ai.usage.cache_read.input_tokens"]})
}

// calls adds one call a tool span; they overlap where the spans do.
func (t *trace) calls(b *builder, tools []*span) {
	agents := map[string]bool{}
	callers := make([]string, len(tools))
	for i, sp := range tools {
		callers[i] = t.agent(sp)
		agents[callers[i]] = true
	}
	type running struct {
		end  int64
		call int
	}
	var active []running
	clock := 0
	settle := func(until int64, all bool) {
		slices.SortStableFunc(active, func(x, y running) int { return cmp.Compare(x.end, y.end) })
		for len(active) > 0 && (all || active[0].end <= until) {
			clock++
			b.rec.Trajectory.Calls[active[0].call].Ended = clock
			active = active[1:]
		}
	}
	for i, sp := range tools {
		settle(sp.start, false)
		f := found{id: sp.attrs["gen_ai.tool.call.id"].name(), tool: sp.attrs["gen_ai.tool.name"].str(), args: sp.attrs["gen_ai.tool.call.arguments"]}
		if len(agents) > 1 {
			f.caller = callers[i]
		}
		if f.tool == "" {
			f.malformed = "its span has no gen_ai.tool.name"
		}
		b.calls([]found{f})
		c := &b.rec.Trajectory.Calls[i]
		clock++
		c.Began = clock
		active = append(active, running{sp.end, i})
		result := sp.attrs["gen_ai.tool.call.result"]
		text := tooleval.Text(result.raw())
		switch {
		case result.kind() == '"':
			text, _ = result.text()
		case result == nil && sp.message != "":
			text = sp.message
		}
		b.answer(i, text, sp.failed)
		if result == nil && !sp.failed {
			b.warn("call %d of %.100q: its result was not captured", i+1, c.Tool)
		}
	}
	settle(0, true)
	b.clock = clock
}

// agent is the name of the agent that a span belongs to.
func (t *trace) agent(sp *span) string {
	const deepest = 1000
	for range deepest {
		if name := sp.attrs["gen_ai.agent.name"].str(); name != "" {
			return name
		}
		i := slices.IndexFunc(t.spans, func(p *span) bool { return p.id != "" && p.id == sp.parent })
		if i < 0 {
			return ""
		}
		sp = t.spans[i]
	}
	return ""
}

// said takes what the model calls put out, or else what the agent's own span did.
func (t *trace) said(b *builder, models []*span) {
	heard := false
	for _, sp := range models {
		out := embedded(sp.attrs["gen_ai.output.messages"])
		heard = heard || out != nil
		for _, m := range out.list() {
			text, calls := parts(m)
			if len(calls) == 0 {
				b.assistant(text, nil)
			} else if text != "" {
				b.rec.Aside = append(b.rec.Aside, Aside{Text: text})
			}
		}
	}
	for _, sp := range t.spans {
		if heard || sp.op() != "invoke_agent" {
			continue
		}
		for _, m := range embedded(sp.attrs["gen_ai.output.messages"]).list() {
			if text, calls := parts(m); len(calls) == 0 {
				b.assistant(text, nil)
			}
		}
	}
}

// conversation reads the messages of the model call that ended last, whose input holds all before it.
func (t *trace) conversation(b *builder, models []*span) bool {
	if len(models) == 0 {
		return false
	}
	last := slices.MaxFunc(models, func(x, y *span) int { return cmp.Compare(x.end, y.end) })
	messages := append(embedded(last.attrs["gen_ai.input.messages"]).list(), embedded(last.attrs["gen_ai.output.messages"]).list()...)
	for _, m := range messages {
		for _, p := range m.get("parts").list() {
			if p.get("type").is("tool_call_response") {
				r := p.get("response")
				if r == nil {
					r = p.get("result")
				}
				text := tooleval.Text(r.raw())
				if t, ok := r.text(); ok {
					text = t
				}
				b.result(p.get("id").name(), "", text, false)
			}
		}
		switch m.get("role").str() {
		case "assistant":
			b.assistant(parts(m))
		case "user":
			b.user()
		}
	}
	return len(messages) > 0
}

// parts are the text and the calls of a message of the GenAI conventions.
func parts(m value) (tooleval.Text, []found) {
	var text []string
	var calls []found
	for _, p := range m.get("parts").list() {
		switch p.get("type").str() {
		case "text":
			t, _ := p.get("content").text()
			text = append(text, string(t))
		case "tool_call":
			f := found{id: p.get("id").name(), tool: p.get("name").str(), args: p.get("arguments")}
			if f.tool == "" {
				f.args, f.malformed = p, "it names no tool"
			}
			calls = append(calls, f)
		}
	}
	return tooleval.Text(strings.Join(text, "\n")), calls
}

// ended tells from the agent's own span, or else from the last model call, how the run ended.
func (t *trace) ended(b *builder, models []*span) {
	for _, sp := range t.spans { // in order of their start: the outermost first
		if sp.op() != "invoke_agent" && sp.op() != "invoke_workflow" {
			continue
		}
		if sp.failed {
			why := errors.New(sp.attrs["error.type"].str())
			b.broke(tooleval.Errored, tooleval.OwnerInfra, tooleval.Text(strings.TrimSpace(fmt.Sprintf("the agent's span has an error: %v %s", why, sp.message))))
		} else {
			b.rec.Ending = tooleval.Completed
		}
		return
	}
	if len(models) == 0 {
		return
	}
	last := slices.MaxFunc(models, func(x, y *span) int { return cmp.Compare(x.end, y.end) })
	reasons := string(last.attrs["gen_ai.response.finish_reasons"])
	switch {
	case strings.Contains(reasons, `"length"`), strings.Contains(reasons, `"max_tokens"`):
		b.rec.Ending = tooleval.LimitReached
	case strings.Contains(reasons, `"stop"`), strings.Contains(reasons, `"end_turn"`):
		b.rec.Ending = tooleval.Completed
	default:
		b.settled()
	}
}
