package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// A Check is one named part of a task's judgement whose rate moved. Checks that swap leave the task's rate as it was, and
// are seen here.
type Check struct {
	TaskID string `json:"task_id"`
	Name   string `json:"check"`
	// Info marks a check that counts for nothing.
	Info bool `json:"info,omitempty"`
	stats.RateDifference
	BeforeCount stats.Count `json:"base"`
	AfterCount  stats.Count `json:"candidate"`
	// AdjustedP is P corrected for the number of checks that both sides have (Holm).
	AdjustedP stats.Estimate `json:"adjusted_p"`
}

// A Failure is how often one kind of failure had one owner, over the runs of the matched tasks.
type Failure struct {
	Category  tooleval.Category `json:"category"`
	Owner     tooleval.Owner    `json:"owner"`
	Base      int               `json:"base"`
	Candidate int               `json:"candidate"`
	// BaseRuns and CandidateRuns are the runs that they are out of.
	BaseRuns      int `json:"base_runs"`
	CandidateRuns int `json:"candidate_runs"`
}

// A Tool is how the calls of one tool went on both sides, over all records.
type Tool struct {
	Name            string `json:"name"`
	BaseCalls       int    `json:"base_calls"`
	BaseErrors      int    `json:"base_errors"`
	CandidateCalls  int    `json:"candidate_calls"`
	CandidateErrors int    `json:"candidate_errors"`
	// Alarm says why the comparison may be about the tool and not about the agents; empty otherwise.
	Alarm string `json:"alarm,omitempty"`
}

// checks compares each check of each matched task.
func (c *comparison) checks() {
	type at struct {
		check Check
		moved bool
	}
	var list []at
	var ps []stats.Estimate
	lost := false
	for i := range c.matched {
		m := &c.matched[i]
		lost = lost || m.base.lost || m.candidate.lost
		for j, name := range m.base.checks {
			k := slices.Index(m.candidate.checks, name)
			if k < 0 {
				continue
			}
			before, after := m.before.checks[j], m.after.checks[k]
			if before.Trials == 0 || after.Trials == 0 {
				continue
			}
			d := stats.CompareRates(before, after, c.o.Level)
			p := d.P
			if before.Trials < 2 || after.Trials < 2 {
				p = stats.Undefined("fewer than two scored runs on a side")
			}
			ps = append(ps, p)
			moved := before.Successes*after.Trials != after.Successes*before.Trials
			list = append(list, at{Check{TaskID: m.base.id, Name: name, Info: m.base.info&(1<<j) != 0, RateDifference: d,
				BeforeCount: before, AfterCount: after}, moved})
		}
	}
	for i, adjusted := range stats.AdjustHolm(ps).Adjusted {
		check := &list[i].check
		check.AdjustedP = adjusted
		if !(adjusted.OK && adjusted.Value <= 1-c.o.Level) && check.Direction != stats.CannotTell {
			check.Direction = stats.CannotTell
			check.Why = fmt.Sprintf("%s after the correction for %d checks", pText(adjusted.Value), len(list))
		}
		if list[i].moved {
			c.pair.Checks = append(c.pair.Checks, *check)
		}
	}
	if lost {
		c.pair.Warnings = append(c.pair.Warnings, fmt.Sprintf("some tasks have more than %d checks; the others are not compared", maxChecks))
	}
}

// failures counts the kinds of failure over the matched tasks.
func (c *comparison) failures() {
	counts := map[failureKind]*Failure{}
	var order []failureKind
	baseRuns, candidateRuns := 0, 0
	take := func(s *Side, n []int, field func(*Failure) *int) {
		for i, n := range n {
			if n == 0 {
				continue
			}
			k := s.failures[i]
			f := counts[k]
			if f == nil {
				f = &Failure{Category: k.category, Owner: k.owner}
				counts[k] = f
				order = append(order, k)
			}
			*field(f) += n
		}
	}
	for i := range c.matched {
		m := &c.matched[i]
		baseRuns += m.before.Planned
		candidateRuns += m.after.Planned
		take(c.base, m.before.failures, func(f *Failure) *int { return &f.Base })
		take(c.candidate, m.after.failures, func(f *Failure) *int { return &f.Candidate })
	}
	for _, k := range order {
		f := counts[k]
		f.BaseRuns, f.CandidateRuns = baseRuns, candidateRuns
		c.pair.Failures = append(c.pair.Failures, *f)
	}
	byMove(c.pair.Failures, func(f *Failure) float64 {
		return float64(f.Candidate)/float64(max(f.CandidateRuns, 1)) - float64(f.Base)/float64(max(f.BaseRuns, 1))
	})
}

const (
	toolsNoise = 5   // calls below which errors give no alarm
	toolsAlarm = 0.1 // share of errors from which they do
)

func (c *comparison) tools() {
	names := map[string]bool{}
	for _, s := range []*Side{c.base, c.candidate} {
		for name := range s.tools {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t := Tool{Name: name}
		if n := c.base.tools[name]; n != nil {
			t.BaseCalls, t.BaseErrors = n.calls, n.errors
		}
		if n := c.candidate.tools[name]; n != nil {
			t.CandidateCalls, t.CandidateErrors = n.calls, n.errors
		}
		for _, side := range []struct {
			name          string
			calls, errors int
		}{{"base", t.BaseCalls, t.BaseErrors}, {"candidate", t.CandidateCalls, t.CandidateErrors}} {
			if side.calls >= toolsNoise && float64(side.errors) >= toolsAlarm*float64(side.calls) && t.Alarm == "" {
				t.Alarm = fmt.Sprintf("tool %q: %d of %d calls of the %s ended in an error: the difference may be the tool's",
					name, side.errors, side.calls, side.name)
			}
		}
		c.pair.Tools = append(c.pair.Tools, t)
	}
}
