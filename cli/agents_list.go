package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/profile"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/internal/process"
)

// A listedAgent is one profile as tooleval agents --format json prints it.
type listedAgent struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"`
	Hides       string `json:"hides,omitempty"`
	// Tested is the version that the profile was tried with; empty when it never was.
	Tested string `json:"tested,omitempty"`
	// Program is the agent's program on this machine; empty when it is not installed.
	Program string `json:"program,omitempty"`
	Error   string `json:"error,omitempty"`
}

func (a *App) agentsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the command-line agents that have a profile",
		Long: `Lists the agents that --agent takes by a name of their own. A profile is a YAML file that says how an agent is
started, configured, asked and understood; it is looked up in ./agents, in tooleval/agents of your configuration
folder, and among the built-in ones.`,
		Example: "  tooleval agents\n  tooleval agents show codex\n  tooleval agents try codex:gpt-6.1-sol",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			known := []string{"table", "json"}
			if !slices.Contains(known, format) {
				return fmt.Errorf("--format %q: it is table or json%s", format, tooleval.DidYouMean(format, known))
			}
			list, err := a.listAgents()
			if err != nil {
				return err
			}
			if format == "json" {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(list)
			}
			return printAgents(cmd, list)
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	cmd.AddCommand(a.agentsShowCommand(), a.agentsTryCommand(), a.agentsCheckCommand())
	return cmd
}

func (a *App) listAgents() ([]listedAgent, error) {
	found, err := profile.List(profile.Folders(a.getenv))
	if err != nil {
		return nil, err
	}
	list := make([]listedAgent, len(found))
	for i, f := range found {
		l := &list[i]
		l.Name, l.Hides = f.Name, f.Hides
		if f.Err != nil {
			l.Error = f.Err.Error()
			continue
		}
		p := f.Profile
		l.Description, l.Source, l.Tested = p.Description, p.Source, p.Tested
		if path, err := process.Find(p.Command[0], []string{"PATH=" + a.getenv("PATH")}); err == nil {
			l.Program = path
		}
	}
	return list, nil
}

func printAgents(cmd *cobra.Command, list []listedAgent) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFROM\tTRIED WITH\tHERE\tDESCRIPTION")
	for _, l := range list {
		if l.Error != "" {
			fmt.Fprintf(w, "%s\t\t\t\tbroken: %s\n", plain.Text(l.Name), plain.Text(l.Error))
			continue
		}
		tested, here := l.Tested, "yes"
		if tested == "" {
			tested = "nothing"
		}
		if l.Program == "" {
			here = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", plain.Text(l.Name), plain.Text(l.Source), plain.Text(tested), here, plain.Text(l.Description))
	}
	return w.Flush()
}

func (a *App) agentsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Print an agent's profile",
		Long: `Prints an agent's profile as it is, to read or to copy: tooleval agents show codex > agents/mine.yaml
and a new name in its first line make an agent of your own.`,
		Args: oneAgent("show"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := profile.Find(args[0], profile.Folders(a.getenv))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "# %s\n%s", plain.Text(p.Source), plain.Block(p.Text()))
			return err
		},
	}
}

func oneAgent(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return errors.New(command + " takes the name of one agent (see: tooleval agents)")
		}
		return nil
	}
}
