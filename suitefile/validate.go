package suitefile

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// subjects find what an error of Suite.Validate is about; the first that fits and has a known place is taken.
var subjects = []*regexp.Regexp{
	regexp.MustCompile(`fixture \d+`),
	regexp.MustCompile(`task (?:id )?("(?:[^"\\]|\\.)*")`),
	regexp.MustCompile(`(tool|mind|entry point) "(?:[^"\\]|\\.)*"`),
}

// validate asks the Suite itself, for everything that the format alone can't tell. What is wrong with a part that has
// been reported already is not reported again: it may well follow from that.
func (l *loader) validate() {
	err := l.suite.Validate(l.options.Getenv)
	if err == nil {
		return
	}
	found := l.problems.count()
	for key, node := range l.nodes {
		l.troubled[key] = l.troubled[key] || l.problems.within(l.places[key].file, node.Line, lastLineOf(node))
	}
	for _, e := range joined(err) {
		message := strings.TrimPrefix(e.Error(), `suite "`)
		if _, after, ok := strings.Cut(message, `": `); ok {
			message = after
		}
		key := l.subject(message)
		if key == "" {
			if found == 0 {
				l.fail(l.places["suite"], "%s", message)
			}
			continue
		}
		if !l.troubled[key] {
			l.fail(l.places[key], "%s", message)
		}
	}
	if l.problems.count() == 0 { // never a Suite that does not validate, whatever its errors look like
		l.fail(l.places["suite"], "%v", err)
	}
}

// subject is the key of what a message is about; empty when that has no place of its own.
func (l *loader) subject(message string) string {
	for i, re := range subjects {
		m := re.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		key := m[0]
		if i == 1 {
			key = "task " + m[1]
		}
		if _, known := l.places[key]; known {
			return key
		}
	}
	return ""
}

// joined are the errors that are joined in one.
func joined(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, joined(e)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil && strings.Contains(err.Error(), "\n") {
		return joined(inner)
	}
	return []error{err}
}

// lastLineOf is the line on which the last part of a node begins.
func lastLineOf(n *yaml.Node) int {
	last := n.Line
	for _, inner := range n.Content {
		last = max(last, lastLineOf(inner))
	}
	return last
}

// within reports whether there is a problem in some lines of a file.
func (p *problems) within(file *source, first, last int) bool {
	return slices.ContainsFunc(p.list, func(q Problem) bool {
		return q.File == file.shown && q.Line >= first && q.Line <= last
	})
}
