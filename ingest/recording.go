package ingest

import (
	"github.com/tooleval/tooleval"
)

// NoIndex is the Index of a Recording whose file does not number its trials.
const NoIndex = -1

// A Recording is one attempt at one task, as another system saw it.
type Recording struct {
	Source Source `json:"source"`
	// TaskID is the task's id as the file has it; empty when it names none.
	TaskID string `json:"task_id,omitempty"`
	// Index counts the trials of a task from 0; NoIndex when the file does not.
	Index      int                 `json:"index"`
	Trajectory tooleval.Trajectory `json:"trajectory"`
	// Result.Response is everything that was said to the user, a blank line between two messages.
	Result tooleval.AgentResult `json:"result"`
	// State is the final state of the world that the calls acted on; nil when the file has none.
	State tooleval.State `json:"state,omitempty"`
	// Said is what the agent said to the user, message by message. Text beside a call is not part of it.
	Said []tooleval.Text `json:"said,omitempty"`
	// Aside is text that stood beside calls.
	Aside []Aside `json:"aside,omitempty"`
	// Ending is empty where the recording does not show how the run ended.
	Ending     tooleval.Ending `json:"ending,omitempty"`
	Error      tooleval.Text   `json:"error,omitempty"`
	ErrorOwner tooleval.Owner  `json:"error_owner,omitempty"`
	// Given is the other system's own judgement. It is information and decides nothing.
	Given    Given           `json:"given,omitzero"`
	Warnings []tooleval.Text `json:"warnings,omitempty"`
	// Run is the whole record when it is ToolEval's own; nil otherwise.
	Run *tooleval.Run `json:"-"`
}

// A Source says where a Recording comes from.
type Source struct {
	Format Format `json:"format"`
	File   string `json:"file"`
	// Position is the place in the file in words, such as "recording 3" or "line 12".
	Position string `json:"position"`
	// Agent is the model or agent that the file names; empty when it names none.
	Agent string `json:"agent,omitempty"`
}

// Given is another system's judgement.
type Given struct {
	Reward *float64 `json:"reward,omitempty"`
	Passed *bool    `json:"passed,omitempty"`
}

// An Aside is text that an agent wrote beside calls; Call is the Began number of the first of them.
type Aside struct {
	Call int           `json:"call"`
	Text tooleval.Text `json:"text"`
}

// A RecordError says that one recording of a file can't be read; the others are not affected by it unless reading ends
// with it.
type RecordError struct {
	File     string
	Position string // empty when the error concerns the whole file
	Err      error
}

// Error names the file and the place.
func (e *RecordError) Error() string {
	if e.Position == "" {
		return e.File + ": " + e.Err.Error()
	}
	return e.File + ": " + e.Position + ": " + e.Err.Error()
}

// Unwrap is what is wrong with it.
func (e *RecordError) Unwrap() error { return e.Err }
