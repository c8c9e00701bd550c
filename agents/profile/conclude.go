package profile

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	finaltext "github.com/tooleval/tooleval/internal/answer"
)

// providerFaults are texts that agents print when their model's server, not they, failed.
var providerFaults = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests|quota.{0,20}(exceeded|exhausted|reached)|exceeded.{0,30}quota|insufficient.quota|resource.?exhausted|credit balance is too low`),
	regexp.MustCompile(`(?i)\b401\b|\bunauthori[sz]ed\b|(invalid|incorrect|missing|no).{0,12}api.?key|authentication.?(error|failed)|\b403\b.{0,5}forbidden`),
	regexp.MustCompile(`(?i)\b(500|502|503|504|529)\b|overloaded|(experiencing|due to) high demand|service unavailable|internal server error|bad gateway|gateway time-?out`),
	regexp.MustCompile(`(?i)ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|connection.?(refused|reset|error)|unable to connect|error sending request|stream disconnected|fetch failed|could not resolve`),
}

// shortest text that is rather an answer than an error message, in bytes.
const longAnswer = 2000

// conclude says what the run was.
func (t *attempt) conclude(ctx context.Context) (tooleval.AgentResult, error) {
	a, readErr := t.read()
	result := tooleval.AgentResult{
		Response: tooleval.Text(a.text), State: stateOf(a.text), Usage: a.usage,
		Evidence: &tooleval.Evidence{Channel: tooleval.OverMCP, Incomplete: t.agent.profile.Incomplete},
	}
	if model := t.agent.values["model"]; model != "" {
		if result.Usage == nil {
			result.Usage = &tooleval.Usage{}
		}
		result.Usage.Model = model
	}
	if t.agent.warning != "" {
		t.warnings = append(t.warnings, t.agent.warning)
	}
	err := t.verdict(ctx, a, readErr)
	if err == nil {
		result.Warnings = t.warnings
		return result, nil
	}
	p := &agents.ProcessError{Agent: t.agent.profile.Name, Err: err, Stderr: tooleval.Text(t.stderr.String()), Warnings: t.warnings}
	if t.exit.Alone {
		p.Exit = t.exit.String()
	}
	return result, p
}

// verdict is the error of a run, with its owner; nil when it counts.
func (t *attempt) verdict(ctx context.Context, a answer, readErr error) error {
	infra := func(format string, args ...any) error { return tooleval.Blamef(tooleval.OwnerInfra, format, args...) }
	switch {
	case len(t.exit.Left) > 0: // what it goes on doing would reach the next run
		return infra("can't be ended: %s", strings.Join(t.exit.Left, ", "))
	case ctx.Err() != nil && !t.exit.Alone:
		return fmt.Errorf("ended by the harness: %w", context.Cause(ctx))
	case errors.Is(t.cut, errStart):
		return infra("%w: %s%s", t.cut, t.status.Missing(), t.hint(a))
	case t.cut != nil:
		return tooleval.Blame(tooleval.OwnerAgent, t.cut)
	}
	if missing := t.status.Missing(); missing != "" {
		return infra("%s, and so had no tools; it ended with %v%s", missing, t.exit, t.hint(a))
	}
	code := -1
	if t.exit.State != nil {
		code = t.exit.State.ExitCode()
	}
	exits := &t.agent.profile.Exit
	switch killed := t.exit.KilledBy(); {
	case killed == 9 || killed == 15 || t.agent.fence != nil && (code == 128+9 || code == 128+15):
		return infra("was %v from outside", t.exit)
	case slices.Contains(exits.Infra, code):
		return infra("ended with %v, which its profile blames on infra%s", t.exit, t.hint(a))
	case slices.Contains(exits.Limit, code):
		t.warn("it stopped at a limit of its own (%v)", t.exit)
		return nil
	case code == 0 && exits.OK == nil || slices.Contains(exits.OK, code):
		return t.success(a, readErr)
	}
	if owner, text := t.fault(a.trouble, t.stderr.Tail(8<<10), a.text); text != "" {
		return tooleval.Blamef(owner, "ended with %v: %s", t.exit, text)
	}
	return tooleval.Blamef(tooleval.OwnerAgent, "ended with %v%s", t.exit, t.hint(a))
}

// success looks for the failures that agents report with exit code 0.
func (t *attempt) success(a answer, readErr error) error {
	if t.status.Calls == 0 && stateOf(a.text) == nil {
		texts := []string{a.trouble}
		if len(a.text) < longAnswer {
			texts = append(texts, a.text)
		}
		if a.text == "" {
			texts = append(texts, t.stderr.Tail(8<<10))
		}
		if owner, text := t.fault(texts...); text != "" {
			return tooleval.Blamef(owner, "ended with %v and without a tool call, but with the text of an error: %s", t.exit, text)
		}
	}
	switch {
	case readErr != nil:
		t.warn("%v", readErr)
	case a.trouble != "" && !a.found:
		return tooleval.Blamef(tooleval.OwnerAgent, "ended with %v and no answer, but an error: %q", t.exit, clip(a.trouble))
	}
	return nil
}

// fault is the owner of a failure whose text is known, and the line that says it.
func (t *attempt) fault(texts ...string) (tooleval.Owner, string) {
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			for _, f := range t.agent.profile.Faults {
				if f.pattern.MatchString(line) {
					return f.Owner, fmt.Sprintf("%q", around(line, f.pattern))
				}
			}
			for _, p := range providerFaults {
				if p.MatchString(line) {
					return tooleval.OwnerInfra, fmt.Sprintf("%q", around(line, p))
				}
			}
		}
	}
	return "", ""
}

// around is a line, or the part of a long one where the pattern is.
func around(line string, p *regexp.Regexp) string {
	const most = 300
	line = strings.TrimSpace(line)
	if len(line) <= most {
		return line
	}
	start := 0
	if at := p.FindStringIndex(line); at != nil {
		start = max(0, min(at[0]-most/2, len(line)-most))
	}
	return strings.ToValidUTF8(line[start:start+most], "")
}

// hint is the error that the agent's output tells of.
func (t *attempt) hint(a answer) string {
	switch {
	case a.trouble != "":
		return fmt.Sprintf("; it said: %q", around(a.trouble, providerFaults[0]))
	case a.text != "" && len(a.text) < longAnswer:
		return fmt.Sprintf("; it said: %q", around(a.text, providerFaults[0]))
	}
	return ""
}

// stateOf is the JSON object that an answer is or ends with; nil when it has none.
func stateOf(text string) tooleval.Raw {
	state, _ := finaltext.JSONObject(text)
	return state
}
