package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agents/profile"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/process"
)

// agentEnv names the environment variable that lists the variables which a cmd: or acp: agent gets.
const agentEnv = "TOOLEVAL_AGENT_ENV"

// foreignBackend is the agent that a name outside of the suite stands for: cmd:COMMAND, or a profile as NAME or
// NAME:MODEL. Found is false when the name is neither.
func (a *App) foreignBackend(ctx context.Context, name, sandbox string) (b engine.Backend, found bool, err error) {
	if command, ok := strings.CutPrefix(name, "cmd:"); ok {
		agent, err := a.commandAgent(command, sandbox)
		if err != nil {
			return engine.Backend{}, true, fmt.Errorf("--agent %s: %w", name, err)
		}
		return engine.Backend{Name: name, Agent: agent}, true, nil
	}
	base, model, hasModel := strings.Cut(name, ":")
	p, err := profile.Find(base, profile.Folders(a.getenv))
	switch {
	case errors.Is(err, profile.ErrUnknown):
		return engine.Backend{}, false, nil
	case err != nil:
		return engine.Backend{}, true, fmt.Errorf("--agent %s: %w", name, err)
	}
	agent, err := a.profileAgent(ctx, p, model, hasModel, sandbox)
	if err != nil {
		return engine.Backend{}, true, fmt.Errorf("--agent %s: %w", name, err)
	}
	return engine.Backend{Name: name, Agent: agent}, true, nil
}

func (a *App) profileAgent(ctx context.Context, p *profile.Profile, model string, hasModel bool, sandbox string) (*profile.Agent, error) {
	o := profile.Options{Getenv: a.getenv, Sandbox: sandbox}
	if hasModel {
		if model == "" {
			return nil, fmt.Errorf("the model behind the colon is missing")
		}
		o.Set = map[string]string{"model": model}
	}
	return profile.New(ctx, p, o)
}

// foreignNames are the names that foreignBackend knows, for a hint behind a wrong one.
func (a *App) foreignNames() []string {
	list, err := profile.List(profile.Folders(a.getenv))
	if err != nil {
		return nil // a hint is not worth an error of its own
	}
	var names []string
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names
}

// concurrencyOf is the most runs at a time that this machine bears of the heaviest agent; 0 when none says how heavy it is.
func concurrencyOf(backends []engine.Backend) int {
	least := 0
	for _, b := range backends {
		// An agent states what two processors bear.
		if c, ok := b.Agent.(interface{ Concurrency() int }); ok && c.Concurrency() > 0 {
			if n := max(1, c.Concurrency()*runtime.NumCPU()/2); least == 0 || n < least {
				least = n
			}
		}
	}
	if least > 0 {
		least = min(least, runtime.NumCPU())
	}
	return least
}

// A commandAgent is a program that speaks the stdio protocol. Before an eval it is only looked for: one that starts but
// does not speak is a fault of its runs, where what it said instead is kept.
type commandAgent struct{ process *agents.Process }

func (c commandAgent) Run(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	return c.process.Run(ctx, a, tools)
}

func (c commandAgent) Fingerprint() any { return c.process.Fingerprint() }

func (c commandAgent) Preflight(context.Context, []tooleval.Assignment) error {
	_, err := process.Find(c.process.Command[0], os.Environ())
	return tooleval.Blame(tooleval.OwnerUser, err)
}

func (a *App) commandAgent(command, sandbox string) (tooleval.Agent, error) {
	words, env, err := a.command(command, "cmd:python3 agent.py")
	if err != nil {
		return nil, err
	}
	if sandbox == "bwrap" {
		return nil, errors.New("--sandbox bwrap fences in agents of a profile alone; put bwrap into the command")
	}
	return commandAgent{&agents.Process{Command: words, Env: env}}, nil
}

// command is what a user's text starts, and the names of the variables that it gets.
func (a *App) command(text, example string) (words, env []string, err error) {
	if words, err = splitWords(text); err != nil {
		return nil, nil, err
	}
	if len(words) == 0 {
		return nil, nil, fmt.Errorf("the command is empty; for example: %s", example)
	}
	for i, w := range words[1:] {
		// The agent starts in a folder of its own, where the user's relative paths would mean nothing.
		if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() && !filepath.IsAbs(w) {
			if words[i+1], err = filepath.Abs(w); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, name := range strings.FieldsFunc(a.getenv(agentEnv), func(r rune) bool { return r == ',' || r == ' ' }) {
		if strings.Contains(name, "=") {
			return nil, nil, fmt.Errorf("%s holds names of variables, without values: %q", agentEnv, name)
		}
		env = append(env, name)
	}
	slices.Sort(env)
	return words, slices.Compact(env), nil
}

// splitWords splits a command as a shell does: at spaces, with '…', "…" and \ taking away the meaning of what they hold.
// Nothing else has a meaning; no shell is run.
func splitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote, escaped := false, rune(0), false
	for _, r := range s {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			in, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("the command %q ends within a quotation", s)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
