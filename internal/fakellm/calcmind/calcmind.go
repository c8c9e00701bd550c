// Package calcmind plays a model that solves the tasks of suite calc, and the one of tooleval agents try, through any
// agent: it calls the tool that the task needs once and answers with the object that the tool returned.
//
//	srv := fakellm.New(t, calcmind.Script)
//
// It keeps nothing between requests, so any number of runs may share a server.
package calcmind

import (
	"strings"

	"github.com/tooleval/tooleval/internal/fakellm"
)

// Script is the mind.
func Script(r fakellm.Request) fakellm.Reply {
	if result := r.LastResult(); result.Text != "" {
		// Agents wrap results, each in its own way.
		start, end := strings.Index(result.Text, "{"), strings.Index(result.Text, "}")
		if start < 0 || end < start {
			return fakellm.Text("The tool gave me nothing to answer with.")
		}
		return fakellm.Text("The tool says:\n```json\n" + result.Text[start:end+1] + "\n```")
	}
	if _, ok := r.Tool("look_up"); ok {
		return fakellm.CallTool("look_up", `{"topic":"birds"}`)
	}
	for _, m := range r.Messages {
		if strings.Contains(m.Text, "kilometers") {
			return fakellm.CallTool("convert", `{"value":5,"from":"mile","to":"kilometer"}`)
		}
	}
	return fakellm.CallTool("calculate", `{"expression":"6 * 7"}`)
}
