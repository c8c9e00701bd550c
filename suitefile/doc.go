// Package suitefile reads a Suite from a folder that anyone can read and review, without Go.
//
//	suite, err := suitefile.Load("./my-suite", suitefile.Options{Getenv: os.Getenv})
//	if err != nil { // all that is wrong, each as file:line:column with what was expected
//		return err
//	}
//	cli.Main(append(suites.All, suite)...)
//
// The folder holds suite.yaml and the files that it names: tasks and fixtures in further YAML files, schemas and states as
// JSON, rows of inputs as CSV or JSON Lines. docs/formats/suite.md is the reference; [JSONSchema] describes the same for
// editors. Both, and the checks of Load, come from one description of the format, so that they can't drift apart.
//
// # What is promised
//
// Load is strict. An unknown or repeated key, a value of the wrong type, a pattern that is not sound, a file that is
// missing, a name that stands for nothing, a list that is empty and a task that checks nothing are errors, all reported
// at once. Values keep what the author wrote: where text is expected, 0123, no, 1.10 and 2024-01-31 are those very
// characters; where JSON is expected, numbers keep every digit, and what one version of YAML reads otherwise than
// another, such as 0x1F or True, is refused rather than guessed. Anchors, aliases, merge keys and tags are refused.
// Templates know only ${name}, where the name is declared under vars, env or the columns of a matrix.
//
// # Limits
//
// Every path stays inside the folder: neither ".." nor a symbolic link leads out of it. A YAML file may have 16 MiB and
// 200 levels, a data file 64 MiB. Templates are replaced in YAML files and never in data files. A command as a mind is
// no sandbox: what its user can read, it can read, the folder of the suite included. It is not told where that is, and
// a program inside the folder is refused.
package suitefile
