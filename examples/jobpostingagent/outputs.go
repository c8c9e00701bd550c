package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Posting is the input of the extract step and of the pipeline.
type Posting struct {
	URL string `json:"url"`
}

// A Company is the input of the research step.
type Company struct {
	Company string `json:"company"`
}

// A Match is the input of the analyze step.
type Match struct {
	JobDetails      JobDetails      `json:"job_details"`
	CompanyBriefing CompanyBriefing `json:"company_briefing"`
}

// JobDetails is what the extract step returns: what the posting says and nothing else. Nil means that it doesn't say.
type JobDetails struct {
	Title            *string `json:"title"`
	Company          *string `json:"company"`
	Location         *string `json:"location"`
	Salary           *string `json:"salary"`
	EmploymentType   *string `json:"employment_type"`
	Responsibilities texts   `json:"responsibilities"`
	Requirements     texts   `json:"requirements"`
	// Conflicts are the points on which the posting contradicts itself.
	Conflicts texts `json:"conflicts"`
}

// Unread reports whether the page held no posting that could be read.
func (j *JobDetails) Unread() bool {
	return j.Title == nil && j.Company == nil && len(j.Responsibilities)+len(j.Requirements) == 0
}

const jobSchema = `{"type":"object","properties":{` +
	`"title":{"type":["string","null"]},"company":{"type":["string","null"]},"location":{"type":["string","null"]},` +
	`"salary":{"type":["string","null"]},"employment_type":{"type":["string","null"]},` +
	`"responsibilities":{"type":"array","items":{"type":"string"}},"requirements":{"type":"array","items":{"type":"string"}},` +
	`"conflicts":{"type":"array","items":{"type":"string"},"description":"contradictions within the page, each with both versions"}},` +
	`"required":["title","company","location","salary","employment_type","responsibilities","requirements","conflicts"]}`

// CompanyBriefing is what the research step returns.
type CompanyBriefing struct {
	Company    string `json:"company"`
	Summary    string `json:"summary"`
	RecentNews texts  `json:"recent_news"`
	// Sources are addresses from the search results.
	Sources texts `json:"sources"`
}

func (b *CompanyBriefing) check() error {
	if blank(b.Company) || blank(b.Summary) {
		return errors.New(`"company" and "summary" must not be empty; say in the summary if nothing was found`)
	}
	return nil
}

const briefingSchema = `{"type":"object","properties":{` +
	`"company":{"type":"string"},"summary":{"type":"string","description":"what the company does, in two to four sentences"},` +
	`"recent_news":{"type":"array","items":{"type":"string"},"description":"empty when the searches brought no news"},` +
	`"sources":{"type":"array","items":{"type":"string"},"description":"addresses from the search results, as they were given"}},` +
	`"required":["company","summary","recent_news","sources"]}`

// FitAnalysis is what the analyze step returns.
type FitAnalysis struct {
	// MatchScore is in 0..1; nil means that the fit can't be judged.
	MatchScore     *float64 `json:"match_score"`
	Strengths      texts    `json:"strengths"`
	Gaps           texts    `json:"gaps"`
	Recommendation string   `json:"recommendation"`
}

func (f *FitAnalysis) check() error {
	if f.MatchScore != nil && !(*f.MatchScore >= 0 && *f.MatchScore <= 1) {
		return fmt.Errorf(`"match_score" is %v and must be from 0 to 1, or null`, *f.MatchScore)
	}
	if blank(f.Recommendation) {
		return errors.New(`"recommendation" must not be empty`)
	}
	return nil
}

const fitSchema = `{"type":"object","properties":{` +
	`"match_score":{"type":["number","null"],"description":"from 0 to 1; null when the fit can't be judged"},` +
	`"strengths":{"type":"array","items":{"type":"string"},"description":"each resting on a fact of the résumé"},` +
	`"gaps":{"type":"array","items":{"type":"string"},"description":"requirements that the résumé doesn't show"},` +
	`"recommendation":{"type":"string"}},` +
	`"required":["match_score","strengths","gaps","recommendation"]}`

// A Package is what the pipeline returns, and the input of the synthesize step. What is nil was not reached.
type Package struct {
	JobDetails      *JobDetails      `json:"job_details"`
	CompanyBriefing *CompanyBriefing `json:"company_briefing"`
	FitAnalysis     *FitAnalysis     `json:"fit_analysis"`
}

// A Report is what the synthesize step returns; the report itself is in the saved file.
type Report struct {
	Filename string `json:"filename"`
}

func (r *Report) check() error {
	if blank(r.Filename) {
		return errors.New(`"filename" must be the name of the saved report`)
	}
	return nil
}

const reportSchema = `{"type":"object","properties":{"filename":{"type":"string","description":"the name of the saved report"}},` +
	`"required":["filename"]}`

// submitSchema wraps a step's output: its typed form, and the final answer in words.
func submitSchema(output string) string {
	return `{"type":"object","properties":{"output":` + output + `,"answer":{"type":"string",` +
		`"description":"the final answer for a person, in one to three plain sentences"}},"required":["output","answer"]}`
}

// texts is a list of strings that is never null in JSON. A model that gives one string, or null, is understood.
type texts []string

// MarshalJSON writes a list, empty for nil.
func (t texts) MarshalJSON() ([]byte, error) { return json.Marshal(append([]string{}, t...)) }

// UnmarshalJSON reads a list of strings, one string, or null.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	switch {
	case string(b) == "null":
		*t = nil
		return nil
	case len(b) > 0 && b[0] == '"':
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		if *t = nil; !blank(one) {
			*t = texts{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// A submission is an output as it came from the model.
type submission struct {
	output json.RawMessage
	answer string
}

// parseSubmission finds the output in the arguments of a submit call, or in a final text. Models put a fence or a sentence
// around JSON, wrap it in a string, or leave out the envelope; all of that is understood, and nothing else is.
func parseSubmission(raw string) (submission, error) {
	var inner string
	if json.Unmarshal([]byte(raw), &inner) == nil {
		raw = inner
	}
	start := strings.IndexByte(raw, '{')
	if start < 0 {
		return submission{}, errors.New("there is no JSON object in it")
	}
	var whole json.RawMessage
	if err := json.NewDecoder(strings.NewReader(raw[start:])).Decode(&whole); err != nil {
		return submission{}, errors.New("its JSON is broken or incomplete")
	}
	var envelope struct {
		Output json.RawMessage `json:"output"`
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(whole, &envelope); err != nil {
		return submission{}, errors.New("its JSON is broken")
	}
	s := submission{output: envelope.Output}
	_ = json.Unmarshal(envelope.Answer, &s.answer) // an answer that is no string is none
	if s.output == nil {
		s.output = whole
	}
	inner = ""
	if json.Unmarshal(s.output, &inner) == nil {
		s.output = json.RawMessage(inner)
	}
	if t := strings.TrimSpace(string(s.output)); !strings.HasPrefix(t, "{") {
		return submission{}, errors.New(`"output" is no JSON object`)
	}
	return s, nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
