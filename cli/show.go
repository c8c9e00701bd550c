package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

func (a *App) showCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "show FILE|EVAL",
		Short: "Show a stored run or a whole eval again",
		Long: `Shows one run by its file, or an eval by its id, the beginning of its id, its folder, or "latest". Everything is
computed anew from the run files.`,
		Example: "  tooleval show latest\n  tooleval show results/EVAL/runs/RUN.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("show takes one run file or one eval, for example: tooleval show latest")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, f.format) {
				return fmt.Errorf("--format %q: it is table, json or markdown%s", f.format, tooleval.DidYouMean(f.format, formats))
			}
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(args[0], "eval.json") {
				return a.showRun(args[0], &f)
			}
			return a.showEval(cmd.Context(), args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.results, "results", "results", "the folder that evals are looked up in")
	flags.StringVar(&f.format, "format", "table", "table, json or markdown")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show everything, unshortened")
	flags.BoolVar(&f.combine, "combine", false, "also blend outcome and process into one number, which hides which of them failed")
	f.outcomeWeight, f.processWeight = 0.7, 0.3
	return cmd
}

func (a *App) showRun(path string, f *runFlags) error {
	run, err := store.ReadRun(path)
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(a.Stdout, file)
		return err
	case "markdown":
		return errors.New("--format markdown is for an eval; a run has table and json")
	}
	return report.RunCard(a.Stdout, run, termOptions(a.Stdout, f.verbose, a.getenv))
}

func (a *App) showEval(ctx context.Context, name string, f *runFlags) error {
	dir, err := store.Find(f.results, name)
	if err != nil {
		return err
	}
	reader, err := store.Open(dir)
	if err != nil {
		return err
	}
	builder := report.NewBuilder(reader.Header(), f.reportOptions())
	for _, runs := range []iter.Seq2[*tooleval.Run, error]{reader.Baselines(), reader.Runs()} {
		for run, err := range store.Latest(runs) {
			if err != nil {
				fmt.Fprintln(a.Stderr, plain.Text("set aside: "+err.Error()))
				continue
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			builder.Add(run)
		}
	}
	return printReport(a.Stdout, builder.Report(), f.format, f.verbose, a.getenv)
}
