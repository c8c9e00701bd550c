package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/baselines"
	"github.com/tooleval/tooleval/engine"
)

// Options are the settings of [Suite]. The zero Options work.
type Options struct {
	// Tasks limits the check to task ids; * and ? match as in file names. Empty means all.
	Tasks []string
	// Seed is what the seeds of all runs are derived from.
	Seed uint64
	// Concurrency is the number of tasks that are checked at a time; 0 stands for the number of processors.
	Concurrency int
	// Timeout bounds one run of a task without a limit of its own. 0 stands for 30 seconds.
	Timeout time.Duration
	// Judge is the judge of tasks that want one, as for tooleval.Resources. Empty stands for none: such tasks are then
	// reported as not evaluable. A judge is asked for every run of the panel and for every mutant.
	Judge string
	// Getenv looks up an environment variable; nil stands for an empty environment.
	Getenv func(string) string
}

// The names of the oracles and of the trivial agents in a Report.
const (
	scripted    = "scripted"
	groundTruth = "ground truth"
	doNothing   = "do-nothing"
	refusal     = "always-refuse"
	promptEcho  = "prompt-echo"
	spam        = "spam"
	random      = "random"
	mutants     = "mutant" // the backend of the oracle's mutants
)

// moreRandom are further seeds of the random agent: one may be unlucky.
const moreRandom = 2

// Suite checks the tasks of a suite in its mock world. A flaw of the suite is a finding of the Report and no error; an
// error means that the check could not be made: no mock world, no task that fits, a cancelled context.
func Suite(ctx context.Context, s *tooleval.Suite, o Options) (*Report, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	o.Judge = cmp.Or(o.Judge, "none")
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	if o.Concurrency <= 0 {
		o.Concurrency = runtime.GOMAXPROCS(0)
	}
	if s.MockWorld == nil {
		return nil, fmt.Errorf("suite %q has no mock world to check its tasks in", s.Name)
	}
	bare := *s // as an agent meets it in the mock world, without faults on purpose: they tell of agents, not of tasks
	bare.LiveTasks = nil
	bare.Tasks = slices.Clone(s.Tasks)
	for i := range bare.Tasks {
		bare.Tasks[i].Faults = nil
	}
	// Nothing is stored, so nobody asks for identities; without a fingerprint the runner need not digest the whole world
	// and all scripts once for each task and agent.
	bare.MockWorld = tooleval.WorldFunc(s.MockWorld.NewWorld)
	c := &checker{suite: &bare, options: o, schemas: newSchemas(), resources: tooleval.Resources{Judge: o.Judge, Getenv: o.Getenv}}
	report := &Report{SchemaVersion: SchemaVersion, Suite: s.Name, Seed: o.Seed, Tasks: []Task{}, DoNothing: []string{}}
	if err := s.Validate(o.Getenv); err != nil {
		for _, e := range joined(err) {
			report.Findings = append(report.Findings, Finding{SuiteInvalid, severity(SuiteInvalid), e.Error()})
		}
		for i := range bare.Tasks {
			report.add(c.read(&bare.Tasks[i]))
		}
		return report, nil
	}
	chosen, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range c.each(ctx, chosen) {
		report.add(t)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return report, nil
}

// add counts a task in.
func (r *Report) add(t Task) {
	slices.SortStableFunc(t.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(rank(a.Rule), rank(b.Rule))) // error comes before warning
	})
	t.Status = StatusSound
	switch {
	case slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.Severity == Broken }):
		t.Status = StatusBroken
		r.Broken++
	case len(t.NotEvaluable) > 0 || len(t.Panel) == 0:
		t.Status = StatusNotEvaluable
		r.NotEvaluable++
	default:
		r.Sound++
	}
	if t.Has(DoNothingPasses) {
		r.DoNothing = append(r.DoNothing, t.ID)
	}
	r.Tasks = append(r.Tasks, t)
}

// IsSound reports whether every task was proved sound.
func (r *Report) IsSound() bool { return len(r.Findings) == 0 && r.Broken == 0 && r.NotEvaluable == 0 }

// IsBroken reports whether the suite or one of its tasks is broken.
func (r *Report) IsBroken() bool { return len(r.Findings) > 0 || r.Broken > 0 }

// A checker holds what all tasks share.
type checker struct {
	suite     *tooleval.Suite
	options   Options
	resources tooleval.Resources
	schemas   *schemas
	runner    *engine.Runner
	extras    []string // the names of the trivial agents beside those of baselines.All
	script    tooleval.Agent
	noScript  error // why there is no scripted mind
}

// prepare makes the agents and the runner, and says which tasks were chosen.
func (c *checker) prepare(ctx context.Context) ([]*tooleval.Task, error) {
	var backends []engine.Backend
	for _, b := range baselines.Panel[len(baselines.All):] {
		c.extras = append(c.extras, b.Name)
		backends = append(backends, engine.Backend{Name: b.Name, Agent: b.New(c.options.Seed)})
	}
	for _, b := range baselines.All {
		for i := range moreRandom {
			if b.Name == random {
				name := fmt.Sprintf("%s %d", random, i+2)
				c.extras = append(c.extras, name)
				backends = append(backends, engine.Backend{Name: name, Agent: b.New(c.options.Seed + uint64(i) + 1)})
			}
		}
	}
	if mind, ok := c.suite.Mind(scripted); !ok {
		c.noScript = errors.New("the suite has no mind named scripted")
	} else if c.script, c.noScript = mind.New(ctx, c.options.Getenv); c.noScript == nil {
		backends = append(backends, engine.Backend{Name: scripted, Agent: tooleval.AgentFunc(c.script.Run), Aliases: mind.Aliases})
	}
	truths := truthAgent{}
	for id, s := range c.suite.Scorers {
		if o, ok := goalOf(s).(interface{ Oracle() tooleval.Agent }); ok {
			truths[id] = o.Oracle()
		}
	}
	backends = append(backends, engine.Backend{Name: groundTruth, Agent: truths}, engine.Backend{Name: mutants, Agent: replayer{}})
	suites := []*tooleval.Suite{c.suite}
	plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 1, Tasks: c.options.Tasks, Seed: c.options.Seed, Getenv: c.options.Getenv})
	if err != nil {
		return nil, err
	}
	c.runner, err = engine.NewRunner(suites, backends, plan, engine.RunnerOptions{
		Timeout: c.options.Timeout, Resources: c.resources, Getenv: c.options.Getenv,
	})
	if err != nil {
		return nil, err
	}
	var chosen []*tooleval.Task
	for _, id := range plan.Tasks() {
		i := slices.IndexFunc(c.suite.Tasks, func(t tooleval.Task) bool { return t.ID == id[1] })
		chosen = append(chosen, &c.suite.Tasks[i])
	}
	return chosen, nil
}

// each checks the tasks, some at a time, and returns what was found in their order.
func (c *checker) each(ctx context.Context, tasks []*tooleval.Task) []Task {
	out := make([]Task, len(tasks))
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(c.options.Concurrency, len(tasks)) {
		wait.Go(func() {
			for i := range next {
				out[i] = c.task(ctx, tasks[i])
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	wait.Wait()
	return out
}

// joined are the errors in err, which may be joined of several.
func joined(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, joined(e)...)
		}
		return out
	}
	return []error{err}
}
