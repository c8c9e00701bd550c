package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
)

// What a run card shows unless it is Verbose, and what it shows then.
const (
	cardCalls, cardCallsVerbose = 200, 100_000
	cardDiff, cardDiffVerbose   = 50, 10_000
	cardBytes, cardBytesVerbose = 1000, 1 << 20
)

// RunCard prints one run in full: verdict, outcome, process, every call, result, state, failure and where it came from.
// Long values are cut unless Verbose. It returns the first error of w.
func RunCard(w io.Writer, run *tooleval.Run, o TermOptions) error {
	p := newPrinter(w, o)
	if run == nil {
		p.raw("there is no run\n")
		return p.w.Flush()
	}
	p.cardHead(run)
	p.cardOutcome(&run.Score.Outcome)
	p.cardProcess(&run.Score.Process, run.Trajectory.Calls)
	p.cardFailure(run)
	p.trajectory(&run.Trajectory)
	p.cardResult(run)
	p.cardOrigin(run)
	return p.w.Flush()
}

func (p *printer) most(usual, verbose int) int {
	if p.verbose {
		return verbose
	}
	return usual
}

func (p *printer) title(text string) {
	p.raw("\n")
	p.para(bold, "", text)
}

func (p *printer) more(n int, noun string) {
	if n > 0 {
		text := plural(n, "more "+noun)
		if !p.verbose {
			text += " (verbose shows them)"
		}
		p.para(faint, "  … ", text)
	}
}

func (p *printer) cardHead(run *tooleval.Run) {
	title := []string{cut(run.TaskID, 100), fmt.Sprintf("run %d", run.Index+1), cut(run.Mind, 40), cut(run.World, 20)}
	if run.Baseline != "" {
		title[1], title[2] = "baseline "+cut(run.Baseline, 40), ""
	}
	p.para(bold, "", dotted(title))
	if run.Task.Description != "" {
		p.para(faint, "", clean(run.Task.Description))
	}
	_, style := mark(run.Score.Verdict)
	switch run.Score.Verdict {
	case tooleval.Passed:
		p.para(style, "✓ ", "passed")
	case tooleval.Failed:
		p.para(style, "✗ ", "failed: "+clean(run.Score.Why))
	default:
		p.para(style, "? ", "unscored: "+clean(unscoredWhy(run)))
	}
	ended := cut(run.Ending, 30)
	if ended == "" {
		ended = "no ending recorded"
	}
	p.para(none, "  ", fmt.Sprintf("outcome %s · process %s · %s · %s · %s", score(run.Score.Outcome.Score),
		score(run.Score.Process.Score), plural(len(run.Trajectory.Calls), "call"),
		estimate(stats.Number(run.WallMS), milliseconds), ended))
	if run.Error != "" {
		p.para(red, "  ", "error (owner "+cut(run.ErrorOwner, 20)+"): "+clean(run.Error))
	}
}

func (p *printer) cardOutcome(o *tooleval.Outcome) {
	p.title("Outcome " + score(o.Score))
	if o.Score.Why != "" {
		p.para(faint, "  ", clean(o.Score.Why))
	}
	p.checks(o.Checks)
	most := p.most(cardDiff, cardDiffVerbose)
	for i, d := range o.Diff {
		if i == most {
			p.more(len(o.Diff)-i, "difference")
			break
		}
		p.para(none, "  ≠ ", cut(d.Path, 200))
		p.para(none, "      want ", p.value(d.Want, "nothing"))
		p.para(none, "      got  ", p.value(d.Got, "nothing"))
		if d.Why != "" {
			p.para(none, "      ", clean(d.Why))
		}
	}
	if len(o.Detail) > 0 {
		p.para(faint, "  detail: ", p.value(o.Detail, ""))
	}
}

func (p *printer) cardProcess(pr *tooleval.Process, calls []tooleval.Call) {
	p.title("Process " + score(pr.Score))
	if pr.Score.Why != "" {
		p.para(faint, "  ", clean(pr.Score.Why))
	}
	for _, c := range pr.Components {
		text := fmt.Sprintf("%-10s ", cut(c.Name, 30))
		if v, ok := c.Score.Value(); ok {
			text += decimal(v)
		} else {
			text += "— " + clean(c.Score.Why)
		}
		p.para(none, "  ", text)
		for _, n := range c.Notes {
			p.para(none, "    ", pointer(pointed(n, calls)))
		}
	}
}

