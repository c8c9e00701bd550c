package engine_test

import (
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/worlds"
)

func ids(t *testing.T, s *tooleval.Suite, r engine.RunnerOptions) (first, second string) {
	t.Helper()
	p, runner := prepare(t, s, tooleval.AgentFunc(good), engine.Options{Runs: 2}, r)
	i := p.Baselines()
	return runner.Identity(p.Job(i)), runner.Identity(p.Job(i + 1))
}

// TestE13Identity: a run is the same run while the suite's and the task's content, mind, world and index are; the version of
// the tool, the order of keys and the spelling of numbers have no part in it.
func TestE13Identity(t *testing.T) {
	base, next := ids(t, suite(), engine.RunnerOptions{})
	if base == "" || base == next {
		t.Fatalf("runs 0 and 1 have identities %q and %q", base, next)
	}
	same := map[string]func(*tooleval.Suite){
		"nothing": func(*tooleval.Suite) {},
		"the order of keys": func(s *tooleval.Suite) {
			s.Tools[0].Schema = tooleval.Raw(`{"properties":{"n":{"type":"integer"}},"type":"object"}`)
		},
		"the spelling of a number": func(s *tooleval.Suite) {
			s.Tasks[0].Required[0].Args = tooleval.ParsePattern([]byte(`{"n": 1.0}`))
		},
		"another task": func(s *tooleval.Suite) {
			t := s.Tasks[0]
			t.ID = "t1"
			s.Tasks = append(s.Tasks, t)
		},
	}
	for name, change := range same {
		if got, _ := ids(t, suite(change), engine.RunnerOptions{}); got != base {
			t.Errorf("%s changed the identity", name)
		}
	}
	if got, _ := ids(t, suite(), engine.RunnerOptions{Provenance: tooleval.Provenance{Tool: "v99"}}); got != base {
		t.Error("the tool's version changed the identity")
	}
	other := map[string]func(*tooleval.Suite){
		"the prompt":      func(s *tooleval.Suite) { s.Tasks[0].Description = "please" },
		"the expectation": func(s *tooleval.Suite) { s.Tasks[0].ExpectedState = tooleval.Match(map[string]any{"done": false}) },
		"a tool's schema": func(s *tooleval.Suite) { s.Tools[0].Description = "walks" },
		"a fixture": func(s *tooleval.Suite) {
			s.MockWorld.(*worlds.Mock).Fixtures[0].Results[0].Result = tooleval.TextResult("no")
		},
		"the suite's version":    func(s *tooleval.Suite) { s.Version = "2" },
		"the suite's name":       func(s *tooleval.Suite) { s.Name = "z" },
		"the order of a toolset": func(s *tooleval.Suite) { s.Tasks[0].Toolset = []string{"bomb", "step"} },
	}
	for name, change := range other {
		if got, _ := ids(t, suite(change), engine.RunnerOptions{}); got == base {
			t.Errorf("%s did not change the identity", name)
		}
	}
}

// TestSeeds: seeds depend on the eval's seed, the task and the index, never on the mind, and keep to 53 bits.
func TestSeeds(t *testing.T) {
	seen := map[uint64]bool{}
	for _, seed := range []uint64{0, 1} {
		for _, task := range []string{"a", "b"} {
			for index := range 3 {
				s := engine.Seed(seed, "s", task, "", index)
				if s >= 1<<53 {
					t.Errorf("seed %d does not fit into 53 bits", s)
				}
				if s != engine.Seed(seed, "s", task, "", index) {
					t.Error("the same inputs gave another seed")
				}
				seen[s] = true
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("12 different inputs gave %d seeds", len(seen))
	}
}
