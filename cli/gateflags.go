package cli

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
	"github.com/tooleval/tooleval/store"
)

// gateFlags are the flags by which an eval is held to something, and those that say where its results go besides the
// terminal.
type gateFlags struct {
	passRate, process, maxUnscored, margin string
	passK                                  []string
	baseline                               string
	evidence                               bool
	junit, out                             string
	github                                 bool

	empty   []string // the flags that were given without a value
	bars    compare.Bars
	base    []*compare.Side // of the baseline
	written bool            // there is a file of the results
}

// gateFlagNames belong to one call and not to the eval.
var gateFlagNames = []string{"min-pass-rate", "min-pass-k", "min-process", "max-unscored", "baseline", "margin", "evidence",
	"junit", "out", "github"}

func (g *gateFlags) register(cmd *cobra.Command, a *App) {
	flags := cmd.Flags()
	flags.StringVar(&g.passRate, "min-pass-rate", "", "gate: the least pass rate (mean over tasks), as in 0.9, 90% or 2/3")
	flags.StringArrayVar(&g.passK, "min-pass-k", nil, "gate: the least chance that K runs of a task all pass (pass^k), as in 3=0.8; may be repeated")
	flags.StringVar(&g.process, "min-process", "", "gate: the least process score (mean over tasks)")
	flags.StringVar(&g.maxUnscored, "max-unscored", "", "gate: the largest share of runs without a verdict; up to it they are left out")
	flags.StringVar(&g.baseline, "baseline", "", "gate: an earlier eval; no task of it may have got worse or vanished")
	flags.StringVar(&g.margin, "margin", "", "with --baseline: by how much the pass rate of a task may fall, as in 0.1")
	flags.BoolVar(&g.evidence, "evidence", false, "gate: the 95 % interval and not only the measured value has to reach the bar")
	flags.StringVar(&g.junit, "junit", "", "write JUnit XML to this file")
	flags.StringVar(&g.out, "out", "", "also write the results to this file, whole or not at all: JSON for .json, Markdown for .md, else as on the terminal")
	flags.BoolVar(&g.github, "github", a.getenv("GITHUB_ACTIONS") == "true",
		"write annotations, and the results to the file in $GITHUB_STEP_SUMMARY (default: on in GitHub Actions)")
	g.addCompletion(cmd)
}

func (g *gateFlags) addCompletion(cmd *cobra.Command) {
	none := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, name := range []string{"min-pass-rate", "min-pass-k", "min-process", "max-unscored", "margin"} {
		cobra.CheckErr(cmd.RegisterFlagCompletionFunc(name, none))
	}
}

// asked reports whether there is anything to hold the eval to.
func (g *gateFlags) asked() bool { return !g.bars.Empty() || g.baseline != "" }

// check reads the bars and reports everything that is wrong with them; runs is the number of runs of each task, 0 when it
// is not known.
func (g *gateFlags) check(runs int) error {
	var errs []error
	for _, name := range g.empty { // an unset variable of a CI job must not take the gate away
		errs = append(errs, fmt.Errorf("--%s is given without a value: name one, or leave the flag out", name))
	}
	rate := func(flag, text string) *big.Rat {
		if text == "" {
			return nil
		}
		r, err := stats.ParseRate(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
		return r
	}
	g.bars = compare.Bars{PassRate: rate("min-pass-rate", g.passRate), Process: rate("min-process", g.process),
		MaxUnscored: rate("max-unscored", g.maxUnscored), Margin: rate("margin", g.margin), Evidence: g.evidence}
	for _, text := range g.passK {
		k, err := compare.ParseKBar(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--min-pass-k: %w", err))
			continue
		}
		g.bars.PassHatK = append(g.bars.PassHatK, k)
	}
	if len(errs) == 0 {
		if err := g.bars.Check(runs, g.baseline != ""); err != nil {
			errs = append(errs, err)
		}
	}
	for _, f := range []struct{ flag, path string }{{"out", g.out}, {"junit", g.junit}} {
		if f.path == "" {
			continue
		}
		if err := writable(f.path); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", f.flag, err))
		}
	}
	return errors.Join(errs...)
}

// given notes the flags that were given without a value.
func (g *gateFlags) given(cmd *cobra.Command) {
	g.empty = nil
	for _, name := range []string{"min-pass-rate", "min-process", "max-unscored", "margin", "baseline", "junit", "out"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			g.empty = append(g.empty, name)
		}
	}
}

// load reads the baseline. It is done before anything is run, so that "latest" is the eval before this one.
func (g *gateFlags) load(a *App, results string) error {
	if g.baseline == "" {
		return nil
	}
	dir, err := store.Find(results, g.baseline)
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	if g.base, err = a.gather(dir); err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	return nil
}

// gather reads what a comparison needs of an eval.
func (a *App) gather(dir string) ([]*compare.Side, error) {
	reader, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	g := compare.NewGatherer(reader.Header())
	for f, err := range reader.Outlines() {
		if err != nil {
			fmt.Fprintln(a.Stderr, plain.Text("set aside: "+err.Error()))
			continue
		}
		g.Add(f.Run, f.Path)
	}
	return g.Sides(), nil
}

// A gateError is a gate that was not passed. Its reasons are printed by then.
type gateError struct{ answer compare.Answer }

// Error is for callers that print it; the command doesn't.
func (e *gateError) Error() string { return "the gate says: " + string(e.answer) }

func (e *gateError) code() int {
	if e.answer == compare.Fail {
		return exitGateFailed
	}
	return exitNotEnough
}

// gateAnswer is nil for a gate that was passed, and where there was none.
func gateAnswer(r *compare.Result) error {
	if r == nil || r.Answer == compare.Pass {
		return nil
	}
	return &gateError{r.Answer}
}
