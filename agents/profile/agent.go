package profile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/internal/process"
)

const (
	defaultStart = time.Minute
	// killGrace is the time from SIGTERM to SIGKILL for an agent whose time is over.
	killGrace = 700 * time.Millisecond
	// strayGrace is that time for what an agent left behind when it ended.
	strayGrace = 300 * time.Millisecond
)

// Options are the settings of an Agent. The zero value works for profiles without required variables.
type Options struct {
	// Set gives variables their values, before the environment and the defaults.
	Set map[string]string
	// Getenv looks up the user's environment: variables, what env.pass hands over, PATH. Nil stands for os.Getenv.
	Getenv func(string) string
	// Sandbox is none (also ""), auto or bwrap: whether the agent is fenced in by bubblewrap. Auto fences where bubblewrap
	// works and adds a warning to the runs where it does not.
	Sandbox string
	// Self is a program that serves the helper commands (see Helper); empty stands for the running one.
	Self string
}

// An Agent runs a command-line agent as its profile says. It may be used concurrently.
type Agent struct {
	profile *Profile
	getenv  func(string) string
	values  map[string]string // of the profile's own variables
	missing error             // required variables without a value
	self    string
	fence   *fence // nil without a sandbox
	warning tooleval.Text
	version string
}

// New makes an Agent. Missing variables and programs are told by Preflight, and by every run.
func New(ctx context.Context, p *Profile, o Options) (*Agent, error) {
	a := &Agent{profile: p, getenv: o.Getenv, self: o.Self, values: map[string]string{}}
	if a.getenv == nil {
		a.getenv = os.Getenv
	}
	if a.self == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("agent %q: finding this program itself: %w", p.Name, err)
		}
		a.self = self
	}
	var errs []error
	names := slices.Sorted(maps.Keys(p.Variables))
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		if _, ok := p.Variables[name]; !ok {
			errs = append(errs, fmt.Errorf("agent %q has no variable %q%s; it has: %s",
				p.Name, name, tooleval.DidYouMean(name, names), strings.Join(names, ", ")))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var missing []error
	for _, name := range names {
		v := p.Variables[name]
		value, ok := o.Set[name]
		if !ok && v.Env != "" {
			value = a.getenv(v.Env)
			ok = value != ""
		}
		switch {
		case ok:
			a.values[name] = value
		case v.Default != nil:
			a.values[name] = *v.Default
		default:
			missing = append(missing, v.missing(p.Name, name))
		}
	}
	a.missing = tooleval.Blame(tooleval.OwnerUser, errors.Join(missing...))
	var err error
	if a.fence, a.warning, err = newFence(ctx, o.Sandbox); err != nil {
		return nil, fmt.Errorf("agent %q: %w", p.Name, err)
	}
	a.version = a.askVersion(ctx)
	return a, nil
}

// missing says how to give a variable its value.
func (v Variable) missing(agent, name string) error {
	var how []string
	if v.Env != "" {
		how = append(how, "set "+v.Env)
	}
	if name == "model" {
		how = append(how, fmt.Sprintf("write --agent %s:MODEL", agent))
	}
	if len(how) == 0 {
		how = append(how, "give it a default in the profile")
	}
	what := ""
	if v.Description != "" {
		what = " (" + v.Description + ")"
	}
	return fmt.Errorf("it needs a value for %s%s: %s", name, what, strings.Join(how, ", or "))
}

// Profile is the agent's profile.
func (g *Agent) Profile() *Profile { return g.profile }

// Version is the first line that the profile's version command printed; empty when there is none or it failed.
func (g *Agent) Version() string { return g.version }

// Concurrency is the most runs at a time that the profile recommends; 0 states none.
func (g *Agent) Concurrency() int { return g.profile.Concurrency }

// Fingerprint is the profile, the values of its variables, and the agent's version.
func (g *Agent) Fingerprint() any {
	return struct {
		Profile string            `json:"profile"`
		Digest  string            `json:"digest"`
		Values  map[string]string `json:"values,omitempty"`
		Version string            `json:"version,omitempty"`
		Sandbox bool              `json:"sandbox,omitempty"`
	}{g.profile.Name, fmt.Sprintf("%x", sha256.Sum256(g.profile.text)), g.values, g.version, g.fence != nil}
}

// Preflight tells what would keep the agent from running at all: variables without a value, a missing program.
func (g *Agent) Preflight(context.Context, []tooleval.Assignment) error {
	errs := []error{g.missing}
	if g.missing == nil {
		s := &scope{values: g.values, getenv: g.getenv}
		program, err := s.expand(g.profile.Command[0])
		if err == nil {
			_, err = process.Find(program, []string{"PATH=" + g.getenv("PATH")})
		}
		if err != nil {
			errs = append(errs, tooleval.Blame(tooleval.OwnerUser, fmt.Errorf("%w; install it, or put its folder into PATH", err)))
		}
	}
	return errors.Join(errs...)
}

// askVersion runs the version command in a home of its own. Trouble with it is no reason not to run the agent.
func (g *Agent) askVersion(ctx context.Context) string {
	if len(g.profile.Version) == 0 || g.missing != nil {
		return ""
	}
	home, err := process.NewHome()
	if err != nil {
		return ""
	}
	defer func() { _ = home.Remove() }()
	s := &scope{values: g.values, getenv: g.getenv, home: home}
	command, err := s.expandAll(g.profile.Version)
	if err != nil {
		return ""
	}
	out := &process.Capture{Limits: process.Limits{Head: 1 << 10}}
	p, err := process.Start(process.Spec{Command: command, Dir: home.Work, Env: home.Env(g.baseEnv()), Stdout: out})
	if err != nil {
		return ""
	}
	defer p.Close()
	select {
	case <-p.Exited():
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
	}
	if exit := p.Stop(0, strayGrace); exit.State == nil || !exit.State.Success() {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 100)], "")
}

// baseEnv is the user's PATH, which is where agents and their interpreters are found.
func (g *Agent) baseEnv() []string {
	if path := g.getenv("PATH"); path != "" {
		return []string{"PATH=" + path}
	}
	return nil
}

// fail is trouble with a run of the agent.
func (g *Agent) fail(err error) error {
	var p *agents.ProcessError
	if errors.As(err, &p) {
		return err
	}
	return &agents.ProcessError{Agent: g.profile.Name, Err: err}
}
