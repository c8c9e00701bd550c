package tooleval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
)

func TestFaultErr(t *testing.T) {
	for _, test := range []struct {
		fault tooleval.Fault
		want  string
	}{
		{tooleval.Fault{Kind: "time_out"}, `unknown kind "time_out" (did you mean "timeout"?)`},
		{tooleval.Fault{Kind: tooleval.FaultError, Call: -1}, "counted from 1"},
		{tooleval.Fault{Kind: tooleval.FaultError, Probability: 1.5}, "not in 0..1"},
		{tooleval.Fault{Kind: tooleval.FaultError, Call: 1, Probability: 0.5}, "exclude each other"},
		{tooleval.Fault{Kind: tooleval.FaultLatency}, "needs a latency"},
		{tooleval.Fault{Kind: tooleval.FaultGarbage, Latency: time.Second}, "for the kinds latency and timeout"},
		{tooleval.Fault{Kind: tooleval.FaultInstruction, Text: " "}, "needs its text"},
		{tooleval.Fault{Kind: tooleval.FaultStale, Text: "x"}, "no text of its own"},
		{tooleval.Fault{Kind: tooleval.FaultStale, Call: 1}, "no earlier result"},
	} {
		if err := test.fault.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q in it", test.fault, err, test.want)
		}
	}
}

func TestValidateFaults(t *testing.T) {
	s := &tooleval.Suite{
		Name: "s", Tools: []tooleval.Tool{{Name: "look_up"}, {Name: "save"}}, EntryPoints: []tooleval.EntryPoint{{Name: "e"}},
		MockWorld: tooleval.WorldFunc(nil),
		Tasks: []tooleval.Task{{ID: "t", EntryPoint: "e", Toolset: []string{"look_up"}, ExpectedState: tooleval.Match(1),
			Faults: []tooleval.Fault{{Kind: tooleval.FaultError, Tool: "lookup"}, {Kind: tooleval.FaultError, Tool: "save"},
				{Kind: tooleval.FaultError}, {Kind: tooleval.FaultError, Text: "other"}, {Kind: tooleval.FaultLatency}}}},
	}
	err := s.Validate(nil)
	for _, want := range []string{
		`task "t": fault 1: unknown tool "lookup" (did you mean "look_up"?)`,
		`fault 2: tool "save" is not in the task's toolset`,
		`fault 4: it is the same as fault 3`,
		`fault 5: a latency fault needs a latency`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
