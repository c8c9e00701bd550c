package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agenttest"
	"github.com/tooleval/tooleval/internal/plain"
)

func (a *App) agentsCheckCommand() *cobra.Command {
	var o agenttest.Options
	var format string
	cmd := &cobra.Command{
		Use:   "check COMMAND",
		Short: "Hold a program to the stdio protocol",
		Long: `Starts a program several times and checks that it speaks the stdio protocol (docs/protocol.md) as --agent cmd:COMMAND
needs it. Some checks need a run: an agent over a paid model makes a few requests in them; --no-runs leaves them out.`,
		Example: "  tooleval agents check 'python3 agent.py'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("check takes one command in quotes, for example: tooleval agents check 'python3 agent.py'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			known := []string{"table", "json"}
			if !slices.Contains(known, format) {
				return fmt.Errorf("--format %q: it is table or json%s", format, tooleval.DidYouMean(format, known))
			}
			agent, err := a.commandAgent(args[0], "")
			if err != nil {
				return err
			}
			p := agent.(commandAgent).process
			if err := agent.(tooleval.Preflighter).Preflight(cmd.Context(), nil); err != nil {
				return err
			}
			o.Env = p.Env
			return a.reportCheck(agenttest.Check(cmd.Context(), p.Command, o), p, format)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.NoRuns, "no-runs", false, "leave out the checks that need a run")
	flags.StringVar(&o.EntryPoint, "entry-point", "", "the entry point that runs ask for (default: the first one that the agent lists)")
	flags.DurationVar(&o.RunTimeout, "timeout", time.Minute, "the time of one run")
	flags.StringVar(&format, "format", "table", "table or json")
	return cmd
}

func (a *App) reportCheck(r agenttest.Report, p *agents.Process, format string) error {
	if format == "json" {
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(a.Stdout, plain.Block(r.String()))
	}
	failed := 0
	for _, f := range r.Findings {
		if f.Status == agenttest.Failed {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d checks failed", p.Command[0], failed, len(r.Findings))
	}
	return nil
}
