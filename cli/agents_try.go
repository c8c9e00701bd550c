package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/profile"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/internal/process"
	"github.com/tooleval/tooleval/worlds"
)

// smokeWord can't be guessed: an agent that answers with it has called the tool.
const smokeWord = "zephyr-quokka"

// smoke is the suite of tooleval agents try: one task that any working agent solves.
var smoke = &tooleval.Suite{
	Name:        "smoke",
	Description: "one tool, one call, one word",
	Tools: []tooleval.Tool{{
		Name:        "look_up",
		Description: "Returns the secret word of a topic.",
		Schema: tooleval.Raw(`{"type":"object","properties":{"topic":{"type":"string"}},"required":["topic"],` +
			`"additionalProperties":false}`),
	}},
	EntryPoints: []tooleval.EntryPoint{{Name: "smoke.word"}},
	Tasks: []tooleval.Task{{
		ID:            "smoke.word",
		Description:   `Call the tool look_up with the topic "birds" and answer with the JSON object {"word": "<the secret word>"}.`,
		EntryPoint:    "smoke.word",
		Toolset:       []string{"look_up"},
		Required:      []tooleval.CallPattern{{Tool: "look_up"}},
		MinimalCalls:  tooleval.Minimum(1),
		ExpectedState: tooleval.Match(map[string]any{"word": smokeWord}),
	}},
	MockWorld: &worlds.Mock{Fixtures: []worlds.Fixture{{
		Tool:    "look_up",
		Args:    tooleval.Match(map[string]any{"topic": tooleval.ContainsFold("bird")}),
		Results: []worlds.Answer{{Result: tooleval.JSONResult(map[string]string{"word": smokeWord})}},
	}}},
}

func (a *App) agentsTryCommand() *cobra.Command {
	var sandbox string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "try NAME[:MODEL]",
		Short: "Run one small task with an agent and say what is wrong",
		Args:  oneAgent("try"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout <= 0 {
				return fmt.Errorf("--timeout %v: give a positive time, as in 90s", timeout)
			}
			return a.tryAgent(cmd.Context(), args[0], sandbox, timeout)
		},
	}
	cmd.Flags().StringVar(&sandbox, "sandbox", "none", "none, auto or bwrap: fence the agent in by bubblewrap")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "the agent's time")
	return cmd
}

func (a *App) tryAgent(ctx context.Context, name, sandbox string, timeout time.Duration) error {
	line := func(head, format string, args ...any) {
		fmt.Fprintf(a.Stdout, "%-9s %s\n", head, plain.Text(fmt.Sprintf(format, args...)))
	}
	base, model, hasModel := strings.Cut(name, ":")
	p, err := profile.Find(base, profile.Folders(a.getenv))
	if err != nil {
		return err
	}
	tested := "never tried with any version"
	if p.Tested != "" {
		tested = "tried with version " + p.Tested
	}
	line("profile", "%s, %s", p.Source, tested)
	agent, err := a.profileAgent(ctx, p, model, hasModel, sandbox)
	if err != nil {
		return err
	}
	if path, err := process.Find(p.Command[0], []string{"PATH=" + a.getenv("PATH")}); err == nil {
		version := agent.Version()
		if version == "" {
			version = "which does not tell its version"
		}
		line("program", "%s, %s", path, version)
	}
	suites, backends := []*tooleval.Suite{smoke}, []engine.Backend{{Name: name, Agent: agent}}
	plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 1})
	if err != nil {
		return err
	}
	runner, err := engine.NewRunner(suites, backends, plan, engine.RunnerOptions{Timeout: timeout})
	if err != nil {
		return err
	}
	if err := runner.Preflight(ctx, plan); err != nil {
		return err
	}
	run := runner.Do(ctx, plan.Job(plan.Baselines()))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, c := range run.Trajectory.Calls {
		line("call", "%s %s: %s", c.Tool, plain.Clip(string(c.Args), 100), c.Status)
	}
	if run.Result.Response != "" {
		line("answer", "%s", plain.Clip(string(run.Result.Response), 200))
	}
	if u := run.Result.Usage; u != nil && u.InputTokens != nil && u.OutputTokens != nil {
		line("tokens", "%d in, %d out", *u.InputTokens, *u.OutputTokens)
	}
	for _, w := range append(run.Warnings, run.Result.Warnings...) {
		line("warning", "%s", w)
	}
	line("time", "%.1f s", run.AgentMS/1000)
	if run.Failure == nil {
		line("verdict", "it works")
		return nil
	}
	return errors.New(wrongWith(run))
}

// wrongWith says in words what a failed try shows, and what to do next.
func wrongWith(run *tooleval.Run) string {
	next := ""
	switch {
	case run.Failure.Category == tooleval.NoTools:
		next = "; it was given its tools, so look at what hides them from its model, or try another model"
	case run.Failure.Category == tooleval.MissingOutput || run.Failure.Category == tooleval.GoodProcessBadOutcome:
		next = "; its answer should be, or end with, the JSON object that the task asks for: look at output in its profile"
	case run.Ending == tooleval.TimedOut:
		next = "; a model that does not answer looks like this, and so does an agent that waits for its user"
	case run.Failure.Owner == tooleval.OwnerInfra:
		next = "; this is not counted against the agent"
	}
	return fmt.Sprintf("%s (%s): %s%s", run.Failure.Category, run.Failure.Owner, run.Failure.Why, next)
}
