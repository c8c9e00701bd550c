// Package compare says what changed between two evals, and whether an eval is good enough: gates.
//
//	a, b := compare.NewGatherer(before), compare.NewGatherer(after) // the evals' headers
//	a.Add(run, file)                                                // every run, in any order
//	pair := compare.Compare(a.Sides()[0], b.Sides()[0], compare.Options{})
//	fmt.Println(pair.Questions[0].Direction)                        // higher, lower, or cannot_tell
//	result := compare.Gate(b.Sides(), a.Sides(), bars)              // pass, fail, or not_enough_evidence
//
// Tasks are compared only with themselves: the same id and the same content. The task is the unit, so that repeats of one
// task are not taken for independent evidence; everything that is tested together is corrected together.
//
// # Limits
//
// A Gatherer keeps a few words for each run (24 bytes, and 16 more where a run has checks) and nothing of what the run
// holds. It keeps apart at most 64 checks of a task and 64 kinds of failure. Differences in runs without a verdict can't
// be seen: coverage stands beside every number. The formulas and their sources are those of package stats.
package compare
