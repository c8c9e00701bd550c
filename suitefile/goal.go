package suitefile

import (
	"encoding/json"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

var actionShape = &shape{
	kind: record, name: "after[]", doc: "A call of the ground truth. The name of a tool alone calls it without arguments.",
	fields: []field{
		must("tool", aText, "the tool"),
		may("args", anObject, "the arguments"),
		may("may_fail", aBoolean, "whether it is known to return an error; otherwise such a call makes the task invalid"),
	},
}

var statementShape = &shape{
	kind: record, name: "said[]", doc: "Something that has to be said to the user, in one message. A text alone is words.",
	fields: []field{
		may("words", aText, `words in a row, whatever their case: "gate b12" is in "Gate: B12!" but not in "gate b123"`),
		may("number", &shape{kind: number, min: -1e300, max: 1e300}, `a number, by value: 1786 is in "$1,786.00"`),
		may("text", aText, "a part of a message, in any case and with commas left out"),
		may("pattern", aText, "a regular expression (Go's syntax) that matches somewhere"),
		may("not", aBoolean, "whether no message may say it"),
		may("info", aBoolean, "whether the check is shown but counts for nothing"),
		may("name", aText, "the name of the check"),
	},
	groups: []group{exactlyOne("words", "number", "text", "pattern")},
}

var goalShape = &shape{
	kind: record, name: "scorers.*.goal",
	doc: "What the run left behind, and what it said. Each part is a check of its own, and all of them must hold; that nothing else " +
		"changed is one of them.",
	fields: []field{
		may("after", &shape{kind: list, empty: true, elem: &shape{kind: either, of: []*shape{aText, actionShape}}},
			"the ground truth: the final state must be the one that these calls lead to in a fresh world; an empty list: nothing may change"),
		may("state", aPattern, "what the final state has to meet"),
		may("ignore", texts, "places where the state may be anything, as $.orders.*.updated_at or $.log[*].time"),
		may("unordered", listOf(&shape{kind: record, name: "unordered[]", doc: "A list in the state whose order does not matter.", fields: []field{
			must("path", aText, "the list, as $.orders"),
			may("key", aText, "the key of its elements that tells them apart; left out: whole elements are compared"),
		}}), "lists whose order does not matter"),
		may("lenient", aBoolean, "whether other changes are shown but count for nothing"),
		may("said", listOf(&shape{kind: either, of: []*shape{aText, statementShape}}), "what has to be said, in the final answer or by one of tells"),
		may("tells", listOf(&shape{kind: record, name: "tells[]", doc: "A tool argument that the user gets to read.", fields: []field{
			must("tool", aText, "the tool"), must("arg", aText, "the argument"),
		}}), "tools that carry words to the user"),
		may("answer", aText, "an answer that says all of it, for the oracle of tooleval check; needed when there is a pattern among said"),
	},
	groups: []group{atMostOne("after", "state"), {keys: []string{"after", "state", "said"}, need: true}},
	example: `scorers:
  cancelled:
    goal:
      after: [{tool: cancel_order, args: {number: C-4}}]
      said: [{number: 12.50}]`,
}

func buildGoal(l *loader, _ string, e *entry) tooleval.Scorer {
	g := &scorers.Goal{State: e.get("state").pattern(), Ignore: e.get("ignore").texts(), Lenient: e.get("lenient").bool(), Answer: e.get("answer").text()}
	if after := e.get("after"); after != nil {
		g.After = []scorers.Action{}
		for _, c := range after.list {
			tool, args := l.call(c)
			g.After = append(g.After, scorers.Action{Tool: tool, Args: args, MayFail: c.get("may_fail").bool()})
		}
	}
	for _, u := range e.get("unordered").elements() {
		g.Unordered = append(g.Unordered, scorers.List{Path: u.get("path").text(), Key: u.get("key").text()})
	}
	for _, s := range e.get("said").elements() {
		if s.fields == nil {
			g.Said = append(g.Said, scorers.Statement{Words: s.words})
			continue
		}
		statement := scorers.Statement{
			Name: s.get("name").text(), Words: s.get("words").text(), Text: s.get("text").text(), Pattern: s.get("pattern").text(),
			Not: s.get("not").bool(), Info: s.get("info").bool(),
		}
		if n := s.get("number"); n != nil {
			statement.Number, _ = n.value.(json.Number)
		}
		g.Said = append(g.Said, statement)
	}
	for _, t := range e.get("tells").elements() {
		l.knownTool(t.get("tool"))
		g.Tells = append(g.Tells, scorers.Telling{Tool: t.get("tool").text(), Arg: t.get("arg").text()})
	}
	l.goals = append(l.goals, g)
	return g
}

// call is a call that is written as the name of a tool, or with its arguments.
func (l *loader) call(e *entry) (tool string, args tooleval.Raw) {
	name, args := e, tooleval.Raw("{}")
	if e.fields != nil {
		name = e.get("tool")
		if a := e.get("args"); a != nil {
			args = a.raw()
		}
	}
	l.knownTool(name)
	return name.text(), args
}
