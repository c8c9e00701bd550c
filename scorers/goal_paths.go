package scorers

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
)

// pathRules are the ignored paths and the unordered lists.
type pathRules struct {
	ignore [][]string
	lists  []listRule
}

type listRule struct {
	path []string
	key  string
}

func (g *Goal) rules() (*pathRules, error) {
	r := &pathRules{}
	var errs []error
	for _, p := range g.Ignore {
		at, err := parsePath(p)
		if err == nil && len(at) == 0 {
			err = fmt.Errorf("path %q: ignoring everything checks nothing", p)
		}
		errs = append(errs, err)
		r.ignore = append(r.ignore, at)
	}
	for _, l := range g.Unordered {
		at, err := parsePath(l.Path)
		errs = append(errs, err)
		r.lists = append(r.lists, listRule{at, l.Key})
	}
	return r, errors.Join(errs...)
}

func (r *pathRules) ignored(at []string) bool {
	return slices.ContainsFunc(r.ignore, func(p []string) bool { return fitsPath(p, at) })
}

func (r *pathRules) unordered(at []string) (key string, ok bool) {
	for _, l := range r.lists {
		if fitsPath(l.path, at) {
			return l.key, true
		}
	}
	return "", false
}

func fitsPath(pattern, at []string) bool {
	return slices.EqualFunc(pattern, at, func(p, a string) bool { return p == a || p == "*" || a == "*" && isNumber(p) })
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// parsePath takes a path apart: $.orders.*.items[*]["odd key"].
func parsePath(p string) ([]string, error) {
	rest, ok := strings.CutPrefix(p, "$")
	if !ok {
		return nil, fmt.Errorf("path %q: want it to begin with $, as in $.orders.*.id", p)
	}
	var at []string
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, `["`):
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || !strings.HasPrefix(rest[1+len(quoted):], "]") {
				return nil, fmt.Errorf("path %q: want a key in quotes and ], at %q", p, rest)
			}
			key, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("path %q: %w", p, err)
			}
			at, rest = append(at, key), rest[len(quoted)+2:]
		case rest[0] == '[':
			inside, after, ok := strings.Cut(rest[1:], "]")
			if !ok || inside != "*" && (inside == "" || !isNumber(inside)) {
				return nil, fmt.Errorf("path %q: want [*] or a number, at %q", p, rest)
			}
			at, rest = append(at, inside), after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 {
				return nil, fmt.Errorf("path %q: want a key at %q", p, rest)
			}
			at, rest = append(at, rest[1:end+1]), rest[end+1:]
		default:
			return nil, fmt.Errorf("path %q: want . or [ at %q", p, rest)
		}
	}
	return at, nil
}

// A shape is the places that a pattern names.
type shape struct {
	all   bool // this place and everything below
	below map[string]shape
}

// patternShape tells which places a pattern says something about: those are expected to change, or are judged already.
func patternShape(p tooleval.Pattern) (shape, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return shape{}, err
	}
	v, err := tooleval.DecodeValue(b)
	if err != nil {
		return shape{}, err
	}
	return shapeOf(v), nil
}

func shapeOf(v any) shape {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return shape{all: true}
	}
	for _, scope := range []string{"$subset", "$exact"} {
		if inner, ok := m[scope]; ok {
			return shapeOf(inner)
		}
	}
	s := shape{below: map[string]shape{}}
	for k, inner := range m {
		if strings.HasPrefix(k, "$") {
			return shape{all: true}
		}
		s.below[k] = shapeOf(inner)
	}
	return s
}
