package tooleval

import "maps"

// FillDefaults returns args with the defaults of an object schema filled in for the properties that are missing, also
// inside nested objects and the elements of lists. Only properties, items and default are looked at: what a schema says
// by $ref or allOf has no defaults here. Neither input is changed; the result may share parts of both.
func FillDefaults(schema, args any) any {
	filled, _ := fill(schema, args)
	return filled
}

// fill also reports whether there was anything to fill in.
func fill(schema, v any) (any, bool) {
	s, ok := schema.(map[string]any)
	if !ok {
		return v, false
	}
	switch x := v.(type) {
	case map[string]any:
		props, _ := s["properties"].(map[string]any)
		out, changed := x, false
		for k, prop := range props {
			have, present := x[k]
			if !present {
				if have, present = defaultOf(prop); !present {
					continue
				}
			} else if have, ok = fill(prop, have); !ok {
				continue
			}
			if !changed {
				out, changed = maps.Clone(x), true
				if out == nil {
					out = map[string]any{}
				}
			}
			out[k] = have
		}
		return out, changed
	case []any:
		items, ok := s["items"]
		if !ok {
			return v, false
		}
		out, changed := x, false
		for i, e := range x {
			filled, ok := fill(items, e)
			if !ok {
				continue
			}
			if !changed {
				out, changed = append([]any(nil), x...), true
			}
			out[i] = filled
		}
		return out, changed
	}
	return v, false
}

// defaultOf is the default of a schema, its own defaults filled in.
func defaultOf(schema any) (any, bool) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil, false
	}
	d, ok := s["default"]
	if !ok {
		return nil, false
	}
	return FillDefaults(schema, d), true
}

// FillDefaults is p with the defaults of an object schema (as [DecodeValue] gives it) filled in wherever p asks for an
// exact object, as the function [FillDefaults] does it for arguments; comparing the two filled sides makes an argument
// that was left out mean the same as its default spelt out. Under $subset nothing is added: what the author left open
// stays open. A key that must be [Absent] but has a default then stands for its default, as leaving it out and writing it
// out are the same call. The zero Pattern stays zero, and the JSON form stays as it was given.
func (p Pattern) FillDefaults(schema any) Pattern {
	if p.root != nil && p.err == nil {
		p.root = p.root.fill(schema, false)
	}
	return p
}

// fill of a node that holds no objects of its own.
func (n anything) fill(any, bool) node   { return n }
func (n matchRegex) fill(any, bool) node { return n }
func (n contains) fill(any, bool) node   { return n }
func (n near) fill(any, bool) node       { return n }

func (n absent) fill(schema any, _ bool) node {
	if d, ok := defaultOf(schema); ok {
		return literal{d}
	}
	return n
}

func (n literal) fill(schema any, _ bool) node {
	return literal{FillDefaults(schema, n.value)}
}

func (n scope) fill(schema any, _ bool) node {
	return scope{n.inner.fill(schema, n.loose), n.loose}
}

func (n oneOf) fill(schema any, loose bool) node { return oneOf{fillAll(n.patterns, schema, loose)} }

func (n list) fill(schema any, loose bool) node {
	return list{fillAll(n.elements, items(schema), loose)}
}

func (n unordered) fill(schema any, loose bool) node {
	return unordered{fillAll(n.elements, items(schema), loose)}
}

func fillAll(nodes []node, schema any, loose bool) []node {
	out := make([]node, len(nodes))
	for i, n := range nodes {
		out[i] = n.fill(schema, loose)
	}
	return out
}

// items is the schema of a list's elements; nil when there is none.
func items(schema any) any {
	s, _ := schema.(map[string]any)
	return s["items"]
}

func (n object) fill(schema any, loose bool) node {
	s, _ := schema.(map[string]any)
	props, ok := s["properties"].(map[string]any)
	if !ok {
		return n
	}
	fields := maps.Clone(n.fields)
	for k, prop := range props {
		if f, given := n.fields[k]; given {
			fields[k] = f.fill(prop, loose)
		} else if d, ok := defaultOf(prop); ok && !loose {
			fields[k] = literal{d}
		}
	}
	return newObject(fields)
}
