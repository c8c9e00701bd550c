package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/live"
)

// localTools are the agent's own tools, for use without a harness.
type localTools struct {
	fetcher  *live.Fetcher
	searcher *live.Searcher
	resume   string
	out      *live.Folder
}

// localSpecs are the tools as the model sees them.
var localSpecs = []tooleval.Tool{
	{
		Name:        "fetch_webpage",
		Description: "Fetches a web page and returns its title and readable text as Markdown. Takes no login and runs no scripts.",
		Schema: tooleval.Raw(`{"type":"object","properties":{"url":{"type":"string","description":"an http or https address"}},` +
			`"required":["url"],"additionalProperties":false}`),
	},
	{
		Name:        "web_search",
		Description: "Searches the web and returns titles, addresses and snippets of the best results.",
		Schema: tooleval.Raw(`{"type":"object","properties":{"query":{"type":"string","description":"what to look for, in a few words"}},` +
			`"required":["query"],"additionalProperties":false}`),
	},
	{
		Name:        "read_resume",
		Description: "Returns the candidate's résumé.",
		Schema:      tooleval.Raw(`{"type":"object","properties":{},"additionalProperties":false}`),
	},
	{
		Name:        "save_output",
		Description: "Saves a text file in the output folder. A file of the same name is replaced.",
		Schema: tooleval.Raw(`{"type":"object","properties":{` +
			`"filename":{"type":"string","description":"a plain name such as report.md, without folders"},` +
			`"content":{"type":"string","description":"the whole content of the file"}},` +
			`"required":["filename","content"],"additionalProperties":false}`),
	},
}

// openLocal reads the résumé and opens the output folder, which is made when it is missing.
func openLocal(o runOptions) (*localTools, error) {
	resume, err := live.ReadTextFile(o.resume, 0)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	out, err := live.OpenFolder(o.out, live.FolderOptions{})
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	fetcher := live.NewFetcher(live.FetchOptions{AllowPrivate: o.allowPrivate})
	return &localTools{fetcher, &live.Searcher{Fetcher: fetcher, Endpoint: o.searchURL}, resume, out}, nil
}

// CallTool answers one call. A tool that can't do it says so to the model.
func (t *localTools) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	var args struct{ URL, Query, Filename, Content string }
	if len(call.Args) > 0 {
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return tooleval.ErrorResult("the arguments don't fit the schema: %v", err), nil
		}
	}
	result, err := t.answer(ctx, call.Tool, args.URL, args.Query, args.Filename, args.Content)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return tooleval.ToolResult{}, context.Cause(ctx)
	}
	return tooleval.ErrorResult("%v", err), nil
}

func (t *localTools) answer(ctx context.Context, tool, url, query, filename, content string) (tooleval.ToolResult, error) {
	switch tool {
	case "fetch_webpage":
		p, err := t.fetcher.Fetch(ctx, url)
		text := fmt.Sprintf("URL: %s\nTitle: %s\n\n%s", p.URL, p.Title, p.Text)
		if p.Cut {
			text += "\n\n(the page is longer; the rest was cut off)"
		}
		return tooleval.TextResult(text), err
	case "web_search":
		found, err := t.searcher.Search(ctx, query)
		return tooleval.JSONResult(map[string]any{"results": found}), err
	case "read_resume":
		if blank(t.resume) {
			return tooleval.TextResult("(the résumé is empty)"), nil
		}
		return tooleval.TextResult(t.resume), nil
	case "save_output":
		if blank(content) {
			return tooleval.ToolResult{}, errors.New("a filename and a content that is not empty are needed")
		}
		return tooleval.TextResult("saved"), t.out.Write(strings.TrimSpace(filename), content)
	}
	return tooleval.ToolResult{}, fmt.Errorf("there is no tool %.100q", tool)
}
