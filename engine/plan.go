package engine

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/baselines"
)

// The kinds of world.
const (
	Mock = "mock"
	Live = "live"
	// Replay is the suite's MockWorld where that stands for recorded answers: it is run like Mock and named apart.
	Replay = "replay"
)

// A Backend is an agent under the name that it has in an eval. The agent behind it is made once; it gets a Run call for
// every run.
type Backend struct {
	Name  string
	Agent tooleval.Agent
	// Aliases maps entry points of the suites to those in the agent.
	Aliases map[string]string
}

// Options say what to plan.
type Options struct {
	// Runs is the number of runs of each task, at least 1.
	Runs int
	// World is Mock, Live or Replay; empty means Mock.
	World string
	// Tasks limits the plan to task ids; * and ? match as in file names. Empty means all.
	Tasks []string
	// Tags limits the plan to tasks with at least one of these tags. Empty means all.
	Tags []string
	// Seed is what the seed of every run is derived from.
	Seed uint64
	// Getenv looks up an environment variable for live tasks; nil stands for an empty environment.
	Getenv func(string) string
}

// A Job names one run: plain data that a worker with the same lists of suites and backends can do.
type Job struct {
	Suite string `json:"suite"`
	Task  string `json:"task"`
	Mind  string `json:"mind"`
	World string `json:"world"`
	Index int    `json:"index"`
	Seed  uint64 `json:"seed"`
	// Baseline names the trivial agent that is run in the mind's stead; empty for an ordinary run.
	Baseline string `json:"baseline,omitempty"`
}

// A Plan is every Job of an eval, in the order in which their results are reported: the baselines first, then the runs
// by mind, task and index. Jobs are computed when asked for, so a plan of a million runs is as small as one of ten.
type Plan struct {
	options Options
	entries []entry // one for each mind and task
	trivial []Job
	first   int // the index of the first run of each task
}

type entry struct {
	suite, task, mind string
	baseline          string
}

// NewPlan makes a plan, or says everything that is wrong with what was asked for.
func NewPlan(suites []*tooleval.Suite, backends []Backend, o Options) (*Plan, error) {
	if o.World == "" {
		o.World = Mock
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	var errs []error
	if o.Runs < 1 {
		errs = append(errs, fmt.Errorf("runs: %d is not a number of runs; give at least 1", o.Runs))
	}
	if kinds := []string{Mock, Live, Replay}; !slices.Contains(kinds, o.World) {
		errs = append(errs, fmt.Errorf("world: unknown kind %q%s", o.World, tooleval.DidYouMean(o.World, kinds)))
	}
	if len(suites) == 0 {
		errs = append(errs, errors.New("there is no suite to run"))
	}
	if len(backends) == 0 {
		errs = append(errs, errors.New("there is no agent to run"))
	}
	p := &Plan{options: o}
	var tasks []entry
	for _, s := range suites {
		if err := s.Validate(o.Getenv); err != nil {
			errs = append(errs, err)
			continue
		}
		if s.World(o.World == Live) == nil {
			errs = append(errs, fmt.Errorf("suite %q has no %s world", s.Name, o.World))
			continue
		}
		chosen, err := choose(s, s.TasksIn(o.World == Live, o.Getenv), o)
		errs = append(errs, err)
		for _, t := range chosen {
			tasks = append(tasks, entry{suite: s.Name, task: t.ID})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, b := range baselines.All {
		if b.MockOnly && o.World == Live {
			continue // a random agent has no business with real tools
		}
		for _, t := range tasks {
			p.trivial = append(p.trivial, p.job(entry{suite: t.suite, task: t.task, baseline: b.Name}, 0))
		}
	}
	for _, b := range backends {
		for _, t := range tasks {
			p.entries = append(p.entries, entry{suite: t.suite, task: t.task, mind: b.Name})
		}
	}
	return p, nil
}

// choose filters the tasks of one suite. A filter that fits nothing is an error, never an empty plan.
func choose(s *tooleval.Suite, tasks []tooleval.Task, o Options) ([]tooleval.Task, error) {
	var ids, tags []string
	for _, t := range tasks {
		ids = append(ids, t.ID)
		tags = append(tags, t.Tags...)
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	var errs []error
	wanted := map[string]bool{}
	for _, pattern := range o.Tasks {
		hit := false
		for _, id := range ids {
			if ok, err := path.Match(pattern, id); id == pattern || ok && err == nil {
				wanted[id], hit = true, true
			}
		}
		if _, err := path.Match(pattern, ""); err != nil && !hit {
			errs = append(errs, fmt.Errorf("task filter %q: %w; \\ takes the meaning from a letter", pattern, err))
		} else if !hit {
			errs = append(errs, fmt.Errorf("suite %q: no task fits %q%s; its tasks are %s",
				s.Name, pattern, tooleval.DidYouMean(pattern, ids), strings.Join(ids, ", ")))
		}
	}
	for _, tag := range o.Tags {
		if !slices.Contains(tags, tag) {
			errs = append(errs, fmt.Errorf("suite %q: no task has the tag %q%s", s.Name, tag, tooleval.DidYouMean(tag, tags)))
		}
	}
	var chosen []tooleval.Task
	for _, t := range tasks {
		named := len(o.Tasks) == 0 || wanted[t.ID]
		tagged := len(o.Tags) == 0 || slices.ContainsFunc(t.Tags, func(tag string) bool { return slices.Contains(o.Tags, tag) })
		if named && tagged {
			chosen = append(chosen, t)
		}
	}
	if len(errs) == 0 && len(chosen) == 0 {
		errs = append(errs, fmt.Errorf("suite %q: no task fits both the task and the tag filters", s.Name))
	}
	return chosen, errors.Join(errs...)
}

// Len is the number of jobs, baselines included.
func (p *Plan) Len() int { return len(p.trivial) + len(p.entries)*p.options.Runs }

// Baselines is the number of jobs that run a trivial agent. They come first.
func (p *Plan) Baselines() int { return len(p.trivial) }

// Job is the i-th job, 0 ≤ i < Len.
func (p *Plan) Job(i int) Job {
	if i < len(p.trivial) {
		return p.trivial[i]
	}
	i -= len(p.trivial)
	return p.job(p.entries[i/p.options.Runs], p.first+i%p.options.Runs)
}

// Tasks are the planned tasks of the first mind, in order, by suite and id.
func (p *Plan) Tasks() [][2]string {
	var tasks [][2]string
	for _, e := range p.entries {
		if e.mind == p.entries[0].mind {
			tasks = append(tasks, [2]string{e.suite, e.task})
		}
	}
	return tasks
}

func (p *Plan) job(e entry, index int) Job {
	return Job{Suite: e.suite, Task: e.task, Mind: e.mind, World: p.options.World, Index: index, Baseline: e.baseline,
		Seed: Seed(p.options.Seed, e.suite, e.task, e.baseline, index)}
}
