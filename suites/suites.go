// Package suites lists the Suites that the tooleval binary brings along. A binary of your own lists yours beside them:
//
//	func main() { cli.Main(append(suites.All, mine.Suite)...) }
//
// Nothing registers itself by being imported; this list is written down by hand.
package suites

import (
	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suites/calc"
	"github.com/tooleval/tooleval/suites/jobsearch"
	"github.com/tooleval/tooleval/suites/stub"
)

// All are the built-in Suites, in the order in which they are listed.
var All = []*tooleval.Suite{calc.Suite, stub.Suite, jobsearch.Suite, jobsearch.Edge}
