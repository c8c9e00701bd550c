package agents

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/process"
	"github.com/tooleval/tooleval/internal/wire"
)

// A Process is an agent that is a program which speaks the protocol of docs/protocol.md over its standard input and
// output. Every run gets a process, a HOME, a TMPDIR and a folder of its own, and all of that is gone when Run returns.
// A Process is not changed once it is used; its methods may be called concurrently.
type Process struct {
	// Name is the agent's name in messages; empty stands for the program's.
	Name string
	// Command is the program and its arguments. The program is looked up in PATH, or from the harness's own folder when
	// it has a slash. The program starts in another folder, so arguments that are files need absolute paths.
	Command []string
	// Dir is the folder that the program starts in, shared by all runs. Empty stands for a fresh one for each run.
	Dir string
	// Env adds to the environment, which otherwise holds PATH, HOME, TMPDIR, LANG, TERM and nothing else of the
	// harness's: NAME=value sets a variable, NAME alone hands the harness's own one over, if it is set.
	Env []string

	// StartTimeout bounds the time from the start to the answer to initialize; 0 stands for 30 s.
	StartTimeout time.Duration
	// ShutdownGrace bounds the time from shutdown to SIGKILL, half of it to SIGTERM; 0 stands for 5 s. A run whose time
	// is over ends sooner: SIGKILL comes at most 1.2 s after cancel. Run returns at most 1 s later.
	ShutdownGrace time.Duration
	// MaxLine is the most bytes of a message from the agent; 0 stands for 64 MiB.
	MaxLine int
	// MaxStderr is the most bytes of the standard error that are kept, a quarter of them from its head; 0 stands for
	// 64 KiB.
	MaxStderr int
}

// A ProcessError is trouble with an agent's process, with what its process left as evidence.
type ProcessError struct {
	// Agent is the agent's name.
	Agent string
	// Err is what went wrong.
	Err error
	// Exit says how the program ended, such as "exit status 3"; empty when the harness ended it.
	Exit string
	// Stderr is the standard error, cut in the middle when it was too long.
	Stderr tooleval.Text
	// Warnings are other troubles that were noticed.
	Warnings []tooleval.Text
}

// Error is one line: what went wrong, the end of the standard error, and the warnings.
func (e *ProcessError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "agent %q: %v", e.Agent, e.Err)
	if tail := strings.TrimSpace(string(e.Stderr)); tail != "" {
		const most = 2000
		cut := ""
		if len(tail) > most {
			tail, cut = strings.ToValidUTF8(tail[len(tail)-most:], ""), "…"
		}
		fmt.Fprintf(&b, "; its stderr: %q", cut+tail)
	}
	for _, w := range e.Warnings {
		fmt.Fprintf(&b, "; %s", string(w))
	}
	return b.String()
}

// Unwrap is what went wrong.
func (e *ProcessError) Unwrap() error { return e.Err }

