package report

import (
	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/stats"
)

// SchemaVersion is the version of the Report's JSON form. It changes when a reader of the old form would misread the new.
const SchemaVersion = 1

// A Report is everything that an eval's runs say, as plain data.
type Report struct {
	SchemaVersion int           `json:"schema_version"`
	Eval          tooleval.Eval `json:"eval"`
	// Blend is how the combined scores were made; nil when none were asked for.
	Blend *Blend `json:"combine,omitempty"`
	// Sections are the minds, in the eval's order.
	Sections []Section `json:"sections"`
	// Baselines say whether the tasks are sound, by task and then by baseline. They are in no other number.
	Baselines []Baseline `json:"baselines"`
	// Gate is what the gate said, where there was one.
	Gate     *compare.Result `json:"gate,omitempty"`
	Warnings []Count         `json:"warnings,omitempty"`
}

// A Blend says how outcome and process are combined. A blend is lossy: different runs get the same number.
type Blend struct {
	OutcomeWeight float64 `json:"outcome_weight"`
	ProcessWeight float64 `json:"process_weight"`
	Label         string  `json:"label"`
}

// A Section is what the runs of one mind say.
type Section struct {
	Mind    string  `json:"mind"`
	World   string  `json:"world"`
	Summary Summary `json:"summary"`
	Tasks   []Task  `json:"tasks"`
	// Tools are those that were called, by name.
	Tools []Tool `json:"tools"`
	Usage Usage  `json:"usage"`
	// Faults is nil when none were made.
	Faults *Faults `json:"faults,omitempty"`
	// Runs are in plan order. Omitted counts those that are left out; OmittedFailed are the ones among them that did not
	// pass.
	Runs          []Run   `json:"runs"`
	Omitted       int     `json:"runs_omitted"`
	OmittedFailed int     `json:"runs_omitted_not_passed"`
	Warnings      []Count `json:"warnings,omitempty"`
}

