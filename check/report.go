package check

import "github.com/tooleval/tooleval"

// SchemaVersion is the version of the JSON form of a Report.
const SchemaVersion = 1

// A Report says what was found. It holds no time and nothing else that differs between two checks of the same suite.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	Suite         string `json:"suite"`
	Seed          uint64 `json:"seed"`
	// Sound, Broken and NotEvaluable count the tasks by their status.
	Sound        int `json:"sound"`
	Broken       int `json:"broken"`
	NotEvaluable int `json:"not_evaluable"`
	// DoNothing are the ids of the tasks that an agent passes by doing nothing although no task says why it may.
	DoNothing []string `json:"do_nothing_passes"`
	// Findings are those about the suite as a whole; then no task was run.
	Findings []Finding `json:"findings,omitempty"`
	Tasks    []Task    `json:"tasks"`
}

// A Status is what is known of a task.
type Status string

// The statuses.
const (
	StatusSound        Status = "sound"         // nothing that is an error was found
	StatusBroken       Status = "broken"        // a finding is an error
	StatusNotEvaluable Status = "not_evaluable" // a run of the panel that decides has no verdict: it needs a judge, say
)

// A Task is what was found about one task.
type Task struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	// NotEvaluable says which runs had no verdict, and why.
	NotEvaluable []string  `json:"not_evaluable,omitempty"`
	Findings     []Finding `json:"findings,omitempty"`
	// Panel are the runs of the trivial agents and of the oracles, in the order in which they are listed.
	Panel []PanelRun `json:"panel,omitempty"`
	// Mutants are the changed runs of the oracle.
	Mutants []Mutant `json:"mutants,omitempty"`
	// Checks are the stated checks, each with what made it fail.
	Checks []Check `json:"checks,omitempty"`
	// DoNothingMayPass is the task's own reason.
	DoNothingMayPass string `json:"do_nothing_may_pass,omitempty"`
}

// A Finding is one rule that a task breaks.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// A PanelRun is one run of an agent of known worth.
type PanelRun struct {
	Agent   string           `json:"agent"`
	Verdict tooleval.Verdict `json:"verdict"`
	Why     string           `json:"why,omitempty"`
	Calls   int              `json:"calls"`
}

// A Mutant is the oracle's run with one thing changed. One that passes is no flaw by itself: a look-up that was left out
// does not change what is left behind.
type Mutant struct {
	Change  string           `json:"change"`
	Verdict tooleval.Verdict `json:"verdict"`
}

// A Check is a stated check of a task: one of its scorer, or one of the calls that it requires or forbids.
type Check struct {
	Name string `json:"name"`
	// FailedBy is the first run that failed it; empty when none did.
	FailedBy string `json:"failed_by,omitempty"`
	// Untried says that no run could be made that would fail it, with the reason.
	Untried string `json:"untried,omitempty"`
}

// Has reports whether a rule is among the findings.
func (t *Task) Has(rule string) bool {
	for _, f := range t.Findings {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// Caught is how many of the mutants did not pass.
func (t *Task) Caught() int {
	n := 0
	for _, m := range t.Mutants {
		if m.Verdict == tooleval.Failed {
			n++
		}
	}
	return n
}