func (p *printer) cardFailure(run *tooleval.Run) {
	if run.Failure == nil {
		return
	}
	p.title("Failure " + blame(run.Failure.Category, run.Failure.Owner))
	p.para(none, "  ", clean(run.Failure.Why))
	for _, e := range evidence(run, p.most(maxDistinct, cardDiffVerbose)) {
		p.para(none, "  • ", pointer(e))
	}
}

func (p *printer) cardResult(run *tooleval.Run) {
	if run.Result.Response != "" {
		p.title("Response")
		p.block(string(run.Result.Response))
	}
	if len(run.Result.State) > 0 && run.StateFrom != "agent" {
		p.title("Result of the agent")
		p.para(none, "  ", p.value(run.Result.State, ""))
	}
	if len(run.State) > 0 {
		from := ""
		if run.StateFrom != "" {
			from = " of the " + cut(run.StateFrom, 20)
		}
		p.title("Final state" + from)
		p.para(none, "  ", p.value(run.State, ""))
	}
	if u := run.Result.Usage; u != nil {
		var sum usageSum
		sum.add(u)
		all := sum.usage(1)
		if text := usage(&all, clean[string]); text != "" {
			p.title("Usage")
			p.para(none, "  ", text)
		}
	}
}

func (p *printer) cardOrigin(run *tooleval.Run) {
	if len(run.Warnings) > 0 {
		p.raw("\n")
		for i, w := range run.Warnings {
			if i == maxDistinct && !p.verbose {
				p.more(len(run.Warnings)-i, "warning")
				break
			}
			p.para(yellow, "warning: ", clean(w))
		}
	}
	if run.Stack != "" && p.verbose {
		p.title("Stack")
		p.block(string(run.Stack))
	}
	p.title("Origin")
	v := run.Provenance
	parts := []string{named("suite", run.Suite), named("entry point", run.EntryPoint), fmt.Sprintf("seed %d", run.Seed),
		named("eval", run.Eval), named("tooleval", v.Tool), clean(v.Go), named("commit", v.Commit)}
	if v.Attempts > 0 {
		parts = append(parts, fmt.Sprintf("attempt %d", v.Attempts+1))
	}
	if !run.Started.IsZero() {
		parts = append(parts, run.Started.UTC().Format("2006-01-02 15:04:05Z"))
	}
	p.para(faint, "  ", dotted(parts))
	if ids := dotted([]string{named("identity", run.Identity), named("suite digest", v.SuiteDigest)}); ids != "" {
		p.para(faint, "  ", ids)
	}
}

// dotted joins what is not empty.
func dotted(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// named is a value with its name, or nothing when there is none.
func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + clean(value)
}

// value is JSON or whatever it is instead, on one line.
func (p *printer) value(r tooleval.Raw, empty string) string {
	if len(r) == 0 {
		return empty
	}
	most := p.most(cardBytes, cardBytesVerbose)
	text := string(r[:min(len(r), most+8)])
	if len(r) <= most && r.Valid() {
		if b, err := json.Marshal(json.RawMessage(r)); err == nil { // without its line feeds
			text = string(b)
		}
	}
	return cutNote(text, most, len(r))
}

// cutNote is clean text of at most most bytes and, where that is not all, how long it was.
func cutNote(text string, most, length int) string {
	if length <= most {
		return plain.Text(text)
	}
	return plain.Text(plain.Clip(text, most)) + fmt.Sprintf(" (%d bytes)", length)
}

// block prints a text of several lines with an indent.
func (p *printer) block(text string) {
	most := p.most(cardBytes, cardBytesVerbose)
	for l := range strings.SplitSeq(plain.Block(plain.Clip(text, most)), "\n") {
		p.para(none, "  │ ", l)
	}
	if len(text) > most {
		p.para(faint, "  ", fmt.Sprintf("(%d bytes)", len(text)))
	}
}
