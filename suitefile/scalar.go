package suitefile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style&quoted == 0 }

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	// otherNumber is what some version of YAML takes for a number and JSON does not. A leading zero is not among them: it
	// makes a number of a zip code, so 0123 is text, as it was written.
	otherNumber = regexp.MustCompile(`^[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*\.)([eE][-+]?[0-9]+)?$|^\+[0-9][0-9_.]*([eE][-+]?[0-9]+)?$` +
		`|^[-+]?0[xob][0-9a-fA-F_]+$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
)

// plainValue is the JSON value of a plain scalar: null, a boolean, a number or text.
func plainValue(s string) (any, error) {
	switch s {
	case "":
		return nil, fmt.Errorf(`the value is missing; write it, or null, or "" for no text`)
	case "~", "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "True", "TRUE", "False", "FALSE", "Null", "NULL":
		return nil, fmt.Errorf("%s can mean two things: write %s, or %q in quotes for text", s, strings.ToLower(s), s)
	}
	if jsonNumber.MatchString(s) {
		const most = 1000 // digits; more are an attack on whoever computes with them
		if len(s) > most {
			return nil, fmt.Errorf("a number of %d characters; at most %d", len(s), most)
		}
		return json.Number(s), nil
	}
	if otherNumber.MatchString(s) {
		return nil, fmt.Errorf("%s can mean two things: write a number as JSON does, as in 0.5 or 31, or %q in quotes for text", clip(s), clip(s))
	}
	return s, nil
}

// describe says in words what a node is.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	if !isPlain(n) {
		return fmt.Sprintf("the text %q", clip(n.Value))
	}
	switch v, err := plainValue(n.Value); {
	case n.Value == "":
		return "nothing"
	case err != nil:
		return clip(n.Value)
	case v == nil:
		return "null"
	default:
		if s, ok := v.(string); ok {
			return fmt.Sprintf("the text %q", clip(s))
		}
		return clip(n.Value)
	}
}

// spelling is a JSON scalar as text.
func spelling(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case json.Number:
		return string(x), true
	case bool:
		return fmt.Sprint(x), true
	}
	return "", false
}

// clip shortens s for a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func listed(words []string) string { return strings.Join(words, ", ") }
