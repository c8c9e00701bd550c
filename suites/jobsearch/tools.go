package jobsearch

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/live"
)

var tools = []tooleval.Tool{
	{
		Name:        "fetch_webpage",
		Description: "Fetches a web page and returns its title and readable text as Markdown. Takes no login and runs no scripts.",
		Schema: tooleval.Raw(`{
			"type": "object",
			"properties": {"url": {"type": "string", "description": "an http or https address"}},
			"required": ["url"],
			"additionalProperties": false
		}`),
	},
	{
		Name:        "web_search",
		Description: "Searches the web and returns titles, addresses and snippets of the best results.",
		Schema: tooleval.Raw(`{
			"type": "object",
			"properties": {"query": {"type": "string", "description": "what to look for, in a few words"}},
			"required": ["query"],
			"additionalProperties": false
		}`),
	},
	{
		Name:        "read_resume",
		Description: "Returns the candidate's résumé.",
		Schema:      tooleval.Raw(`{"type": "object", "properties": {}, "additionalProperties": false}`),
	},
	{
		Name:        "save_output",
		Description: "Saves a text file in the output folder. A file of the same name is replaced.",
		Schema: tooleval.Raw(`{
			"type": "object",
			"properties": {
				"filename": {"type": "string", "description": "a plain name such as report.md, without folders"},
				"content": {"type": "string", "description": "the whole content of the file"}
			},
			"required": ["filename", "content"],
			"additionalProperties": false
		}`),
	},
}

// What the tools answer is made here for the mock and for the live world, so that both look the same to an agent.

func pageResult(p live.Page) tooleval.ToolResult {
	var b strings.Builder
	fmt.Fprintf(&b, "URL: %s\n", p.URL)
	if p.Title != "" {
		fmt.Fprintf(&b, "Title: %s\n", p.Title)
	}
	b.WriteString("\n")
	if p.Text == "" {
		b.WriteString("(the page has no readable text)")
	}
	b.WriteString(p.Text)
	if p.Cut {
		b.WriteString("\n\n(the page is longer; the rest was cut off)")
	}
	return tooleval.TextResult(b.String())
}

func searchResult(found []live.SearchResult) tooleval.ToolResult {
	if found == nil {
		found = []live.SearchResult{}
	}
	return tooleval.JSONResult(map[string]any{"results": found})
}

const emptyResume = "(the résumé is empty)"

func resumeResult(text string) tooleval.ToolResult {
	if strings.TrimSpace(text) == "" {
		text = emptyResume
	}
	return tooleval.TextResult(text)
}

func savedResult() tooleval.ToolResult { return tooleval.TextResult("saved") }
