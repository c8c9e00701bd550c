package judge

import (
	"context"
	"fmt"

	"github.com/tooleval/tooleval"
)

// Graded is the Scorer that a Suite holds: what is graded and how, but not yet by whom. The engine binds it to the judge
// that the command line chose (see [tooleval.Binder]).
type Graded struct {
	Rubric Rubric
	// View renders what the judge is shown of a run. It must not hold the answer key unless the rubric needs it, and it
	// may hold anything that the agent wrote. Nil is [Everything].
	View func(*tooleval.Run) string
}

var (
	_ tooleval.Binder        = Graded{}
	_ tooleval.Checker       = Graded{}
	_ tooleval.Fingerprinter = Graded{}
	_ tooleval.Fingerprinter = (*scorer)(nil)
)

// Bind returns the Scorer with its judge. Its only errors are a misspelt judge and a rubric that is not valid.
func (g Graded) Bind(r tooleval.Resources) (tooleval.Scorer, error) {
	model, err := Parse(r.Judge)
	if err != nil {
		return nil, err
	}
	if err := g.Rubric.Validate(); err != nil {
		return nil, err
	}
	j, err := New(Config{Model: model, Getenv: r.Getenv})
	if err != nil {
		return nil, err
	}
	return j.Scorer(g.Rubric, g.View), nil
}

// Score is an error: there is no judge before Bind.
func (g Graded) Score(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
	return tooleval.Outcome{}, tooleval.Blame(tooleval.OwnerHarness,
		fmt.Errorf("rubric %q has no judge: call Bind before the first run", g.Rubric.Name))
}

// Check reports what is wrong with the rubric.
func (g Graded) Check(*tooleval.Suite) error { return g.Rubric.Validate() }

// Fingerprint is the rubric. The view is code: raise Suite.Version when it changes.
func (g Graded) Fingerprint() any { return g.Rubric }
