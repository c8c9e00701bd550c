package compare_test

import (
	"fmt"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
)

// An evalOf describes an eval for a test: tasks with the verdicts of their runs, p, f and u for unscored; a space is a run
// that is missing.
type evalOf struct {
	id      string
	runs    int
	tasks   []string // name=verdicts
	digests map[string]string
	change  func(*tooleval.Run)
}

func (e evalOf) sides(t testing.TB) []*compare.Side {
	t.Helper()
	header := tooleval.Eval{ID: e.id, Suite: "s", Minds: []string{"m"}, World: "mock", Runs: e.runs}
	type task struct{ name, verdicts string }
	var tasks []task
	for _, spec := range e.tasks {
		var k task
		for i := range spec {
			if spec[i] == '=' {
				k = task{spec[:i], spec[i+1:]}
			}
		}
		digest := "d-" + k.name
		if d, ok := e.digests[k.name]; ok {
			digest = d
		}
		header.Tasks = append(header.Tasks, tooleval.EvalTask{ID: k.name, Digest: digest})
		header.Runs = max(header.Runs, len(k.verdicts))
		tasks = append(tasks, k)
	}
	g := compare.NewGatherer(header)
	for _, k := range tasks {
		for i, c := range k.verdicts {
			if c == ' ' {
				continue
			}
			run := runOf(e.id, k.name, i, c)
			if e.change != nil {
				e.change(run)
			}
			g.Add(run, fmt.Sprintf("%s/%s/%d", e.id, k.name, i))
		}
	}
	return g.Sides()
}

func runOf(eval, task string, index int, verdict rune) *tooleval.Run {
	run := &tooleval.Run{Eval: eval, Suite: "s", TaskID: task, Index: index, Mind: "m", World: "mock"}
	run.Score.Process.Score = tooleval.Scored(0.7)
	switch verdict {
	case 'p':
		run.Score.Verdict, run.Score.Outcome.Score = tooleval.Passed, tooleval.Scored(1)
	case 'f':
		run.Score.Verdict, run.Score.Outcome.Score = tooleval.Failed, tooleval.Scored(0)
		run.Failure = &tooleval.Failure{Category: tooleval.WrongArgs, Owner: tooleval.OwnerAgent}
	default:
		run.Score.Verdict, run.ErrorOwner = tooleval.Unscored, tooleval.OwnerInfra
		run.Failure = &tooleval.Failure{Category: tooleval.RunError, Owner: tooleval.OwnerInfra}
	}
	return run
}

func pairOf(t testing.TB, a, b evalOf) compare.Pair {
	t.Helper()
	return compare.Compare(a.sides(t)[0], b.sides(t)[0], compare.Options{Seed: 1})
}

func taskOf(t testing.TB, p *compare.Pair, id string) *compare.Task {
	t.Helper()
	for i := range p.Tasks {
		if p.Tasks[i].ID == id {
			return &p.Tasks[i]
		}
	}
	t.Fatalf("there is no task %q", id)
	return nil
}
