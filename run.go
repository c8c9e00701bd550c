package tooleval

import "time"

// SchemaVersion is the version of the records below. A reader takes files of this and of older versions.
const SchemaVersion = 1

// An Ending is how a run ended.
type Ending string

// The endings of a run.
const (
	Completed    Ending = "completed"
	Errored      Ending = "error"       // the agent returned an error or panicked
	NotStarted   Ending = "not_started" // there was no world or no agent to run
	TimedOut     Ending = "timeout"
	LimitReached Ending = "limit" // more tool calls or output than allowed
	Cancelled    Ending = "cancelled"
)

// A Run is one attempt at one Task: the one flat record that every later stage reads. All totals are computed from Runs.
type Run struct {
	SchemaVersion int `json:"schema_version"`
	// Eval is the id of the Eval that this run was made for.
	Eval  string `json:"eval"`
	Suite string `json:"suite"`
	// TaskID is Task.ID, written first so that a reader finds it.
	TaskID string `json:"task_id"`
	// Index counts the runs of one task, from 0.
	Index int `json:"index"`
	// Mind names the agent backend; World is mock, live or replay.
	Mind  string `json:"mind"`
	World string `json:"world"`
	// Baseline names the trivial agent when this run validates the task and not the agent; empty otherwise.
	Baseline string `json:"baseline,omitempty"`
	// Identity is the digest of everything that makes two runs the same: see engine.Identity.
	Identity string `json:"identity"`
	Seed     uint64 `json:"seed"`

	Ending  Ending    `json:"ending"`
	Score   TaskScore `json:"score"`
	Failure *Failure  `json:"failure"`

	// Error is the error that ended the run, if one did. Stack is the stack of a panic.
	Error      Text  `json:"error,omitempty"`
	ErrorOwner Owner `json:"error_owner,omitempty"`
	Stack      Text  `json:"stack,omitempty"`
	// Warnings are troubles that did not stop the run.
	Warnings []Text `json:"warnings,omitempty"`

	// EntryPoint is the entry point that was asked for, after the mind's aliases.
	EntryPoint string      `json:"entry_point"`
	Trajectory Trajectory  `json:"trajectory"`
	Result     AgentResult `json:"result"`
	// State is the final state that was scored; StateFrom says whose it is: world or agent.
	State     State  `json:"state"`
	StateFrom string `json:"state_from,omitempty"`

	Task       Task       `json:"task"`
	Tools      []Tool     `json:"tools,omitempty"`
	Provenance Provenance `json:"provenance"`

	// Started and the durations are for display; nothing is ordered by them.
	Started time.Time `json:"started"`
	// WallMS is the time from start to end, AgentMS the agent's part of it, in milliseconds.
	WallMS  float64 `json:"wall_ms"`
	AgentMS float64 `json:"agent_ms"`
}

// Provenance says what made a record.
type Provenance struct {
	Tool        string `json:"tool"` // the version of ToolEval
	Go          string `json:"go"`
	Commit      string `json:"commit,omitempty"` // the git commit of the suite's folder, if there is one
	SuiteDigest string `json:"suite_digest"`
	// Attempts counts the earlier records of the same run that this one replaces.
	Attempts int `json:"attempts,omitempty"`
}

// An Eval is the header of all runs of one command. It holds no totals: they are computed from the runs.
type Eval struct {
	SchemaVersion int        `json:"schema_version"`
	ID            string     `json:"id"`
	Suite         string     `json:"suite"`
	Minds         []string   `json:"minds"`
	World         string     `json:"world"`
	Runs          int        `json:"runs"`
	Seed          uint64     `json:"seed"`
	Tasks         []EvalTask `json:"tasks"`
	// Options are the options of the command, by flag name.
	Options    map[string]string `json:"options,omitempty"`
	Provenance Provenance        `json:"provenance"`
	Started    time.Time         `json:"started"`
}

// An EvalTask is one planned task.
type EvalTask struct {
	ID string `json:"id"`
	// Digest is the digest of the task's content.
	Digest string `json:"digest"`
	// Contents are, by mind, the digests of everything that makes two runs of the task the same but for the index; those of
	// baselines are under BaselineContent. See Eval.Current.
	Contents map[string]string `json:"contents,omitempty"`
	// Runs is the number of runs of this task where it is not that of the Eval, as when runs are added until something
	// is known; 0 stands for Eval.Runs.
	Runs int `json:"runs,omitempty"`
}
