package tooleval

import (
	"maps"
	"slices"
)

// FillDefaults is p with the defaults of an object schema filled in for the properties that it leaves out, as the function
// [FillDefaults] does it for arguments; comparing the two filled sides makes an argument that was left out mean the same
// as its default spelt out. A key that must be [Absent] then stands for its default, and what $subset leaves open stays
// open. The zero Pattern stays zero. The JSON form stays as it was given.
func (p Pattern) FillDefaults(schema any) Pattern {
	if p.root != nil {
		p.root = fillNode(p.root, schema, false)
	}
	return p
}

func fillNode(n node, schema any, loose bool) node {
	switch x := n.(type) {
	case scope:
		x.inner = fillNode(x.inner, schema, x.loose)
		return x
	case oneOf:
		x.patterns = slices.Clone(x.patterns)
		for i, p := range x.patterns {
			x.patterns[i] = fillNode(p, schema, loose)
		}
		return x
	case literal:
		if loose {
			return x
		}
		return literal{FillDefaults(schema, x.value)}
	case object:
		return fillObject(x, schema, loose)
	}
	return n
}

func fillObject(n object, schema any, loose bool) node {
	s, _ := schema.(map[string]any)
	props, _ := s["properties"].(map[string]any)
	out := object{fields: maps.Clone(n.fields)}
	for k, p := range props {
		prop, ok := p.(map[string]any)
		if !ok {
			continue
		}
		field, present := n.fields[k]
		value, given := prop["default"]
		_, gone := field.(absent)
		switch {
		case given && (gone || !present && !loose):
			out.fields[k] = literal{value}
		case present && prop["properties"] != nil:
			out.fields[k] = fillNode(field, prop, loose)
		}
	}
	out.keys = slices.Sorted(maps.Keys(out.fields))
	return out
}
