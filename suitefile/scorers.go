package suitefile

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/scorers/judge"
)

// A scorerKind is one way to write a scorer: a key of it. A further kind is a further element of scorerKinds.
type scorerKind struct {
	key, doc string
	shape    *shape
	// build makes the scorer of an entry that fits the shape. It reports what is wrong, and may then return nil.
	build func(l *loader, name string, e *entry) tooleval.Scorer
}

func scorerKinds() []scorerKind {
	return []scorerKind{
		{key: "goal", doc: "what was left behind, and what was said", shape: goalShape, build: buildGoal},
		{key: "trajectory", doc: "the calls alone", shape: trajectoryShape, build: buildTrajectoryScorer},
		{key: "milestones", doc: "what has to be reached on the way, and what must never happen", shape: milestonesShape, build: buildMilestones},
		{key: "starlark", doc: "by a function", shape: scoreFunction, build: buildScoreFunction},
		{key: "judge", doc: "by a language model", shape: rubricShape, build: buildJudge},
	}
}

func (l *loader) buildScorers(e *entry) {
	for _, name := range e.names() {
		l.define("scorer", name, e.fields[name].key)
		l.scorers[name] = l.buildScorer(name, e.fields[name])
	}
}

func (l *loader) buildScorer(name string, e *entry) tooleval.Scorer {
	for _, k := range scorerKinds() {
		if inner := e.get(k.key); inner != nil {
			return k.build(l, name, inner)
		}
	}
	return nil
}

// judgeTask gives a task its scorer, if it has one.
func (l *loader) judgeTask(e *entry, t *tooleval.Task) {
	named := e.get("scorer")
	if named == nil {
		return
	}
	var s tooleval.Scorer
	if named.fields != nil {
		s = l.buildScorer(t.ID, named)
	} else {
		known := make([]string, 0, len(l.scorers))
		for name := range l.scorers {
			known = append(known, name)
		}
		slices.Sort(known)
		if !l.known(named, "scorer", known) {
			return
		}
		s = l.scorers[named.words]
	}
	switch {
	case s == nil: // reported where it is defined
		l.suite.Scorers[t.ID] = scorers.State
	case t.ExpectedState.IsZero():
		l.suite.Scorers[t.ID] = s
	default:
		l.suite.Scorers[t.ID] = &both{s}
	}
}

func buildJudge(l *loader, name string, e *entry) tooleval.Scorer {
	r := judge.Rubric{
		Name: name, Instructions: e.get("instructions").text(), Decides: judge.Decider(e.get("decides").text()), Votes: e.get("votes").int(),
	}
	criteria := e.get("criteria")
	for _, id := range criteria.names() {
		r.Criteria = append(r.Criteria, judge.Criterion{ID: id, Text: criteria.fields[id].words})
	}
	if err := r.Validate(); err != nil {
		for _, err := range joined(err) {
			e.fail(l, "%v", err)
		}
		return nil
	}
	g := judge.Graded{Rubric: r}
	if e.get("view").text() == "final_answer" {
		g.View = judge.FinalAnswer
	}
	return g
}

// both asks for the expected state and another scorer: the outcome is the worse of the two, so that neither makes up for
// the other.
type both struct{ scorer tooleval.Scorer }

var _ tooleval.Binder = (*both)(nil)

// Score judges by both.
func (b *both) Score(ctx context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	first, err := scorers.State.Score(ctx, run)
	if err != nil {
		return first, err
	}
	second, err := b.scorer.Score(ctx, run)
	if err != nil {
		return tooleval.Outcome{}, err
	}
	out := tooleval.Outcome{
		Checks: slices.Concat(first.Checks, second.Checks), Diff: slices.Concat(first.Diff, second.Diff), Detail: second.Detail,
	}
	x, ok := first.Score.Value()
	y, scored := second.Score.Value()
	switch {
	case !ok || ok && x == 0:
		out.Score = first.Score
	case !scored:
		out.Score = second.Score
	default:
		out.Score = tooleval.Scored(min(x, y))
	}
	return out, nil
}

// Unwrap is the other scorer.
func (b *both) Unwrap() tooleval.Scorer { return b.scorer }

// Bind binds the other scorer.
func (b *both) Bind(r tooleval.Resources) (tooleval.Scorer, error) {
	inner, ok := b.scorer.(tooleval.Binder)
	if !ok {
		return b, nil
	}
	s, err := inner.Bind(r)
	if err != nil {
		return nil, err
	}
	return &both{s}, nil
}

// Check checks the other scorer.
func (b *both) Check(s *tooleval.Suite) error {
	c, ok := b.scorer.(tooleval.Checker)
	if !ok {
		return nil
	}
	as := *s // for its own tasks it is the scorer by itself
	as.Scorers = maps.Clone(s.Scorers)
	for id, scorer := range as.Scorers {
		if scorer == tooleval.Scorer(b) {
			as.Scorers[id] = b.scorer
		}
	}
	return c.Check(&as)
}

// Fingerprint is that of the other scorer.
func (b *both) Fingerprint() any {
	if f, ok := b.scorer.(tooleval.Fingerprinter); ok {
		return map[string]any{"state_and": f.Fingerprint()}
	}
	return map[string]any{"state_and": fmt.Sprintf("%T", b.scorer)}
}
