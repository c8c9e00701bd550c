package baselines

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Bounds of one generated value. A schema that asks for more, or for itself without end, gets less than it asked for.
const (
	mostNodes  = 500 // values in one set of arguments
	mostDepth  = 8   // nesting, references included
	mostItems  = 6   // elements of a list, unless minItems wants more
	mostForced = 50  // elements of a list, whatever minItems wants
	mostLetter = 500 // letters that minLength can ask for
)

// A generator draws values from JSON schemas. It knows the keywords that tool schemas use (type, enum, const,
// properties, required, items, prefixItems, anyOf, oneOf, allOf, $ref to a place in the same schema, minimum, maximum,
// multipleOf, minItems, maxItems, minLength, maxLength, format); what it doesn't know it ignores, so a value may break
// the schema. It never fails, whatever it is given.
type generator struct {
	r      *rand.Rand
	root   any
	seen   pool
	budget int
}

// value draws a value from a schema that is nested depth deep.
func (g *generator) value(schema any, depth int) any {
	if g.budget--; g.budget < 0 || depth > mostDepth {
		return nil
	}
	s, ok := schema.(map[string]any)
	if !ok { // true allows everything, and what is no schema says nothing
		return g.any(depth)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if l, ok := s["enum"].([]any); ok && len(l) > 0 {
		return l[g.r.IntN(len(l))]
	}
	if ref, ok := s["$ref"].(string); ok {
		return g.value(g.resolve(ref), depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if l, ok := s[key].([]any); ok && len(l) > 0 {
			return g.value(merge(s, l[g.r.IntN(len(l))], key), depth+1)
		}
	}
	if l, ok := s["allOf"].([]any); ok && len(l) > 0 {
		for _, part := range l {
			if g.budget--; g.budget < 0 {
				return nil
			}
			if p, ok := part.(map[string]any); ok {
				if ref, ok := p["$ref"].(string); ok {
					part = g.resolve(ref)
				}
			}
			s = merge(s, part, "allOf")
		}
		return g.value(s, depth+1)
	}
	switch g.kind(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, depth)
	case "string":
		return g.text(s)
	case "integer":
		return g.number(s, true)
	case "number":
		return g.number(s, false)
	case "boolean":
		return g.r.IntN(2) == 0
	case "null":
		return nil
	}
	return g.any(depth)
}

// merge is a schema without one of its keywords but with what a part of that keyword's says; the part wins, but for
// properties and required, which add up.
func merge(s map[string]any, part any, without string) map[string]any {
	out := maps.Clone(s)
	delete(out, without)
	p, ok := part.(map[string]any)
	if !ok {
		return out
	}
	for k, v := range p {
		switch old := out[k].(type) {
		case map[string]any:
			if props, ok := v.(map[string]any); ok && k == "properties" {
				both := maps.Clone(old)
				maps.Copy(both, props)
				v = both
			}
		case []any:
			if more, ok := v.([]any); ok && k == "required" && len(old)+len(more) <= mostNodes {
				v = append(slices.Clip(old), more...)
			}
		}
		out[k] = v
	}
	return out
}

// kind is the type that a schema asks for, or that its other keywords give away.
func (g *generator) kind(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			k, _ := t[g.r.IntN(len(t))].(string)
			return k
		}
	}
	for _, hint := range [...]struct{ key, kind string }{
		{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"prefixItems", "array"},
		{"minLength", "string"}, {"maxLength", "string"}, {"pattern", "string"}, {"format", "string"},
		{"minimum", "number"}, {"maximum", "number"}, {"multipleOf", "number"},
	} {
		if _, ok := s[hint.key]; ok {
			return hint.kind
		}
	}
	return ""
}

// object has every required property and each other one in half of the cases.
func (g *generator) object(s map[string]any, depth int) any {
	out := map[string]any{}
	props, _ := s["properties"].(map[string]any)
	required := map[string]bool{}
	list, _ := s["required"].([]any)
	for _, k := range list {
		if name, ok := k.(string); ok && len(required) < mostNodes {
			required[name] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(required)) {
		if g.budget <= 0 {
			return out
		}
		prop, ok := props[k]
		if !ok {
			prop = true
		}
		out[k] = g.value(prop, depth+1)
	}
	for _, k := range slices.Sorted(maps.Keys(props)) {
		if g.budget <= 0 || depth >= mostDepth { // the deeper, the less that isn't needed
			return out
		}
		if !required[k] && g.r.IntN(2) == 0 {
			out[k] = g.value(props[k], depth+1)
		}
	}
	return out
}

func (g *generator) array(s map[string]any, depth int) any {
	prefix, _ := s["prefixItems"].([]any)
	least := int(min(bound(s, "minItems", 0), mostForced))
	most := int(min(bound(s, "maxItems", mostItems), float64(max(least, mostItems))))
	n := max(least, 0)
	if most > n {
		n += g.r.IntN(most - n + 1)
	}
	out := []any{}
	for i := range n {
		if g.budget <= 0 {
			break
		}
		item := s["items"]
		if i < len(prefix) {
			item = prefix[i]
		}
		if item == nil {
			item = true
		}
		out = append(out, g.value(item, depth+1))
	}
	return out
}

// resolve is the schema that a reference within the root schema points at (a JSON pointer after #); what can't be found
// there allows everything.
func (g *generator) resolve(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' { // another document, or an anchor
		return true
	}
	at := g.root
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch x := at.(type) {
		case map[string]any:
			at, ok = x[key]
			if !ok {
				return true
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(x) {
				return true
			}
			at = x[i]
		default:
			return true
		}
	}
	return at
}
