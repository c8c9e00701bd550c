// Package agenttest holds an agent to the protocol of docs/protocol.md. Authors of agents call it from their own tests:
//
//	func TestProtocol(t *testing.T) {
//		agenttest.Conformance(t, []string{"python3", "/src/agent.py"}, agenttest.Options{})
//	}
//
// [Check] is the same without a test, and [ConformanceOf] takes an agent that is a Go value.
//
// # Limits
//
// What an unknown agent does with a task can't be dictated. The checks that need tool calls give it a task that asks
// for them (see [Probe]); an agent that makes none leaves them [NotExercised], which is said and never counted as
// passed. An agent over a model makes some paid requests in these runs: Options.NoRuns leaves them out.
package agenttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
)

// Options say how the agent is reached. The zero value will do for most.
type Options struct {
	// Dir and Env are those of agents.Process: the folder to start in (empty: a fresh one), and additions to the
	// environment.
	Dir string
	Env []string
	// EntryPoint is the one that the runs ask for; empty stands for the first one that the agent lists.
	EntryPoint string
	// StartTimeout bounds the start and every plain request, RunTimeout one run, Grace the time to stop. Zeros stand
	// for 30 s, 60 s and 5 s.
	StartTimeout, RunTimeout, Grace time.Duration
	// NoRuns leaves out everything that needs a run.
	NoRuns bool
}

// A Status is what a check found.
type Status string

// The statuses of a check.
const (
	Passed       Status = "passed"
	Failed       Status = "failed"
	NotExercised Status = "not_exercised" // the agent gave no occasion for it
)

// A Finding is one check.
type Finding struct {
	// Name is stable, such as unknown_request.
	Name string `json:"name"`
	// Promise is what the protocol asks for, in a sentence.
	Promise string `json:"promise"`
	Status  Status `json:"status"`
	// Note says why the check failed or was not exercised.
	Note tooleval.Text `json:"note,omitempty"`
}

// A Report is all checks of one agent, always the same ones in the same order.
type Report struct {
	// Agent is the name and version that the agent gave itself.
	Agent    tooleval.Text `json:"agent,omitempty"`
	Findings []Finding     `json:"findings"`
}

// Err joins what failed; nil when nothing did, which does not mean that everything was exercised.
func (r Report) Err() error {
	var errs []error
	for _, f := range r.Findings {
		if f.Status == Failed {
			errs = append(errs, fmt.Errorf("%s: %s: %s", f.Name, f.Promise, string(f.Note)))
		}
	}
	return errors.Join(errs...)
}

// Finding is the finding of that name.
func (r Report) Finding(name string) (Finding, bool) {
	for _, f := range r.Findings {
		if f.Name == name {
			return f, true
		}
	}
	return Finding{}, false
}

// String is one line a check. Notes hold text from outside, quoted.
func (r Report) String() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-13s  %-20s  %s", f.Status, f.Name, f.Promise)
		if f.Note != "" {
			fmt.Fprintf(&b, "\n%37s%s", "", string(f.Note))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TB is the part of testing.TB that is used here.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
	Context() context.Context
}

// Conformance fails t for every check that the program fails, and logs those that were not exercised.
func Conformance(t TB, command []string, o Options) {
	t.Helper()
	Check(t.Context(), command, o).tell(t)
}

// ConformanceOf is Conformance for an agent that is a Go value. newAgent is called once a conversation.
func ConformanceOf(t TB, newAgent func() tooleval.Agent, o Options) {
	t.Helper()
	check(t.Context(), inProcess(newAgent), o).tell(t)
}

func (r Report) tell(t TB) {
	t.Helper()
	for _, f := range r.Findings {
		switch f.Status {
		case Failed:
			t.Errorf("%s: %s: %s", f.Name, f.Promise, string(f.Note))
		case NotExercised:
			t.Logf("%s was not exercised: %s", f.Name, string(f.Note))
		}
	}
}

// Check holds a program to the protocol. It starts it several times and takes some seconds; an agent that never stops
// by itself costs a Grace each time. When ctx ends, what is left is not exercised.
func Check(ctx context.Context, command []string, o Options) Report {
	return check(ctx, program(command, o), o)
}
