// Package cli is the tooleval command. A binary with suites of its own is one line:
//
//	func main() { cli.Main(append(suites.All, mine.Suite)...) }
//
// One that has suites which are named by the path of their folder makes an [App] and calls its Main.
//
// Everything that a command touches (arguments, environment, streams) is a field of [App], so that a test can run a
// command as a user would.
//
// # Exit codes
//
// 0 done, and the gate passed where one was asked for; 1 the gate failed; 2 usage, configuration or an invalid suite; 3 not
// enough evidence for the gate; 130 cancelled. Without a gate an eval whose agent fails is still a completed eval: 0. For
// tooleval check, 1 is a broken task and 3 a task that can't be evaluated.
package cli
