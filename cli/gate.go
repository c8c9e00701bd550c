package cli

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

func (a *App) gateCommand() *cobra.Command {
	var g gateFlags
	var results, format string
	cmd := &cobra.Command{
		Use:   "gate EVAL",
		Short: "Hold a stored eval to a bar: passed, failed, or not enough evidence",
		Long: `Holds a stored eval to bars and to an earlier eval, without running anything. The exit code is 0 when every
condition is met, 1 when one is not, and 3 when that can't be told: runs without a verdict, fewer runs than
pass^k needs, a task that the baseline did not measure. The same flags work with tooleval run.`,
		Example: `  tooleval gate latest --min-pass-rate 0.9
  tooleval gate latest --min-pass-k 3=0.8 --max-unscored 5%
  tooleval gate latest --baseline 20261201T111836Z-calc-3f9a1c --margin 0.1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("gate takes one eval, for example: tooleval gate latest --min-pass-rate 0.9")
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
				if !g.asked() {
					return errors.New("there is nothing to hold the eval to: give --min-pass-rate, --min-pass-k, --min-process, --max-unscored or --baseline")
				}
				return a.gate(&g, args[0], results, format)
			})
		},
	}
	g.register(cmd, a)
	cmd.Flags().StringVar(&results, "results", "results", "the folder that evals are looked up in")
	cmd.Flags().StringVar(&format, "format", "table", "table, json or markdown")
	return cmd
}

func (a *App) gate(g *gateFlags, name, results, format string) error {
	dir, err := store.Find(results, name)
	if err != nil {
		return err
	}
	sides, err := a.gather(dir)
	if err != nil {
		return err
	}
	if err := g.load(a, results); err != nil {
		return err
	}
	if len(g.base) > 0 && len(sides) > 0 && g.base[0].Eval().ID == sides[0].Eval().ID {
		return fmt.Errorf("--baseline: %s is the eval itself: name an earlier one", g.base[0].Eval().ID)
	}
	result := compare.Gate(sides, g.base, g.bars)
	switch format {
	case "json":
		err = report.GateJSON(a.Stdout, result)
	case "markdown":
		err = report.GateMarkdown(a.Stdout, result)
	default:
		err = report.GateTerminal(a.Stdout, result, termOptions(a.Stdout, false, a.getenv))
	}
	if err != nil {
		return err
	}
	if g.junit != "" || g.out != "" || g.github {
		reader, err := store.Open(dir)
		if err != nil {
			return err
		}
		builder := report.NewBuilder(reader.Header(), report.Options{})
		for _, runs := range []iter.Seq2[*tooleval.Run, error]{reader.Baselines(), reader.Runs()} {
			for run, err := range store.Latest(runs) {
				if err == nil { // else it was named above, or is a baseline's
					builder.Add(run)
				}
			}
		}
		r := builder.Report()
		r.Gate = &result
		if err := a.deliver(g, r); err != nil {
			return err
		}
	}
	return gateAnswer(&result)
}

// watch makes the gatherer of a run that is under way; nil when no gate is asked for.
func (g *gateFlags) watch(eval tooleval.Eval) *compare.Gatherer {
	if !g.asked() {
		return nil
	}
	return compare.NewGatherer(eval)
}

// answer holds what was gathered to the bars; nil without a gate.
func (g *gateFlags) answer(gathered *compare.Gatherer) *compare.Result {
	if gathered == nil {
		return nil
	}
	r := compare.Gate(gathered.Sides(), g.base, g.bars)
	return &r
}

// deliver writes a report to the files that were asked for, and to GitHub.
func (a *App) deliver(g *gateFlags, r report.Report) error {
	if err := a.writeOut(g, r); err != nil {
		return err
	}
	g.written = true
	if g.github {
		a.annotate(r.Gate)
		if err := a.stepSummary(r); err != nil { // worth a word, and not the result
			fmt.Fprintln(a.Stderr, plain.Text("the step summary was not written: "+err.Error()))
		}
	}
	return nil
}