// Counts say what became of the planned runs. Planned = Scored + Unscored + Missing, and Scored = Passed + Failed.
type Counts struct {
	Planned  int `json:"planned"`
	Scored   int `json:"scored"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Unscored int `json:"unscored"`
	// Missing runs were planned and have no record.
	Missing int `json:"missing"`
	// Coverage is Scored / Planned.
	Coverage stats.Estimate `json:"coverage"`
}

// A Task is what the runs of one task say. Every number but the counts rests on scored runs only.
type Task struct {
	ID string `json:"task_id"`
	Counts
	// UnscoredWhy are the reasons of the unscored runs.
	UnscoredWhy []Count `json:"unscored_why,omitempty"`
	PassRate    Rate    `json:"pass_rate"`
	Outcome     Spread  `json:"outcome"`
	Process     Spread  `json:"process"`
	Combined    *Spread `json:"combined,omitempty"`
	// PassHatK is the chance that k runs all pass, PassAtK that at least one of k does: stats.PassHatK and stats.PassAtK,
	// for k up to 10 and for all scored runs.
	PassHatK []AtK `json:"pass_hat_k"`
	PassAtK  []AtK `json:"pass_at_k"`
	// Variance says whether the runs agree: stable, varies (same verdict, other scores) or flaky (both verdicts); empty,
	// with the reason in VarianceWhy, when fewer than 2 runs are scored.
	Variance    string         `json:"variance"`
	VarianceWhy string         `json:"variance_why,omitempty"`
	Failures    []FailureCount `json:"failures,omitempty"`
	// Retried counts the runs that took more than one attempt. Earlier attempts are no samples.
	Retried int `json:"retried"`
}

// Words of Task.Variance.
const (
	Stable = "stable"
	Varies = "varies"
	Flaky  = "flaky"
)

// A Rate is a share of N trials with its interval.
type Rate struct {
	Value    stats.Estimate `json:"value"`
	Passed   int            `json:"passed"`
	N        int            `json:"n"`
	Interval stats.Interval `json:"interval"`
}

// A Spread is how N numbers lie. Deviation is the sample deviation, undefined for fewer than 2.
type Spread struct {
	Mean      stats.Estimate `json:"mean"`
	Deviation stats.Estimate `json:"deviation"`
	Min       stats.Estimate `json:"min"`
	Max       stats.Estimate `json:"max"`
	N         int            `json:"n"`
}

// AtK is a chance over k runs.
type AtK struct {
	K     int            `json:"k"`
	Value stats.Estimate `json:"value"`
}

// A Count is how often something was said.
type Count struct {
	What tooleval.Text `json:"what"`
	N    int           `json:"n"`
}

// A FailureCount is how often one kind of failure had one owner, over all runs that did not pass.
type FailureCount struct {
	Category tooleval.Category `json:"category"`
	Owner    tooleval.Owner    `json:"owner"`
	N        int               `json:"n"`
}

// A Summary is what a mind's runs say over all tasks. The task is the unit: each mean is over task means and each error
// over tasks.
type Summary struct {
	Tasks int `json:"tasks"`
	// TasksScored have at least one scored run; the means are over these.
	TasksScored int `json:"tasks_scored"`
	Counts
	// Incomplete says why the pass rate must not stand for the whole; empty when coverage is enough.
	Incomplete string      `json:"incomplete,omitempty"`
	PassRate   stats.Mean  `json:"pass_rate"`
	Outcome    stats.Mean  `json:"outcome"`
	Process    stats.Mean  `json:"process"`
	Combined   *stats.Mean `json:"combined,omitempty"`
	// WorstPassRate and BestPassRate are the mean of task rates if every run without a verdict had failed, or passed.
	WorstPassRate stats.Estimate `json:"worst_pass_rate"`
	BestPassRate  stats.Estimate `json:"best_pass_rate"`
	// OutcomeWithin is the root of the mean variance of outcomes inside tasks, OutcomeBetween the deviation of task means.
	OutcomeWithin  stats.Estimate `json:"outcome_deviation_within_tasks"`
	OutcomeBetween stats.Estimate `json:"outcome_deviation_between_tasks"`
	// Flaky counts the tasks whose runs disagree.
	Flaky int `json:"flaky_tasks"`
	// PassK is pass^k and pass@k over tasks, for k from 1.
	PassK []PassK `json:"pass_k"`
	// Runs is the pass rate with its errors over runs, and where the variance comes from. Its means are of no use for a
	// headline: PassRate is.
	Runs stats.Clusters `json:"runs"`
}

// A Tool is how the calls of one tool went, over all runs of a mind.
type Tool struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
	// Errors are the calls that the tool answered with an error, did not answer in time, or that the world could not
	// serve. Refused calls (outside the toolset, over a limit) never reached the tool; neither they nor cancelled ones are
	// errors.
	Errors     int            `json:"errors"`
	Refused    int            `json:"refused"`
	Cancelled  int            `json:"cancelled"`
	ErrorShare stats.Estimate `json:"error_share"` // Errors / Calls
	MeanMS     stats.Estimate `json:"mean_ms"`
	MaxMS      stats.Estimate `json:"max_ms"`
}

// Usage is what the runs reported to have consumed.
type Usage struct {
	// Runs is the number of runs with a record, Reported the number of those that reported anything.
	Runs         int      `json:"runs"`
	Reported     int      `json:"reported"`
	Models       []string `json:"models,omitempty"`
	InputTokens  Total    `json:"input_tokens"`
	OutputTokens Total    `json:"output_tokens"`
	CachedTokens Total    `json:"cached_tokens"`
	Turns        Total    `json:"turns"`
	CostUSD      Total    `json:"cost_usd"`
}

// A Total is a sum over the N runs that reported the number.
type Total struct {
	Sum stats.Estimate `json:"sum"`
	N   int            `json:"n"`
}

// A Baseline is how one trivial agent fared at one task. Status is fails, passes, may_pass, unscored or not_run, and Why
// says more about the last three.
type Baseline struct {
	TaskID string        `json:"task_id"`
	Name   string        `json:"baseline"`
	Status string        `json:"status"`
	Why    tooleval.Text `json:"why,omitempty"`
}

// Words of Baseline.Status.
const (
	BaselineFails    = "fails"
	BaselinePasses   = "passes" // the task is broken: its goal is met without skill
	BaselineMayPass  = "may_pass"
	BaselineUnscored = "unscored"
	BaselineNotRun   = "not_run"
)

// A Failure is why a run did not pass, and what shows it.
type Failure struct {
	Category tooleval.Category `json:"category"`
	Owner    tooleval.Owner    `json:"owner"`
	Why      tooleval.Text     `json:"why"`
	Evidence []Evidence        `json:"evidence,omitempty"`
}

// Evidence is a Pointer of a failure. Where it points at a call, Position is the place of that call among the run's calls,
// from 1, and Tool is what was called.
type Evidence struct {
	tooleval.Pointer
	Position int    `json:"position,omitempty"`
	Tool     string `json:"tool,omitempty"`
}

// A Run is one run in short. Lists and texts are cut.
type Run struct {
	TaskID     string               `json:"task_id"`
	Index      int                  `json:"index"`
	Verdict    tooleval.Verdict     `json:"verdict"`
	Why        tooleval.Text        `json:"why,omitempty"`
	Outcome    tooleval.Score       `json:"outcome"`
	Checks     []tooleval.Check     `json:"checks,omitempty"`
	Process    tooleval.Score       `json:"process"`
	Components []tooleval.Component `json:"components,omitempty"`
	Combined   *tooleval.Score      `json:"combined,omitempty"`
	Failure    *Failure             `json:"failure"`
	Ending     tooleval.Ending      `json:"ending"`
	Calls      int                  `json:"calls"`
	WallMS     stats.Estimate       `json:"wall_ms"`
	// Attempts counts the earlier records that this one replaces.
	Attempts int    `json:"attempts,omitempty"`
	Warnings int    `json:"warnings,omitempty"`
	File     string `json:"file,omitempty"`

	order int // when it was added
}
