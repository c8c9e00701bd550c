package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/matching"
	"github.com/tooleval/tooleval/scorers"
)

// An inquiry is everything that is known of one task while it is checked.
type inquiry struct {
	*checker
	ctx  context.Context // of this one task's check
	task *tooleval.Task
	out  Task
	goal *scorers.Goal // nil when the task has none
	seen visible
	// The runs by agent, and the oracle's run that all mutants come from; nil when none passed.
	runs   map[string]*tooleval.Run
	oracle *tooleval.Run
	checks []Check // in the order in which they were met
	at     map[string]int
}

func (c *checker) inquire(ctx context.Context, t *tooleval.Task) *inquiry {
	q := &inquiry{checker: c, ctx: ctx, task: t, runs: map[string]*tooleval.Run{}, at: map[string]int{},
		out: Task{ID: t.ID, DoNothingMayPass: t.DoNothingMayPass}}
	q.goal, _ = goalOf(c.suite.Scorers[t.ID]).(*scorers.Goal)
	return q
}

// goalOf is the scorer inside of those that only add to it.
func goalOf(s tooleval.Scorer) tooleval.Scorer {
	for range 10 {
		w, ok := s.(interface{ Unwrap() tooleval.Scorer })
		if !ok {
			break
		}
		s = w.Unwrap()
	}
	return s
}

// read makes the lints of a task that need no run.
func (c *checker) read(t *tooleval.Task) Task {
	q := c.inquire(context.Background(), t)
	q.lint()
	return q.out
}

// task checks one task.
func (c *checker) task(ctx context.Context, t *tooleval.Task) Task {
	q := c.inquire(ctx, t)
	q.lint()
	q.panel()
	q.judgeOracles()
	q.judgeTrivial()
	q.lintValues()
	if q.oracle != nil && len(q.out.NotEvaluable) == 0 {
		q.mutate()
		q.vacuous()
	}
	return q.out
}

func (q *inquiry) find(rule, format string, args ...any) {
	q.out.Findings = append(q.out.Findings, Finding{rule, severity(rule), fmt.Sprintf(format, args...)})
}

// panel runs every trivial agent and every oracle once, each in a fresh world.
func (q *inquiry) panel() {
	q.seen.prompt(q.suite, q.task)
	q.do(doNothing, true)
	q.do(random, true)
	for _, name := range q.extras {
		q.do(name, false)
	}
	if q.servedByScript() {
		q.do(scripted, false)
	}
	if q.hasTruth() {
		q.do(groundTruth, false)
	}
}

// do does one run and keeps it.
func (q *inquiry) do(agent string, baseline bool) {
	run := q.run(q.ctx, agent, baseline)
	q.runs[agent] = run
	q.seen.results(run)
	q.note(run, agent)
	q.out.Panel = append(q.out.Panel, PanelRun{agent, run.Score.Verdict, string(run.Score.Why), len(run.Trajectory.Calls)})
}

func (q *inquiry) run(ctx context.Context, agent string, baseline bool) *tooleval.Run {
	job := engine.Job{Suite: q.suite.Name, Task: q.task.ID, Mind: agent, World: engine.Mock}
	if baseline {
		job.Mind, job.Baseline = "", agent
	}
	job.Seed = engine.Seed(q.options.Seed, job.Suite, job.Task, job.Baseline, 0)
	return q.runner.Do(ctx, job)
}

// servedByScript reports whether the scripted mind has something to do here.
func (q *inquiry) servedByScript() bool {
	if q.noScript != nil {
		return false
	}
	f, ok := q.script.(tooleval.Preflighter)
	return !ok || f.Preflight(q.ctx, []tooleval.Assignment{q.suite.Assignment(q.task, nil)}) == nil
}

// hasTruth reports whether the goal tells what to do: actions, or nothing but words that are written out.
func (q *inquiry) hasTruth() bool {
	if q.goal == nil {
		other, ok := goalOf(q.suite.Scorers[q.task.ID]).(interface{ Oracle() tooleval.Agent })
		return ok && other != nil
	}
	if q.goal.After == nil && (!q.goal.State.IsZero() || len(q.goal.Said) == 0) {
		return false
	}
	open := slices.ContainsFunc(q.goal.Said, func(s scorers.Statement) bool { return s.Pattern != "" && !s.Not && !s.Info })
	return !open || q.goal.Answer != ""
}

// note takes down which of the stated checks the run failed.
func (q *inquiry) note(run *tooleval.Run, by string) {
	for _, c := range run.Score.Outcome.Checks {
		if !c.Info && c.Verdict != tooleval.Unscored {
			q.tell(c.Name, c.Verdict == tooleval.Failed, by)
		}
	}
	if run.Ending != tooleval.Completed && run.Ending != tooleval.LimitReached {
		return
	}
	missed := map[int]bool{}
	for _, m := range matching.Required(run).Misses {
		missed[m.Required] = true
	}
	for i, r := range q.task.Required {
		q.tell(fmt.Sprintf("required call %d (%s)", i+1, r.Tool), missed[i], by)
	}
	hit := map[int]bool{}
	for _, h := range matching.Forbidden(run) {
		hit[h.Pattern] = true
	}
	for i, f := range q.task.Forbidden {
		q.tell(forbiddenName(i, f.Tool), hit[i], by)
	}
	for _, name := range []string{scorers.Efficiency, scorers.Order, scorers.MatchedTrajectory} {
		if c := run.Score.Process.Component(name); c != nil && !c.Info && c.Score.IsScored() {
			v, _ := c.Score.Value()
			q.tell(name, v < 1, by)
		}
	}
}

func forbiddenName(i int, tool string) string {
	return fmt.Sprintf("forbidden call %d (%s)", i+1, tool)
}

