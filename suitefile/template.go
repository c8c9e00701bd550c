package suitefile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// variableName is what may stand between ${ and }.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// A scope is the names that templates may use at one place.
type scope struct {
	values map[string]any // JSON values
	// unset are the names of environment variables that are allowed and not set.
	unset map[string]bool
	// loose takes every name: for a task whose matrix is wrong, so that the rest of it can be checked.
	loose bool
}

// with is the scope with the columns of one row of a matrix.
func (s *scope) with(row map[string]any) *scope {
	values := make(map[string]any, len(s.values)+len(row))
	maps.Copy(values, s.values)
	maps.Copy(values, row)
	return &scope{values: values, unset: s.unset}
}

func (s *scope) names() []string {
	return slices.Sorted(maps.Keys(s.values))
}

// lookup is the value of a name.
func (s *scope) lookup(name string) (any, error) {
	if v, ok := s.values[name]; ok {
		return v, nil
	}
	if s.loose {
		return "0", nil
	}
	if s.unset[name] {
		return nil, fmt.Errorf("${%s}: the environment variable %s is not set", name, name)
	}
	if !variableName.MatchString(name) {
		return nil, fmt.Errorf("${%s}: want a name of letters, digits, _ and - here; a literal ${ is written $${", clip(name))
	}
	if near := tooleval.DidYouMean(name, s.names()); near != "" {
		return nil, fmt.Errorf("${%s}: no such variable%s", clip(name), near)
	}
	return nil, fmt.Errorf("${%s}: no such variable; declare it under vars, or list it under env; a literal ${ is written $${", clip(name))
}

// expand replaces the templates in a text. A text that is nothing but one ${name} becomes the variable's value, with its
// type; otherwise the result is text. At most mostText bytes come out.
func (s *scope) expand(in string) (any, error) {
	if !strings.Contains(in, "${") {
		return in, nil
	}
	if inner, ok := strings.CutPrefix(in, "${"); ok {
		if name, ok := strings.CutSuffix(inner, "}"); ok && !strings.ContainsAny(name, "{}") {
			return s.lookup(name)
		}
	}
	var out strings.Builder
	for rest := in; ; {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			out.WriteString(rest)
			break
		}
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			out.WriteString(literal + "${")
			rest = after
			continue
		}
		out.WriteString(before)
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("${%s: the closing } is missing; a literal ${ is written $${", clip(after))
		}
		v, err := s.lookup(name)
		if err != nil {
			return nil, err
		}
		word, ok := spelling(v)
		if !ok {
			return nil, fmt.Errorf("${%s} is no text or number, so it can't stand inside of a text", name)
		}
		out.WriteString(word)
		rest = tail
		if out.Len() > mostText {
			return nil, fmt.Errorf("the text is longer than %d MiB once its templates are replaced", mostText>>20)
		}
	}
	return out.String(), nil
}

// mostText bounds what templates can blow a text up to.
const mostText = 4 << 20
