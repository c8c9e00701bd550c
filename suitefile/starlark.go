package suitefile

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/starlark"
)

var starlarkShape = &shape{
	kind: record, name: "world.starlark",
	doc: "A world whose tools compute, over a state that is fresh in every run: each tool is a function def tool(state, args, ctx) of a Starlark file.",
	fields: []field{
		must("program", aFile, "the Starlark file"),
		may("state", anObject, "the state in which every run starts; left out: {}"),
		may("state_file", aFile, "the same, from a JSON file"),
		may("parts", dictOf(aFile), "further keys of that state, each with the JSON file that holds its value"),
		may("functions", dictOf(aText), "the functions that answer, by tool, where the names differ"),
		may("unchecked", texts, "tools whose arguments are not held to their schema before the function is called"),
		may("now", aText, "ctx.now; left out: 2024-01-01T00:00:00Z"),
		may("changes", aBoolean, "whether records keep only what changed in the state; such tasks need a goal instead of expected_state"),
		may("max_steps", &shape{kind: integer, min: 1}, "bounds one call, in steps of the script"),
		may("max_bytes", &shape{kind: integer, min: 1}, "bounds a result, and the state"),
	},
	groups: []group{atMostOne("state", "state_file")},
	example: `world:
  starlark:
    program: world.star
    state_file: state.json`,
}

// functionShape is a function of a Starlark file.
func functionShape(name, doc string) *shape {
	return &shape{kind: record, name: name, doc: doc, fields: []field{
		must("program", aFile, "the Starlark file"),
		must("function", aText, "the function in it"),
	}}
}

var (
	scoreFunction = functionShape("scorers.*.starlark", "A function score(run, ctx): ctx.check(name, ok) adds a check, and the outcome is their share, or what it returns.")
	agentFunction = functionShape("minds[].starlark", "A function agent(task, tools) that calls tools.NAME(key = value) and returns the final answer, or a dict with response and state.")
)

func buildStarlark(l *loader, e *entry) tooleval.WorldFactory {
	program := e.get("program")
	if program == nil {
		return nil
	}
	source, ok := l.textFile(program)
	if !ok {
		return nil
	}
	c := starlark.Config{
		Name: program.words, Source: []byte(source), Unchecked: e.get("unchecked").texts(), Data: l.data, Now: e.get("now").text(),
		Changes: e.get("changes").bool(), MaxSteps: uint64(e.get("max_steps").int()), MaxBytes: e.get("max_bytes").int(),
	}
	if raw, _, ok := l.rawOrFile(e, "state"); ok {
		c.State = raw
	}
	for _, name := range e.get("parts").names() {
		if raw, ok := l.jsonFile(e.get("parts").get(name)); ok {
			if c.Parts == nil {
				c.Parts = map[string]tooleval.Raw{}
			}
			c.Parts[name] = raw
		}
	}
	for _, tool := range e.get("functions").names() {
		if c.Functions == nil {
			c.Functions = map[string]string{}
		}
		f := e.get("functions").get(tool)
		l.known(&entry{at: f.key, words: tool}, "tool", l.toolset)
		c.Functions[tool] = f.words
	}
	for _, tool := range e.get("unchecked").elements() {
		l.knownTool(tool)
	}
	if l.troubled["world"] {
		return nil
	}
	w, err := starlark.New(c)
	if err != nil {
		for _, err := range joined(err) {
			l.inScript(program, err)
		}
		return nil
	}
	return w
}

// scriptPlace finds the place that an error about a script begins with.
var scriptPlace = regexp.MustCompile(`^(?s:(?:[^\n:]+: )?[^\n:]+:(\d+):(\d+): (.*))$`)

// inScript reports an error about a script at the place in the script that it names.
func (l *loader) inScript(program *entry, err error) {
	at, message := program.at, err.Error()
	if m := scriptPlace.FindStringSubmatch(message); m != nil {
		line, errLine := strconv.Atoi(m[1])
		column, errColumn := strconv.Atoi(m[2])
		if errLine == nil && errColumn == nil {
			at, message = place{l.folder.source(program.words), line, column}, m[3]
		}
	}
	l.fail(at, "%s", message)
}

// program reads a Starlark file; one that several entries name is read once.
func (l *loader) program(e *entry) *starlark.Program {
	f := e.get("program")
	if f == nil {
		return nil
	}
	if p, done := l.programs[f.words]; done {
		return p
	}
	l.programs[f.words] = nil
	source, ok := l.textFile(f)
	if !ok {
		return nil
	}
	p, err := starlark.Load(f.words, []byte(source))
	if err != nil {
		l.inScript(f, err)
		return nil
	}
	l.programs[f.words] = p
	return p
}

// function is a function of a Starlark file, once it is known to be there.
func (l *loader) function(e *entry) (*starlark.Program, string) {
	p := l.program(e)
	if p == nil || !l.known(e.get("function"), "function", p.Functions()) {
		return nil, ""
	}
	return p, e.get("function").words
}

func buildScoreFunction(l *loader, _ string, e *entry) tooleval.Scorer {
	p, name := l.function(e)
	if p == nil {
		return nil
	}
	s, err := p.Scorer(name, worldOf{l.suite})
	if err != nil {
		e.get("function").fail(l, "%v", err)
		return nil
	}
	return s
}

// worldOf expands states by the world of a suite, which is built after its scorers.
type worldOf struct{ suite *tooleval.Suite }

// ExpandState is what a state of the suite's world stands for.
func (w worldOf) ExpandState(state tooleval.State) (any, error) {
	for _, f := range []tooleval.WorldFactory{w.suite.MockWorld, w.suite.LiveWorld} {
		if x, ok := f.(tooleval.StateExpander); ok {
			return x.ExpandState(state)
		}
	}
	if len(state) == 0 {
		return nil, nil
	}
	v, err := tooleval.DecodeValue(state)
	if err != nil {
		return nil, fmt.Errorf("the final state: %w", err)
	}
	return v, nil
}
