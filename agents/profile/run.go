package profile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/mcpagent"
	"github.com/tooleval/tooleval/internal/process"
)

// maxArgument is the longest argument that Linux takes, less its NUL.
const maxArgument = 128<<10 - 1

// An attempt is one run in the making.
type attempt struct {
	agent    *Agent
	home     *process.Home
	endpoint *mcpagent.Endpoint
	scope    *scope
	command  []string
	env      []string
	forwards *forwards // nil without a sandbox

	stdout, stderr process.Capture
	active         atomic.Int64 // when output last came, in nanoseconds
	exit           process.Exit
	status         mcpagent.Status
	cut            error // why the harness ended the program, unless the run's context was done
	warnings       []tooleval.Text
}

// Run does one run: it serves the tools, starts the program, waits for its end, and says what came out.
//
// The error is an [agents.ProcessError]. It is blamed on infra when the agent never asked for its tools, was killed from
// outside, or failed with a text that stands for trouble of the model's provider; on the user for a profile that can't
// be filled in; on the agent for any other failure. When ctx is done first it wraps the context's cause, has no owner,
// and the result is what was there by then.
func (g *Agent) Run(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (result tooleval.AgentResult, err error) {
	if ctx.Err() != nil {
		return result, g.fail(fmt.Errorf("not started: %w", context.Cause(ctx)))
	}
	if g.missing != nil {
		return result, g.fail(g.missing)
	}
	t := &attempt{agent: g}
	defer func() {
		if e := t.close(); e != nil {
			result.Warnings = append(result.Warnings, tooleval.Text("its folder can't be removed: "+e.Error()))
		}
	}()
	if err := t.prepare(ctx, a, tools); err != nil {
		return result, g.fail(err)
	}
	if err := t.execute(ctx); err != nil {
		return result, g.fail(tooleval.Blame(tooleval.OwnerInfra, err))
	}
	return t.conclude(ctx)
}

// close ends what is left and removes the run's folders.
func (t *attempt) close() error {
	if t.forwards != nil {
		t.forwards.close()
	}
	if t.endpoint != nil {
		t.endpoint.Close()
	}
	if t.home != nil {
		return t.home.Remove()
	}
	return nil
}

// prepare makes everything that the program needs.
func (t *attempt) prepare(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) error {
	p := t.agent.profile
	var err error
	if t.home, err = process.NewHome(); err != nil {
		return tooleval.Blame(tooleval.OwnerInfra, fmt.Errorf("its folder: %w", err))
	}
	t.endpoint, err = mcpagent.Serve(ctx, a.Tools, tools, mcpagent.Options{PlainNames: p.MCP.PlainNames, Prefixes: p.MCP.Prefixes})
	if err != nil {
		return err
	}
	t.scope = &scope{values: t.agent.values, getenv: t.agent.getenv, home: t.home, run: map[string]string{
		"mcp_url": t.endpoint.URL, "mcp_token": t.endpoint.Token,
	}}
	if p.transport() == "stdio" {
		if err := t.writeShim(); err != nil {
			return tooleval.Blame(tooleval.OwnerInfra, err)
		}
	}
	var names []string
	for _, tool := range a.Tools {
		names = append(names, tool.Name)
	}
	if err := t.scope.describe(a, p.template(), names); err != nil {
		return tooleval.Blame(tooleval.OwnerUser, err)
	}
	if err := t.writeFiles(); err != nil {
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	return t.fillIn()
}

// writeShim writes a program that needs no argument and no environment to be the tools' stdio server.
func (t *attempt) writeShim() error {
	path := filepath.Join(t.home.Root, "mcp-shim")
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	script := fmt.Sprintf("#!/bin/sh\nTOOLEVAL_MCP_URL=%s TOOLEVAL_MCP_TOKEN=%s exec %s mcp-shim\n",
		quote(t.endpoint.URL), quote(t.endpoint.Token), quote(t.agent.self))
	t.scope.run["mcp_shim"] = path
	return os.WriteFile(path, []byte(script), 0o700)
}

func (t *attempt) writeFiles() error {
	p := t.agent.profile
	write := func(name, content string, escape func(string) string) (string, error) {
		path, err := t.scope.expand(name)
		if err != nil {
			return "", err
		}
		content, err = expand(content, t.scope.lookup, escape)
		if err != nil {
			return "", err
		}
		if rel, err := filepath.Rel(t.home.Root, path); err != nil || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("the file %s is outside of the run's own folders", path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		return path, os.WriteFile(path, []byte(content), 0o600)
	}
	if p.by() == "file" {
		path, err := write(p.Prompt.File, "${prompt}", nil)
		if err != nil {
			return err
		}
		t.scope.run["prompt_file"] = path
	}
	for _, f := range p.Files {
		if _, err := write(f.Path, f.Content, escapeFor(f.Path)); err != nil {
			return err
		}
	}
	return nil
}

// fillIn makes the command and the environment.
func (t *attempt) fillIn() error {
	p := t.agent.profile
	var err error
	// What begins with a hyphen would be taken for an option.
	if p.by() == "argument" && strings.HasPrefix(t.scope.run["prompt"], "-") {
		t.scope.run["prompt"] = " " + t.scope.run["prompt"]
	}
	if t.command, err = t.scope.expandAll(p.Command); err != nil {
		return tooleval.Blame(tooleval.OwnerUser, err)
	}
	for _, arg := range t.command {
		switch {
		case strings.ContainsRune(arg, 0):
			return tooleval.Blamef(tooleval.OwnerUser, "an argument with a NUL byte can't be given to a program; use prompt.by: stdin in the profile")
		case len(arg) > maxArgument:
			return tooleval.Blamef(tooleval.OwnerUser, "an argument of %d bytes is more than a program can be given (%d); use prompt.by: stdin or file in the profile",
				len(arg), maxArgument)
		}
	}
	env := t.agent.baseEnv()
	for _, name := range p.Env.Pass {
		if v := t.agent.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env.Set)) {
		v, err := t.scope.expand(p.Env.Set[name])
		if err != nil {
			return tooleval.Blame(tooleval.OwnerUser, err)
		}
		env = append(env, name+"="+v)
	}
	t.env = t.home.Env(env)
	if t.agent.fence != nil {
		return t.enclose()
	}
	return nil
}

// activity notes when output came.
type activity struct {
	to   *process.Capture
	last *atomic.Int64
}

func (a activity) Write(b []byte) (int, error) {
	a.last.Store(time.Now().UnixNano())
	return a.to.Write(b)
}

var (
	errStart = errors.New("it did not ask for its tools in time")
	errIdle  = errors.New("it was idle for too long")
	errTime  = errors.New("its time is over")
)

// execute starts the program and ends it, at the latest when ctx is done.
func (t *attempt) execute(ctx context.Context) error {
	p := t.agent.profile
	t.stdout.Limits = process.Limits{Head: 4 << 20, Tail: 12 << 20}
	t.active.Store(time.Now().UnixNano())
	proc, err := process.Start(process.Spec{
		Command: t.command, Dir: t.home.Work, Env: t.env, Stdin: p.by() == "stdin",
		Stdout: activity{&t.stdout, &t.active}, Stderr: activity{&t.stderr, &t.active},
	})
	if err != nil {
		return err
	}
	defer proc.Close()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		if proc.Stdin != nil { // the program may end without reading; then the write fails, which says nothing
			_, _ = proc.Stdin.WriteString(t.scope.run["prompt"])
			_ = proc.Stdin.Close()
		}
	}()
	if t.wait(ctx, proc) {
		t.exit = proc.Stop(0, strayGrace)
		if t.exit.Strays > 0 && t.agent.fence == nil { // a sandbox ends a moment after its command, with all that is in it
			t.warn("it left %d processes behind when it ended; they were ended too", t.exit.Strays)
		}
	} else {
		t.exit = proc.Stop(0, killGrace)
	}
	<-fed
	// The world is closed before anything is judged: what comes now has no effect.
	t.endpoint.Close()
	t.status = t.endpoint.Status()
	t.warnings = append(t.warnings, t.status.Warnings...)
	return nil
}

// wait waits for the program's end; false means that it is to be ended, because of t.cut or of ctx.
func (t *attempt) wait(ctx context.Context, proc *process.Process) (ended bool) {
	limits := t.agent.profile.Limits
	start := time.NewTimer(or(limits.Start.Duration, defaultStart))
	defer start.Stop()
	var timeout <-chan time.Time
	if limits.Timeout.Duration > 0 {
		timeout = time.After(limits.Timeout.Duration)
	}
	var tick <-chan time.Time
	if limits.Idle.Duration > 0 {
		ticker := time.NewTicker(max(limits.Idle.Duration/10, 10*time.Millisecond))
		defer ticker.Stop()
		tick = ticker.C
	}
	listed := t.endpoint.Listed()
	for {
		select {
		case <-proc.Exited():
			return true
		case <-ctx.Done():
			return false
		case <-listed:
			listed = nil
			start.Stop()
		case <-start.C:
			if t.endpoint.Status().Listed {
				continue
			}
			t.cut = fmt.Errorf("%w (%v)", errStart, or(limits.Start.Duration, defaultStart))
			return false
		case <-timeout:
			t.cut = fmt.Errorf("%w: it took longer than its profile's limits.timeout of %v", errTime, limits.Timeout.Duration)
			return false
		case <-tick:
			last := time.Unix(0, t.active.Load())
			if seen := t.endpoint.LastSeen(); seen.After(last) {
				last = seen
			}
			if time.Since(last) > limits.Idle.Duration {
				t.cut = fmt.Errorf("%w: no output and no request for %v", errIdle, limits.Idle.Duration)
				return false
			}
		}
	}
}

func (t *attempt) warn(format string, args ...any) {
	t.warnings = append(t.warnings, tooleval.Text(fmt.Sprintf(format, args...)))
}
