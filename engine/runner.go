package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/baselines"
	"github.com/tooleval/tooleval/scorers"
)

// RunnerOptions bound and label what a Runner does. The zero value works.
type RunnerOptions struct {
	// Timeout bounds the agent's time in one run, unless the task has a limit of its own. 0 means DefaultTimeout.
	Timeout time.Duration
	// Grace is how long an agent may take to return once its context is done. 0 means DefaultGrace.
	Grace time.Duration
	// Setup bounds the making and the closing of a World, Scoring a scorer. 0 means the defaults.
	Setup, Scoring time.Duration
	// Resources are handed to the scorers that want them.
	Resources tooleval.Resources
	// Getenv looks up an environment variable for live tasks; nil stands for an empty environment.
	Getenv func(string) string
	// Provenance is copied into every Run; the suite's digest is filled in.
	Provenance tooleval.Provenance
	// Eval is the id of the eval that the runs belong to.
	Eval string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Defaults of RunnerOptions.
const (
	DefaultTimeout = 5 * time.Minute
	DefaultGrace   = 5 * time.Second
	DefaultSetup   = time.Minute
	DefaultScoring = 5 * time.Minute
)

// A Runner does Jobs. It is safe for concurrent use.
type Runner struct {
	options  RunnerOptions
	suites   map[string]*suiteParts
	backends map[string]Backend
	prepared map[Job]*prepared // by Job without index and seed
	prints   map[string]string // digests of what many tasks share, which may be large
}

type suiteParts struct {
	suite   *tooleval.Suite
	scorers map[string]tooleval.Scorer
	digest  string // made by the first task that is prepared
}

// prepared is what all runs of one task under one mind share.
type prepared struct {
	suite      *tooleval.Suite
	task       *tooleval.Task
	tools      []tooleval.Tool
	scorer     tooleval.Scorer
	world      tooleval.WorldFactory
	backend    Backend
	content    string
	provenance tooleval.Provenance
}

// NewRunner binds the scorers and prepares every task of the plan. An error is a configuration that can't run at all.
func NewRunner(suites []*tooleval.Suite, backends []Backend, plan *Plan, o RunnerOptions) (*Runner, error) {
	o.Timeout = or(o.Timeout, DefaultTimeout)
	o.Grace = or(o.Grace, DefaultGrace)
	o.Setup = or(o.Setup, DefaultSetup)
	o.Scoring = or(o.Scoring, DefaultScoring)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Resources.Getenv == nil {
		o.Resources.Getenv = o.Getenv
	}
	r := &Runner{options: o, suites: map[string]*suiteParts{}, backends: map[string]Backend{}, prepared: map[Job]*prepared{}, prints: map[string]string{}}
	for _, b := range backends {
		r.backends[b.Name] = b
	}
	var errs []error
	for _, s := range suites {
		parts := &suiteParts{suite: s, scorers: map[string]tooleval.Scorer{}}
		r.suites[s.Name] = parts
		for id, scorer := range s.Scorers {
			bound, err := bind(scorer, o.Resources)
			if err != nil {
				errs = append(errs, fmt.Errorf("suite %q: task %q: %w", s.Name, id, err))
			}
			parts.scorers[id] = bound
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	live := map[string][]tooleval.Task{}
	for _, s := range suites {
		live[s.Name] = s.TasksIn(plan.options.World == Live, o.Getenv)
	}
	step := plan.options.Runs
	for i := 0; i < plan.Len(); {
		job := plan.Job(i)
		p, err := r.prepare(job, live[job.Suite])
		if err != nil {
			return nil, err
		}
		r.prepared[key(job)] = p
		if i++; i > plan.Baselines() {
			i += step - 1
		}
	}
	return r, nil
}

func or(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

func bind(s tooleval.Scorer, r tooleval.Resources) (tooleval.Scorer, error) {
	if b, ok := s.(tooleval.Binder); ok {
		return b.Bind(r)
	}
	return s, nil
}

func key(j Job) Job {
	j.Index, j.Seed = 0, 0
	return j
}

func (r *Runner) prepare(job Job, tasks []tooleval.Task) (*prepared, error) {
	parts, ok := r.suites[job.Suite]
	if !ok {
		return nil, fmt.Errorf("job: unknown suite %q", job.Suite)
	}
	s := parts.suite
	p := &prepared{suite: s, world: s.World(job.World == Live), provenance: r.options.Provenance}
	i := slices.IndexFunc(tasks, func(t tooleval.Task) bool { return t.ID == job.Task })
	if i < 0 {
		return nil, fmt.Errorf("job: suite %q has no task %q", job.Suite, job.Task)
	}
	p.task = &tasks[i]
	p.tools = s.Toolset(p.task)
	if p.world == nil {
		return nil, fmt.Errorf("job: suite %q has no %s world", job.Suite, job.World)
	}
	if p.scorer = parts.scorers[job.Task]; p.scorer == nil {
		p.scorer = scorers.State
	}
	if job.Baseline == "" {
		if p.backend, ok = r.backends[job.Mind]; !ok {
			return nil, fmt.Errorf("job: unknown mind %q", job.Mind)
		}
	} else if _, ok := baseline(job.Baseline); !ok {
		return nil, fmt.Errorf("job: unknown baseline %q", job.Baseline)
	}
	var err error
	if parts.digest == "" { // once a suite: a digest of all tasks for each of them would be quadratic
		if parts.digest, err = SuiteDigest(s, tasks); err != nil {
			return nil, fmt.Errorf("suite %q: %w", s.Name, err)
		}
	}
	p.provenance.SuiteDigest = parts.digest
	world, err := r.print("world "+job.World+" of "+job.Suite, p.world)
	agent := ""
	if err == nil {
		agent, err = r.print("agent "+job.Mind, p.backend.Agent)
	}
	if err == nil {
		p.content, err = content(s, p.task, job.World, world, p.scorer, job.Mind, agent, p.backend.Aliases, job.Baseline)
	}
	if err != nil {
		return nil, fmt.Errorf("suite %q: task %q: %w", s.Name, job.Task, err)
	}
	return p, nil
}

// print is the digest of a fingerprint, taken once for each name.
func (r *Runner) print(name string, v any) (string, error) {
	if d, ok := r.prints[name]; ok {
		return d, nil
	}
	d, err := digest(fingerprint(v))
	r.prints[name] = d
	return d, err
}

func baseline(name string) (baselines.Baseline, bool) {
	for _, b := range baselines.All {
		if b.Name == name {
			return b, true
		}
	}
	return baselines.Baseline{}, false
}

// Identity is the digest of everything that makes two runs the same run: see the package's notes on resuming.
func (r *Runner) Identity(job Job) string {
	p, ok := r.prepared[key(job)]
	if !ok {
		return ""
	}
	return tooleval.RunIdentity(p.content, job.Index)
}

// Contents are the content digests of a task's runs by mind, and those of its baselines, for tooleval.EvalTask.
func (r *Runner) Contents(suite, task string) map[string]string {
	contents := map[string]string{}
	for job, p := range r.prepared {
		switch {
		case job.Suite != suite || job.Task != task:
		case job.Baseline != "":
			contents[tooleval.BaselineContent(job.Baseline)] = p.content
		default:
			contents[job.Mind] = p.content
		}
	}
	return contents
}

// Preflight asks every world and every agent that can tell whether it could serve the plan. Its error is reported before
// any task runs.
func (r *Runner) Preflight(ctx context.Context, plan *Plan) error {
	if err := r.preflightWorlds(ctx, plan); err != nil { // an agent that costs something is not asked in vain
		return err
	}
	assignments := map[string][]tooleval.Assignment{}
	for _, e := range plan.entries {
		p := r.prepared[Job{Suite: e.suite, Task: e.task, Mind: e.mind, World: plan.options.World}]
		mind := tooleval.Mind{Aliases: p.backend.Aliases}
		assignments[e.mind] = append(assignments[e.mind], p.suite.Assignment(p.task, &mind))
	}
	var errs []error
	for _, e := range plan.entries {
		list, first := assignments[e.mind]
		if !first {
			continue
		}
		delete(assignments, e.mind)
		if f, ok := r.backends[e.mind].Agent.(tooleval.Preflighter); ok {
			if err := f.Preflight(ctx, list); err != nil {
				errs = append(errs, fmt.Errorf("agent %q: %w", e.mind, err))
			}
		}
	}
	return errors.Join(errs...)
}

// preflightWorlds asks the worlds, each once.
func (r *Runner) preflightWorlds(ctx context.Context, plan *Plan) error {
	specs := map[string][]tooleval.WorldSpec{}
	var suites []string
	for _, t := range plan.Tasks() {
		p := r.prepared[Job{Suite: t[0], Task: t[1], Mind: plan.entries[0].mind, World: plan.options.World}]
		if specs[t[0]] == nil {
			suites = append(suites, t[0])
		}
		specs[t[0]] = append(specs[t[0]], tooleval.WorldSpec{Task: cloneTask(p.task), Tools: slices.Clone(p.tools), Getenv: r.options.Getenv})
	}
	var errs []error
	for _, name := range suites {
		f, ok := r.suites[name].suite.World(plan.options.World == Live).(tooleval.WorldPreflighter)
		if !ok {
			continue
		}
		_, err := bounded(ctx, r.options.Setup, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, f.PreflightWorlds(ctx, specs[name])
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("suite %q: the %s world: %w", name, plan.options.World, err))
		}
	}
	return errors.Join(errs...)
}
