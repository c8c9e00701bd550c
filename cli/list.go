package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
)

// A listing is one suite as tooleval list --format json prints it.
type listing struct {
	Suite       string       `json:"suite"`
	Description string       `json:"description,omitempty"`
	Minds       []listedMind `json:"minds"`
	Worlds      []string     `json:"worlds"`
	Tasks       []listedTask `json:"tasks"`
}

type listedMind struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type listedTask struct {
	ID          string   `json:"id"`
	EntryPoint  string   `json:"entry_point"`
	Toolset     []string `json:"toolset"`
	Tags        []string `json:"tags,omitempty"`
	Description string   `json:"description"`
}

func (a *App) listCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list [SUITE]",
		Short: "List the suites, their tasks and their minds",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			known := []string{"table", "json"}
			if !slices.Contains(known, format) {
				return fmt.Errorf("--format %q: it is table or json%s", format, tooleval.DidYouMean(format, known))
			}
			var chosen []*tooleval.Suite
			var broken error // suites of the project that could not be loaded; the others are listed all the same
			if len(args) == 0 {
				chosen, broken = a.allSuites()
			} else {
				s, err := a.suite(args[0])
				if err != nil {
					return err
				}
				chosen = []*tooleval.Suite{s}
			}
			list := make([]listing, len(chosen))
			for i, s := range chosen {
				list[i] = listSuite(s)
			}
			if format == "json" {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return errors.Join(e.Encode(list), broken)
			}
			for _, l := range list {
				l.print(cmd)
			}
			return broken
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	return cmd
}

func listSuite(s *tooleval.Suite) listing {
	l := listing{Suite: s.Name, Description: s.Description, Minds: []listedMind{}, Tasks: []listedTask{}}
	if s.MockWorld != nil {
		l.Worlds = append(l.Worlds, "mock")
	}
	if s.LiveWorld != nil {
		l.Worlds = append(l.Worlds, "live")
	}
	for _, m := range s.Minds {
		l.Minds = append(l.Minds, listedMind{m.Name, m.Description})
	}
	for _, t := range s.Tasks {
		l.Tasks = append(l.Tasks, listedTask{t.ID, t.EntryPoint, t.Toolset, t.Tags, t.Description})
	}
	return l
}

func (l listing) print(cmd *cobra.Command) {
	out := cmd.OutOrStdout()
	line := func(format string, args ...any) { fmt.Fprintln(out, plain.Text(fmt.Sprintf(format, args...))) }
	line("%s: %s", l.Suite, l.Description)
	line("  worlds  %s", strings.Join(l.Worlds, ", "))
	for i, m := range l.Minds {
		head := "minds"
		if i > 0 {
			head = ""
		}
		line("  %-7s %s: %s", head, m.Name, m.Description)
	}
	for i, t := range l.Tasks {
		head := "tasks"
		if i > 0 {
			head = ""
		}
		tags := ""
		if len(t.Tags) > 0 {
			tags = " [" + strings.Join(t.Tags, ", ") + "]"
		}
		line("  %-7s %s%s: %s", head, t.ID, tags, plain.Clip(t.Description, 100))
	}
	fmt.Fprintln(out)
}
