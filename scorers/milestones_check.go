package scorers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tooleval/tooleval"
)

// MostMilestones bounds Milestones.Reach.
const MostMilestones = 100

// Check reports what is wrong with the milestones, for each task that they judge.
func (m *Milestones) Check(s *tooleval.Suite) error {
	errs := []error{m.sound()}
	seen := map[string]bool{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if s.Scorers[t.ID] != tooleval.Scorer(m) {
			continue
		}
		known := func(what, name, tool string) {
			if tool == "" || slices.Contains(t.Toolset, tool) || seen[what+name] {
				return
			}
			seen[what+name] = true
			errs = append(errs, fmt.Errorf("%s %q: tool %q is not in the task's toolset%s", what, name, tool,
				tooleval.DidYouMean(tool, t.Toolset)))
		}
		for k := range m.Reach {
			known("milestone", m.Reach[k].Name, m.Reach[k].Tool)
		}
		for k := range m.Avoid {
			known("minefield", m.Avoid[k].Name, m.Avoid[k].Tool)
		}
	}
	return errors.Join(errs...)
}

// sound reports everything that is wrong with the milestones by themselves.
func (m *Milestones) sound() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(m.Reach) == 0 {
		fail("milestones: there is nothing to reach; for what must not happen alone, use forbidden calls")
	}
	if len(m.Reach) > MostMilestones {
		fail("milestones: %d are too many to assign; at most %d", len(m.Reach), MostMilestones)
	}
	var names []string
	taken := map[string]bool{}
	part := func(what, name, tool string, args, state tooleval.Pattern) {
		switch {
		case name == "":
			fail("%s without a name", what)
		case taken[name]:
			fail("%s %q: the name is used twice", what, name)
		}
		taken[name] = true
		if (tool == "") == state.IsZero() {
			fail("%s %q: give either a tool or a state", what, name)
		}
		if err := errors.Join(args.Err(), state.Err()); err != nil {
			fail("%s %q: %w", what, name, err)
		} else if !state.IsZero() && state.Vacuous() {
			fail("%s %q: its state checks nothing", what, name)
		}
	}
	for i := range m.Reach {
		part("milestone", m.Reach[i].Name, m.Reach[i].Tool, m.Reach[i].Args, m.Reach[i].State)
		names = append(names, m.Reach[i].Name)
	}
	for i := range m.Reach {
		r := &m.Reach[i]
		for _, name := range r.After {
			j := slices.Index(names, name)
			switch {
			case j < 0:
				fail("milestone %q: after: unknown milestone %q%s", r.Name, name, tooleval.DidYouMean(name, names))
			case m.Reach[j].Tool == "" && r.Tool != "":
				fail("milestone %q: a state is known at the end only, so no call comes after %q", r.Name, name)
			}
		}
	}
	if len(errs) == 0 {
		for i, row := range m.closure() {
			if row[i] {
				fail("milestone %q: it comes after itself", names[i])
				break
			}
		}
	}
	for i := range m.Avoid {
		f := &m.Avoid[i]
		part("minefield", f.Name, f.Tool, f.Args, f.State)
		if f.Until == "" {
			continue
		}
		switch j := slices.Index(names, f.Until); {
		case f.Tool == "":
			fail("minefield %q: until is for calls", f.Name)
		case j < 0:
			fail("minefield %q: until: unknown milestone %q%s", f.Name, f.Until, tooleval.DidYouMean(f.Until, names))
		case m.Reach[j].Tool == "":
			fail("minefield %q: until: %q is a state, which is known at the end only", f.Name, f.Until)
		}
	}
	return errors.Join(errs...)
}

// closure says of each two milestones whether the first comes after the second, directly or by way of others.
func (m *Milestones) closure() [][]bool {
	n := len(m.Reach)
	after := make([][]bool, n)
	for i := range after {
		after[i] = make([]bool, n)
		for j := range m.Reach {
			after[i][j] = slices.Contains(m.Reach[i].After, m.Reach[j].Name)
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				after[i][j] = after[i][j] || after[i][k] && after[k][j]
			}
		}
	}
	return after
}
