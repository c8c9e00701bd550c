package tooleval

import (
	"errors"
	"fmt"
)

// An Owner says whose fault it is.
type Owner string

// The owners of a failure.
const (
	OwnerAgent   Owner = "agent"
	OwnerWorld   Owner = "world"
	OwnerTask    Owner = "task"
	OwnerJudge   Owner = "judge"
	OwnerInfra   Owner = "infra"
	OwnerHarness Owner = "harness"
	OwnerUser    Owner = "user"
)

// A Category is the kind of a failure. Package taxonomy says how it is found.
type Category string

// The categories, in the order in which they are looked for: the first that fits is the failure.
const (
	RunError              Category = "run_error"
	NoTools               Category = "no_tools"
	CalledForbidden       Category = "called_forbidden"
	WrongTool             Category = "wrong_tool"
	MissingOutput         Category = "missing_output"
	WrongArgs             Category = "wrong_args"
	ExcessiveCalls        Category = "excessive_calls"
	GoodProcessBadOutcome Category = "good_process_bad_outcome"
	UnknownFailure        Category = "unknown"
)

// A Failure says why a run did not pass, and whose fault it is.
type Failure struct {
	Category Category `json:"category"`
	Owner    Owner    `json:"owner"`
	// Why is the cause in one sentence. It may hold text from outside.
	Why Text `json:"why"`
	// Evidence points at what shows it.
	Evidence []Pointer `json:"evidence,omitempty"`
}

// A Pointer is one piece of evidence: a call, a place in the final state, or both.
type Pointer struct {
	// Call is the Began number of a call; nil when the evidence is no call.
	Call *int `json:"call,omitempty"`
	// Path is a place in the final state, or in the call's arguments when Call is set.
	Path string `json:"path,omitempty"`
	Note Text   `json:"note,omitempty"`
}

// Blame wraps an error with the owner of the fault. An error that has an owner already keeps it.
func Blame(owner Owner, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := BlamedOn(err); ok {
		return err
	}
	return &blamed{owner, err}
}

// Blamef is Blame of a new error.
func Blamef(owner Owner, format string, args ...any) error {
	return Blame(owner, fmt.Errorf(format, args...))
}

// BlamedOn is the owner that [Blame] gave an error, if it gave one.
func BlamedOn(err error) (Owner, bool) {
	var b *blamed
	if errors.As(err, &b) {
		return b.owner, true
	}
	return "", false
}

type blamed struct {
	owner Owner
	err   error
}

func (b *blamed) Error() string { return b.err.Error() }
func (b *blamed) Unwrap() error { return b.err }
