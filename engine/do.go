package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/worlds"
)

// Do does one Job and returns its Run, whatever the agent, the world and the scorer do. The World is fresh; the agent
// sees an Assignment and a recorded tool handler; the World is closed and its state taken before anything is scored.
func (r *Runner) Do(ctx context.Context, job Job) (run *tooleval.Run) {
	started := r.options.Now()
	defer func() { // a bug of ours on some strange input costs one run, never the eval
		if v := recover(); v != nil {
			broke(run, tooleval.OwnerHarness, &panicked{v, debug.Stack()})
			run.Score.Verdict, run.Score.Why = tooleval.Unscored, run.Error
			run.Failure = &tooleval.Failure{Category: tooleval.RunError, Owner: tooleval.OwnerHarness, Why: run.Error}
		}
	}()
	run = &tooleval.Run{
		SchemaVersion: tooleval.SchemaVersion, Eval: r.options.Eval, Suite: job.Suite, TaskID: job.Task, Index: job.Index,
		Mind: job.Mind, World: job.World, Baseline: job.Baseline, Seed: job.Seed, Started: started,
	}
	p, ok := r.prepared[key(job)]
	if !ok {
		run.Ending = tooleval.NotStarted
		broke(run, tooleval.OwnerHarness, fmt.Errorf("the job is not part of this runner's plan: %+v", job))
		grade(ctx, run, scorers.State, r.options.Scoring, r.options.Grace)
		return run
	}
	run.Identity = tooleval.RunIdentity(p.content, job.Index)
	run.Task, run.Tools, run.Provenance = *p.task, p.tools, p.provenance
	r.attempt(ctx, job, p, run)
	grade(ctx, run, p.scorer, r.options.Scoring, r.options.Grace)
	run.WallMS = milliseconds(r.options.Now().Sub(started))
	return run
}

// attempt fills in everything that happened, and judges nothing.
func (r *Runner) attempt(ctx context.Context, job Job, p *prepared, run *tooleval.Run) {
	run.Trajectory = tooleval.Trajectory{Channel: tooleval.InProcess}
	assignment := p.suite.Assignment(p.task, &tooleval.Mind{Aliases: p.backend.Aliases})
	run.EntryPoint = assignment.EntryPoint
	if err := ctx.Err(); err != nil {
		cancelled(run)
		return
	}
	spec := tooleval.WorldSpec{Task: cloneTask(p.task), Tools: slices.Clone(p.tools), Seed: job.Seed, Getenv: r.options.Getenv}
	world, err := bounded(ctx, r.options.Setup, func(ctx context.Context) (tooleval.World, error) {
		return p.world.NewWorld(ctx, spec)
	})
	if err == nil && world == nil {
		err = errors.New("the factory returned no world")
	}
	if err != nil {
		run.Ending = tooleval.NotStarted
		if ctx.Err() != nil {
			cancelled(run)
			return
		}
		broke(run, tooleval.OwnerWorld, fmt.Errorf("making the world: %w", err))
		return
	}
	r.runAgent(ctx, job, p, run, world, assignment)
	r.closeWorld(ctx, run, world)
}

