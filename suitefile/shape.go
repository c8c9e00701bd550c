package suitefile

import "slices"

// A kind is what may stand at one place of a file.
type kind int

const (
	text     kind = iota // a scalar, kept as it is written
	choice               // one of a few words
	boolean              // true or false
	number               // a number in a range
	integer              // a whole number in a range
	duration             // text such as 90s
	jsonAny              // any JSON value
	jsonObj              // a JSON object
	pattern              // a JSON value in which matchers may stand
	record               // an object with known keys
	dict                 // an object whose keys are names
	list
	either // one of several shapes that differ in the kind of YAML node
)

// A shape describes one place of a file. The checks of [Load], the [JSONSchema] and the reference are all made of it.
type shape struct {
	kind    kind
	name    string // of a record that the reference describes by itself
	doc     string
	fields  []field // of a record, in the order of the reference
	groups  []group // of a record
	elem    *shape  // of a list or a dict
	empty   bool    // a list or dict may be empty
	include string  // a list's element may be {file: …} with more of them; this is what they are called
	words   []string
	of      []*shape // of an either
	min     float64
	max     float64 // no bound when it is not above min
	example string
}

// A field is one key of a record.
type field struct {
	key      string
	doc      string
	shape    *shape
	required bool
	// later says that the value is not checked with its record but by whoever builds it, with other variables.
	later bool
}

// A group is a set of keys that depend on each other.
type group struct {
	keys      []string
	need      bool // at least one of them
	exclusive bool // at most one of them
}

func (s *shape) field(key string) (field, bool) {
	i := slices.IndexFunc(s.fields, func(f field) bool { return f.key == key })
	if i < 0 {
		return field{}, false
	}
	return s.fields[i], true
}

func (s *shape) keys() []string {
	keys := make([]string, len(s.fields))
	for i, f := range s.fields {
		keys[i] = f.key
	}
	return keys
}

func must(key string, s *shape, doc string) field {
	return field{key: key, doc: doc, shape: s, required: true}
}

func may(key string, s *shape, doc string) field { return field{key: key, doc: doc, shape: s} }

func later(f field) field {
	f.later = true
	return f
}

func exactlyOne(keys ...string) group { return group{keys: keys, need: true, exclusive: true} }
func atMostOne(keys ...string) group  { return group{keys: keys, exclusive: true} }

func listOf(elem *shape) *shape { return &shape{kind: list, elem: elem} }
func dictOf(elem *shape) *shape { return &shape{kind: dict, elem: elem} }

func oneWordOf(words ...string) *shape { return &shape{kind: choice, words: words} }

var (
	aText     = &shape{kind: text}
	aFile     = &shape{kind: text, doc: "a file"}
	aBoolean  = &shape{kind: boolean}
	aDuration = &shape{kind: duration}
	aValue    = &shape{kind: jsonAny}
	anObject  = &shape{kind: jsonObj}
	aPattern  = &shape{kind: pattern}
	texts     = listOf(aText)
)

// want says in words what a shape takes.
func (s *shape) want() string {
	switch s.kind {
	case text:
		return "text"
	case choice:
		return "one of " + listed(s.words)
	case boolean:
		return "true or false"
	case number:
		return "a number"
	case integer:
		return "a whole number"
	case duration:
		return "a time, as in 90s or 1m30s"
	case jsonObj, record, dict:
		return "keys with values"
	case list:
		return "a list"
	case either:
		words := ""
		for i, o := range s.of {
			if i > 0 {
				words += " or "
			}
			words += o.want()
		}
		return words
	}
	return "a value"
}
