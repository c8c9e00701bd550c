package scorers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// Check reports what is wrong with the goal, and plays the ground truth of the tasks that it belongs to.
func (g *Goal) Check(s *tooleval.Suite) error {
	var errs []error
	if g.After != nil && !g.State.IsZero() {
		errs = append(errs, errors.New("goal: give either ground-truth actions or a state, not both"))
	}
	if g.After != nil && g.World == nil {
		errs = append(errs, errors.New("goal: ground-truth actions need a world to be played in"))
	}
	if err := g.State.Err(); err != nil {
		errs = append(errs, fmt.Errorf("goal: state: %w", err))
	} else if !g.State.IsZero() && g.State.Vacuous() {
		errs = append(errs, errors.New("goal: the state that it asks for checks nothing"))
	}
	if g.After == nil && g.State.IsZero() && len(g.Said) == 0 {
		errs = append(errs, errors.New("goal: it checks nothing; give it actions, a state, or something to be said"))
	}
	if _, err := g.rules(); err != nil {
		errs = append(errs, fmt.Errorf("goal: %w", err))
	}
	seen := map[string]bool{}
	for i := range g.Said {
		if _, err := g.Said[i].compile(); err != nil {
			errs = append(errs, fmt.Errorf("goal: statement %d: %w", i+1, err))
		}
		if name := g.Said[i].name(); seen[name] {
			errs = append(errs, fmt.Errorf("goal: two statements are named %q", name))
		} else {
			seen[name] = true
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if s.Scorers[t.ID] != tooleval.Scorer(g) || len(errs) > 0 || g.World == nil {
			continue
		}
		for j, a := range g.After {
			if _, known := s.Tool(a.Tool); !known {
				var names []string
				for _, tool := range s.Tools {
					names = append(names, tool.Name)
				}
				errs = append(errs, fmt.Errorf("goal: ground-truth action %d: unknown tool %q%s", j+1, a.Tool,
					tooleval.DidYouMean(a.Tool, names)))
			}
		}
		if len(errs) == 0 {
			if _, _, err := g.play(context.Background(), &tooleval.Run{Task: *t, Tools: s.Toolset(t)}); err != nil {
				errs = append(errs, fmt.Errorf("goal: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// Fingerprint is everything that the goal asks for.
func (g *Goal) Fingerprint() any {
	return struct {
		Goal      string           `json:"scorer"`
		After     []Action         `json:"after,omitempty"`
		Actions   bool             `json:"has_actions"`
		State     tooleval.Pattern `json:"state,omitzero"`
		Ignore    []string         `json:"ignore,omitempty"`
		Unordered []List           `json:"unordered,omitempty"`
		Lenient   bool             `json:"lenient,omitempty"`
		Said      []Statement      `json:"said,omitempty"`
		Tells     []Telling        `json:"tells,omitempty"`
	}{"goal", g.After, g.After != nil, g.State, g.Ignore, g.Unordered, g.Lenient, g.Said, g.Tells}
}

// Oracle is an agent that does the ground truth and says what has to be said. It passes every sound task.
func (g *Goal) Oracle() tooleval.Agent {
	return tooleval.AgentFunc(func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		for _, a := range g.After {
			if _, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: a.Tool, Args: bytes.Clone(a.Args)}); err != nil {
				return tooleval.AgentResult{}, err
			}
		}
		answer := g.Answer
		if answer == "" {
			var parts []string
			for _, s := range g.Said {
				if !s.Not {
					parts = append(parts, s.Words+string(s.Number)+s.Text)
				}
			}
			answer = strings.Join(parts, "\n")
		}
		return tooleval.AgentResult{Response: tooleval.Text(answer)}, nil
	})
}
