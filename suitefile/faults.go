package suitefile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tooleval/tooleval"
)

var faultShape = &shape{
	kind: record, name: "faults[]",
	doc: "Trouble that is made on purpose. Without call and probability it befalls every call. The first four kinds answer in the tool's " +
		"stead, which is then not called; the others are about what it answered.",
	fields: []field{
		must("kind", oneWordOf(faultKinds()...), "what goes wrong"),
		may("tool", aText, "the tool whose calls it befalls; left out: any"),
		may("call", &shape{kind: integer, min: 1}, "the one call that it befalls, counted from 1 in each run over the calls of the tool"),
		may("probability", &shape{kind: number, min: 0, max: 1}, "the chance of each call, drawn from the run's seed"),
		may("latency", aDuration, "passes before the answer; for the kinds latency (needed) and timeout"),
		may("text", aText, "what the agent reads: the error, the garbage, or the instruction, which needs one; left out: a common wording"),
	},
	groups: []group{atMostOne("call", "probability")},
	example: `faults:
  - {kind: timeout, tool: look_up, call: 1}
  - {kind: rate_limit, probability: 0.1}`,
}

func faultKinds() []string {
	out := make([]string, len(tooleval.FaultKinds))
	for i, k := range tooleval.FaultKinds {
		out[i] = string(k)
	}
	return out
}

// faultsFileShape describes the file of --faults.
var faultsFileShape = &shape{
	kind: record, name: "faults", doc: "The file of --faults.",
	fields: []field{
		must("faults", listOf(faultShape), "the faults of every task that has the tool"),
		may("wants_recovery", aBoolean, "whether coping with them is part of what is asked of every task"),
	},
}

// Faults are faults that are made in every task of an eval, as a file says.
type Faults struct {
	Faults        []tooleval.Fault
	WantsRecovery bool
}

// LoadFaults reads a file of faults for a suite with these tools. The error is an [*Error] with everything that is wrong with
// the file, or says why it can't be read.
func LoadFaults(path string, tools []string) (*Faults, error) {
	dir, name := filepath.Split(path)
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	defer root.Close()
	var found problems
	left := int64(budget)
	f := &folder{root: root, dir: dir}
	src := f.source(name)
	c := &checker{folder: f, problems: &found, budget: &left, src: src, scope: &scope{}}
	out := &Faults{}
	if b, err := f.read(name, mostYAML); err != nil {
		c.fail(place{file: src}, "%v", err)
	} else if node, at, err := src.parse(b); err != nil {
		c.fail(at, "%v", err)
	} else if e := c.check(node, faultsFileShape); e != nil {
		out.Faults = buildFaults(c, e.get("faults"), tools)
		out.WantsRecovery = e.get("wants_recovery").bool()
	}
	if err := found.err(); err != nil {
		return nil, err
	}
	return out, nil
}

// Apply is the suite with the faults in each of its tasks, after those that the task has itself. A fault of one tool is left
// out of the tasks that lack the tool. The suite that is given is not changed.
func (f *Faults) Apply(s *tooleval.Suite) *tooleval.Suite {
	out := *s
	out.Tasks = f.inTasks(s.Tasks)
	if live := s.LiveTasks; live != nil {
		out.LiveTasks = func(getenv func(string) string) []tooleval.Task { return f.inTasks(live(getenv)) }
	}
	return &out
}

func (f *Faults) inTasks(tasks []tooleval.Task) []tooleval.Task {
	tasks = slices.Clone(tasks)
	for i := range tasks {
		t := &tasks[i]
		t.WantsRecovery = t.WantsRecovery || f.WantsRecovery
		t.Faults = slices.Clone(t.Faults)
		for _, fault := range f.Faults {
			if fault.Tool == "" || slices.Contains(t.Toolset, fault.Tool) {
				t.Faults = append(t.Faults, fault)
			}
		}
	}
	return tasks
}

// buildFaults builds faults and reports what is wrong with each at its place.
func buildFaults(c *checker, e *entry, tools []string) []tooleval.Fault {
	var out []tooleval.Fault
	first := map[string]place{}
	for _, x := range e.elements() {
		kind := x.get("kind")
		if kind == nil {
			continue
		}
		f := tooleval.Fault{
			Kind: tooleval.FaultKind(kind.words), Tool: x.get("tool").text(), Call: x.get("call").int(),
			Probability: x.get("probability").float(), Latency: x.get("latency").duration(), Text: x.get("text").text(),
		}
		if t := x.get("tool"); t != nil && !slices.Contains(tools, t.words) {
			c.fail(t.at, "unknown tool %q, or none of the task's%s", clip(t.words), tooleval.DidYouMean(t.words, tools))
		}
		if p := x.get("probability"); p != nil && f.Probability == 0 {
			c.fail(p.at, "with a probability of 0 it never lands; leave the fault out")
		}
		if err := f.Err(); err != nil && !(f.Call > 0 && f.Probability > 0) { // which the shape has reported
			for _, err := range joined(err) {
				c.fail(x.at, "%v", err)
			}
		}
		if at, taken := first[f.Label()]; taken {
			c.fail(x.at, "it is the same as the one at %s (%s), so only one of them could land", at, f.Label())
		} else {
			first[f.Label()] = x.at
		}
		out = append(out, f)
	}
	return out
}
