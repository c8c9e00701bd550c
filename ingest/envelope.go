package ingest

import (
	"fmt"

	"github.com/tooleval/tooleval"
)

// envelope takes what an object around messages may say beside them: task_id, trial, model, state, agent_state, ending,
// error, reward and passed, the keys of the neutral format. Each may also stand in an object under metadata.
func (b *builder) envelope(v value) {
	at := func(key string) value {
		if found := v.get(key); !found.none() {
			return found
		}
		return v.path("metadata", key)
	}
	r := b.rec
	if id := at("task_id"); !id.none() {
		r.TaskID = id.name()
	}
	b.trial(at("trial"))
	if m := at("model").str(); m != "" {
		r.Source.Agent = m
	}
	if s := at("state"); !s.none() {
		r.State = s.raw()
	}
	if s := at("agent_state"); !s.none() {
		r.Result.State = s.raw()
	}
	if e := at("ending"); !e.none() {
		var err error
		if r.Ending, err = parseEnding(e.str()); err != nil {
			b.warn("%v", err)
		}
	}
	b.given(at("reward"), at("passed"))
}

func (b *builder) trial(v value) {
	if v.none() {
		return
	}
	if n, ok := v.integer(); ok && n >= 0 && n <= maxTrial {
		b.rec.Index = int(n)
		return
	}
	b.warn("trial %.50s is no number of a trial, counted from 0", v)
}

// maxTrial is the largest number of a trial that is believed.
const maxTrial = 1 << 24

func (b *builder) given(reward, passed value) {
	if f, ok := reward.number(); ok {
		b.rec.Given.Reward = &f
	}
	if k := passed.kind(); k == 't' || k == 'f' {
		p := k == 't'
		b.rec.Given.Passed = &p
	}
}

// parseEnding is one of the endings of a run; there is no other.
func parseEnding(s string) (tooleval.Ending, error) {
	known := []string{"completed", "error", "not_started", "timeout", "limit", "cancelled"}
	for _, k := range known {
		if s == k {
			return tooleval.Ending(s), nil
		}
	}
	return "", fmt.Errorf("ending %.50q is not known%s; it is completed, error, timeout, limit, cancelled or not_started", s, tooleval.DidYouMean(s, known))
}

// ParseEnding is the ending of that name.
func ParseEnding(s string) (tooleval.Ending, error) { return parseEnding(s) }

// broke says that the recorded run broke in a way that is nobody's known fault, so that it must not be counted against the
// agent: without an owner it would be.
func (b *builder) broke(ending tooleval.Ending, owner tooleval.Owner, why tooleval.Text) {
	b.rec.Ending, b.rec.ErrorOwner, b.rec.Error = ending, owner, why
}
