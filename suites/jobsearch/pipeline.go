package jobsearch

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
)

// sections are the headings that the report must have.
var sections = []string{"Role", "Company", "Fit", "Recommendation"}

// scorePipeline holds the whole package to its invariants: the saved report, which the world knows, and the typed output
// of the steps, which the agent returned.
func scorePipeline(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	inv := scorers.NewInvariants()
	name, report := bestReport(savedFiles(run))
	inv.Check("a report is saved", strings.TrimSpace(report) != "", "%.100s", name)
	have := filled(report)
	for _, s := range sections {
		inv.Check("the report has the section "+s, slices.Contains(have, s), "")
	}
	out := objectOf(run.Result.State)
	checkJob(inv, "job_details: ", out.object("job_details"))
	briefing := out.object("company_briefing")
	inv.Check("company_briefing: company is populated", briefing.text("company") != "", "")
	inv.Check("company_briefing: summary is populated", briefing.text("summary") != "", "")
	checkFit(inv, "fit_analysis: ", out.object("fit_analysis"))
	return inv.Outcome()
}

type savedFile struct{ name, content string }

// savedFiles are the files that were saved, as they were in the end: by the world's state, or by the calls where the world
// keeps none.
func savedFiles(run *tooleval.Run) []savedFile {
	var writes []any
	if run.StateFrom == "world" {
		writes, _ = objectOf(run.State)["saved"].([]any)
	} else {
		for i := range run.Trajectory.Calls {
			if c := &run.Trajectory.Calls[i]; c.Tool == "save_output" && c.Status == tooleval.CallOK {
				writes = append(writes, map[string]any(objectOf(c.Args)))
			}
		}
	}
	var saved []savedFile
	for _, w := range writes {
		o, _ := w.(map[string]any)
		name, _ := o["filename"].(string)
		content, _ := o["content"].(string)
		saved = slices.DeleteFunc(saved, func(f savedFile) bool { return f.name == name })
		saved = append(saved, savedFile{name, content})
	}
	return saved
}

// bestReport is the file that has the most sections; the last of several.
func bestReport(saved []savedFile) (name, content string) {
	best := -1
	for _, f := range saved {
		if n := len(filled(f.content)); strings.TrimSpace(f.content) != "" && n >= best {
			best, name, content = n, f.name, f.content
		}
	}
	return name, content
}

// heading is a heading of Markdown: "## Role", or a line that is bold as a whole.
var heading = regexp.MustCompile(`^\s{0,3}(?:#{1,6}\s+(.+?)|\*\*(.+?)\*\*:?)\s*#*\s*$`)

// filled are the sections of a report that have text below their heading, in the order of sections. A heading may say more
// than the section's name, as in "## Company overview".
func filled(report string) []string {
	text := map[string]bool{}
	current := ""
	for line := range strings.Lines(report) {
		if m := heading.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			deeper := strings.HasPrefix(strings.TrimSpace(line), "###") || m[2] != ""
			if s := section(m[1] + m[2]); s != "" || !deeper {
				current = s
			}
			continue
		}
		if current != "" && strings.TrimSpace(line) != "" {
			text[current] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(sections), func(s string) bool { return !text[s] })
}

// section is the first section that a heading names as a word.
func section(heading string) string {
	words := strings.FieldsFunc(strings.ToLower(heading), notInWord)
	best, at := "", len(words)
	for _, s := range sections {
		if i := slices.Index(words, strings.ToLower(s)); i >= 0 && i < at {
			best, at = s, i
		}
	}
	return best
}
