package acpagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/agents/mcpagent"
	"github.com/tooleval/tooleval/internal/answer"
	"github.com/tooleval/tooleval/internal/process"
)

// aloneTime is the time in which the program may exit by itself when its input has ended. Some never do.
const aloneTime = time.Second

// An Agent is a program that speaks ACP. It is not changed once it is used; its methods may be called concurrently.
type Agent struct {
	// Name is the agent's name in messages; empty stands for the program's.
	Name string
	// Command is the program and its arguments, as in [agents.Process].
	Command []string
	// Env adds to the environment, as in [agents.Process]: NAME=value, or NAME alone for the harness's own.
	Env []string
	// Policy says which permissions the agent gets; empty stands for AllowTools.
	Policy Policy
	// Shim is a command that is the tools' stdio server when it finds TOOLEVAL_MCP_URL and TOOLEVAL_MCP_TOKEN in its
	// environment, for agents that take no MCP server over HTTP. Empty refuses such agents.
	Shim []string

	// StartTimeout bounds the time from the start to the session; 0 stands for 60 s.
	StartTimeout time.Duration
	// ShutdownGrace bounds the time from cancel to SIGKILL, half of it to SIGTERM; 0 stands for 5 s. Run returns at
	// most 1 s later.
	ShutdownGrace time.Duration
}

func (g *Agent) name() string {
	if g.Name == "" && len(g.Command) > 0 {
		return filepath.Base(g.Command[0])
	}
	return g.Name
}

func (g *Agent) startTimeout() time.Duration { return cmp.Or(g.StartTimeout, time.Minute) }
func (g *Agent) grace() time.Duration        { return cmp.Or(g.ShutdownGrace, 5*time.Second) }

// Preflight looks for the program. It does not start it: what it says then is kept with its runs.
func (g *Agent) Preflight(context.Context, []tooleval.Assignment) error {
	if err := g.Policy.check(); err != nil {
		return g.fail(tooleval.Blame(tooleval.OwnerUser, err))
	}
	if len(g.Command) == 0 {
		return g.fail(tooleval.Blamef(tooleval.OwnerUser, "the command is empty"))
	}
	if _, err := process.Find(g.Command[0], os.Environ()); err != nil {
		return g.fail(tooleval.Blame(tooleval.OwnerUser, err))
	}
	return nil
}

// Fingerprint is the command, the variables and the policy; see [agents.Process.Fingerprint].
func (g *Agent) Fingerprint() any {
	p := agents.Process{Command: g.Command, Env: g.Env}
	return struct {
		Process any    `json:"process"`
		Policy  Policy `json:"policy"`
	}{p.Fingerprint(), g.policy()}
}

func (g *Agent) policy() Policy { return cmp.Or(g.Policy, AllowTools) }

func (g *Agent) fail(err error) error { return &agents.ProcessError{Agent: g.name(), Err: err} }

// Run starts the program, opens a session with the run's tools, sends the task as one prompt, and returns what the
// agent said last once its whole process tree is gone.
//
// The error is an [agents.ProcessError]. It is blamed on infra when the program can't be started or was killed from
// outside, no session could be opened, the agent never asked for its tools, or it failed with a text that stands for
// trouble of the model's provider; on the user when the agent wants a login or can't take the tools; on the agent for
// anything else. When ctx is done first, it wraps the context's cause, has no owner, and the result is what was there
// by then.
func (g *Agent) Run(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	var none tooleval.AgentResult
	if ctx.Err() != nil {
		return none, g.fail(fmt.Errorf("not started: %w", context.Cause(ctx)))
	}
	if err := g.Policy.check(); err != nil {
		return none, g.fail(tooleval.Blame(tooleval.OwnerUser, err))
	}
	endpoint, err := mcpagent.Serve(ctx, a.Tools, tools, mcpagent.Options{PlainNames: true, Prefixes: prefixes})
	if err != nil {
		return none, g.fail(err)
	}
	defer endpoint.Close()
	home, err := process.NewHome()
	if err != nil {
		return none, g.fail(tooleval.Blamef(tooleval.OwnerInfra, "its folder: %w", err))
	}
	s, err := g.start(home, endpoint, a)
	if err != nil {
		return none, g.fail(errors.Join(tooleval.Blame(tooleval.OwnerInfra, err), home.Remove()))
	}
	err = s.converse(ctx, prompt(a))
	exit := s.stop()
	endpoint.Close()
	if e := home.Remove(); e != nil {
		s.notes.add("its folder can't be removed: %v", e)
	}
	return s.conclude(ctx, exit, err)
}

// prompt is the task in words.
func prompt(a tooleval.Assignment) string {
	text := a.Description
	if len(a.Input) > 0 && string(a.Input) != "null" {
		text += "\n\nInput (JSON):\n" + string(a.Input)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// conclude says what the run was.
func (s *session) conclude(ctx context.Context, exit process.Exit, err error) (tooleval.AgentResult, error) {
	text := s.client.answer()
	result := tooleval.AgentResult{
		Response: tooleval.Text(text), Usage: s.client.usage(), Evidence: &tooleval.Evidence{Channel: tooleval.OverMCP}}
	result.State, _ = answer.JSONObject(text)
	status := s.endpoint.Status()
	warnings := append(s.notes.list(), status.Warnings...)
	err = s.verdict(ctx, exit, err, text, result.State == nil, status)
	if err == nil {
		result.Warnings = warnings
		return result, nil
	}
	p := &agents.ProcessError{Agent: s.agent.name(), Err: err, Stderr: tooleval.Text(s.stderr.String()), Warnings: warnings}
	if exit.Alone {
		p.Exit = exit.String()
	}
	return result, p
}

// verdict is the error of a run, with its owner; nil when it counts.
func (s *session) verdict(ctx context.Context, exit process.Exit, err error, text string, bare bool, status mcpagent.Status) error {
	gone := errors.Is(err, errGone)
	switch killed := exit.KilledBy(); {
	case len(exit.Left) > 0: // what it goes on doing would reach the next run
		return tooleval.Blamef(tooleval.OwnerInfra, "can't be ended: %s", strings.Join(exit.Left, ", "))
	case ctx.Err() != nil:
		return fmt.Errorf("stopped: %w", context.Cause(ctx))
	case gone && exit.Alone && (killed == 9 || killed == 15):
		return tooleval.Blamef(tooleval.OwnerInfra, "was %v from outside", exit)
	case gone && s.notes.closedBy() == overrun:
		return tooleval.Blamef(tooleval.OwnerHarness, "the conversation was given up: it said more at once than the harness could take")
	case gone && s.notes.closedBy() == tooLong:
		return tooleval.Blamef(tooleval.OwnerAgent, "it sent a message of more than 10 MiB")
	case gone && !s.opened:
		return tooleval.Blamef(tooleval.OwnerInfra, "ended with %v before there was a session", exit)
	case gone:
		if line, ok := providerFault(s.stderr.Tail(8 << 10)); ok {
			return tooleval.Blamef(tooleval.OwnerInfra, "ended with %v: %q", exit, line)
		}
		return tooleval.Blamef(tooleval.OwnerAgent, "ended with %v in the middle of the run", exit)
	case err != nil:
		return err
	}
	if missing := status.Missing(); missing != "" && s.tools > 0 {
		return tooleval.Blamef(tooleval.OwnerInfra, "%s, and so had no tools; it said: %q", missing, clip(text))
	}
	if status.Calls == 0 && bare && len(text) < 2000 {
		if line, ok := providerFault(text); ok {
			return tooleval.Blamef(tooleval.OwnerInfra, "made no tool call and answered with the text of an error: %q", line)
		}
	}
	return nil
}
