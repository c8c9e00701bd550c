package suitefile

import (
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

func (l *loader) buildTools(e *entry) {
	for _, t := range e.elements() {
		name := t.get("name")
		if name == nil {
			continue
		}
		key := l.define("tool", name.words, name.at)
		tool := tooleval.Tool{Name: name.words, Description: t.get("description").text()}
		l.nodes[key] = t.node
		l.watch(key, func() { tool.Schema = l.buildSchema(t) })
		if !slices.Contains(l.toolset, tool.Name) {
			l.suite.Tools = append(l.suite.Tools, tool)
			l.toolset = append(l.toolset, tool.Name)
		}
	}
}

// buildSchema is the schema of a tool's arguments: itself a sound JSON Schema, as far as ToolEval can tell.
func (l *loader) buildSchema(t *entry) tooleval.Raw {
	raw, at, ok := l.rawOrFile(t, "input_schema")
	if !ok {
		return nil
	}
	value, err := tooleval.DecodeValue(raw)
	if err != nil { // it was decoded before
		l.fail(at, "%v", err)
		return nil
	}
	schema, ok := value.(map[string]any)
	if !ok || schema["type"] != "object" {
		l.fail(at, `a tool's arguments are an object, so its schema needs "type: object"`)
		return nil
	}
	if err := checkSchema(schema); err != nil {
		l.fail(at, "not a JSON Schema: %v", err)
		return nil
	}
	return raw
}

func (l *loader) buildEntryPoints(e *entry) {
	for _, p := range e.elements() {
		name := p
		if p.fields != nil {
			name = p.get("name")
		}
		if name == nil {
			continue
		}
		l.define("entry point", name.words, name.at)
		if !slices.ContainsFunc(l.suite.EntryPoints, func(x tooleval.EntryPoint) bool { return x.Name == name.words }) {
			l.suite.EntryPoints = append(l.suite.EntryPoints, tooleval.EntryPoint{Name: name.words, Description: p.get("description").text()})
		}
	}
}

func (l *loader) entryPointNames() []string {
	names := make([]string, len(l.suite.EntryPoints))
	for i, p := range l.suite.EntryPoints {
		names[i] = p.Name
	}
	return names
}

// knownTool reports a tool that the suite does not have.
func (l *loader) knownTool(e *entry) bool { return l.known(e, "tool", l.toolset) }

// lastLine is the last line of a message that has several.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(strings.TrimLeft(lines[len(lines)-1], "- "))
}
