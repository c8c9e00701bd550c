// Package cli is the tooleval command. A binary with suites of its own is one line:
//
//	func main() { cli.Main(append(suites.All, mine.Suite)...) }
//
// Everything that a command touches (arguments, environment, streams) is a field of [App], so that a test can run a
// command as a user would.
//
// # Exit codes
//
// 0 done, 2 usage, configuration or an invalid suite, 130 cancelled. Without a gate an eval whose agent fails is still a
// completed eval: 0.
package cli