func (p *Process) name() string {
	if p.Name == "" && len(p.Command) > 0 {
		return filepath.Base(p.Command[0])
	}
	return p.Name
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

func (p *Process) startTimeout() time.Duration { return orDefault(p.StartTimeout, 30*time.Second) }
func (p *Process) grace() time.Duration        { return orDefault(p.ShutdownGrace, 5*time.Second) }

// cancelGrace is the time from cancel to SIGKILL. The time of the run is over by then, so it is short.
func (p *Process) cancelGrace() time.Duration { return min(p.grace(), 1200*time.Millisecond) }

// Fingerprint is the command, the folder and the variables that Env sets, the values as digests. Variables that are
// only handed over count by name: they hold keys, which change without changing the agent.
func (p *Process) Fingerprint() any {
	env := slices.Clone(p.Env)
	for i, e := range env {
		if name, value, ok := strings.Cut(e, "="); ok {
			env[i] = fmt.Sprintf("%s=%x", name, sha256.Sum256([]byte(value)))
		}
	}
	return struct {
		Command []string `json:"command"`
		Dir     string   `json:"dir,omitempty"`
		Env     []string `json:"env,omitempty"`
	}{p.Command, p.Dir, env}
}

// Run starts the program, gives it the assignment, serves its tool calls and returns its answer once its whole process
// tree is gone. Trouble that did not keep it from answering becomes a warning in the result.
//
// The error is a *[ProcessError] with an owner (see [tooleval.BlamedOn]): infra for a program that can't be started,
// does not answer initialize or was killed from outside; user for one that does not serve the entry point; agent, or
// the owner that the agent itself named, for everything after that. When ctx is done first, the agent is told to stop;
// the error then wraps the context's cause, has no owner, and comes with the result if the agent still gave one.
func (p *Process) Run(
	ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler,
) (tooleval.AgentResult, error) {
	s, err := p.open(ctx, tools)
	if err != nil {
		return tooleval.AgentResult{}, err
	}
	init, err := s.initialize(ctx)
	if err == nil {
		if e := init.serves(a.EntryPoint); e != nil {
			err = tooleval.Blame(tooleval.OwnerUser, e)
		}
	}
	if err != nil {
		return tooleval.AgentResult{}, s.fail(s.close(), err)
	}
	result, err := s.runOne(ctx, a)
	exit := s.close()
	if err != nil {
		return result, s.fail(exit, err)
	}
	if len(exit.Left) > 0 { // what it goes on doing would reach the next run
		err := tooleval.Blamef(tooleval.OwnerInfra, "can't be ended: %s", strings.Join(exit.Left, ", "))
		return result, s.fail(exit, err)
	}
	switch {
	case !exit.Alone:
		s.notes.add("it did not exit within %v of shutdown and was ended by a signal", p.grace()/2)
	case exit.State != nil && !exit.State.Success():
		s.notes.add("it ended with %v after its answer", exit)
	}
	result.Warnings = append(result.Warnings, s.warnings()...)
	return result, nil
}

// Preflight starts the program once, without a task, and tells what would keep it from serving the assignments.
func (p *Process) Preflight(ctx context.Context, assignments []tooleval.Assignment) error {
	s, err := p.open(ctx, nil)
	if err != nil {
		return err
	}
	init, err := s.initialize(ctx)
	var lacks []error
	if err == nil {
		seen := map[string]bool{}
		for _, a := range assignments {
			if !seen[a.EntryPoint] {
				seen[a.EntryPoint] = true
				lacks = append(lacks, init.serves(a.EntryPoint))
			}
		}
		err = tooleval.Blame(tooleval.OwnerUser, errors.Join(lacks...))
	}
	exit := s.close()
	if err != nil {
		return s.fail(exit, err)
	}
	return nil
}

// open starts the program in a home of its own.
func (p *Process) open(ctx context.Context, tools tooleval.ToolHandler) (*session, error) {
	fail := func(err error) error {
		return &ProcessError{Agent: p.name(), Err: tooleval.Blame(tooleval.OwnerInfra, err)}
	}
	if ctx.Err() != nil {
		return nil, &ProcessError{Agent: p.name(), Err: fmt.Errorf("not started: %w", context.Cause(ctx))}
	}
	home, err := process.NewHome()
	if err != nil {
		return nil, fail(fmt.Errorf("its folder: %w", err))
	}
	dir := p.Dir
	if dir == "" {
		dir = home.Work
	}
	limit := orDefault(p.MaxStderr, 64<<10)
	stderr := &process.Capture{Limits: process.Limits{Head: limit / 4, Tail: limit - limit/4}}
	proc, err := process.Start(process.Spec{
		Command: p.Command, Dir: dir, Env: home.Env(p.Env), Stdin: true, Stderr: stderr})
	if err != nil {
		return nil, fail(errors.Join(err, home.Remove()))
	}
	return newSession(p, proc, home, stderr, tools, wire.NewReader(proc.Stdout, orDefault(p.MaxLine, wire.MaxLine))), nil
}

// fileHint explains the most frequent reason why an interpreter exits at once.
func (p *Process) fileHint() string {
	if p.Dir != "" || len(p.Command) < 2 {
		return ""
	}
	for _, arg := range p.Command[1:] {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() && !filepath.IsAbs(arg) {
			return fmt.Sprintf(" (%q is a file here, but the agent starts in a fresh folder: write its absolute path)", arg)
		}
	}
	return ""
}
