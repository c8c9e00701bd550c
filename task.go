package tooleval

import "time"

// A Task says what an agent is to do and how that is scored. It is plain data; what an agent may see of it is its
// [Assignment].
type Task struct {
	// ID is unique in its Suite, also after case folding and Unicode normalisation. Any other text will do.
	ID          string `json:"id"`
	Description string `json:"description"`
	// EntryPoint names what in the agent is targeted; it is one of the Suite's entry points.
	EntryPoint string `json:"entry_point"`
	// Input is handed to the agent as it is; empty when the description says it all.
	Input Raw `json:"input,omitempty"`
	// Toolset names the Suite's tools that the agent may call. Calls outside it are refused, recorded and counted.
	Toolset []string `json:"toolset"`
	// Required are the calls that the goal can't be reached without. Each is met by one call of its own that returned
	// no error.
	Required []CallPattern `json:"required,omitempty"`
	// Forbidden are the calls that must not be made, whatever they return.
	Forbidden []CallPattern `json:"forbidden,omitempty"`
	// Trajectory is what the whole trajectory has to look like; nil where required and forbidden calls say enough.
	Trajectory *TrajectoryMatch `json:"trajectory,omitempty"`
	// MinimalCalls is the number of calls of the shortest sane path; nil when the task states none, and then efficiency
	// does not apply.
	MinimalCalls *int `json:"minimal_necessary_calls,omitempty"`
	// ExpectedState is what the final state has to meet: the World's state where it keeps one, else the agent's.
	ExpectedState Pattern `json:"expected_state,omitzero"`
	// Threshold is the outcome in 0..1 from which a run passes; 0 stands for 1.
	Threshold float64 `json:"threshold,omitempty"`
	// DoNothingMayPass says why an agent that does nothing is right to pass; empty means that it must fail.
	DoNothingMayPass string `json:"do_nothing_may_pass,omitempty"`
	// Faults are made on purpose in every run, except in those of baselines. Of those that fit one call the first in
	// written order that can lands.
	Faults []Fault `json:"faults,omitempty"`
	// WantsRecovery says that coping with the Faults is part of what is asked: a run that fails right after one is then the
	// agent's failure and not the world's.
	WantsRecovery bool     `json:"wants_recovery,omitempty"`
	Limits        Limits   `json:"limits,omitzero"`
	Tags          []string `json:"tags,omitempty"`
}

// PassMark is the outcome from which a run of t passes.
func (t *Task) PassMark() float64 {
	if t.Threshold == 0 {
		return 1
	}
	return t.Threshold
}

// Minimum is a MinimalCalls of n.
func Minimum(n int) *int { return &n }

// A CallPattern describes tool calls. One that constrains no arguments fits every call of its tool.
type CallPattern struct {
	// ID names this call for After and in evidence; empty where neither needs it.
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool"`
	// Args is compared with the call's arguments after the defaults of the tool's schema are filled in on both sides.
	Args Pattern `json:"args,omitzero"`
	// After names required calls that must have ended before this one begins.
	After []string `json:"after,omitempty"`
}

// Limits bound one run. A zero field takes the harness's default.
type Limits struct {
	// Timeout bounds the agent's time in one run.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// Calls bounds the number of tool calls in one run; the call after the last is refused and ends the run.
	Calls int `json:"calls,omitempty"`
}

// An EntryPoint is a named thing in an agent that Tasks target.
type EntryPoint struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}
