package jobsearch

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

// A live mind never returns a fixture word for word, so these scorers hold the agent's typed output to invariants of its
// shape, and to what the tools said in this very run: it is populated, and it is not made up.

// scoreExtract holds job details to their invariants.
func scoreExtract(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	job := objectOf(run.State)
	checkJob(inv, "", job)
	grounded(inv, run, "the company is named on the fetched page", job.text("company"), "fetch_webpage")
	return inv.Outcome()
}

// scoreResearch holds a company briefing to its invariants.
func scoreResearch(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	briefing := objectOf(run.State)
	checkBriefing(inv, run, briefing)
	news, _ := briefing.texts("recent_news")
	inv.Check("recent_news has an entry", len(news) > 0, "")
	return inv.Outcome()
}

// scoreAnalyze holds a fit analysis to its invariants.
func scoreAnalyze(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	fit := objectOf(run.State)
	checkFit(inv, "", fit)
	strengths, _ := fit.texts("strengths")
	grounded(inv, run, "the strengths rest on the résumé", strings.Join(strengths, " "), "read_resume")
	return inv.Outcome()
}

func checkJob(inv *scorers.Invariants, prefix string, job object) {
	for _, key := range []string{"title", "company", "location"} {
		inv.Check(prefix+key+" is populated", job.text(key) != "", "")
	}
	for _, key := range []string{"responsibilities", "requirements"} {
		list, _ := job.texts(key)
		inv.Check(prefix+key+" has an entry", len(list) > 0, "")
	}
}

func checkBriefing(inv *scorers.Invariants, run *tooleval.Run, briefing object) {
	asked := objectOf(run.Task.Input).text("company")
	named := briefing.text("company")
	inv.Check("company is the one that was asked for", named != "" && shares(named, asked), "asked for %q, got %q", asked, named)
	inv.Check("summary is populated", briefing.text("summary") != "", "")
	sources, _ := briefing.texts("sources")
	const name = "sources are addresses that the search returned"
	if run.Trajectory.Incomplete != "" {
		inv.Skip(name, "calls may be missing from the trajectory: %s", run.Trajectory.Incomplete)
		return
	}
	found := told(run, "web_search")
	for _, s := range sources {
		if !foundSource(s, found) {
			inv.Check(name, false, "%.200q was not found", s)
			return
		}
	}
	inv.Check(name, len(sources) > 0, "%d sources", len(sources))
}

// foundSource reports whether the address in a source was in the results. A source may have words around it.
func foundSource(source, found string) bool {
	for _, word := range strings.Fields(source) {
		word = strings.Trim(word, "<>()[],;\"'")
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			return strings.Contains(found, strings.TrimRight(word, "/."))
		}
	}
	return false
}

func checkFit(inv *scorers.Invariants, prefix string, fit object) {
	score, isNumber := number(fit["match_score"])
	inv.Check(prefix+"match_score is in 0..1", isNumber && score >= 0 && score <= 1, "")
	strengths, _ := fit.texts("strengths")
	inv.Check(prefix+"strengths has an entry", len(strengths) > 0, "")
	_, listed := fit.texts("gaps")
	inv.Check(prefix+"gaps is a list", listed, "")
	inv.Check(prefix+"recommendation is populated", fit.text("recommendation") != "", "")
}

// grounded checks that words come from what a tool said, where all that was said is known.
func grounded(inv *scorers.Invariants, run *tooleval.Run, name, words, tool string) {
	if run.Trajectory.Incomplete != "" {
		inv.Skip(name, "calls may be missing from the trajectory: %s", run.Trajectory.Incomplete)
		return
	}
	inv.Check(name, shares(words, told(run, tool)), "")
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}
