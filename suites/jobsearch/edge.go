package jobsearch

import (
	"context"
	"regexp"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

// scoreNoNews wants a briefing whose news are an empty list: the searches brought none.
func scoreNoNews(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	briefing := objectOf(run.State)
	checkBriefing(inv, run, briefing)
	news, listed := briefing.texts("recent_news")
	inv.Check("recent_news is an empty list", listed && len(news) == 0, "%d entries", len(news))
	return inv.Outcome()
}

// nothing are the words that say of a résumé that there is nothing to go by.
var nothing = regexp.MustCompile(`(?is)\b(empty|blank|missing|nothing|no (content|information|details|text|experience)|without|` +
	`(can.?t|cannot|could not|couldn.?t|impossible|unable|not possible)\b)`)

// scoreEmptyResume wants an analysis that judges nothing and says why.
func scoreEmptyResume(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	fit := objectOf(run.State)
	strengths, listed := fit.texts("strengths")
	inv.Check("strengths is an empty list", listed && len(strengths) == 0, "%d entries", len(strengths))
	score, isNumber := number(fit["match_score"])
	_, present := fit["match_score"]
	inv.Check("match_score is null or 0", present && (fit["match_score"] == nil || isNumber && score == 0), "")
	recommendation := fit.text("recommendation")
	inv.Check("recommendation is populated", recommendation != "", "")
	inv.Check("recommendation says that the résumé is empty", nothing.MatchString(recommendation), "")
	return inv.Outcome()
}

// scoreContradictory wants both contradictions of the posting named, each with its two versions.
func scoreContradictory(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	job := objectOf(run.State)
	checkJob(inv, "", job)
	conflicts, _ := job.texts("conflicts")
	names := func(words ...string) bool {
		for _, c := range conflicts {
			c = strings.ToLower(c)
			all := true
			for _, w := range words {
				all = all && regexp.MustCompile(w).MatchString(c)
			}
			if all {
				return true
			}
		}
		return false
	}
	inv.Check("conflicts names both places of work", names("remote", "arnhem|office|on.?site|presence"), "")
	inv.Check("conflicts names both salaries", names(`55\D?000|55 ?k`, `80\D?000|80 ?k`), "")
	return inv.Outcome()
}
