package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

// lint makes the lints that need no run.
func (q *inquiry) lint() {
	t := q.task
	switch g := q.goal; {
	case q.suite.Scorers[t.ID] == nil && t.ExpectedState.Vacuous():
		q.find(GoalChecksNothing, "there is neither an expected_state that can differ nor a scorer")
	case g != nil && t.ExpectedState.IsZero():
		said := slices.ContainsFunc(g.Said, func(s scorers.Statement) bool { return !s.Info })
		switch {
		case g.After == nil && g.State.IsZero() && !said:
			q.find(GoalChecksNothing, "the goal asks for no state, and for no words that count")
		case g.After == nil && !g.State.IsZero() && g.State.Vacuous() && !said:
			q.find(GoalChecksNothing, "the state that the goal asks for fits anything")
		case g.After != nil && len(g.After) == 0 && g.Lenient && !said:
			q.find(GoalChecksNothing, "the goal asks that nothing changes, and allows every change")
		}
	}
	for i, c := range t.Required {
		q.lintCall(fmt.Sprintf("required call %d", i+1), c.Tool, c.Args, false)
	}
	if m := t.Trajectory; m != nil {
		for _, alternative := range m.Alternatives() {
			for i, c := range alternative.Calls {
				mode := m.ArgsModeOf(&c)
				if mode == tooleval.ArgsIgnore {
					continue
				}
				q.lintCall(fmt.Sprintf("%s: call %d", alternative.Name, i+1), c.Tool, c.Args, mode == tooleval.ArgsSubset || mode == tooleval.ArgsSuperset)
			}
		}
	}
	if q.goal == nil {
		return
	}
	for i, a := range q.goal.After {
		if _, known := q.suite.Tool(a.Tool); known && !slices.Contains(t.Toolset, a.Tool) {
			q.find(GoalUnreachable, "ground-truth action %d calls %s, which is not in the task's toolset", i+1, a.Tool)
		}
	}
}

// lintCall holds the arguments of a call that is asked for to its tool's schema. Partly says that others may be missing.
func (q *inquiry) lintCall(what, tool string, args tooleval.Pattern, partly bool) {
	known, ok := q.suite.Tool(tool)
	if !ok || args.IsZero() || args.Err() != nil {
		return
	}
	raw, partial, _ := concrete(args, false)
	if raw == nil {
		return
	}
	if why := q.schemas.check(known.Schema, raw, partial || partly); why != "" {
		q.find(CallBreaksSchema, "%s (%s): its arguments break the tool's schema: %s", what, tool, why)
	}
}

// lintMade holds the calls that an oracle made to the schemas of their tools.
func (q *inquiry) lintMade(oracle string, run *tooleval.Run) {
	if oracle == groundTruth && q.runs[scripted] != nil && q.out.Has(TruthBreaksSchema) {
		return // mostly the same calls
	}
	for i, c := range run.Trajectory.Calls {
		tool, known := q.suite.Tool(c.Tool)
		if !known || c.ArgsError != "" || c.Status != tooleval.CallOK {
			continue // a call that the world turned down as well is the oracle's way to show an error
		}
		args := c.Args
		if len(args) == 0 {
			args = tooleval.Raw("{}")
		}
		if why := q.schemas.check(tool.Schema, args, false); why != "" {
			q.find(TruthBreaksSchema, "%s: call %d (%s): %s", oracle, i+1, c.Tool, why)
		}
	}
}

// lintValues makes the lints that read the values that are expected, once it is known what an agent could see.
func (q *inquiry) lintValues() {
	t := q.task
	best := q.oracle
	for _, name := range []string{scripted, groundTruth} {
		if best == nil {
			best = q.runs[name]
		}
	}
	if best == nil {
		best = q.runs[doNothing]
	}
	if c := best.Score.Outcome.Checks; len(c) > 0 && !slices.ContainsFunc(c, func(c tooleval.Check) bool { return !c.Info }) &&
		!q.out.Has(GoalChecksNothing) {
		q.find(GoalChecksNothing, "all of its %s are marked info", plural(len(c), "check"))
	}
	ofWorld := best.StateFrom == "world"
	var state []expected
	if !t.ExpectedState.IsZero() {
		state = append(state, expectations(t.ExpectedState)...)
	}
	var said []expected
	if q.goal != nil {
		state = append(state, expectations(q.goal.State)...)
		for _, s := range q.goal.Said {
			if w := s.Words + string(s.Number) + s.Text; !s.Not && !s.Info && w != "" {
				said = append(said, expected{name: "said", values: []any{w}})
			}
		}
	}
	var unseen []string
	for _, e := range state {
		if ofWorld && q.oracle != nil {
			break // the tools made it
		}
		if !e.seenIn(&q.seen.all) && !(ofWorld && e.seenIn(&q.seen.states)) {
			unseen = append(unseen, e.String())
		}
	}
	for _, e := range said {
		if !e.seenIn(&q.seen.all) {
			unseen = append(unseen, e.String())
		}
	}
	if len(unseen) > 0 {
		rule := ValueUnseen
		if q.oracle == nil && q.out.Has(OracleFails) {
			rule = GoalUnreachable
		}
		more := ""
		if n := len(unseen); n > 5 {
			unseen, more = unseen[:5], fmt.Sprintf(" and %d more", n-5)
		}
		q.find(rule, "in no description, input, schema or tool result: %s%s", strings.Join(unseen, ", "), more)
	}
	switch {
	case q.task.DoNothingMayPass != "" || q.out.Has(DoNothingPasses) || q.out.Has(EchoPasses) || q.out.Has(GoalChecksNothing):
	case ofWorld && (q.goal == nil || len(q.goal.After) > 0 || !q.goal.State.IsZero()):
	case ofWorld:
		q.lintGuess(said)
	default:
		q.lintGuess(slices.Concat(state, said))
	}
}

// lintGuess reports an answer that stands in the prompt, or comes from a few values.
func (q *inquiry) lintGuess(all []expected) {
	if len(all) == 0 || q.task.ExpectedState.IsZero() && q.goal == nil {
		return
	}
	domain, words, given := 1, 0, 0
	for _, e := range all {
		domain = min(domain*q.choices(e), 1000)
		if e.isWord() {
			words++
			if e.seenIn(&q.seen.asked) {
				given++
			}
		}
	}
	const few = 10
	switch {
	case domain <= few:
		q.find(Guessable, "a guess passes about one time in %d: %s", domain, list(all))
	case words > 0 && given == words && domain > few:
		q.find(AnswerInPrompt, "the description or the input says all of it: %s", list(all))
	}
}

// choices is how many values there are to choose from; a large number where that can't be told.
func (q *inquiry) choices(e expected) int {
	const open = 1000
	if len(e.values) != 1 {
		return open
	}
	switch x := e.values[0].(type) {
	case bool, nil:
		return 2
	case string:
		if slices.Contains([]string{"yes", "no", "true", "false", "y", "n"}, strings.ToLower(x)) {
			return 2
		}
		fewest := open
		for _, name := range q.task.Toolset {
			tool, _ := q.suite.Tool(name)
			schema, err := tooleval.DecodeValue(tool.Schema)
			if err != nil {
				continue
			}
			for _, values := range enums(schema) {
				if slices.ContainsFunc(values, func(v any) bool { return tooleval.Equal(v, x) }) {
					fewest = min(fewest, len(values))
				}
			}
		}
		return fewest
	}
	return open
}

func list(all []expected) string {
	var out []string
	for _, e := range all[:min(len(all), 5)] {
		out = append(out, e.String())
	}
	if n := len(all) - 5; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}
