package profile

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/process"
)

// A scope is the values of one run's variables.
type scope struct {
	values map[string]string // the profile's own
	run    map[string]string // the run's
	home   *process.Home
	getenv func(string) string
}

func (s *scope) lookup(name string) (string, error) {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		return s.getenv(env), nil
	}
	if v, ok := s.values[name]; ok {
		return v, nil
	}
	if v, ok := s.run[name]; ok {
		return v, nil
	}
	if s.home != nil {
		switch name {
		case "home":
			return s.home.Home, nil
		case "work":
			return s.home.Work, nil
		case "tmp":
			return s.home.Tmp, nil
		}
	}
	return "", fmt.Errorf("variable ${%s} has no value here", name)
}

func (s *scope) expand(text string) (string, error) { return expand(text, s.lookup, nil) }

func (s *scope) expandAll(texts []string) ([]string, error) {
	out := make([]string, len(texts))
	for i, t := range texts {
		var err error
		if out[i], err = s.expand(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// describe gives the variables of the task, and the prompt.
func (s *scope) describe(a tooleval.Assignment, template string, toolNames []string) error {
	s.run["task_id"], s.run["description"], s.run["entry_point"] = a.TaskID, a.Description, a.EntryPoint
	s.run["input"], s.run["tools"] = string(a.Input), strings.Join(toolNames, ", ")
	task := a.Description
	if len(a.Input) > 0 && string(a.Input) != "null" {
		task += "\n\nInput (JSON):\n" + string(a.Input)
	}
	s.run["task"] = task
	prompt, err := s.expand(template)
	s.run["prompt"] = prompt
	return err
}
