package tooleval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A compiler turns the JSON form of a pattern into nodes and gathers everything that is wrong with it.
type compiler struct{ errs []error }

func (c *compiler) err() error { return errors.Join(c.errs...) }

func (c *compiler) fail(path, format string, args ...any) node {
	c.errs = append(c.errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	return literal{nil}
}

// compile compiles the pattern v. inList says that v is an element of a list, where nothing can be absent.
func (c *compiler) compile(path string, v any, inList bool) node {
	switch x := v.(type) {
	case []any:
		return list{c.compileAll(path, x, true)}
	case map[string]any:
		for k := range x {
			if strings.HasPrefix(k, "$") {
				return c.matcher(path, x, inList)
			}
		}
		fields := make(map[string]node, len(x))
		for _, k := range sortedKeys(x) {
			fields[k] = c.compile(child(path, k), x[k], false)
		}
		return newObject(fields)
	}
	return literal{v}
}

func (c *compiler) compileAll(path string, l []any, inList bool) []node {
	nodes := make([]node, len(l))
	for i, e := range l {
		nodes[i] = c.compile(element(path, i), e, inList)
	}
	return nodes
}

// matcherOptions are the matchers, each with the keys that may stand beside it.
var matcherOptions = map[string][]string{
	"$any": nil, "$absent": nil, "$regex": nil, "$contains": {"ignore_case"}, "$number": {"tolerance"},
	"$one_of": nil, "$subset": nil, "$exact": nil, "$unordered": nil, "$literal": nil,
}

func (c *compiler) matcher(path string, m map[string]any, inList bool) node {
	name := ""
	for _, k := range sortedKeys(m) {
		if strings.HasPrefix(k, "$") {
			if name != "" {
				return c.fail(path, "two matchers in one object: %s and %s; nest them, or write {\"$literal\": …}",
					clip(name), clip(k))
			}
			name = k
		}
	}
	options, known := matcherOptions[name]
	if !known {
		return c.fail(path, "unknown matcher %q%s; a key that begins with $ is written {\"$literal\": …}",
			clip(name), DidYouMean(name, slices.Sorted(maps.Keys(matcherOptions))))
	}
	for _, k := range sortedKeys(m) {
		if k != name && !slices.Contains(options, k) {
			return c.fail(path, "unknown key %q beside %s%s", clip(k), name, DidYouMean(k, options))
		}
	}
	return c.build(path, name, m, inList)
}

func (c *compiler) build(path, name string, m map[string]any, inList bool) node {
	arg := m[name]
	switch name {
	case "$any", "$absent":
		if arg != true {
			return c.fail(path, "%s takes true", name)
		}
		if name == "$any" {
			return anything{}
		}
		if inList {
			return c.fail(path, "$absent is for the keys of an object; leave the element out of the list")
		}
		return absent{}
	case "$regex":
		expr, ok := arg.(string)
		if !ok {
			return c.fail(path, "$regex takes a string")
		}
		// By itself first: "a)|(b" would become sound, and match parts, between the brackets below.
		if _, err := regexp.Compile(expr); err != nil {
			return c.fail(path, "$regex: %v", err)
		}
		re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
		if err != nil {
			return c.fail(path, "$regex: %v", err)
		}
		return matchRegex{expr, re}
	case "$contains":
		part, ok := arg.(string)
		if !ok || part == "" {
			return c.fail(path, "$contains takes a string that is not empty")
		}
		fold := false
		if f, given := m["ignore_case"]; given {
			if fold, ok = f.(bool); !ok {
				return c.fail(path, "ignore_case takes true or false")
			}
		}
		return contains{part, fold}
	case "$number":
		return c.near(path, m)
	case "$one_of":
		l, ok := arg.([]any)
		if !ok || len(l) == 0 {
			return c.fail(path, "$one_of takes a list that is not empty")
		}
		return oneOf{c.compileAll(path, l, inList)}
	case "$subset":
		if _, ok := arg.(map[string]any); !ok {
			return c.fail(path, "$subset takes an object")
		}
		return scope{c.compile(path, arg, inList), true}
	case "$exact":
		return scope{c.compile(path, arg, inList), false}
	case "$unordered":
		l, ok := arg.([]any)
		if !ok {
			return c.fail(path, "$unordered takes a list")
		}
		return unordered{c.compileAll(path, l, true)}
	}
	return literal{arg} // $literal
}

func (c *compiler) near(path string, m map[string]any) node {
	value, ok := m["$number"].(json.Number)
	if !ok {
		return c.fail(path, "$number takes a number")
	}
	n := near{value: value, tolerance: "0"}
	if t, given := m["tolerance"]; given {
		num, ok := t.(json.Number)
		f, err := num.Float64()
		if !ok || err != nil || f < 0 {
			return c.fail(path, "tolerance takes a number that is not negative")
		}
		n.tolerance = num
	}
	if _, err := value.Float64(); err != nil {
		return c.fail(path, "$number %s is out of range", value)
	}
	return n
}
