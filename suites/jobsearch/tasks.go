package jobsearch

import (
	"encoding/json"
	"time"

	"github.com/tooleval/tooleval"
)

// The entry points; the ids of the five tasks are the same words.
const (
	extractStep  = "job_search.extract"
	researchStep = "job_search.research"
	analyzeStep  = "job_search.analyze"
	pipelineStep = "job_search.pipeline"
	gracefulStep = "job_search.graceful_degradation"
)

// The inputs of the mock world. All names are made up.
const (
	postingURL       = "https://careers.tidewell.example/jobs/4417-senior-backend-engineer"
	paywalledURL     = "https://jobledger.example/jobs/88213"
	contradictoryURL = "https://quietwater.example/jobs/12"
	company          = "Tidewell Robotics"
	quietCompany     = "Quietwater Ledger"
)

// The inputs of the live world unless the environment says otherwise: a description of a role that has been in place for
// years, and a page that is there to answer 403.
const (
	defaultLiveURL       = "https://handbook.gitlab.com/job-families/engineering/development/backend/senior/"
	defaultLiveCompany   = "Anthropic"
	defaultRestrictedURL = "https://httpbin.org/status/403"
)

const (
	jobShape = `{"title": string or null, "company": string or null, "location": string or null, "salary": string or null, ` +
		`"employment_type": string or null, "responsibilities": [string], "requirements": [string], "conflicts": [string]}`
	briefingShape = `{"company": string, "summary": string, "recent_news": [string], "sources": [string]}`
	fitShape      = `{"match_score": number from 0 to 1 or null, "strengths": [string], "gaps": [string], "recommendation": string}`

	extractWords = `Read the job posting at the input's "url" and give its facts as one JSON object: ` + jobShape + `. ` +
		`Take only what the page says: use null, or an empty list, for what it doesn't say. "conflicts" names every point on ` +
		`which the page contradicts itself, each with both versions. If the page can't be read, leave everything null and ` +
		`empty, and say plainly in your final answer that and why it could not be read.`
	researchWords = `Look into the input's "company" by web search: search once for what it does, and once more for its ` +
		`recent news. Give a briefing as one JSON object: ` + briefingShape + `. Every entry of "sources" is an address from the ` +
		`search results. "recent_news" is empty when the searches bring no news; make none up.`
	analyzeWords = `Read the candidate's résumé and say how well it fits the input's "job_details", keeping ` +
		`"company_briefing" in mind. Answer with one JSON object: ` + fitShape + `. Rest every strength on the résumé. If the ` +
		`résumé says nothing, so that the fit can't be judged, give a null score and no strengths and say so in the recommendation.`
	pipelineWords = `Judge the job posting at the input's "url" for the candidate. Fetch the posting; search the web once for ` +
		`what the company does and once for its recent news; read the résumé; then save a report in Markdown as report.md with ` +
		`the headings "Role", "Company", "Fit" and "Recommendation", each with text below it. Answer with one JSON object: ` +
		`{"job_details": ` + jobShape + `, "company_briefing": ` + briefingShape + `, "fit_analysis": ` + fitShape + `}. ` +
		`Take only what your tools told you.`
)

// maxCalls bounds what a mind that goes round in circles may cost.
const maxCalls = 40

func steps(n int) tooleval.Limits {
	return tooleval.Limits{Calls: maxCalls, Timeout: time.Duration(n) * 5 * time.Minute}
}

// tasks are the ladder in the mock world.
func tasks() []tooleval.Task {
	posting := tooleval.Match(tooleval.Subset(map[string]any{"url": postingPattern}))
	return ladder(inputs{postingURL, company, paywalledURL}, posting,
		tooleval.Match(tooleval.Subset(map[string]any{"query": aboutTidewell})), []tooleval.CallPattern{{Tool: "fetch_webpage"}})
}

// liveTasks are the ladder in the live world. A page that answers 403 is a tool error, which satisfies no requirement, so
// that the last task requires no call there.
func liveTasks(getenv func(string) string) []tooleval.Task {
	in := inputs{
		or(getenv("JOBSEARCH_LIVE_JOB_URL"), defaultLiveURL),
		or(getenv("JOBSEARCH_LIVE_COMPANY"), defaultLiveCompany),
		or(getenv("JOBSEARCH_RESTRICTED_URL"), defaultRestrictedURL),
	}
	return ladder(in, tooleval.Pattern{}, tooleval.Pattern{}, nil)
}

type inputs struct{ posting, company, restricted string }