// runAgent hands the assignment to the agent and records what it does until it returns, its time is over, or it has
// made too many calls.
func (r *Runner) runAgent(ctx context.Context, job Job, p *prepared, run *tooleval.Run, world tooleval.World, a tooleval.Assignment) {
	agent := p.backend.Agent
	if job.Baseline != "" {
		b, _ := baseline(job.Baseline)
		agent = b.New(job.Seed)
	}
	limit := or(p.task.Limits.Timeout, r.options.Timeout)
	timed, stop := context.WithTimeoutCause(ctx, limit, ErrRunTimeout)
	defer stop()
	inner, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	start := r.options.Now()
	handler := worlds.Guard(world, p.tools)
	if job.Baseline == "" { // a baseline tells whether the task is sound, not how it copes
		handler = worlds.Inject(handler, p.task.Faults, job.Seed)
	}
	recorder := worlds.Record(handler, worlds.RecordOptions{
		MaxCalls: p.task.Limits.Calls, OnLimit: func(err error) { cancel(err) },
		OnEnd: func() { cancel(worlds.ErrEnded) }, Now: r.options.Now, Start: start,
	})
	result, err := guarded(inner, r.options.Grace, func(ctx context.Context) (tooleval.AgentResult, error) {
		return agent.Run(ctx, a, recorder)
	})
	cause := context.Cause(inner)
	recorder.Close()
	run.AgentMS = milliseconds(r.options.Now().Sub(start))
	run.Trajectory = recorder.Trajectory()
	run.Result = own(run, result)
	if e := run.Result.Evidence; e != nil {
		run.Trajectory.Incomplete = e.Incomplete
		if e.Channel != "" {
			run.Trajectory.Channel = e.Channel
		}
	}
	switch {
	case len(run.Result.Response)+len(run.Result.State) != len(result.Response)+len(result.State):
		run.Ending = tooleval.LimitReached
		broke(run, tooleval.OwnerAgent, fmt.Errorf("the agent's result has more than %d bytes and is not kept", mostResult))
	case ctx.Err() != nil:
		cancelled(run)
	case errors.Is(cause, worlds.ErrEnded):
		run.Ending = tooleval.Completed // what a cut-short agent returns is of no account
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, worlds.ErrEnded) && !errors.Is(err, errStuck) {
			warn(run, "after the run had been ended by a tool the agent returned an error: %v", err)
		}
	case errors.Is(cause, worlds.ErrLimit):
		run.Ending = tooleval.LimitReached
		run.Error, run.ErrorOwner = tooleval.Text(cause.Error()), tooleval.OwnerAgent
	case errors.Is(cause, ErrRunTimeout):
		run.Ending = tooleval.TimedOut
		if call := stuckCall(run, limit); call != nil {
			broke(run, tooleval.OwnerWorld, fmt.Errorf("tool %q had not answered for %.0f ms when the run's time of %v was over",
				call.Tool, call.TookMS, limit))
		} else if owner, known := tooleval.BlamedOn(err); known && owner != tooleval.OwnerAgent {
			broke(run, owner, fmt.Errorf("the agent took longer than %v: %w", limit, err)) // waiting out a rate limit, say
		} else {
			broke(run, tooleval.OwnerAgent, fmt.Errorf("the agent took longer than %v", limit))
		}
	case err != nil:
		run.Ending = tooleval.Errored
		broke(run, tooleval.OwnerAgent, err)
	default:
		run.Ending = tooleval.Completed
	}
	if err != nil && run.Ending != tooleval.Errored && run.Ending != tooleval.Completed && !errors.Is(err, errStuck) && err.Error() != cause.Error() &&
		!strings.Contains(string(run.Error), err.Error()) {
		warn(run, "the agent ended with: %v", err) // such as the end of its standard error
	}
	if errors.Is(err, errStuck) {
		warn(run, "the agent ignored the end of its context for %v and was left behind", r.options.Grace)
	}
}

// closeWorld takes the final state and closes the World. Trouble with either is not the agent's.
func (r *Runner) closeWorld(ctx context.Context, run *tooleval.Run, world tooleval.World) {
	ctx = context.WithoutCancel(ctx) // a cancelled run is cleaned up all the same
	var closing error
	state, err := bounded(ctx, r.options.Setup, func(context.Context) (state tooleval.State, err error) {
		defer func() { closing = closeSafely(world) }()
		return world.State()
	})
	if err == nil && state != nil && !state.Valid() {
		err = errors.New("the world's state is not JSON")
	}
	if err != nil {
		broke(run, tooleval.OwnerWorld, fmt.Errorf("taking the world's state: %w", err))
	} else if closing != nil {
		warn(run, "closing the world: %v", closing)
	}
	switch {
	case state != nil:
		run.State, run.StateFrom = state, "world"
	case run.Result.State == nil:
	case run.Result.State.Valid():
		run.State, run.StateFrom = run.Result.State, "agent"
	default:
		warn(run, "the agent's state is not JSON, so it counts as missing")
	}
}

// closeSafely turns a panic into an error: the state is taken by then and must not be lost.
func closeSafely(world tooleval.World) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return world.Close()
}

// broke records the error that ended a run, with the owner that the error names or else the given one. The first error
// is the one that counts.
func broke(run *tooleval.Run, owner tooleval.Owner, err error) {
	if o, ok := tooleval.BlamedOn(err); ok {
		owner = o
	}
	if run.Error != "" {
		warn(run, "%v", err)
		return
	}
	run.Error, run.ErrorOwner = tooleval.Text(err.Error()), owner
	var p *panicked
	if errors.As(err, &p) {
		run.Stack = tooleval.Text(p.stack)
	}
}

func cancelled(run *tooleval.Run) {
	run.Ending = tooleval.Cancelled
	broke(run, tooleval.OwnerUser, errors.New("the eval was cancelled before this run ended"))
}

func warn(run *tooleval.Run, format string, args ...any) {
	run.Warnings = append(run.Warnings, tooleval.Text(fmt.Sprintf(format, args...)))
}

// milliseconds is a duration for display, to the microsecond.
func milliseconds(d time.Duration) float64 { return math.Round(float64(d.Microseconds())) / 1000 }
