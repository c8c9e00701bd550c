package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

func (a *App) compareCommand() *cobra.Command {
	var results, format string
	var g gateFlags // for --out alone
	var verbose bool
	cmd := &cobra.Command{
		Use:   "compare BASE EVAL...",
		Short: "Compare evals: what got better or worse, and what that rests on",
		Long: `Compares evals of the same tasks: the first is the base of all others, mind by mind. A single eval of several
minds is its first mind against the others. Tasks are compared only with themselves: the same id and content.
"~" means that nothing was shown, not that nothing changed.`,
		Example: `  tooleval compare 20261201T111836Z-calc-3f9a1c latest
  tooleval compare latest --format markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("compare takes two evals, or one of several minds, for example: tooleval compare BASE latest")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.writing(cmd.Context(), &g, func() error {
				if !slices.Contains(formats, format) {
					return fmt.Errorf("--format %q: it is table, json or markdown%s", format, tooleval.DidYouMean(format, formats))
				}
				g.given(cmd)
				if err := g.check(0); err != nil {
					return err
				}
				c, err := a.compare(args, results)
				if err != nil {
					return err
				}
				if err := a.printComparison(a.Stdout, c, format, verbose); err != nil {
					return err
				}
				if g.out == "" {
					return nil
				}
				var b bytes.Buffer
				if err := a.printComparison(&b, c, formatOf(g.out), verbose); err != nil {
					return err
				}
				g.written = true
				if err := writeFile(g.out, b.Bytes()); err != nil {
					return fmt.Errorf("--out: %w", err)
				}
				return nil
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&results, "results", "results", "the folder that evals are looked up in")
	flags.StringVar(&format, "format", "table", "table, json or markdown")
	flags.StringVar(&g.out, "out", "", "also write the comparison to this file, whole or not at all: JSON for .json, Markdown for .md, else as on the terminal")
	flags.BoolVarP(&verbose, "verbose", "v", false, "every task, however many")
	return cmd
}

func (a *App) compare(names []string, results string) (compare.Comparison, error) {
	c := compare.Comparison{SchemaVersion: compare.SchemaVersion}
	var evals [][]*compare.Side
	seen := map[string]bool{}
	for _, name := range names {
		dir, err := store.Find(results, name)
		if err != nil {
			return c, err
		}
		if seen[dir] {
			return c, fmt.Errorf("%s is named twice: compare it with another eval", dir)
		}
		seen[dir] = true
		sides, err := a.gather(dir)
		if err != nil {
			return c, err
		}
		evals = append(evals, sides)
	}
	pairs, err := compare.Sides(evals)
	if err != nil {
		return c, err
	}
	for _, p := range pairs {
		c.Pairs = append(c.Pairs, compare.Compare(p[0], p[1], compare.Options{Load: store.ReadRun}))
	}
	return c, nil
}

func (a *App) printComparison(w io.Writer, c compare.Comparison, format string, verbose bool) error {
	switch format {
	case "json":
		return report.ComparisonJSON(w, c)
	case "markdown":
		return report.ComparisonMarkdown(w, c)
	}
	return report.ComparisonTerminal(w, c, termOptions(w, verbose, a.getenv))
}