// ladder are the five tasks. posting and search say which fetches and searches satisfy a requirement.
func ladder(in inputs, posting, search tooleval.Pattern, restricted []tooleval.CallPattern) []tooleval.Task {
	fetch := tooleval.CallPattern{Tool: "fetch_webpage", Args: posting}
	find := tooleval.CallPattern{Tool: "web_search", Args: search}
	read := tooleval.CallPattern{Tool: "read_resume"}
	save := tooleval.CallPattern{Tool: "save_output"}
	return []tooleval.Task{
		{
			ID: extractStep, EntryPoint: extractStep, Description: extractWords,
			Input:   input(map[string]any{"url": in.posting}),
			Toolset: []string{"fetch_webpage"}, Required: []tooleval.CallPattern{fetch},
			MinimalCalls: tooleval.Minimum(1), Limits: steps(1), Tags: []string{"step"},
		},
		{
			ID: researchStep, EntryPoint: researchStep, Description: researchWords,
			Input:   input(map[string]any{"company": in.company}),
			Toolset: []string{"web_search"}, Required: []tooleval.CallPattern{find, find},
			MinimalCalls: tooleval.Minimum(2), Limits: steps(1), Tags: []string{"step"},
		},
		{
			ID: analyzeStep, EntryPoint: analyzeStep, Description: analyzeWords,
			Input:   input(map[string]any{"job_details": knownJob, "company_briefing": knownBriefing}),
			Toolset: []string{"read_resume"}, Required: []tooleval.CallPattern{read},
			MinimalCalls: tooleval.Minimum(1), Limits: steps(1), Tags: []string{"step"},
		},
		{
			ID: pipelineStep, EntryPoint: pipelineStep, Description: pipelineWords,
			Input:    input(map[string]any{"url": in.posting}),
			Toolset:  []string{"fetch_webpage", "web_search", "read_resume", "save_output"},
			Required: []tooleval.CallPattern{fetch, find, find, read, save},
			// One fetch, two searches, one résumé, one report. An order is not required: the steps force the one that matters.
			MinimalCalls: tooleval.Minimum(5), Limits: steps(4), Tags: []string{"pipeline"},
		},
		{
			ID: gracefulStep, EntryPoint: gracefulStep, Description: extractWords,
			Input:   input(map[string]any{"url": in.restricted}),
			Toolset: []string{"fetch_webpage"}, Required: restricted,
			MinimalCalls: tooleval.Minimum(1), Limits: steps(1), Tags: []string{"step", "judge"},
		},
	}
}

var edgeTasks = []tooleval.Task{
	{
		ID: "job_search.edge.no_company_news", EntryPoint: researchStep, Description: researchWords,
		Input:   input(map[string]any{"company": quietCompany}),
		Toolset: []string{"web_search"}, Required: []tooleval.CallPattern{{Tool: "web_search"}, {Tool: "web_search"}},
		MinimalCalls: tooleval.Minimum(2), Limits: steps(1), Tags: []string{"edge", "step"},
	},
	{
		ID: "job_search.edge.empty_resume", EntryPoint: analyzeStep, Description: analyzeWords,
		Input:   input(map[string]any{"job_details": knownJob, "company_briefing": knownBriefing}),
		Toolset: []string{"read_resume"}, Required: []tooleval.CallPattern{{Tool: "read_resume"}},
		MinimalCalls: tooleval.Minimum(1), Limits: steps(1), Tags: []string{"edge", "step"},
	},
	{
		ID: "job_search.edge.contradictory_posting", EntryPoint: extractStep, Description: extractWords,
		Input:   input(map[string]any{"url": contradictoryURL}),
		Toolset: []string{"fetch_webpage"}, Required: []tooleval.CallPattern{{Tool: "fetch_webpage"}},
		MinimalCalls: tooleval.Minimum(1), Limits: steps(1), Tags: []string{"edge", "step"},
	},
}

// What the analyze step is given: the earlier steps' results on the Suite's own posting, so that the step can be scored
// alone.
var (
	knownJob = map[string]any{
		"title": "Senior Backend Engineer, Fleet Services", "company": company,
		"location": "Rotterdam, Netherlands (hybrid, two days a week on site)", "salary": "€78,000 to €96,000 a year",
		"employment_type": "Full time, permanent",
		"responsibilities": []string{
			"Design and run the Go services that plan missions for the fleet",
			"Own the ingest pipeline that takes in 40,000 telemetry messages a second over NATS and keeps them in PostgreSQL",
			"Take part in an on-call rotation, one week in seven",
		},
		"requirements": []string{
			"Five years or more of building backend services, at least two of them in Go",
			"A solid grasp of PostgreSQL: schema design, query plans, migrations without downtime",
			"Experience with a message broker such as NATS, Kafka or RabbitMQ in production",
			"Two years or more of C++ on embedded Linux",
			"Clear written English",
		},
		"conflicts": []string{},
	}
	knownBriefing = map[string]any{
		"company":     company,
		"summary":     "Builds small electric robots that inspect quay walls, locks and ship hulls under water; 180 people.",
		"recent_news": []string{"Series B round of €34 million"},
		"sources":     []string{"https://tidewell.example/about"},
	}
)

// input is a task's input as JSON.
func input(v map[string]any) tooleval.Raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values above are all plain
	}
	return b
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