func (q *inquiry) tell(check string, failed bool, by string) {
	i, known := q.at[check]
	if !known {
		i = len(q.checks)
		q.at[check] = i
		q.checks = append(q.checks, Check{Name: check})
	}
	if failed && q.checks[i].FailedBy == "" {
		q.checks[i].FailedBy = by
	}
}

// judgeOracles says which oracle passes, and what it means when one does not.
func (q *inquiry) judgeOracles() {
	var failed []string
	unscored := false
	for _, name := range []string{scripted, groundTruth} {
		run := q.runs[name]
		if run == nil {
			continue
		}
		for _, c := range run.Trajectory.Calls {
			if c.FixtureGap != "" {
				q.find(OracleGap, "%s: no fixture covers %s(%.200s); the nearest: %.300s", name, c.Tool, c.Args, c.FixtureGap)
			}
		}
		switch run.Score.Verdict {
		case tooleval.Passed:
			if q.oracle == nil {
				q.oracle = run
			}
		case tooleval.Failed:
			failed = append(failed, fmt.Sprintf("%s: %s", name, run.Score.Why))
		default:
			unscored = true
			q.out.NotEvaluable = append(q.out.NotEvaluable, fmt.Sprintf("%s: %s", name, run.Score.Why))
		}
	}
	switch {
	case q.oracle == nil && len(failed) == 0 && !unscored:
		why := "the scripted mind has no script for it"
		if q.noScript != nil {
			why = q.noScript.Error()
		}
		q.find(OracleMissing, "no oracle: %s, and the goal has no ground truth", why)
	case q.oracle == nil && len(failed) > 0:
		q.find(OracleFails, "%s", strings.Join(failed, "; "))
	case len(failed) > 0:
		other := groundTruth
		if q.oracle == q.runs[scripted] {
			other = scripted
		}
		q.find(OraclesDisagree, "the %s passes, but not %s", other, strings.Join(failed, "; "))
	}
	for _, name := range []string{scripted, groundTruth} {
		if run := q.runs[name]; run != nil {
			q.lintMade(name, run)
		}
	}
}

// judgeTrivial says which of the trivial agents pass although they must not.
func (q *inquiry) judgeTrivial() {
	rules := []struct{ agent, rule, how string }{
		{doNothing, DoNothingPasses, "an agent that does nothing passes"},
		{refusal, RefusalPasses, "an agent that always refuses passes"},
		{spam, SpamPasses, "an agent that reads everything and says all of it passes"},
		{promptEcho, EchoPasses, "an agent that repeats the task passes"},
		{random, RandomPasses, "an agent that calls and answers at random passes"},
	}
	for i := range moreRandom {
		name := fmt.Sprintf("%s %d", random, i+2)
		rules = append(rules, struct{ agent, rule, how string }{name, RandomPasses, "an agent that calls and answers at random passes (" + name + ")"})
	}
	var also []string
	idle := q.runs[doNothing].Score.Verdict == tooleval.Passed
	for _, r := range rules {
		run := q.runs[r.agent]
		switch run.Score.Verdict {
		case tooleval.Unscored:
			if r.agent == doNothing || r.agent == refusal || r.agent == spam {
				q.out.NotEvaluable = append(q.out.NotEvaluable, fmt.Sprintf("%s: %s", r.agent, run.Score.Why))
			}
			continue
		case tooleval.Failed:
			continue
		}
		if q.task.DoNothingMayPass != "" {
			continue
		}
		if !q.out.Has(ExpectationsDontBar) && q.passesBeside(run) {
			q.find(ExpectationsDontBar, "%s passes without the calls that the task asks for", r.agent)
		}
		switch {
		case r.agent == doNothing:
		case idle:
			if name, _, _ := strings.Cut(r.agent, " "); !slices.Contains(also, name) {
				also = append(also, name)
			}
		case !q.out.Has(r.rule):
			q.find(r.rule, "%s", r.how)
		}
	}
	if !idle || q.task.DoNothingMayPass != "" {
		return
	}
	more := ""
	if len(also) > 0 {
		more = "; so do " + strings.Join(also, ", ")
	}
	q.find(DoNothingPasses, "an agent that does nothing passes%s", more)
	if q.oracle != nil && q.oracle.StateFrom == "world" && bytes.Equal(q.oracle.State, q.runs[doNothing].State) {
		q.find(OracleNoEffect, "the oracle (%s) leaves the state as it was, and no answer or call decides",
			plural(len(q.oracle.Trajectory.Calls), "call"))
	}
}

// passesBeside reports whether a run that passed has not made the calls that the task asks for.
func (q *inquiry) passesBeside(run *tooleval.Run) bool {
	if len(matching.Required(run).Misses) > 0 {
		return true
	}
	c := run.Score.Process.Component(scorers.MatchedTrajectory)
	if c == nil {
		return false
	}
	v, ok := c.Score.Value()
	return ok && v < 1
}

// vacuous reports the checks that nothing made fail.
func (q *inquiry) vacuous() {
	q.out.Checks = q.checks
	for _, c := range q.checks {
		if c.FailedBy == "" && c.Untried == "" {
			q.find(CheckVacuous, "%q failed in none of %d runs", c.Name, len(q.out.Panel)+len(q.out.Mutants))
		}
	}
}

// A truthAgent does the ground truth of each task.
type truthAgent map[string]tooleval.Agent

func (t truthAgent) Run(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	oracle, ok := t[a.TaskID]
	if !ok {
		return tooleval.AgentResult{}, tooleval.Blame(tooleval.OwnerTask, errors.New("the task has no ground truth"))
	}
	return oracle.Run(ctx, a, tools)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
