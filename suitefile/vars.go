package suitefile

import (
	"maps"

	"go.yaml.in/yaml/v4"
)

// declare makes the scope of what the file declares under env and vars. Both are read before everything else, since
// templates may stand above them; what is wrong with them is reported once, when the whole file is checked. A value under
// vars may use env, but no other variable. It is false when the file is no mapping, which is reported at once.
func (l *loader) declare(root *yaml.Node) bool {
	if !l.plainNode(root) {
		return false
	}
	if root.Kind != yaml.MappingNode {
		l.fail(l.src.at(root), "want keys with values, got %s", describe(root))
		return false
	}
	outer := &scope{values: map[string]any{}, unset: map[string]bool{}}
	env := valueOf(root, "env")
	if env != nil && env.Kind == yaml.SequenceNode {
		for _, n := range env.Content {
			if n.Kind != yaml.ScalarNode {
				continue
			}
			if !variableName.MatchString(n.Value) {
				l.fail(l.src.at(n), "want the name of an environment variable, got %s", describe(n))
				continue
			}
			if v := l.options.Getenv(n.Value); v != "" {
				outer.values[n.Value] = v
			} else {
				outer.unset[n.Value] = true
			}
		}
	}
	l.scope = outer
	vars := valueOf(root, "vars")
	if vars == nil || vars.Kind != yaml.MappingNode {
		return true
	}
	quiet := l.checker
	quiet.problems = &problems{}
	all := &scope{values: maps.Clone(outer.values), unset: outer.unset}
	for _, p := range quiet.pairs(vars) {
		at := l.src.at(p.name)
		_, isEnv := outer.values[p.key]
		switch {
		case !variableName.MatchString(p.key):
			l.fail(at, "%q can't be used in a template: want a name of letters, digits, _ and -", clip(p.key))
		case isEnv || outer.unset[p.key]:
			l.fail(at, "%q is listed under env too; rename it", p.key)
		default:
			v, _ := quiet.json(p.value, "$", nil)
			all.values[p.key] = v // also when it is wrong: its uses are not wrong as well
		}
	}
	l.scope, l.outer = all, outer
	return true
}

// valueOf is the value of a key of a mapping; nil when there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
