package suitefile

import (
	"encoding/json"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
)

// An entry is one place of a file that was found to be sound, with its value. A nil entry is a key that is not there, or
// one that was reported; its methods then return nothing, so that whoever builds a Suite of entries need not ask.
type entry struct {
	at    place
	key   place // of the key that holds it; the same as at for elements of a list
	node  *yaml.Node
	src   *source
	scope *scope

	words  string // of a text, choice or duration
	value  any    // of JSON, a number or a boolean
	pat    tooleval.Pattern
	span   time.Duration
	list   []*entry
	keys   []string // of a record or dict, in the order of the file
	fields map[string]*entry
	// paths are the places inside a pattern, by the path that the pattern's own errors use.
	paths map[string]place
}

func (e *entry) get(key string) *entry {
	if e == nil {
		return nil
	}
	return e.fields[key]
}

func (e *entry) text() string {
	if e == nil {
		return ""
	}
	return e.words
}

func (e *entry) texts() []string {
	if e == nil {
		return nil
	}
	out := make([]string, len(e.list))
	for i, x := range e.list {
		out[i] = x.words
	}
	return out
}

func (e *entry) elements() []*entry {
	if e == nil {
		return nil
	}
	return e.list
}

// names are the keys of a record or dict in the order of the file.
func (e *entry) names() []string {
	if e == nil {
		return nil
	}
	return e.keys
}

// raw is the JSON of a value; nil when there is none.
func (e *entry) raw() tooleval.Raw {
	if e == nil {
		return nil
	}
	return encode(e.value)
}

// pattern is a pattern; the zero one when there is none.
func (e *entry) pattern() tooleval.Pattern {
	if e == nil {
		return tooleval.Pattern{}
	}
	return e.pat
}

func (e *entry) int() int {
	if e == nil {
		return 0
	}
	n, _ := e.value.(json.Number)
	i, _ := n.Int64() // the check has seen that it is one
	return int(i)
}

func (e *entry) float() float64 {
	if e == nil {
		return 0
	}
	n, _ := e.value.(json.Number)
	f, _ := n.Float64()
	return f
}

func (e *entry) bool() bool {
	if e == nil {
		return false
	}
	b, _ := e.value.(bool)
	return b
}

func (e *entry) duration() time.Duration {
	if e == nil {
		return 0
	}
	return e.span
}
