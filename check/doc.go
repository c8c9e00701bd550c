// Package check proves that the tasks of a Suite are sound before anyone spends money on an agent. A benchmark mostly
// breaks in its tasks: an agent that does nothing passes, the answer key is wrong, a check can't fail.
//
//	report, err := check.Suite(ctx, suite, check.Options{})
//	for _, task := range report.Tasks {
//		fmt.Println(task.ID, task.Status, task.Findings)
//	}
//
// It looks in two ways. Lints read the tasks. The panel runs agents of known worth in the mock world, each in a fresh
// one: trivial ones that must fail ([baselines.Panel]), the oracle that must pass (the suite's scripted mind, and the
// ground truth of a [scorers.Goal]), and mutants of the oracle's run (a call left out, an argument changed, two calls
// swapped, a call made twice or one that is forbidden, a place of the final state or the answer changed), of which some
// must fail each check.
//
// [Rules] lists what can be found.
//
// # Limits
//
// A sound report proves no task good: the panel may be too dull for a flaw. Lints that read words know no meaning: a
// value that has to be worked out from others is reported as one that nobody can see, as a warning. Mutants repeat the
// oracle's calls as they were; where the world answers otherwise to the same calls, they prove nothing, and that is said.
package check
