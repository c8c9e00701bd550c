package check

import (
	"fmt"
	"strings"
)

// A Severity says what a finding means for the task.
type Severity string

// The severities.
const (
	Broken  Severity = "error"   // the task can't be trusted
	Warning Severity = "warning" // somebody should look; the task may be as it is meant
)

// A Rule is one thing that can be wrong with a task. Its ID is stable.
type Rule struct {
	ID       string
	Severity Severity
	// Finds says what is wrong, Why why that matters, and Mend what to do about it.
	Finds, Why, Mend string
}

// The ids of the rules.
const (
	SuiteInvalid        = "suite-invalid"
	GoalChecksNothing   = "goal-checks-nothing"
	GoalUnreachable     = "goal-unreachable"
	ValueUnseen         = "value-unseen"
	CallBreaksSchema    = "call-breaks-schema"
	TruthBreaksSchema   = "truth-breaks-schema"
	AnswerInPrompt      = "answer-in-prompt"
	Guessable           = "guessable"
	ExpectationsDontBar = "expectations-gate-nothing"
	OracleNoEffect      = "oracle-changes-nothing"
	OracleMissing       = "oracle-missing"
	OracleFails         = "oracle-fails"
	OraclesDisagree     = "oracles-disagree"
	OracleGap           = "oracle-fixture-gap"
	OracleNotRepeatable = "oracle-not-repeatable"
	DoNothingPasses     = "do-nothing-passes"
	RefusalPasses       = "refusal-passes"
	SpamPasses          = "spam-passes"
	EchoPasses          = "echo-passes"
	RandomPasses        = "random-passes"
	CheckVacuous        = "check-vacuous"
)

// Rules are all rules, in the order in which findings of one task are listed.
var Rules = []Rule{
	{SuiteInvalid, Broken, "The suite is not valid.",
		"Nothing can be run.", "Mend what the message says."},
	{GoalChecksNothing, Broken, "No part of the goal can make a run fail: there is no expectation, all checks are marked info, or all that is expected fits anything.",
		"Every agent passes, or none has a score.", "State what has to hold in the end, and let it count."},
	{GoalUnreachable, Broken, "The goal needs what the task's tools can't give: a call of a tool outside of the toolset, or a value that no tool, input or description holds, and the oracle fails.",
		"Every agent fails, however good.", "Widen the toolset, or mend the expected value or the fixture."},
	{ValueUnseen, Warning, "A value is expected that stands in no description, input, schema or tool result that was seen, although the oracle passes.",
		"Either it has to be worked out (then all is well), or the oracle knows what no agent can.", "Look whether an agent can get at it."},
	{CallBreaksSchema, Broken, "A required or an expected call has arguments that its tool's schema does not allow.",
		"An agent that keeps to the schema can't make the call.", "Mend the arguments or the schema."},
	{TruthBreaksSchema, Warning, "The ground truth or the oracle makes a call whose arguments its tool's schema does not allow.",
		"What the world lets through is not what agents are told.", "Mend the call or the schema."},
	{AnswerInPrompt, Warning, "All that the answer must hold stands in the task's description or input.",
		"An agent can pass without a look at the world.", "Ask for something that only the tools know."},
	{Guessable, Warning, "All that is expected comes from a few values, such as true and false, so that a guess often passes.",
		"Part of the pass rate is luck.", "Ask for the reason too, or for a value that can't be guessed."},
	{ExpectationsDontBar, Warning, "The task requires calls or expects a trajectory, and a trivial agent passes that made none of them: nothing that is written decides.",
		"A run passes beside checks that failed.", "Let the goal depend on what the calls do, or gate the trajectory."},
	{OracleNoEffect, Warning, "The oracle leaves the state as it was, and neither an answer nor a call decides.",
		"The only right move (asking, handing over, refusing) can be skipped.", "Ask for words in the answer, or gate a call."},
	{OracleMissing, Broken, "There is no oracle: no scripted mind that serves the task, and no ground truth.",
		"Nobody knows whether the task can be passed.", "Write a script (scripted:), or state the goal as ground-truth actions."},
	{OracleFails, Broken, "The oracle does not pass.",
		"The answer key, the world or the script is wrong.", "Mend what the message says."},
	{OraclesDisagree, Broken, "The scripted mind and the ground truth do not both pass.",
		"One of them holds a wrong idea of the task; the goal may leave out what was asked for.", "Make both say the same."},
	{OracleGap, Warning, "The oracle makes a call that no fixture of the mock world covers.",
		"An agent that does the same is told nothing useful.", "Add the fixture."},
	{OracleNotRepeatable, Warning, "The oracle's own calls and answer, repeated in a fresh world with the same seed, do not pass.",
		"Mutants prove nothing then, and neither do repeated runs.", "Take chance and time out of the world."},
	{DoNothingPasses, Broken, "An agent that makes no call and says nothing passes.",
		"The task says nothing about skill, and lifts every pass rate.", "Ask for a positive result, or say in do_nothing_may_pass why this is right."},
	{RefusalPasses, Broken, "An agent that always refuses passes.",
		"Refusing is an escape.", "Ask for the reason that only the tools tell, and pair the task with a twin that can be done."},
	{SpamPasses, Broken, "An agent that reads everything and says all of it passes.",
		"The goal takes any heap of words with the right one in it.", "Compare a typed answer, or forbid what must not be said."},
	{EchoPasses, Broken, "An agent that answers with the task's own words passes.",
		"The answer is in the prompt.", "Ask for something that only the tools know."},
	{RandomPasses, Broken, "An agent that calls and answers at random passes.",
		"The task can be passed by luck.", "Ask for a value that can't be guessed."},
	{CheckVacuous, Warning, "A check failed in no run: no trivial agent, and no mutant of the oracle, could make it fail.",
		"It may be one that can't fail, and lends the others a trust that they have not earned.", "Break the result once by hand and see it fail, or drop it."},
}

// severity is the severity of a rule.
func severity(id string) Severity {
	for _, r := range Rules {
		if r.ID == id {
			return r.Severity
		}
	}
	panic("check: no rule " + id)
}

func rank(id string) int {
	for i, r := range Rules {
		if r.ID == id {
			return i
		}
	}
	return len(Rules)
}

// Reference is the part of docs/checks.md that explains every rule, in Markdown. A test holds the document to it.
func Reference() string {
	var b strings.Builder
	for _, r := range Rules {
		fmt.Fprintf(&b, "### %s\n\n*%s.* %s %s\n\nTo mend it: %s%s\n\n", r.ID, r.Severity, r.Finds, r.Why, strings.ToLower(r.Mend[:1]), r.Mend[1:])
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
