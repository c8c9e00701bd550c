package jobsearch

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/live"
)

type jobDetails struct {
	Title            *string  `json:"title"`
	Company          *string  `json:"company"`
	Location         *string  `json:"location"`
	Salary           *string  `json:"salary"`
	EmploymentType   *string  `json:"employment_type"`
	Responsibilities []string `json:"responsibilities"`
	Requirements     []string `json:"requirements"`
	Conflicts        []string `json:"conflicts"`
}

type companyBriefing struct {
	Company    string   `json:"company"`
	Summary    string   `json:"summary"`
	RecentNews []string `json:"recent_news"`
	Sources    []string `json:"sources"`
}

type fitAnalysis struct {
	MatchScore     *float64 `json:"match_score"`
	Strengths      []string `json:"strengths"`
	Gaps           []string `json:"gaps"`
	Recommendation string   `json:"recommendation"`
}

type packet struct {
	JobDetails      jobDetails      `json:"job_details"`
	CompanyBriefing companyBriefing `json:"company_briefing"`
	FitAnalysis     fitAnalysis     `json:"fit_analysis"`
}

// scripted is the offline twin of the real agent: its calls are canned, and its answers are cut out of what the tools say
// by plain text search. It shows that the fixtures hold what the tasks ask for.
func scripted(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	var in struct {
		URL             string          `json:"url"`
		Company         string          `json:"company"`
		JobDetails      jobDetails      `json:"job_details"`
		CompanyBriefing companyBriefing `json:"company_briefing"`
	}
	if err := json.Unmarshal(a.Input, &in); err != nil {
		return tooleval.AgentResult{}, fmt.Errorf("the input: %w", err)
	}
	t := twin{ctx, tools}
	switch a.EntryPoint {
	case extractStep, gracefulStep:
		job, words, err := t.extract(in.URL)
		return result(job, words, err)
	case researchStep:
		briefing, err := t.research(in.Company)
		return result(briefing, briefing.Summary, err)
	case analyzeStep:
		fit, err := t.analyze(in.JobDetails)
		return result(fit, fit.Recommendation, err)
	case pipelineStep:
		p, words, err := t.pipeline(in.URL)
		return result(p, words, err)
	}
	return tooleval.AgentResult{}, fmt.Errorf("no script for entry point %q", a.EntryPoint)
}

func result(state any, words string, err error) (tooleval.AgentResult, error) {
	if err != nil {
		return tooleval.AgentResult{}, err
	}
	b, err := json.Marshal(state)
	return tooleval.AgentResult{Response: tooleval.Text(words), State: b}, err
}

type twin struct {
	ctx   context.Context // of the one run that the twin lives for
	tools tooleval.ToolHandler
}

func (t twin) call(tool string, args map[string]string) (tooleval.ToolResult, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return tooleval.ToolResult{}, err
	}
	return t.tools.CallTool(t.ctx, tooleval.ToolCall{Tool: tool, Args: b})
}

var money = regexp.MustCompile(`€[0-9,]+ (?:to|and) €[0-9,]+`)

func (t twin) extract(address string) (job jobDetails, words string, err error) {
	job = jobDetails{Responsibilities: []string{}, Requirements: []string{}, Conflicts: []string{}}
	r, err := t.call("fetch_webpage", map[string]string{"url": address})
	if err != nil {
		return job, "", err
	}
	text := string(r.Text)
	requirements := bullets(text, "Requirements")
	if r.IsError || len(requirements) == 0 {
		return job, "I could not read the job posting: the page that I got holds none. I therefore give no details of it.", nil
	}
	job.Title = field(text, "Title: ")
	job.Company, job.Location = field(text, "**Company:** "), field(text, "**Location:** ")
	job.Salary, job.EmploymentType = field(text, "**Salary:** "), field(text, "**Employment type:** ")
	job.Responsibilities, job.Requirements = bullets(text, "Responsibilities"), requirements
	if ranges := money.FindAllString(text, -1); len(ranges) > 1 {
		job.Conflicts = append(job.Conflicts, "Salary: "+strings.Join(ranges, " or "))
	}
	if i := slices.IndexFunc(requirements, func(s string) bool { return strings.Contains(s, "office") }); i >= 0 &&
		job.Location != nil && strings.Contains(strings.ToLower(*job.Location), "remote") {
		job.Conflicts = append(job.Conflicts, "Place of work: "+*job.Location+" or "+requirements[i])
	}
	return job, "The posting was read.", nil
}

