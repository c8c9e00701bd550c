// Command tooleval scores how well an LLM agent uses tools.
package main

import (
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/suites"
)

func main() { cli.Main(suites.All...) }
