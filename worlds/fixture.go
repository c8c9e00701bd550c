package worlds

import (
	"context"
	"fmt"
	"time"

	"github.com/tooleval/tooleval"
)

// A Fixture answers the calls of one tool whose arguments fit a pattern.
type Fixture struct {
	// Tool is the exact name of a tool of the Suite.
	Tool string
	// Args is what the arguments have to meet, compared after the defaults of the tool's schema are filled in on both
	// sides. The zero Pattern takes any arguments.
	Args tooleval.Pattern
	// Results are the answers, used in order over one run: the first call that this Fixture answers gets the first.
	Results []Answer
	// WhenExhausted says what follows the last of the Results. It must be stated when there is more than one; with one
	// the zero value means RepeatLast.
	WhenExhausted Policy
	// Keep names the list in the world's state to which the arguments of every call that this Fixture answered without
	// an error are appended, with the defaults of the tool's schema filled in. Empty keeps nothing. It is how a mock
	// shows a write: Keep "saved" on save_output gives the state {"saved": [{"path": "out.json", …}]}.
	Keep string
}

// An Answer is what one call gets.
type Answer struct {
	// Result is what the tool says; with IsError it says no.
	Result tooleval.ToolResult
	// Latency passes before the answer, unless the call's context ends first. 0 answers at once.
	Latency time.Duration
	// Err means that the world breaks instead of answering: the call ends with this error and no result.
	Err error
}

// A Policy says what follows the last result of a Fixture.
type Policy string

// The policies.
const (
	RepeatLast Policy = "repeat_last" // the last result again
	Cycle      Policy = "cycle"       // the first again, and so on
	Fail       Policy = "fail"        // no more answers: further calls are fixture gaps
)

// pick is the answer to the call with this number, counted from 0; false when there is none any more.
func (f *Fixture) pick(n int) (Answer, bool) {
	have := len(f.Results)
	switch {
	case n < have:
		return f.Results[n], true
	case have == 0:
		return Answer{}, false
	case f.WhenExhausted == Cycle:
		return f.Results[n%have], true
	case f.WhenExhausted == RepeatLast, f.WhenExhausted == "" && have == 1:
		return f.Results[have-1], true
	}
	return Answer{}, false
}

// wait lets the latency pass. It returns why the context ended, if that came first.
func (a *Answer) wait(ctx context.Context) error {
	if a.Latency <= 0 {
		return nil
	}
	timer := time.NewTimer(a.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// call is the fixture as a call, as in convert({"value":30}), with long arguments cut.
func (f *Fixture) call() string {
	if f.Args.IsZero() {
		return fmt.Sprintf("%.100s(any arguments)", f.Tool)
	}
	b, err := f.Args.MarshalJSON()
	if err != nil {
		b = []byte("arguments that have no JSON form")
	}
	return fmt.Sprintf("%.100s(%.200s)", f.Tool, b)
}