func (t twin) research(company string) (companyBriefing, error) {
	b := companyBriefing{Company: company, RecentNews: []string{}, Sources: []string{}}
	about, err := t.search(company + " company overview")
	if err != nil {
		return b, err
	}
	news, err := t.search(company + " recent news")
	if err != nil {
		return b, err
	}
	for i, r := range about {
		if i == 0 {
			b.Summary = r.Snippet
		}
		b.Sources = append(b.Sources, r.URL)
	}
	for _, r := range news {
		// What the overview brought already is no news.
		if !slices.ContainsFunc(about, func(a live.SearchResult) bool { return a.URL == r.URL }) {
			b.RecentNews = append(b.RecentNews, r.Title)
			b.Sources = append(b.Sources, r.URL)
		}
	}
	return b, nil
}

func (t twin) search(query string) ([]live.SearchResult, error) {
	r, err := t.call("web_search", map[string]string{"query": query})
	if err != nil || r.IsError {
		return nil, err
	}
	var found struct{ Results []live.SearchResult }
	err = json.Unmarshal(r.Structured, &found)
	return found.Results, err
}

var properNoun = regexp.MustCompile(`\b[A-Z][A-Za-z+]+`)

func (t twin) analyze(job jobDetails) (fitAnalysis, error) {
	fit := fitAnalysis{Strengths: []string{}, Gaps: []string{}}
	r, err := t.call("read_resume", map[string]string{})
	if err != nil {
		return fit, err
	}
	if r.IsError || string(r.Text) == emptyResume {
		fit.Recommendation = "The résumé is empty, so the fit can't be judged."
		return fit, nil
	}
	for _, requirement := range job.Requirements {
		known := ""
		for _, word := range properNoun.FindAllString(requirement, -1) {
			if strings.Contains(string(r.Text), word) {
				known = word
			}
		}
		if known == "" {
			fit.Gaps = append(fit.Gaps, requirement)
			continue
		}
		fit.Strengths = append(fit.Strengths, fmt.Sprintf("%s (the résumé names %s)", requirement, known))
	}
	score := float64(len(fit.Strengths)) / float64(max(1, len(job.Requirements)))
	fit.MatchScore = &score
	fit.Recommendation = fmt.Sprintf("%d of %d requirements are met.", len(fit.Strengths), len(job.Requirements))
	return fit, nil
}

func (t twin) pipeline(address string) (packet, string, error) {
	var p packet
	job, words, err := t.extract(address)
	if err != nil || job.Company == nil {
		return p, words, err
	}
	p.JobDetails = job
	if p.CompanyBriefing, err = t.research(*job.Company); err != nil {
		return p, "", err
	}
	if p.FitAnalysis, err = t.analyze(job); err != nil {
		return p, "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n## Role\n\n- %s\n", *job.Title, strings.Join(job.Responsibilities, "\n- "))
	fmt.Fprintf(&b, "\n## Company\n\n%s\n\n- %s\n", p.CompanyBriefing.Summary, strings.Join(p.CompanyBriefing.RecentNews, "\n- "))
	fmt.Fprintf(&b, "\n## Fit\n\n- %s\n", strings.Join(p.FitAnalysis.Strengths, "\n- "))
	fmt.Fprintf(&b, "\n## Recommendation\n\n%s\n", p.FitAnalysis.Recommendation)
	r, err := t.call("save_output", map[string]string{"filename": "report.md", "content": b.String()})
	return p, "The report: " + string(r.Text), err
}

// field is the rest of the first line that begins with a label; nil when there is none.
func field(text, label string) *string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, label); ok {
			rest = strings.TrimSpace(rest)
			return &rest
		}
	}
	return nil
}

// bullets are the points of the list below a heading.
func bullets(text, heading string) []string {
	points := []string{}
	_, below, _ := strings.Cut(text, "## "+heading+"\n")
	for line := range strings.Lines(below) {
		if strings.HasPrefix(line, "#") {
			break
		}
		if point, ok := strings.CutPrefix(line, "- "); ok {
			points = append(points, strings.TrimSpace(point))
		}
	}
	return points
}
