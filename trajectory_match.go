package tooleval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A TrajectoryMatch says which trajectories are right, call by call, where required and forbidden calls say too little.
// docs/trajectory-matching.md has the truth table of all modes.
type TrajectoryMatch struct {
	// Calls are the expected calls in their order. Exactly one of Calls and AnyOf is given.
	Calls []ExpectedCall `json:"calls,omitempty"`
	// AnyOf are whole trajectories of which one is enough.
	AnyOf []ExpectedTrajectory `json:"any_of,omitempty"`
	// Mode says how the calls that were made relate to the expected ones; it has no default.
	Mode MatchMode `json:"mode"`
	// Args is how arguments are compared; empty stands for [ArgsMatchers]. Tools says otherwise for single tools, by name,
	// and ExpectedCall.ArgsMode for single calls.
	Args  ArgsMode            `json:"args_mode,omitempty"`
	Tools map[string]ArgsMode `json:"tools,omitempty"`
	// OrderedTurns asks for the order of the calls of one parallel turn too, as they began. Otherwise such calls are
	// unordered among themselves, also in ordered modes.
	OrderedTurns bool `json:"ordered_turns,omitempty"`
	// Counts says what a mismatch costs; empty stands for [CountsProcess].
	Counts MatchCounts `json:"counts,omitempty"`
}

// An ExpectedTrajectory is one of several that are right.
type ExpectedTrajectory struct {
	// Name stands in reports; empty for "alternative 1" and so on.
	Name  string         `json:"name,omitempty"`
	Calls []ExpectedCall `json:"calls"`
}

// An ExpectedCall is one call of an expected trajectory. It is met by a call of its own that returned no error.
type ExpectedCall struct {
	Tool string `json:"tool"`
	// Args is compared as the mode of its arguments says, with the defaults of the tool's schema filled in on both sides.
	// Where it is not given, any arguments will do in the modes matchers, superset and ignore, and none in the others.
	Args     Pattern  `json:"args,omitzero"`
	ArgsMode ArgsMode `json:"args_mode,omitempty"`
	// MayFail says that a call that returned an error meets it too.
	MayFail bool `json:"may_fail,omitempty"`
}

// A MatchMode is how the calls that were made relate to the expected ones. The calls that were made are the subject: in
// the mode subset, they are a subset of the expected ones.
type MatchMode string

// The modes.
const (
	MatchExact    MatchMode = "exact"     // the same calls in the same order
	MatchInOrder  MatchMode = "in_order"  // all expected calls in their order; others may stand between
	MatchAnyOrder MatchMode = "any_order" // the same calls in any order
	MatchSubset   MatchMode = "subset"    // no call but the expected ones, in any order; some may be missing
	MatchSuperset MatchMode = "superset"  // all expected calls in any order; others may be there too
)

// Ordered reports whether the order of the calls matters.
func (m MatchMode) Ordered() bool { return m == MatchExact || m == MatchInOrder }

// AllowsMissing reports whether expected calls may be missing.
func (m MatchMode) AllowsMissing() bool { return m == MatchSubset }

// AllowsExtra reports whether calls may be there that are not expected.
func (m MatchMode) AllowsExtra() bool { return m == MatchInOrder || m == MatchSuperset }

// An ArgsMode is how the arguments of a call relate to the expected ones. The call's are the subject: in the mode subset,
// they are a subset of the expected ones.
type ArgsMode string

// The modes of arguments.
const (
	ArgsMatchers ArgsMode = "matchers" // the expected arguments are a Pattern
	ArgsExact    ArgsMode = "exact"    // these and no others; matchers are refused
	ArgsIgnore   ArgsMode = "ignore"   // any arguments that are a JSON object
	ArgsSubset   ArgsMode = "subset"   // no others, at every depth; some may be missing; matchers are refused
	ArgsSuperset ArgsMode = "superset" // at least these, at every depth, as by $subset; matchers may stand in them
)

// MatchCounts says what a trajectory that does not match costs.
type MatchCounts string

// What a mismatch costs.
const (
	CountsProcess MatchCounts = "process" // it is a component of the process score
	CountsGate    MatchCounts = "gate"    // that, and the run does not pass
	CountsInfo    MatchCounts = "info"    // nothing: it is shown
)

// Alternatives are the trajectories of which one is enough, each with a name.
func (m *TrajectoryMatch) Alternatives() []ExpectedTrajectory {
	if len(m.AnyOf) == 0 {
		return []ExpectedTrajectory{{Name: "the expected trajectory", Calls: m.Calls}}
	}
	list := slices.Clone(m.AnyOf)
	for i := range list {
		if list[i].Name == "" {
			list[i].Name = fmt.Sprintf("alternative %d", i+1)
		}
	}
	return list
}

