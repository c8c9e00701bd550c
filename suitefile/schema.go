package suitefile

import (
	"encoding/json"
	"regexp"
	"strings"
)

// JSONSchema is the JSON Schema (2020-12) of suite.yaml, for editors. It is made of the description that Load checks
// with. What depends on other files or on two places at once, such as the names of tools, only Load can tell.
func JSONSchema() []byte {
	g := schemaMaker{defs: map[string]any{"pattern": patternSchema(), "template": map[string]any{
		"type": "string", "pattern": `^\$\{[A-Za-z_][A-Za-z0-9_-]*\}$`, "description": "a variable",
	}}}
	root := g.record(format())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "ToolEval suite"
	root["$defs"] = g.defs
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // maps, lists and texts always have an encoding
	}
	return append(b, '\n')
}

type schemaMaker struct{ defs map[string]any }

func ref(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }

// orTemplate allows a variable beside a value that is no text.
func orTemplate(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, ref("template")}}
}

func (g *schemaMaker) of(s *shape) map[string]any {
	switch s.kind {
	case text:
		return map[string]any{"type": []string{"string", "number", "boolean"}, "pattern": `\S`}
	case choice:
		return orTemplate(map[string]any{"enum": s.words})
	case boolean:
		return orTemplate(map[string]any{"type": "boolean"})
	case duration:
		return orTemplate(map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`})
	case number, integer:
		n := map[string]any{"type": "number", "minimum": s.min}
		if s.kind == integer {
			n["type"] = "integer"
		}
		if s.max > s.min {
			n["maximum"] = s.max
		}
		return orTemplate(n)
	case jsonObj:
		return orTemplate(map[string]any{"type": "object"})
	case pattern:
		return ref("pattern")
	case record:
		return g.define(s)
	case dict:
		d := map[string]any{"type": "object", "additionalProperties": g.of(s.elem), "propertyNames": map[string]any{"pattern": `\S`}}
		if !s.empty {
			d["minProperties"] = 1
		}
		return d
	case list:
		elem := g.of(s.elem)
		if s.include != "" {
			elem = map[string]any{"anyOf": []any{elem, map[string]any{
				"type": "object", "required": []string{"file"}, "additionalProperties": false,
				"properties": map[string]any{"file": map[string]any{"type": "string", "description": "a YAML file in the folder with a list of " + s.include}},
			}}}
		}
		l := map[string]any{"type": "array", "items": elem}
		if !s.empty {
			l["minItems"] = 1
		}
		return l
	case either:
		var all []any
		for _, o := range s.of {
			all = append(all, g.of(o))
		}
		return map[string]any{"anyOf": all}
	}
	return map[string]any{}
}

var notWord = regexp.MustCompile(`[^a-z]+`)

// define puts the schema of a record among the definitions and refers to it.
func (g *schemaMaker) define(s *shape) map[string]any {
	name := strings.Trim(notWord.ReplaceAllString(strings.ToLower(s.name), "_"), "_")
	if _, done := g.defs[name]; !done {
		g.defs[name] = nil // so that a record in itself would end
		g.defs[name] = g.record(s)
	}
	return ref(name)
}

func (g *schemaMaker) record(s *shape) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range s.fields {
		p := g.of(f.shape)
		p["description"] = f.doc
		properties[f.key] = p
		if f.required {
			required = append(required, f.key)
		}
	}
	out := map[string]any{"type": "object", "description": s.doc, "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	var rules []any
	for _, g := range s.groups {
		if g.need {
			rules = append(rules, map[string]any{"anyOf": requirements(g.keys)})
		}
		if !g.exclusive {
			continue
		}
		for i, a := range g.keys {
			for _, b := range g.keys[:i] {
				rules = append(rules, map[string]any{"not": map[string]any{"required": []string{b, a}}})
			}
		}
	}
	if rules != nil {
		out["allOf"] = rules
	}
	return out
}

func requirements(keys []string) []any {
	out := make([]any, len(keys))
	for i, k := range keys {
		out[i] = map[string]any{"required": []string{k}}
	}
	return out
}

// patternSchema is the schema of a tooleval.Pattern.
func patternSchema() map[string]any {
	p := ref("pattern")
	many := map[string]any{"type": "array", "items": p}
	matcher := func(name string, takes map[string]any, doc string, more ...string) map[string]any {
		takes["description"] = doc
		properties := map[string]any{name: takes}
		for i := 0; i < len(more); i += 2 {
			properties[more[i]] = map[string]any{"type": []string{more[i+1], "string"}}
		}
		return map[string]any{"type": "object", "required": []string{name}, "properties": properties, "additionalProperties": false}
	}
	words := func() map[string]any { return map[string]any{"type": "string", "minLength": 1} }
	some := map[string]any{"type": "array", "items": p, "minItems": 1}
	return map[string]any{
		"description": "a JSON value in which matchers may stand",
		"anyOf": []any{
			map[string]any{"type": []string{"string", "number", "boolean", "null"}},
			many,
			map[string]any{"type": "object", "propertyNames": map[string]any{"pattern": `^([^$]|$)`}, "additionalProperties": p},
			matcher("$any", map[string]any{"const": true}, "anything, but present"),
			matcher("$absent", map[string]any{"const": true}, "the key must be missing"),
			matcher("$regex", words(), "text that matches as a whole"),
			matcher("$contains", words(), "text with this in it", "ignore_case", "boolean"),
			matcher("$number", map[string]any{"type": []string{"number", "string"}}, "a number within the tolerance", "tolerance", "number"),
			matcher("$one_of", some, "at least one of these patterns"),
			matcher("$subset", map[string]any{"$ref": "#/$defs/pattern"}, "extra keys are allowed here and below"),
			matcher("$exact", map[string]any{"$ref": "#/$defs/pattern"}, "extra keys are not allowed"),
			matcher("$unordered", map[string]any{"type": "array", "items": p}, "a list with these elements in any order"),
			matcher("$literal", map[string]any{}, "the value itself, even if it looks like a matcher"),
		},
	}
}
