package suitefile

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
)

// A checker holds the nodes of one file against the description of the format. Everything that is wrong is reported; what
// is sound becomes entries.
type checker struct {
	folder   *folder
	problems *problems
	budget   *int64
	src      *source
	scope    *scope
	// note is added to every message: which row of a matrix it is about.
	note string
	// bad are the mappings with a key that can't be used.
	bad map[*yaml.Node]bool
}

func (c *checker) fail(at place, format string, args ...any) {
	c.problems.add(at, c.note, format, args...)
}

func (c *checker) broken(n *yaml.Node) bool { return c.bad[n] }

func (c *checker) breaks(n *yaml.Node) {
	if c.bad == nil {
		c.bad = map[*yaml.Node]bool{}
	}
	c.bad[n] = true
}

// in is the same checker for another file.
func (c *checker) in(src *source) *checker {
	d := *c
	d.src = src
	return &d
}

// plainNode refuses what the format leaves out of YAML.
func (c *checker) plainNode(n *yaml.Node) bool {
	at := c.src.at(n)
	switch {
	case n.Kind == yaml.AliasNode:
		c.fail(at, "aliases are not part of the format: write the value out, or use ${name} and vars")
	case n.Anchor != "":
		c.fail(at, "anchors are not part of the format: write the value out, or use ${name} and vars")
	case n.Style&yaml.TaggedStyle != 0:
		c.fail(at, "tags such as %s are not part of the format: leave it out; text is kept as it is written", clip(n.Tag))
	default:
		return true
	}
	return false
}

// A pair is one key of a mapping.
type pair struct {
	key         string
	name, value *yaml.Node
}

// pairs are the keys of a mapping that can be used.
func (c *checker) pairs(n *yaml.Node) []pair {
	out := make([]pair, 0, len(n.Content)/2)
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := c.src.at(k)
		switch {
		case !c.plainNode(k):
		case k.Kind != yaml.ScalarNode:
			c.fail(at, "a key must be text, got %s", describe(k))
		case isPlain(k) && k.Value == "<<":
			c.fail(at, `merge keys are not part of the format: write the keys out (a key of that name is written "<<")`)
		case first[k.Value] != nil:
			c.fail(at, "key %q is written twice; the first is at %s", clip(k.Value), c.src.at(first[k.Value]))
		default:
			first[k.Value] = k
			out = append(out, pair{k.Value, k, v})
			continue
		}
		c.breaks(n)
	}
	return out
}

// check holds a node against a shape. It returns nil when the node is wrong, except for records, lists and dicts, whose
// sound parts are returned.
func (c *checker) check(n *yaml.Node, s *shape) *entry {
	if !c.plainNode(n) {
		return nil
	}
	e := &entry{at: c.src.at(n), key: c.src.at(n), node: n, src: c.src, scope: c.scope}
	if !fits(n, s) {
		c.fail(e.at, "want %s, got %s", s.want(), describe(n))
		return nil
	}
	switch s.kind {
	case either:
		i := slices.IndexFunc(s.of, func(o *shape) bool { return fits(n, o) })
		return c.check(n, s.of[i])
	case record:
		return c.record(e, s)
	case dict:
		return c.dict(e, s)
	case list:
		return c.list(e, s)
	case jsonAny, jsonObj:
		v, ok := c.json(n, "$", nil)
		if !ok {
			return nil
		}
		if !isObject(v) && s.kind == jsonObj {
			c.fail(e.at, "want %s, got %s", s.want(), describe(n))
			return nil
		}
		e.value = v
		return e
	case pattern:
		e.paths = map[string]place{}
		v, ok := c.json(n, "$", e.paths)
		if !ok {
			return nil
		}
		e.value = v
		c.pattern(e)
		return e
	case text:
		return c.text(e)
	}
	return c.word(e, s)
}

// isObject reports whether a value is a JSON object.
func isObject(v any) bool {
	switch x := v.(type) {
	case *object:
		return true
	case json.RawMessage:
		return len(x) > 0 && x[0] == '{'
	}
	return false
}

// fits reports whether a node is of the kind that a shape takes.
func fits(n *yaml.Node, s *shape) bool {
	switch s.kind {
	case record, dict:
		return n.Kind == yaml.MappingNode
	case list:
		return n.Kind == yaml.SequenceNode
	case jsonAny, pattern:
		return true
	case jsonObj:
		return n.Kind == yaml.MappingNode || n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "${")
	case either:
		return slices.ContainsFunc(s.of, func(o *shape) bool { return fits(n, o) })
	}
	return n.Kind == yaml.ScalarNode
}

// text checks a text. It keeps what the author wrote, whatever YAML would make of it.
func (c *checker) text(e *entry) *entry {
	if isPlain(e.node) && (e.node.Value == "" || e.node.Value == "~" || e.node.Value == "null") {
		c.fail(e.at, "want text, got %s", describe(e.node))
		return nil
	}
	v, err := c.scope.expand(e.node.Value)
	if err != nil {
		c.fail(e.at, "%v", err)
		return nil
	}
	words, ok := spelling(v)
	if !ok {
		c.fail(e.at, "want text, but %s is %s", clip(e.node.Value), clip(string(encode(v))))
		return nil
	}
	if strings.TrimSpace(words) == "" {
		c.fail(e.at, "the text is empty; write some, or leave the key out")
		return nil
	}
	e.words = words
	if !c.spend(e.node, words) {
		return nil
	}
	return e
}

// word checks a choice, a boolean, a number or a duration.
func (c *checker) word(e *entry, s *shape) *entry {
	v, ok := c.scalar(e.node)
	if !ok {
		return nil
	}
	wrong := func() *entry {
		hint := ""
		if _, isText := v.(string); isText && !isPlain(e.node) && (s.kind == boolean || s.kind == number || s.kind == integer) {
			hint = "; leave out the quotes"
		}
		c.fail(e.at, "want %s, got %s%s", s.want(), describe(e.node), hint)
		return nil
	}
	switch s.kind {
	case choice:
		word, _ := spelling(v)
		if !slices.Contains(s.words, word) {
			c.fail(e.at, "want %s, got %s%s", s.want(), describe(e.node), tooleval.DidYouMean(word, s.words))
			return nil
		}
		e.words = word
	case boolean:
		if _, ok := v.(bool); !ok {
			return wrong()
		}
	case duration:
		word, ok := v.(string)
		d, err := time.ParseDuration(word)
		if !ok || err != nil {
			return wrong()
		}
		if d <= 0 {
			c.fail(e.at, "want a time above 0, got %s", clip(word))
			return nil
		}
		e.words, e.span = word, d
	default:
		n, ok := v.(json.Number)
		if !ok {
			return wrong()
		}
		f, err := n.Float64()
		if s.kind == integer {
			if _, err := n.Int64(); err != nil {
				return wrong()
			}
		}
		if err != nil || math.IsInf(f, 0) {
			return wrong()
		}
		if s.max > s.min && f > s.max || f < s.min {
			c.fail(e.at, "want %s, got %s", s.bounds(), clip(string(n)))
			return nil
		}
	}
	e.value = v
	return e
}