// ArgsModeOf is how the arguments of an expected call are compared.
func (m *TrajectoryMatch) ArgsModeOf(c *ExpectedCall) ArgsMode {
	for _, mode := range []ArgsMode{c.ArgsMode, m.Tools[c.Tool], m.Args} {
		if mode != "" {
			return mode
		}
	}
	return ArgsMatchers
}

// MostExpectedCalls bounds the calls of one expected trajectory, and the number of alternatives.
const MostExpectedCalls = 1000

// Check reports everything that is wrong with m for a task that may call these tools.
func (m *TrajectoryMatch) Check(tools []string) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	mode := func(what string, m ArgsMode) {
		oneOfWords(fail, what, string(m), string(ArgsMatchers), string(ArgsExact), string(ArgsIgnore), string(ArgsSubset), string(ArgsSuperset))
	}
	known := func(what, name string) {
		if !slices.Contains(tools, name) {
			fail("%s: tool %q is not in the task's toolset%s", what, name, DidYouMean(name, tools))
		}
	}
	modes := []string{string(MatchExact), string(MatchInOrder), string(MatchAnyOrder), string(MatchSubset), string(MatchSuperset)}
	if m.Mode == "" {
		fail("mode is missing; it is one of %s", strings.Join(modes, ", "))
	}
	oneOfWords(fail, "mode", string(m.Mode), modes...)
	mode("args_mode", m.Args)
	oneOfWords(fail, "counts", string(m.Counts), string(CountsProcess), string(CountsGate), string(CountsInfo))
	for _, name := range slices.Sorted(maps.Keys(m.Tools)) {
		known("tools", name)
		mode(fmt.Sprintf("tools: args mode of %q", name), m.Tools[name])
	}
	switch {
	case len(m.Calls) > 0 && len(m.AnyOf) > 0:
		fail("calls and any_of exclude each other; keep one")
	case len(m.Calls) == 0 && len(m.AnyOf) == 0:
		fail("no call is expected; for a run without any call, set minimal_necessary_calls to 0")
	case len(m.AnyOf) > MostExpectedCalls:
		fail("any_of has %d alternatives; at most %d", len(m.AnyOf), MostExpectedCalls)
	}
	names := map[string]bool{}
	for _, alt := range m.Alternatives() {
		where := ""
		if len(m.AnyOf) > 0 {
			where = alt.Name + ": "
			if len(alt.Calls) == 0 {
				fail("%sno call is expected", where)
			}
			if names[alt.Name] {
				fail("two alternatives are named %q", alt.Name)
			}
			names[alt.Name] = true
		}
		if len(alt.Calls) > MostExpectedCalls {
			fail("%s%d calls are expected; at most %d", where, len(alt.Calls), MostExpectedCalls)
		}
		for i := range alt.Calls {
			c := &alt.Calls[i]
			what := fmt.Sprintf("%sexpected call %d", where, i+1)
			known(what, c.Tool)
			mode(what+": args_mode", c.ArgsMode)
			m.checkArgs(fail, what, c)
		}
	}
	return errors.Join(errs...)
}

func (m *TrajectoryMatch) checkArgs(fail func(string, ...any), what string, c *ExpectedCall) {
	if c.Args.IsZero() {
		return
	}
	if err := c.Args.Err(); err != nil {
		fail("%s: args: %w", what, err)
		return
	}
	if !fitsObjects(c.Args.root) {
		fail("%s: args: arguments are an object, which %s never fits", what, clip(string(encode(c.Args.root.want()))))
		return
	}
	switch mode := m.ArgsModeOf(c); mode {
	case ArgsIgnore:
		fail("%s: its args are ignored by the args mode; leave them out", what)
	case ArgsExact, ArgsSubset:
		v, err := DecodeValue(c.Args.raw)
		if name := matcherIn(v); err == nil && name != "" {
			fail("%s: args: the matcher %s has no meaning in the args mode %s; use %s", what, clip(name), mode, ArgsMatchers)
		}
	}
}

// matcherIn is a key of v, at any depth, that begins with $; empty when there is none.
func matcherIn(v any) string {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(x) {
			if strings.HasPrefix(k, "$") {
				return k
			}
			if name := matcherIn(x[k]); name != "" {
				return name
			}
		}
	case []any:
		for _, e := range x {
			if name := matcherIn(e); name != "" {
				return name
			}
		}
	}
	return ""
}

// oneOfWords fails on a word that is neither empty nor one of those known.
func oneOfWords(fail func(string, ...any), what, word string, words ...string) {
	if word != "" && !slices.Contains(words, word) {
		fail("%s is %q%s; it is one of %s", what, word, DidYouMean(word, words), strings.Join(words, ", "))
	}
}
