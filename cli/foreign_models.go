package cli

import (
	"context"
	"os"
	"regexp"
	"strings"

	"github.com/tooleval/tooleval/agents/acpagent"
	"github.com/tooleval/tooleval/agents/chatagent"
	"github.com/tooleval/tooleval/agents/httpagent"
	"github.com/tooleval/tooleval/engine"
)

// Environment variables of the agents below.
const (
	httpToken  = "TOOLEVAL_HTTP_TOKEN"      // what an http: agent gets as its bearer token
	acpPolicy  = "TOOLEVAL_ACP_PERMISSIONS" // the permissions of an acp: agent: tools, all or none
	acpExample = "acp:gemini --acp"
)

// modelBackend is the agent that a spec stands for: a bare model as anthropic:MODEL or openai:MODEL, a web service as
// its URL or as http:HOST:PORT/PATH, or a program that speaks ACP as acp:COMMAND. Found is false when the spec is none
// of these.
func (a *App) modelBackend(_ context.Context, spec string) (b engine.Backend, found bool, err error) {
	b.Name = spec
	scheme, rest, ok := strings.Cut(spec, ":")
	if !ok {
		return b, false, nil
	}
	switch scheme {
	case chatagent.Anthropic, chatagent.OpenAI:
		s, err := chatagent.Parse(spec)
		if err != nil {
			return b, true, err
		}
		b.Agent, err = chatagent.New(s, a.getenv)
		return b, true, err
	case "http", "https":
		url := spec
		if strings.HasPrefix(rest, "http://") || strings.HasPrefix(rest, "https://") {
			url = rest
		} else if !strings.HasPrefix(rest, "//") {
			url = scheme + "://" + rest
		}
		b.Agent, err = httpagent.New(url, httpagent.Options{Token: strings.TrimSpace(a.getenv(httpToken))})
		return b, true, err
	case "acp":
		words, env, err := a.command(rest, acpExample)
		if err != nil {
			return b, true, err
		}
		agent := &acpagent.Agent{Command: words, Env: env, Policy: acpagent.Policy(a.getenv(acpPolicy))}
		if self, err := os.Executable(); err == nil {
			agent.Shim = []string{self, "mcp-shim"}
		}
		b.Agent = agent
		return b, true, nil
	}
	return b, false, nil
}

var passwordInURL = regexp.MustCompile(`//[^/?#\s]*@`)

// withoutPassword is a spec as it may be shown: a wrong one may have a password in its URL.
func withoutPassword(spec string) string { return passwordInURL.ReplaceAllString(spec, "//…@") }
