package check

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/tooleval/tooleval"
)

// schemas are the compiled schemas of tools, by their text. A schema that can't be compiled checks nothing: what is
// wrong with it, the suite's own check says.
type schemas struct {
	mu   sync.Mutex
	made map[string]*jsonschema.Schema
}

func newSchemas() *schemas { return &schemas{made: map[string]*jsonschema.Schema{}} }

func (s *schemas) compiled(raw tooleval.Raw) *jsonschema.Schema {
	if len(raw) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	schema, known := s.made[string(raw)]
	if known {
		return schema
	}
	if v, err := tooleval.DecodeValue(raw); err == nil {
		c := jsonschema.NewCompiler()
		c.UseLoader(jsonschema.SchemeURLLoader{}) // no file and no network
		c.UseRegexpEngine(anyRegexp)
		if c.AddResource("mem:///schema", v) == nil {
			if schema, err = c.Compile("mem:///schema"); err != nil {
				schema = nil
			}
		}
	}
	s.made[string(raw)] = schema
	return schema
}

// anyRegexp takes expressions that Go doesn't know, such as those with a look-ahead, for ones that fit anything.
func anyRegexp(expr string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return regexp.MustCompile(``), nil
	}
	return re, nil
}

// check says how arguments break a schema; empty when they don't. Partial arguments may lack some that are required.
func (s *schemas) check(schema, args tooleval.Raw, partial bool) string {
	compiled := s.compiled(schema)
	if compiled == nil {
		return ""
	}
	v, err := tooleval.DecodeValue(args)
	if err != nil {
		return ""
	}
	err = compiled.Validate(v)
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return ""
	}
	var lines []string
	for _, leaf := range leafErrors(failed, partial) {
		at := path{}
		for _, step := range leaf.InstanceLocation {
			at = append(at, step)
		}
		lines = append(lines, at.String()+": "+leaf.ErrorKind.LocalizedString(english))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return strings.Join(lines[:min(len(lines), 3)], "; ")
}

var english = message.NewPrinter(language.English)

// leafErrors are the errors that have no other below them. Of partial arguments, those that say that something is missing
// are left out, and so are all alternatives where one then has none left.
func leafErrors(e *jsonschema.ValidationError, partial bool) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		switch e.ErrorKind.(type) {
		case *kind.Required, *kind.MinProperties, *kind.DependentRequired:
			if partial {
				return nil
			}
		}
		return []*jsonschema.ValidationError{e}
	}
	var out []*jsonschema.ValidationError
	for _, c := range e.Causes {
		leaves := leafErrors(c, partial)
		switch e.ErrorKind.(type) {
		case *kind.AnyOf, *kind.OneOf:
			if len(leaves) == 0 {
				return nil
			}
		}
		out = append(out, leaves...)
	}
	return out
}

// concrete is a value that fits a pattern for arguments, as far as one can be told: partial says that some of it can't,
// and is left out; whole that the value fits the pattern. Guess also takes a part of a text for the text. Nil when nothing
// can be told.
func concrete(p tooleval.Pattern, guess bool) (args tooleval.Raw, partial, whole bool) {
	if p.IsZero() {
		return tooleval.Raw("{}"), true, true
	}
	raw, err := p.MarshalJSON()
	if err != nil {
		return nil, true, false
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		return nil, true, false
	}
	m := &maker{guess: guess}
	v, ok := m.value(v)
	if _, isObject := v.(map[string]any); !ok || !isObject {
		return nil, true, false
	}
	return tooleval.CanonicalJSON(v), m.partial, p.Match(v)
}

type maker struct{ guess, partial bool }

// value makes a value of a pattern; false when it can't be told, or must be absent.
func (m *maker) value(v any) (any, bool) {
	switch x := v.(type) {
	case map[string]any:
		if name := matcher(x); name != "" {
			switch name {
			case "$literal", "$number":
				return x[name], true
			case "$absent":
				return nil, false
			case "$subset":
				m.partial = true
				return m.value(x[name])
			case "$exact", "$unordered":
				return m.value(x[name])
			case "$contains":
				if s, ok := x[name].(string); ok && m.guess {
					return s, true
				}
			}
			m.partial = true
			return nil, false
		}
		out := map[string]any{}
		for k, e := range x {
			if made, ok := m.value(e); ok {
				out[k] = made
			}
		}
		return out, true
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			made, ok := m.value(e)
			if !ok {
				return nil, false
			}
			out[i] = made
		}
		return out, true
	}
	return v, true
}

// enumAt are the values that a schema allows for a property at the top; nil when it allows any.
func enumAt(schema tooleval.Raw, p path) []any {
	v, err := tooleval.DecodeValue(schema)
	if err != nil || len(p) != 1 {
		return nil
	}
	values, _ := at(v, path{"properties", p[0], "enum"}).([]any)
	return values
}

// enums are all lists of allowed values in a schema.
func enums(v any) [][]any {
	var out [][]any
	switch x := v.(type) {
	case map[string]any:
		if values, ok := x["enum"].([]any); ok && len(values) > 0 {
			out = append(out, values)
		}
		for _, e := range x {
			out = append(out, enums(e)...)
		}
	case []any:
		for _, e := range x {
			out = append(out, enums(e)...)
		}
	}
	return out
}
