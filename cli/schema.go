package cli

import (
	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval/suitefile"
)

func (a *App) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a suite's file",
		Long: `Prints the JSON Schema (2020-12) of suite.yaml, with which editors complete and check it. A suite made by
tooleval init has it beside its suite.yaml already.`,
		Example: "  tooleval schema > my-suite/suite.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(suitefile.JSONSchema())
			return err
		},
	}
}
