package starlark

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/tooleval/tooleval"
)

// A schema is the part of a JSON Schema that arguments are held to before a script sees them: type, enum, required,
// properties, items, additionalProperties: false, the minima and maxima of values and lengths, and default, which is
// filled in. Everything else in a schema is for
// the agent to read. It exists so that a script need not check types itself, which Starlark has no way to recover from.
type schema struct {
	types      []string
	enum       []any
	required   []string
	properties map[string]*schema
	names      []string // of the properties, sorted
	items      *schema
	closed     bool
	bounds     []bound
	fallback   tooleval.Raw // default; nil when there is none
}

// A bound is a minimum or maximum of a value or a length.
type bound struct {
	name  string
	limit starlark.Value
}

var boundNames = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"}

// keeps reports whether a value keeps to the bound, or is of a kind that it is not about.
func (b bound) keeps(v starlark.Value) bool {
	switch x := v.(type) {
	case starlark.String:
		if !strings.HasSuffix(b.name, "Length") {
			return true
		}
		v = starlark.MakeInt(utf8.RuneCountInString(string(x)))
	case *starlark.List:
		if !strings.HasSuffix(b.name, "Items") {
			return true
		}
		v = starlark.MakeInt(x.Len())
	case starlark.Int, starlark.Float:
		if !strings.HasSuffix(b.name, "imum") {
			return true
		}
	default:
		return true
	}
	op := syntax.GE
	switch {
	case strings.HasPrefix(b.name, "max"):
		op = syntax.LE
	case b.name == "exclusiveMinimum":
		op = syntax.GT
	case b.name == "exclusiveMaximum":
		op = syntax.LT
	}
	ok, err := starlark.Compare(op, v, b.limit)
	return ok && err == nil
}

func compileSchema(v any) *schema {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	s := &schema{}
	switch t := m["type"].(type) {
	case string:
		s.types = []string{t}
	case []any:
		for _, e := range t {
			if name, ok := e.(string); ok {
				s.types = append(s.types, name)
			}
		}
	}
	s.enum, _ = m["enum"].([]any)
	required, _ := m["required"].([]any)
	for _, r := range required {
		if name, ok := r.(string); ok {
			s.required = append(s.required, name)
		}
	}
	if properties, ok := m["properties"].(map[string]any); ok {
		s.properties = map[string]*schema{}
		for name, p := range properties {
			s.properties[name] = compileSchema(p)
			s.names = append(s.names, name)
		}
		slices.Sort(s.names)
	}
	s.items = compileSchema(m["items"])
	s.closed = m["additionalProperties"] == false
	for _, name := range boundNames {
		if n, ok := m[name].(json.Number); ok {
			if limit, err := parseJSON(tooleval.Raw(n)); err == nil {
				s.bounds = append(s.bounds, bound{name, limit})
			}
		}
	}
	if d, ok := m["default"]; ok {
		s.fallback = tooleval.Raw(tooleval.CanonicalJSON(d))
	}
	return s
}

// check fills in defaults and says what is wrong with an argument; empty when nothing is.
func (s *schema) check(path string, v starlark.Value) string {
	if s == nil {
		return ""
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isType(t, v) }) {
		return fmt.Sprintf("%s: want %s, got %s", path, strings.Join(s.types, " or "), jsonType(v))
	}
	if s.enum != nil {
		if b, err := canonical(v, DefaultMaxBytes); err != nil || !slices.ContainsFunc(s.enum, func(e any) bool {
			d, err := tooleval.DecodeValue(b)
			return err == nil && tooleval.Equal(d, e)
		}) {
			return fmt.Sprintf("%s: want one of %s", path, tooleval.CanonicalJSON(s.enum))
		}
	}
	for _, b := range s.bounds {
		if !b.keeps(v) {
			return fmt.Sprintf("%s: it breaks %s %s", path, b.name, b.limit)
		}
	}
	switch x := v.(type) {
	case *starlark.Dict:
		return s.checkObject(path, x)
	case *starlark.List:
		for i := range x.Len() {
			if s.items == nil {
				break
			}
			if problem := s.items.check(fmt.Sprintf("%s[%d]", path, i), x.Index(i)); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func (s *schema) checkObject(path string, d *starlark.Dict) string {
	at := func(name string) string {
		if path == argument {
			return fmt.Sprintf("%s %q", path, name)
		}
		return path + "." + name
	}
	for _, name := range s.names {
		p := s.properties[name]
		v, found, _ := d.Get(starlark.String(name))
		if !found {
			if p != nil && p.fallback != nil {
				if filled, err := parseJSON(p.fallback); err == nil {
					_ = d.SetKey(starlark.String(name), filled) // it is ours and not frozen
				}
			}
			continue
		}
		if problem := p.check(at(name), v); problem != "" {
			return problem
		}
	}
	for _, name := range s.required {
		if _, found, _ := d.Get(starlark.String(name)); !found {
			return "missing " + at(name)
		}
	}
	if s.closed {
		for _, k := range d.Keys() {
			name, _ := starlark.AsString(k)
			if _, known := s.properties[name]; !known {
				return "unknown " + fmt.Sprintf("%.100s", at(name)) + tooleval.DidYouMean(fmt.Sprintf("%.100s", name), s.names)
			}
		}
	}
	return ""
}

// argument is what the path of a problem begins with.
const argument = "argument"

func isType(want string, v starlark.Value) bool {
	got := jsonType(v)
	if want == "integer" && got == "number" { // 1.0 is an integer to JSON Schema
		f, _ := starlark.AsFloat(v)
		return big.NewFloat(f).IsInt()
	}
	return want == got || want == "number" && got == "integer"
}

func jsonType(v starlark.Value) string {
	switch v.(type) {
	case starlark.NoneType:
		return "null"
	case starlark.Bool:
		return "boolean"
	case starlark.String:
		return "string"
	case starlark.Int:
		return "integer"
	case starlark.Float:
		return "number"
	case *starlark.List:
		return "array"
	}
	return "object"
}
