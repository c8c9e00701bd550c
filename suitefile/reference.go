package suitefile

import (
	"fmt"
	"strings"
)

// Reference is the part of docs/formats/suite.md that lists every key, in Markdown. It is made of the description that
// Load checks with; a test holds the document to it.
func Reference() string {
	var out strings.Builder
	for _, s := range records() {
		fmt.Fprintf(&out, "### %s\n\n%s\n\n", s.name, s.doc)
		if s.example != "" {
			fmt.Fprintf(&out, "```yaml\n%s\n```\n\n", s.example)
		}
		out.WriteString("| key | takes | |\n|---|---|---|\n")
		for _, f := range s.fields {
			key := "`" + f.key + "`"
			if f.required {
				key += " (needed)"
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", key, strings.ReplaceAll(f.shape.takes(), "|", `\|`), strings.ReplaceAll(f.doc, "|", `\|`))
		}
		out.WriteString("\n")
		for _, g := range s.groups {
			out.WriteString(g.sentence())
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// takes says in a few words what a shape takes, for the reference.
func (s *shape) takes() string {
	switch s.kind {
	case choice:
		return "`" + strings.Join(s.words, "`, `") + "`"
	case number, integer:
		return s.bounds()
	case jsonAny:
		return "JSON"
	case jsonObj:
		return "a JSON object"
	case pattern:
		return "a pattern"
	case record:
		return "[" + s.name + "](#" + anchor(s.name) + ")"
	case dict:
		return "by name: " + s.elem.takes()
	case list:
		return "list of " + s.elem.takes()
	case either:
		words := make([]string, len(s.of))
		for i, o := range s.of {
			words[i] = o.takes()
		}
		return strings.Join(words, ", or ")
	case text:
		if s == aFile {
			return "a path in the folder"
		}
	}
	return s.want()
}

// anchor is how Markdown readers link to a heading.
func anchor(heading string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r >= 'a' && r <= 'z' || r == '_':
			out.WriteRune(r)
		case r == ' ':
			out.WriteByte('-')
		}
	}
	return out.String()
}

// sentence says what a group asks for.
func (g group) sentence() string {
	keys := "`" + strings.Join(g.keys, "`, `") + "`"
	switch {
	case len(g.keys) < 2:
		return ""
	case g.need && g.exclusive:
		return "Exactly one of " + keys + ".\n\n"
	case g.need:
		return "At least one of " + keys + ".\n\n"
	}
	return "At most one of " + keys + ".\n\n"
}
