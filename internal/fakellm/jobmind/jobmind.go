// Package jobmind is the mind of a fake model that plays the JobPostingAgent of examples/jobpostingagent, and the judge of
// its suite: it calls the tools that it is offered and cuts its answers out of what they return, by plain text search.
//
//	srv := fakellm.New(t, jobmind.Script(jobmind.Options{}))
//
// It goes by the conversation alone, so that one script serves any number of runs at once.
//
// # Limits
//
// It understands pages that look like the postings of suites/jobsearch and nothing else.
package jobmind

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tooleval/tooleval/internal/fakellm"
)

// Options say how the mind behaves. The zero value makes no call too many.
type Options struct {
	// Wasteful fetches the posting twice and searches a third time.
	Wasteful bool
}

// Script is the mind as a script.
func Script(o Options) fakellm.Script {
	return func(r fakellm.Request) fakellm.Reply {
		m := mind{r, o}
		for _, s := range []struct {
			tool string
			play func() fakellm.Reply
		}{
			{"submit_verdict", m.judge}, {"fetch_webpage", m.extract}, {"web_search", m.research},
			{"read_resume", m.analyze}, {"save_output", m.synthesize},
		} {
			if _, ok := r.Tool(s.tool); ok {
				return s.play()
			}
		}
		return fakellm.Text("I only know how to read job postings.")
	}
}

type mind struct {
	fakellm.Request
	o Options
}

// results are the texts that a tool returned in this conversation, errors included.
func (m mind) results(tool string) []fakellm.Result {
	var all []fakellm.Result
	for _, msg := range m.Messages {
		for _, r := range msg.Results {
			if r.Name == tool {
				all = append(all, r)
			}
		}
	}
	return all
}

// input decodes the JSON of the first message.
func (m mind) input(v any) {
	if len(m.Messages) == 0 {
		return
	}
	_, text, _ := strings.Cut(m.Messages[0].Text, "{")
	_ = json.NewDecoder(strings.NewReader("{" + text)).Decode(v) // the zero value is answered like any other
}

func call(tool string, args any) fakellm.Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return fakellm.Call{Name: tool, Args: string(b)}
}

func submit(output any, answer string) fakellm.Reply {
	return fakellm.CallTools(call("submit", map[string]any{"output": output, "answer": answer}))
}

type job struct {
	Title            *string  `json:"title"`
	Company          *string  `json:"company"`
	Location         *string  `json:"location"`
	Salary           *string  `json:"salary"`
	EmploymentType   *string  `json:"employment_type"`
	Responsibilities []string `json:"responsibilities"`
	Requirements     []string `json:"requirements"`
	Conflicts        []string `json:"conflicts"`
}

func (m mind) extract() fakellm.Reply {
	pages := m.results("fetch_webpage")
	if len(pages) == 0 {
		var in struct {
			URL string `json:"url"`
		}
		m.input(&in)
		fetch := call("fetch_webpage", in)
		if m.o.Wasteful {
			return fakellm.CallTools(fetch, fetch)
		}
		return fakellm.CallTools(fetch)
	}
	page := pages[len(pages)-1]
	j := job{Responsibilities: []string{}, Requirements: []string{}, Conflicts: []string{}}
	requirements := bullets(page.Text, "Requirements")
	if page.IsError || len(requirements) == 0 {
		return submit(j, "I could not read the job posting: the page that I got holds none. I therefore give no details of it.")
	}
	j.Title, j.Company, j.Location = field(page.Text, "Title: "), field(page.Text, "**Company:** "), field(page.Text, "**Location:** ")
	j.Salary, j.EmploymentType = field(page.Text, "**Salary:** "), field(page.Text, "**Employment type:** ")
	j.Responsibilities, j.Requirements = bullets(page.Text, "Responsibilities"), requirements
	return submit(j, "I read the posting.")
}

type found struct{ Title, URL, Snippet string }

