package suitefile

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
)

// json is the JSON value of a node. With paths, the place of every part is noted there under the path by which the errors
// of a pattern name it.
func (c *checker) json(n *yaml.Node, path string, paths map[string]place) (any, bool) {
	at := c.src.at(n)
	if paths != nil {
		if _, noted := paths[path]; !noted {
			paths[path] = at
		}
	}
	if !c.plainNode(n) {
		return nil, false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return c.scalar(n)
	case yaml.SequenceNode:
		out, ok := make([]any, 0, len(n.Content)), true
		for i, e := range n.Content {
			v, sound := c.json(e, path+"["+strconv.Itoa(i)+"]", paths)
			out, ok = append(out, v), ok && sound
		}
		return out, ok
	}
	out, ok := newObject(len(n.Content)/2), true
	for _, p := range c.pairs(n) {
		inner := path
		if !strings.HasPrefix(p.key, "$") {
			inner = childPath(path, p.key)
		} else if paths != nil {
			paths[path] = c.src.at(p.name) // an error about a matcher belongs to its name
		}
		v, sound := c.json(p.value, inner, paths)
		out.set(p.key, v)
		ok = ok && sound
	}
	return out, ok && !c.broken(n)
}

// scalar is the JSON value of a scalar, its templates replaced.
func (c *checker) scalar(n *yaml.Node) (any, bool) {
	var v any = n.Value
	if isPlain(n) {
		var err error
		if v, err = plainValue(n.Value); err != nil {
			c.fail(c.src.at(n), "%v", err)
			return nil, false
		}
	}
	s, ok := v.(string)
	if !ok {
		return v, true
	}
	v, err := c.scope.expand(s)
	if err != nil {
		c.fail(c.src.at(n), "%v", err)
		return nil, false
	}
	return v, c.spend(n, v)
}

// spend takes the size of a value from the budget of what a folder may grow to by templates and matrices.
func (c *checker) spend(n *yaml.Node, v any) bool {
	size := len(n.Value)
	if s, ok := v.(string); ok {
		size = len(s)
	} else if c.scope.values != nil {
		size = len(encode(v))
	}
	*c.budget -= int64(size) + 1
	if *c.budget < 0 {
		c.problems.add(place{file: c.src}, "", "the suite is larger than %d MiB once its templates and matrices are expanded", budget>>20)
		return false
	}
	return true
}

// budget bounds what a folder may grow to by templates and matrices, in bytes.
const budget = 256 << 20

// childPath is the path of a key as the errors of a tooleval.Pattern write it.
func childPath(path, key string) string {
	for i, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return path + "[" + strconv.Quote(key) + "]"
		}
	}
	if key == "" {
		return path + `[""]`
	}
	return path + "." + key
}

// pattern is the pattern of a value; what is wrong with it is reported at its place.
func (c *checker) pattern(e *entry) {
	e.pat = tooleval.ParsePattern(encode(e.value))
	if e.pat.Err() == nil {
		e.paths = nil
		return
	}
	for line := range strings.SplitSeq(e.pat.Err().Error(), "\n") {
		path, message, found := strings.Cut(line, ": ")
		at, known := e.paths[path]
		if !found || !known {
			at, message = e.at, line
		}
		c.fail(at, "%s", message)
	}
}
