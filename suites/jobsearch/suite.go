// Package jobsearch is the Suite that the harness was made for: five tasks at different altitudes of one agent that reads
// a job posting, looks into the company, compares a résumé with it and writes a report. Read it in the order tasks,
// fixtures, scorers, scripted, suite; live.go holds the real tools and real.go starts the real agent.
//
// # Entry points
//
// An agent that serves this Suite takes these inputs and returns these objects as its state:
//
//	entry point          tools                    input                                 state
//	job_search.extract   fetch_webpage            {"url"}                               job details
//	job_search.research  web_search               {"company"}                           company briefing
//	job_search.analyze   read_resume              {"job_details", "company_briefing"}   fit analysis
//	job_search.pipeline  all four                 {"url"}                               {"job_details", "company_briefing",
//	                                                                                    "fit_analysis"}, and a saved report
//
//	job details       {"title", "company", "location", "salary", "employment_type": string or null,
//	                   "responsibilities", "requirements", "conflicts": [string]}
//	company briefing  {"company", "summary": string, "recent_news": [string], "sources": [address]}
//	fit analysis      {"match_score": 0..1 or null, "strengths", "gaps": [string], "recommendation": string}
//
// Each task's description says so too, so that an agent that never heard of this Suite can do it. The fifth task,
// job_search.graceful_degradation, is job_search.extract on a page that can't be read; the real agent serves it by that.
//
// # Settings
//
// Under a live world the environment may hold JOBSEARCH_LIVE_JOB_URL, JOBSEARCH_LIVE_COMPANY and JOBSEARCH_RESTRICTED_URL
// (inputs), JOBSEARCH_RESUME (a file instead of the Suite's own résumé), JOBSEARCH_OUTPUT_DIR (where reports are kept),
// JOBSEARCH_SEARCH_URL (another server with DuckDuckGo's page) and JOBSEARCH_ALLOW_PRIVATE=1 (lets the tools reach
// loopback and private addresses). JOBPOSTINGAGENT_PATH names the real agent.
package jobsearch

import (
	"context"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers/judge"
)

// version is raised when a scorer or the judge's view changes.
const version = "1"

// Suite is the job-search Suite.
var Suite = &tooleval.Suite{
	Name:        "job-search",
	Description: "one agent at five altitudes: extract, research, analyze, the whole pipeline, and a page that can't be read",
	Version:     version,
	Tools:       tools,
	EntryPoints: entryPoints,
	Tasks:       tasks(),
	LiveTasks:   liveTasks,
	MockWorld:   mockWorld{&ladderMock},
	LiveWorld:   tooleval.WorldFunc(newLiveWorld),
	Minds:       minds,
	Scorers: map[string]tooleval.Scorer{
		"job_search.extract":              tooleval.ScorerFunc(scoreExtract),
		"job_search.research":             tooleval.ScorerFunc(scoreResearch),
		"job_search.analyze":              tooleval.ScorerFunc(scoreAnalyze),
		"job_search.pipeline":             tooleval.ScorerFunc(scorePipeline),
		"job_search.graceful_degradation": judge.Graded{Rubric: judge.NoFabrication, View: judge.Everything},
	},
}

// Edge is the job-search-edge Suite: the same tools and minds on inputs at which an agent is tempted to invent. It is a
// Suite of its own, so that the ladder stays five tasks whose numbers can be compared over time.
var Edge = &tooleval.Suite{
	Name:        "job-search-edge",
	Description: "job-search on thin ice: no news of the company, an empty résumé, a posting that contradicts itself",
	Version:     version,
	Tools:       tools,
	EntryPoints: entryPoints,
	Tasks:       edgeTasks,
	MockWorld:   mockWorld{&edgeMock},
	Minds:       minds,
	Scorers: map[string]tooleval.Scorer{
		"job_search.edge.no_company_news":       tooleval.ScorerFunc(scoreNoNews),
		"job_search.edge.empty_resume":          tooleval.ScorerFunc(scoreEmptyResume),
		"job_search.edge.contradictory_posting": tooleval.ScorerFunc(scoreContradictory),
	},
}

var entryPoints = []tooleval.EntryPoint{
	{Name: extractStep, Description: "job details from the page of a posting"},
	{Name: researchStep, Description: "a briefing on a company from the web"},
	{Name: analyzeStep, Description: "how a résumé fits a job"},
	{Name: pipelineStep, Description: "all steps in order, ending with a saved report"},
	{Name: gracefulStep, Description: "extract from a page that can't be read"},
}

var minds = []tooleval.Mind{
	{
		Name:        "scripted",
		Description: "canned calls; answers put together from what the tools say",
		New: func(context.Context, func(string) string) (tooleval.Agent, error) {
			return tooleval.AgentFunc(scripted), nil
		},
	},
	{
		Name:        "real",
		Description: "the JobPostingAgent that JOBPOSTINGAGENT_PATH names",
		New:         newReal,
		Aliases:     map[string]string{gracefulStep: extractStep},
	},
}
