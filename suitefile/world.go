package suitefile

import (
	"errors"
	"fmt"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// A worldKind is one way to write the world of a suite: a key under world. A further kind is a further element of
// worldKinds; checks, JSON Schema and reference follow.
type worldKind struct {
	key, doc string
	// live says that it makes the Suite's LiveWorld; otherwise it makes the MockWorld. A suite has at most one of each.
	live  bool
	shape *shape
	// build makes the factory of an entry that fits the shape. It reports what is wrong, and may then return nil.
	build func(l *loader, e *entry) tooleval.WorldFactory
}

func worldKinds() []worldKind {
	return []worldKind{
		{key: "mock", doc: "canned answers", shape: mockShape, build: buildMock},
		{key: "starlark", doc: "tools that compute and keep a state", shape: starlarkShape, build: buildStarlark},
		{key: "mcp", doc: "the real tools of an MCP server, for --live", live: true, shape: mcpShape, build: buildMCP},
	}
}

func (l *loader) buildWorld(e *entry) {
	if e == nil {
		return
	}
	l.places["world"] = e.at
	l.checkUsers(e.get("user"))
	for _, k := range worldKinds() {
		inner := e.get(k.key)
		if inner == nil {
			continue
		}
		var w tooleval.WorldFactory
		l.watch("world", func() { w = k.build(l, inner) })
		w = l.withUser(e, w)
		if k.live {
			l.suite.LiveWorld = w
		} else {
			l.suite.MockWorld = w
		}
	}
	for _, g := range l.goals {
		g.World = l.suite.MockWorld
	}
	if l.suite.MockWorld == nil && l.suite.LiveWorld == nil {
		l.troubled["world"] = true
	}
}

func buildMock(l *loader, e *entry) tooleval.WorldFactory {
	m := &worlds.Mock{}
	if raw, _, ok := l.rawOrFile(e, "initial_state"); ok {
		m.InitialState = raw
	}
	for i, f := range e.get("fixtures").elements() {
		key := fmt.Sprintf("fixture %d", i+1)
		l.places[key], l.nodes[key] = f.at, f.node
		l.watch(key, func() { m.Fixtures = append(m.Fixtures, l.buildFixture(f)) })
	}
	return m
}

func (l *loader) buildFixture(e *entry) worlds.Fixture {
	l.knownTool(e.get("tool"))
	f := worlds.Fixture{
		Tool: e.get("tool").text(), Args: e.get("args").pattern(), Keep: e.get("keep").text(),
		WhenExhausted: worlds.Policy(e.get("when_exhausted").text()),
	}
	several := e.get("results")
	if several == nil {
		f.Results = []worlds.Answer{l.buildAnswer(e)}
		return f
	}
	for _, a := range several.list {
		f.Results = append(f.Results, l.buildAnswer(a))
	}
	for _, key := range []string{"latency", "ends_run"} {
		if x := e.get(key); x != nil {
			l.fail(x.key, "beside results, %s belongs to each of them", key)
		}
	}
	return f
}

// buildAnswer builds the answer of a fixture or of one of its results.
func (l *loader) buildAnswer(e *entry) worlds.Answer {
	a := worlds.Answer{Latency: e.get("latency").duration()}
	raw, _, isJSON := l.rawOrFile(e, "result")
	switch {
	case isJSON:
		a.Result = tooleval.ToolResult{Text: tooleval.Text(raw), Structured: raw}
	case e.get("text") != nil:
		a.Result = tooleval.TextResult(e.get("text").words)
	case e.get("text_file") != nil:
		s, _ := l.textFile(e.get("text_file"))
		a.Result = tooleval.TextResult(s)
	case e.get("error") != nil:
		a.Result = tooleval.ErrorResult("%s", e.get("error").words)
	case e.get("breaks") != nil:
		a.Err = errors.New(e.get("breaks").words)
	}
	a.Result.EndsRun = e.get("ends_run").bool()
	return a
}
