// Command tooleval scores how well an LLM agent uses tools.
package main

import (
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/examples/airline"
	"github.com/tooleval/tooleval/suites"
)

func main() {
	cli.App{Suites: suites.All, Folders: []cli.Folder{{Path: "examples/airline", Load: airline.Folder}}}.Main()
}
