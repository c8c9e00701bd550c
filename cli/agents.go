package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
)

// scriptedMind is the offline twin of a suite's agent; its answers are canned.
const scriptedMind = "scripted"

// backends makes the agents that --agent names.
func (a *App) backends(ctx context.Context, s *tooleval.Suite, names []string, live bool, sandbox string) ([]engine.Backend, error) {
	var backends []engine.Backend
	var errs []error
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			errs = append(errs, fmt.Errorf("--agent %s is given twice", name))
			continue
		}
		b, err := a.backend(ctx, s, name, live, sandbox)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		backends = append(backends, b)
	}
	return backends, errors.Join(errs...)
}

func (a *App) backend(ctx context.Context, s *tooleval.Suite, name string, live bool, sandbox string) (engine.Backend, error) {
	if live && name == scriptedMind {
		return engine.Backend{}, errors.New("--agent scripted with --live: canned answers prove nothing against real tools; " +
			"choose another --agent, or leave out --live")
	}
	mind, ok := s.Mind(name)
	if !ok {
		if b, found, err := a.modelBackend(ctx, name); found || err != nil {
			if err == nil && sandbox == "bwrap" {
				err = errors.New("--sandbox bwrap fences in agents of a profile alone")
			}
			if err != nil {
				err = fmt.Errorf("--agent %s: %w", withoutPassword(name), err)
			}
			return b, err
		}
		if b, found, err := a.foreignBackend(ctx, name, sandbox); found {
			return b, err
		}
		var known []string
		for _, m := range s.Minds {
			known = append(known, m.Name)
		}
		if name == "real" {
			return engine.Backend{}, fmt.Errorf("--agent real: suite %q brings no real agent; it has: %s", s.Name, strings.Join(known, ", "))
		}
		foreign := a.foreignNames()
		return engine.Backend{}, fmt.Errorf("--agent %s: suite %q has no such mind%s; it has: %s; command-line agents: %s (see: tooleval agents); "+
			"or cmd:COMMAND, acp:COMMAND, http://…, https://…, anthropic:MODEL, openai:MODEL",
			name, s.Name, tooleval.DidYouMean(name, append(foreign, known...)), strings.Join(known, ", "), strings.Join(foreign, ", "))
	}
	agent, err := makeMind(ctx, mind, a.getenv)
	if err != nil {
		return engine.Backend{}, fmt.Errorf("--agent %s: %w", name, err)
	}
	return engine.Backend{Name: name, Agent: agent, Aliases: mind.Aliases}, nil
}

// makeMind calls a mind's New, which is somebody else's code.
func makeMind(ctx context.Context, m tooleval.Mind, getenv func(string) string) (agent tooleval.Agent, err error) {
	defer func() {
		if v := recover(); v != nil {
			agent, err = nil, fmt.Errorf("making the mind panicked: %v\n%s", v, debug.Stack())
		}
	}()
	if agent, err = m.New(ctx, getenv); err == nil && agent == nil {
		err = errors.New("its New returned neither an agent nor an error")
	}
	return agent, err
}
