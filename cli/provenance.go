package cli

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
)

// Version is the version of the tool: of the module, or of the commit that it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				version += "+" + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return version
}

// provenance says what makes the records of this call.
func provenance(ctx context.Context) tooleval.Provenance {
	return tooleval.Provenance{Tool: Version(), Go: runtime.Version(), Commit: commit(ctx)}
}

// commit is the git commit of the working folder; empty outside of git.
func commit(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "" // no git, or no repository: the record simply has no commit
	}
	return strings.TrimSpace(string(out))
}

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(cmd.OutOrStdout(), "tooleval %s %s %s/%s\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
