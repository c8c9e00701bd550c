package tooleval

import (
	"maps"
	"slices"
	"strings"
)

// A node is one place of a compiled pattern. loose says that extra keys are allowed.
type node interface {
	match(v any, loose bool) bool
	// compare adds to c what this node expects and how v meets it; present says whether there is a v.
	compare(c *Comparison, path string, v any, present, loose bool)
	// missing reports whether the node is met by a key that is not there.
	missing() bool
	vacuous() bool
	// fill is the node with the defaults of a schema filled in; see Pattern.FillDefaults.
	fill(schema any, loose bool) node
	// want is the expectation as JSON.
	want() any
}

// one compares a node that is a single expectation.
func one(c *Comparison, n node, path string, v any, present, loose bool, why string) {
	c.Total++
	if present && n.match(v, loose) || !present && n.missing() {
		c.Met++
		return
	}
	d := Difference{Path: path, Want: encode(n.want()), Why: why}
	if present {
		d.Got = encode(v)
	}
	c.Diff = append(c.Diff, d)
}

type literal struct{ value any }

func (n literal) match(v any, _ bool) bool { return Equal(n.value, v) }
func (n literal) vacuous() bool            { return false }
func (n literal) missing() bool            { return false }
func (n literal) want() any {
	if m, ok := n.value.(map[string]any); ok {
		for k := range m {
			if strings.HasPrefix(k, "$") {
				return Matcher{"$literal": m}
			}
		}
	}
	return n.value
}
func (n literal) compare(c *Comparison, path string, v any, present, loose bool) {
	why := ""
	if present && typeName(n.value) != typeName(v) {
		why = "want " + typeName(n.value) + ", got " + typeName(v)
	}
	one(c, n, path, v, present, loose, why)
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

type object struct {
	keys   []string // sorted
	fields map[string]node
}

func newObject(fields map[string]node) object {
	keys := slices.AppendSeq(make([]string, 0, len(fields)), maps.Keys(fields))
	slices.Sort(keys)
	return object{keys, fields}
}

func (n object) vacuous() bool { return false }
func (n object) missing() bool { return false }

func (n object) want() any {
	m := make(map[string]any, len(n.fields))
	for k, f := range n.fields {
		m[k] = f.want()
	}
	return m
}

func (n object) match(v any, loose bool) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	seen := 0
	for _, k := range n.keys {
		got, present := m[k]
		if !present {
			if !n.fields[k].missing() {
				return false
			}
			continue
		}
		if seen++; !n.fields[k].match(got, loose) {
			return false
		}
	}
	return loose || seen == len(m)
}

func (n object) compare(c *Comparison, path string, v any, present, loose bool) {
	m, ok := v.(map[string]any)
	if len(n.keys) == 0 && (!ok || loose || len(m) == 0) {
		one(c, n, path, v, present, loose, "")
		return
	}
	if !ok {
		parts := make([]node, len(n.keys))
		for i, k := range n.keys {
			parts[i] = n.fields[k]
		}
		compareOther(c, n, "an object", parts, path, v, present, loose)
		return
	}
	for _, k := range n.keys {
		got, has := m[k]
		n.fields[k].compare(c, child(path, k), got, has, loose)
	}
	if loose {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if _, expected := n.fields[k]; !expected {
			c.Total++
			c.Diff = append(c.Diff, Difference{Path: child(path, k), Got: encode(m[k]),
				Why: `no such key is expected; {"$subset": …} would allow it`})
		}
	}
}

// compareOther compares a list or object with what is neither: one line for all of it, but each of the parts counts as
// unmet.
func compareOther(c *Comparison, n node, kind string, parts []node, path string, v any, present, loose bool) {
	var inner Comparison
	for _, p := range parts {
		p.compare(&inner, path, nil, false, loose)
	}
	c.Total += inner.Total
	d := Difference{Path: path, Want: encode(n.want())}
	if present {
		d.Got, d.Why = encode(v), "want "+kind+", got "+typeName(v)
	}
	c.Diff = append(c.Diff, d)
}

type list struct{ elements []node }

func (n list) vacuous() bool { return false }
func (n list) missing() bool { return false }

func (n list) want() any {
	l := make([]any, len(n.elements))
	for i, e := range n.elements {
		l[i] = e.want()
	}
	return l
}

func (n list) match(v any, loose bool) bool {
	l, ok := v.([]any)
	if !ok || len(l) != len(n.elements) {
		return false
	}
	for i, e := range n.elements {
		if !e.match(l[i], loose) {
			return false
		}
	}
	return true
}

func (n list) compare(c *Comparison, path string, v any, present, loose bool) {
	l, ok := v.([]any)
	if len(n.elements) == 0 && (!ok || len(l) == 0) {
		one(c, n, path, v, present, loose, "")
		return
	}
	if !ok {
		compareOther(c, n, "a list", n.elements, path, v, present, loose)
		return
	}
	for i, e := range n.elements {
		if i < len(l) {
			e.compare(c, element(path, i), l[i], true, loose)
		} else {
			e.compare(c, element(path, i), nil, false, loose)
		}
	}
	for i := len(n.elements); i < len(l); i++ {
		c.Total++
		c.Diff = append(c.Diff, Difference{Path: element(path, i), Got: encode(l[i]), Why: "no such element is expected"})
	}
}