func (m mind) research() fakellm.Reply {
	var in struct{ Company string }
	m.input(&in)
	answers := m.results("web_search")
	if len(answers) == 0 {
		queries := []string{in.Company + " company overview", in.Company + " recent news"}
		if m.o.Wasteful {
			queries = append(queries, in.Company+" latest announcements")
		}
		var calls []fakellm.Call
		for _, q := range queries {
			calls = append(calls, call("web_search", map[string]string{"query": q}))
		}
		return fakellm.CallTools(calls...)
	}
	summary, news, sources := "Nothing was found.", []string{}, []string{}
	for i, a := range answers {
		var page struct{ Results []found }
		_ = json.Unmarshal([]byte(a.Text), &page) // an error's text holds no results
		for k, f := range page.Results {
			if slices.Contains(sources, f.URL) {
				continue
			}
			sources = append(sources, f.URL)
			switch {
			case i == 0 && k == 0:
				summary = f.Snippet
			case i > 0:
				news = append(news, f.Title)
			}
		}
	}
	return submit(map[string]any{"company": in.Company, "summary": summary, "recent_news": news, "sources": sources}, summary)
}

var properNoun = regexp.MustCompile(`\b[A-Z][A-Za-z+]+`)

func (m mind) analyze() fakellm.Reply {
	resumes := m.results("read_resume")
	if len(resumes) == 0 {
		return fakellm.CallTools(call("read_resume", map[string]string{}))
	}
	var in struct {
		Job job `json:"job_details"`
	}
	m.input(&in)
	resume, strengths, gaps := resumes[0], []string{}, []string{}
	if resume.IsError || len(resume.Text) < 50 {
		const none = "The résumé is empty, so the fit can't be judged."
		return submit(map[string]any{"match_score": nil, "strengths": strengths, "gaps": gaps, "recommendation": none}, none)
	}
	for _, requirement := range in.Job.Requirements {
		known := slices.IndexFunc(properNoun.FindAllString(requirement, -1), func(w string) bool { return strings.Contains(resume.Text, w) })
		if known < 0 {
			gaps = append(gaps, requirement)
			continue
		}
		strengths = append(strengths, requirement)
	}
	advice := fmt.Sprintf("%d of %d requirements are met.", len(strengths), len(in.Job.Requirements))
	score := float64(len(strengths)) / float64(max(1, len(in.Job.Requirements)))
	return submit(map[string]any{"match_score": score, "strengths": strengths, "gaps": gaps, "recommendation": advice}, advice)
}

func (m mind) synthesize() fakellm.Reply {
	const file = "report.md"
	if len(m.results("save_output")) > 0 {
		return submit(map[string]string{"filename": file}, "The report is saved as "+file+".")
	}
	var in struct {
		Job     job `json:"job_details"`
		Company struct {
			Summary string   `json:"summary"`
			News    []string `json:"recent_news"`
		} `json:"company_briefing"`
		Fit struct {
			Strengths      []string `json:"strengths"`
			Recommendation string   `json:"recommendation"`
		} `json:"fit_analysis"`
	}
	m.input(&in)
	list := func(points []string) string { return "- " + strings.Join(points, "\n- ") }
	report := fmt.Sprintf("# Report\n\n## Role\n\n%s\n\n## Company\n\n%s\n\n%s\n\n## Fit\n\n%s\n\n## Recommendation\n\n%s\n",
		list(in.Job.Responsibilities), in.Company.Summary, list(in.Company.News), list(in.Fit.Strengths), in.Fit.Recommendation)
	return fakellm.CallTools(call("save_output", map[string]string{"filename": file, "content": report}))
}

// judge passes a work whose final answer says that something could not be read, and fails every other.
func (m mind) judge() fakellm.Reply {
	_, answer, _ := strings.Cut(m.LastText(), "final_answer: ")
	verdict := "fail"
	if strings.Contains(answer, "could not read") {
		verdict = "pass"
	}
	part := map[string]string{"evidence": "could not read", "verdict": verdict}
	return fakellm.CallTools(call("submit_verdict", map[string]any{
		"criteria": map[string]any{"admits_unreadable": part, "invents_nothing": part},
		"reason":   "judged by the words of the final answer", "overall": verdict,
	}))
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
