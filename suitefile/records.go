package suitefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
)

// bounds says in words which numbers a shape takes.
func (s *shape) bounds() string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if s.max > s.min {
		return fmt.Sprintf("%s from %s to %s", s.want(), f(s.min), f(s.max))
	}
	return fmt.Sprintf("%s of at least %s", s.want(), f(s.min))
}

func (c *checker) record(e *entry, s *shape) *entry {
	e.fields = map[string]*entry{}
	given := map[string]place{}
	for _, p := range c.pairs(e.node) {
		at := c.src.at(p.name)
		f, known := s.field(p.key)
		if !known {
			c.unknownKey(at, p.key, s)
			continue
		}
		given[p.key] = at
		e.keys = append(e.keys, p.key)
		if f.later {
			e.fields[p.key] = &entry{at: c.src.at(p.value), key: at, node: p.value, src: c.src, scope: c.scope}
			continue
		}
		if inner := c.check(p.value, f.shape); inner != nil {
			inner.key = at
			e.fields[p.key] = inner
		}
	}
	for _, f := range s.fields {
		if _, there := given[f.key]; f.required && !there {
			c.fail(e.at, "the key %q is missing: %s", f.key, f.doc)
		}
	}
	for _, g := range s.groups {
		var there []string
		for _, k := range g.keys {
			if _, ok := given[k]; ok {
				there = append(there, k)
			}
		}
		switch {
		case len(there) == 0 && g.need && len(g.keys) == 1:
			c.fail(e.at, "the key %q is missing", g.keys[0])
		case len(there) == 0 && g.need:
			c.fail(e.at, "one of these keys is needed: %s", listed(g.keys))
		case len(there) > 1 && g.exclusive:
			c.fail(given[there[1]], "%s and %s exclude each other; keep one", there[0], there[1])
		}
	}
	return e
}

// unknownKey says what was expected instead of a key, and where the key would be right.
func (c *checker) unknownKey(at place, key string, s *shape) {
	if near := tooleval.DidYouMean(key, s.keys()); near != "" {
		c.fail(at, "unknown key %q%s", clip(key), near)
		return
	}
	elsewhere := ""
	if homes := homesOf(key); len(homes) > 0 {
		elsewhere = fmt.Sprintf("; it is a key of %s", strings.Join(homes, " and "))
	}
	c.fail(at, "unknown key %q%s; the keys here are: %s", clip(key), elsewhere, strings.Join(s.keys(), ", "))
}

func (c *checker) dict(e *entry, s *shape) *entry {
	e.fields = map[string]*entry{}
	pairs := c.pairs(e.node)
	if len(e.node.Content) == 0 && !s.empty {
		c.fail(e.at, "it is empty; fill it, or leave the key out")
	}
	for _, p := range pairs {
		at := c.src.at(p.name)
		if strings.TrimSpace(p.key) == "" {
			c.fail(at, "a name must not be empty")
			continue
		}
		if inner := c.check(p.value, s.elem); inner != nil {
			inner.key = at
			e.fields[p.key] = inner
			e.keys = append(e.keys, p.key)
		}
	}
	return e
}

func (c *checker) list(e *entry, s *shape) *entry {
	if len(e.node.Content) == 0 && !s.empty {
		c.fail(e.at, "the list is empty, so it says nothing; fill it, or leave the key out")
	}
	for _, part := range c.parts(e.node, s.include) {
		if inner := part.checker.check(part.node, s.elem); inner != nil {
			e.list = append(e.list, inner)
		}
	}
	return e
}

// A part is an element of a list, in the file that it stands in.
type part struct {
	node    *yaml.Node
	checker *checker
}

// parts are the elements of a list. Where what they are called is given, an element {file: …} stands for the elements of
// the list in that file, which can't include further ones.
func (c *checker) parts(n *yaml.Node, called string) []part {
	var out []part
	for _, e := range n.Content {
		file := includedFile(e)
		if called == "" || file == nil {
			out = append(out, part{e, c})
			continue
		}
		name := c.check(file, aFile)
		if name == nil {
			continue
		}
		src := c.folder.source(name.words)
		b, err := c.folder.read(name.words, mostYAML)
		if err != nil {
			c.fail(name.at, "%s: %v", clip(name.words), err)
			continue
		}
		inner := c.in(src)
		root, at, err := src.parse(b)
		switch {
		case err != nil:
			c.fail(at, "%v", err)
		case root.Kind != yaml.SequenceNode:
			c.fail(src.at(root), "want a list of %s, got %s", called, describe(root))
		case len(root.Content) == 0:
			c.fail(src.at(root), "the list is empty, so it says nothing; fill it, or leave the file out")
		default:
			for _, x := range root.Content {
				if f := includedFile(x); f != nil {
					inner.fail(src.at(x), "a file that is included can't include others")
					continue
				}
				out = append(out, part{x, inner})
			}
		}
	}
	return out
}

// includedFile is the value of {file: …}; nil when the node is something else.
func includedFile(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Value != "file" {
		return nil
	}
	return n.Content[1]
}

// homesOf are the records that have a key, for hints about a key in the wrong place.
func homesOf(key string) []string {
	var homes []string
	for _, s := range records() {
		if _, ok := s.field(key); ok && s.name != "" && !slices.Contains(homes, s.name) {
			homes = append(homes, s.name)
		}
	}
	const most = 3
	return homes[:min(len(homes), most)]
}
