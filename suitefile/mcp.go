package suitefile

import (
	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/mcpworld"
)

var mcpShape = &shape{
	kind: record, name: "world.mcp",
	doc: "A live world: the tools of a server of the Model Context Protocol, which every run starts or connects to anew. The suite lists " +
		"those that its tasks use under tools.",
	fields: []field{
		may("command", texts, "the program and its arguments, which speaks MCP over its standard input and output; what begins with ./ or ../ is relative to the suite's folder"),
		may("env", texts, "environment variables for the program: NAME hands one over, NAME=value sets one"),
		may("url", aText, "a server that speaks MCP's streamable HTTP"),
		may("headers", dictOf(aText), "headers for its requests, as in Authorization: Bearer ${TOKEN}; their values are in no record"),
		may("error_when", aPattern, "what a result has to meet, as JSON or as text, to count as the tool saying no although the server did not say so"),
	},
	groups: []group{exactlyOne("command", "url"), atMostOne("command", "headers"), atMostOne("url", "env")},
	example: `world:
  mcp:
    command: [./birds-server, --stdio]
    error_when: {$subset: {ok: false}}`,
}

func buildMCP(l *loader, e *entry) tooleval.WorldFactory {
	c := mcpworld.Config{Env: e.get("env").texts(), URL: e.get("url").text(), ErrorWhen: e.get("error_when").pattern()}
	if command := e.get("command"); command != nil {
		c.Command = l.command(command, false)
	}
	for _, name := range e.get("headers").names() {
		if c.Headers == nil {
			c.Headers = map[string]string{}
		}
		c.Headers[name] = e.get("headers").get(name).text()
	}
	mixed := e.get("command") != nil && (e.get("url") != nil || e.get("headers") != nil) || e.get("url") != nil && e.get("env") != nil
	if l.troubled["world"] || mixed { // which the shape has reported
		return nil
	}
	w := mcpworld.New(c)
	if err := w.Check(nil); err != nil {
		for _, err := range joined(err) {
			e.fail(l, "%v", err)
		}
		return nil
	}
	return w
}
