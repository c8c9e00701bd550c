package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval/agents/profile"
)

// helperCommands are what the harness starts this program for itself, in runs of agents with a profile.
func (a *App) helperCommands() []*cobra.Command {
	helper := func(use, short string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Hidden: true, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				exit, _ := profile.Helper(append([]string{cmd.Name()}, args...), a.getenv, os.Stdin, a.Stdout, a.Stderr)
				if exit != 0 {
					os.Exit(exit) // the code of the command inside, handed on as it is
				}
				return nil
			},
		}
	}
	return []*cobra.Command{
		helper("mcp-shim [--url URL] [--token TOKEN]", "Be a run's tools as an MCP server on standard input and output"),
		helper("sandbox-exec [--forward INSIDE=SOCKET]... -- COMMAND", "Run a command inside of a run's sandbox"),
	}
}
