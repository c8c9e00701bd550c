// Command jobpostingagent reads a job posting, looks into the company, compares a résumé with it and writes a report. It is
// made of four steps, each a small agent of its own with one prompt, one tool and a typed output, and of a pipeline that
// runs these same steps in order, on the raw Anthropic SDK and without a framework.
//
//	jobpostingagent run https://example.com/jobs/17 --resume resume.md --out reports
//
// Started by a harness (as "jobpostingagent serve", or without arguments and without a terminal) it serves its steps and
// its pipeline as the entry points job_search.* over ToolEval's stdio protocol; the tools are then the harness's. Read
// agent.go for the steps, loop.go for the tool loop, prompts.go and outputs.go for what goes in and what comes out.
//
// # Limits
//
// An entry point works on its input alone: the words of a task's description don't change what a step does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tooleval/tooleval"
)

// A step is a mini-agent: it takes In, may call its tools, and returns Out.
type step[In, Out any] struct {
	name   string
	system string
	// tools are all that the step may call, whatever else there is. The first one is the step's purpose.
	tools []string
	// done wants that one to have succeeded, and not only to have been tried, before the step's output is accepted.
	done   bool
	schema string               // of Out
	need   func(in In) error    // what is wrong with the input; never nil
	check  func(out *Out) error // what is wrong with the output; nil when its type says it all
}

var (
	extract = step[Posting, JobDetails]{
		name: "extract", system: extractPrompt, tools: []string{"fetch_webpage"}, schema: jobSchema, need: needURL,
	}
	research = step[Company, CompanyBriefing]{
		name: "research", system: researchPrompt, tools: []string{"web_search"}, schema: briefingSchema,
		need: func(in Company) error {
			if blank(in.Company) {
				return errors.New(`the input has no "company"`)
			}
			return nil
		},
		check: (*CompanyBriefing).check,
	}
	analyze = step[Match, FitAnalysis]{
		name: "analyze", system: analyzePrompt, tools: []string{"read_resume"}, schema: fitSchema,
		need: func(in Match) error {
			if in.JobDetails.Unread() {
				return errors.New(`the input's "job_details" say nothing`)
			}
			return nil
		},
		check: (*FitAnalysis).check,
	}
	synthesize = step[Package, Report]{
		name: "synthesize", system: synthesizePrompt, tools: []string{"save_output"}, done: true, schema: reportSchema,
		need: func(in Package) error {
			if in.JobDetails == nil || in.JobDetails.Unread() {
				return errors.New(`the input's "job_details" say nothing`)
			}
			return nil
		},
		check: (*Report).check,
	}
)

func needURL(in Posting) error {
	if blank(in.URL) {
		return errors.New(`the input has no "url"`)
	}
	return nil
}

// run does one step. The answer is the model's final one in words.
func (s step[In, Out]) run(ctx context.Context, x *session, in In) (out Out, answer string, err error) {
	fail := func(err error) (Out, string, error) { return out, "", fmt.Errorf("step %s: %w", s.name, err) }
	if err := s.need(in); err != nil {
		return fail(tooleval.Blame(tooleval.OwnerUser, err))
	}
	input, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return fail(err)
	}
	answer, err = x.loop(ctx, work{
		name: s.name, system: s.system, tools: s.tools, done: s.done, schema: s.schema, input: string(input),
		accept: func(raw json.RawMessage) error {
			var got Out
			if err := json.Unmarshal(raw, &got); err != nil {
				return fmt.Errorf("the output doesn't fit its schema: %w", err)
			}
			if s.check != nil {
				if err := s.check(&got); err != nil {
					return err
				}
			}
			out = got
			return nil
		},
	})
	if err != nil {
		return fail(err)
	}
	return out, answer, nil
}

// pipeline is the steps in order, the very ones that are entry points by themselves. It ends early, with an honest answer,
// when the posting can't be read: there is nothing to go on with.
func pipeline(ctx context.Context, x *session, in Posting) (Package, string, error) {
	var p Package
	job, answer, err := extract.run(ctx, x, in)
	if err != nil {
		return p, "", err
	}
	if p.JobDetails = &job; job.Unread() {
		return p, answer, nil
	}
	briefing := CompanyBriefing{}
	if job.Company != nil && !blank(*job.Company) { // an anonymous posting leaves nothing to look into
		if briefing, _, err = research.run(ctx, x, Company{*job.Company}); err != nil {
			return p, "", err
		}
		p.CompanyBriefing = &briefing
	}
	fit, _, err := analyze.run(ctx, x, Match{job, briefing})
	if err != nil {
		return p, "", err
	}
	p.FitAnalysis = &fit
	_, answer, err = synthesize.run(ctx, x, p)
	return p, answer, err
}

// entryPoints are the agent to a harness.
func (a *Agent) entryPoints() map[string]tooleval.Agent {
	return map[string]tooleval.Agent{
		"job_search.extract":    entry(a, extract.run),
		"job_search.research":   entry(a, research.run),
		"job_search.analyze":    entry(a, analyze.run),
		"job_search.synthesize": entry(a, synthesize.run),
		"job_search.pipeline":   entry(a, pipeline),
	}
}

// entry makes an entry point of a step or of the pipeline.
func entry[In, Out any](a *Agent, run func(context.Context, *session, In) (Out, string, error)) tooleval.Agent {
	type (
		assignment = tooleval.Assignment
		result     = tooleval.AgentResult
	)
	return tooleval.AgentFunc(func(ctx context.Context, as assignment, tools tooleval.ToolHandler) (result, error) {
		x := &session{agent: a, tools: tools, specs: as.Tools}
		var in In
		if len(as.Input) > 0 {
			if err := json.Unmarshal(as.Input, &in); err != nil {
				return result{}, tooleval.Blamef(tooleval.OwnerUser, "the input of %s: %w", as.EntryPoint, err)
			}
		}
		out, answer, err := run(ctx, x, in)
		r := result{Response: tooleval.Text(answer), Usage: x.usage.report()}
		if err != nil {
			return r, err
		}
		r.State, err = json.Marshal(out)
		return r, err
	})
}
