package jobsearch

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"sync"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
	"github.com/tooleval/tooleval/worlds/live"
)

//go:embed fixtures
var files embed.FS

// The fixtures are loose where a live mind has a choice: the form of an address, the words of a query, the name of a file.
var (
	postingPattern       = tooleval.Regex(`(?i)\s*(https?://)?careers\.tidewell\.example/jobs/4417\S*\s*`)
	paywalledPattern     = tooleval.Regex(`(?i)\s*(https?://)?(www\.)?jobledger\.example/\S*\s*`)
	contradictoryPattern = tooleval.Regex(`(?i)\s*(https?://)?(www\.)?quietwater\.example/jobs/12\S*\s*`)

	aboutTidewell = tooleval.ContainsFold("tidewell")
	newsWords     = `(news|announce|press|fund|rais|series|invest|recent|latest|launch|partner|contract|acqui|headline|update|20[0-9][0-9])`
	tidewellNews  = tooleval.Regex(`(?is).*(tidewell.*` + newsWords + `|` + newsWords + `.*tidewell).*`)
	anyAddress    = tooleval.Regex(`(?is)\s*https?://\S+\s*`)
	notBlank      = tooleval.Regex(`(?s).*\S.*`)
	withFolder    = tooleval.Regex(`(?s).*[/\\].*|\s*|\..*`)
)

// A lazyMock is a Mock that is built when it is first needed: reading its pages takes time that a command which only
// lists suites should not spend.
type lazyMock struct {
	resume string // a file of the fixtures; empty is an empty résumé
	once   sync.Once
	mock   worlds.Mock
}

var (
	ladderMock = lazyMock{resume: "resume.md"}
	edgeMock   = lazyMock{}
)

func (l *lazyMock) get() worlds.Mock {
	l.once.Do(func() { l.mock = worlds.Mock{Fixtures: l.fixtures()} })
	return l.mock
}

// A mockWorld is the Suite's mock. A world keeps a state only for tasks that can save something; the others are scored by
// what the agent returns.
type mockWorld struct{ lazy *lazyMock }

var (
	_ tooleval.Checker       = mockWorld{}
	_ tooleval.Fingerprinter = mockWorld{}
)

// NewWorld makes the world of one run.
func (m mockWorld) NewWorld(ctx context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	world, err := m.lazy.get().NewWorld(ctx, spec)
	if err != nil || canSave(spec.Tools) {
		return world, err
	}
	return stateless{world}, nil
}

// Check reports what is wrong with the fixtures.
func (m mockWorld) Check(s *tooleval.Suite) error { return m.lazy.get().Check(s) }

// Fingerprint is everything that shapes the answers.
func (m mockWorld) Fingerprint() any { return m.lazy.get().Fingerprint() }

type stateless struct{ tooleval.World }

func (stateless) State() (tooleval.State, error) { return nil, nil }

func canSave(tools []tooleval.Tool) bool {
	return slices.ContainsFunc(tools, func(t tooleval.Tool) bool { return t.Name == "save_output" })
}

func (l *lazyMock) fixtures() []worlds.Fixture {
	found := searches()
	resume := ""
	if l.resume != "" {
		resume = string(file(l.resume))
	}
	fixtures := []worlds.Fixture{
		answer("fetch_webpage", "url", postingPattern, page("posting.html", postingURL)),
		answer("fetch_webpage", "url", paywalledPattern, page("paywalled.html", paywalledURL)),
		answer("fetch_webpage", "url", contradictoryPattern, page("contradictory.html", contradictoryURL)),
	}
	// A found page can be opened; it says what its snippet says.
	for _, key := range []string{"tidewell_news", "tidewell_overview", "quietwater"} {
		for _, r := range found[key] {
			exact := tooleval.Regex(`\s*` + regexp.QuoteMeta(r.URL) + `/?\s*`)
			fixtures = append(fixtures, answer("fetch_webpage", "url", exact,
				pageResult(live.Page{URL: r.URL, Title: r.Title, Text: r.Snippet})))
		}
	}
	return append(fixtures,
		answer("fetch_webpage", "url", anyAddress, tooleval.ErrorResult("the address answered 404 Not Found: there is no such page")),
		worlds.Fixture{Tool: "fetch_webpage", Results: []worlds.Answer{
			{Result: tooleval.ErrorResult("only http and https addresses can be fetched")}}},

		answer("web_search", "query", tidewellNews, searchResult(found["tidewell_news"])),
		answer("web_search", "query", aboutTidewell, searchResult(found["tidewell_overview"])),
		answer("web_search", "query", tooleval.ContainsFold("quietwater"), searchResult(found["quietwater"])),
		answer("web_search", "query", notBlank, searchResult(nil)),
		worlds.Fixture{Tool: "web_search", Results: []worlds.Answer{{Result: tooleval.ErrorResult("the query is empty")}}},

		worlds.Fixture{Tool: "read_resume", Results: []worlds.Answer{{Result: resumeResult(resume)}}},

		answer("save_output", "filename", withFolder,
			tooleval.ErrorResult("the name of a file is needed, without folders and not beginning with a dot")),
		worlds.Fixture{
			Tool:    "save_output",
			Args:    tooleval.Match(tooleval.Subset(map[string]any{"filename": notBlank, "content": notBlank})),
			Results: []worlds.Answer{{Result: savedResult()}},
			Keep:    "saved",
		},
		worlds.Fixture{Tool: "save_output", Results: []worlds.Answer{
			{Result: tooleval.ErrorResult("a filename and a content that is not empty are needed")}}},
	)
}

// answer is a fixture for the calls whose argument fits a pattern.
func answer(tool, argument string, pattern tooleval.Matcher, result tooleval.ToolResult) worlds.Fixture {
	return worlds.Fixture{
		Tool:    tool,
		Args:    tooleval.Match(tooleval.Subset(map[string]any{argument: pattern})),
		Results: []worlds.Answer{{Result: result}},
	}
}

// page is what fetch_webpage says of a committed page: its HTML goes through the very reader that the live tool uses.
func page(name, address string) tooleval.ToolResult {
	at, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	title, text, err := live.Readable(bytes.NewReader(file(name)), at)
	if err != nil {
		panic(fmt.Sprintf("fixtures/%s: %v", name, err))
	}
	return pageResult(live.Page{URL: address, Title: title, Text: text})
}

func searches() map[string][]live.SearchResult {
	var found map[string][]live.SearchResult
	if err := json.Unmarshal(file("search.json"), &found); err != nil {
		panic(fmt.Sprintf("fixtures/search.json: %v", err))
	}
	return found
}

// file is a committed file. That it is there is checked by the compiler and by the tests.
func file(name string) []byte {
	b, err := files.ReadFile("fixtures/" + name)
	if err != nil {
		panic(err)
	}
	return b
}
