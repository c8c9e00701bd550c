package tooleval

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A Pattern is an expectation of a JSON value: a JSON value in which matchers may stand anywhere. Without matchers it
// matches by JSON meaning ([Equal]), so extra keys, missing keys and another list order are differences. The matchers:
//
//	{"$any": true}                          anything, but present
//	{"$absent": true}                       the key must be missing
//	{"$regex": "order-[0-9]+"}              a string that matches as a whole (Go syntax; (?i), (?s) where wanted)
//	{"$contains": "boots"}                  a string with this in it; "ignore_case": true
//	{"$number": 42, "tolerance": 0.001}     a number within the tolerance, both ends included
//	{"$one_of": [p, q]}                     at least one of these patterns
//	{"$subset": {…}}                        extra keys are allowed here and in every object below
//	{"$exact": p}                           extra keys are not allowed (undoes an outer $subset)
//	{"$unordered": [p, q]}                  a list with these elements in any order
//	{"$literal": v}                         v itself, even if it looks like a matcher
//
// The zero Pattern constrains nothing. A Pattern is immutable and safe for concurrent use.
type Pattern struct {
	raw  Raw
	root node
	err  error
}

// A Matcher is a matcher in Go form; it may stand anywhere in the value given to [Match].
type Matcher map[string]any

// Any matches every value that is present.
func Any() Matcher { return Matcher{"$any": true} }

// Absent matches a key that is missing.
func Absent() Matcher { return Matcher{"$absent": true} }

// Regex matches a string that the expression matches as a whole.
func Regex(expr string) Matcher { return Matcher{"$regex": expr} }

// Contains matches a string with s in it.
func Contains(s string) Matcher { return Matcher{"$contains": s} }

// ContainsFold matches a string with s in it, in upper or lower case.
func ContainsFold(s string) Matcher { return Matcher{"$contains": s, "ignore_case": true} }

// Near matches a number that differs from v by at most tolerance.
func Near(v, tolerance float64) Matcher { return Matcher{"$number": v, "tolerance": tolerance} }

// OneOf matches what at least one of the patterns matches.
func OneOf(patterns ...any) Matcher { return Matcher{"$one_of": patterns} }

// Subset matches an object with at least these keys, here and below.
func Subset(object any) Matcher { return Matcher{"$subset": object} }

// Unordered matches a list with these elements in any order.
func Unordered(elements ...any) Matcher { return Matcher{"$unordered": elements} }

// Literal matches v itself even if it looks like a matcher.
func Literal(v any) Matcher { return Matcher{"$literal": v} }

// Match makes a Pattern of any value that has a JSON encoding, with [Matcher]s where looseness is wanted. What is wrong
// with it is reported by [Pattern.Err], and so by Suite.Validate.
func Match(v any) Pattern {
	b, err := json.Marshal(v)
	if err != nil {
		return Pattern{raw: Raw("null"), root: literal{nil}, err: fmt.Errorf("the pattern has no JSON form: %w", err)}
	}
	return ParsePattern(b)
}

// ParsePattern makes a Pattern of its JSON form. What is wrong with it is reported by [Pattern.Err].
func ParsePattern(b []byte) Pattern {
	p := Pattern{raw: slices.Clone(b)}
	v, err := DecodeValue(b)
	if err != nil {
		p.root, p.err = literal{nil}, err
		return p
	}
	c := compiler{}
	p.root = c.compile("$", v)
	p.err = c.err()
	return p
}

// IsZero reports whether p is the zero Pattern, which constrains nothing.
func (p Pattern) IsZero() bool { return p.root == nil }

// Err says everything that is wrong with the pattern, each with its path; nil when it is sound.
func (p Pattern) Err() error { return p.err }

// Vacuous reports whether p checks nothing: it is zero, or made of matchers that accept whatever is there.
func (p Pattern) Vacuous() bool { return p.root == nil || p.root.vacuous() }

// Match reports whether a value as [DecodeValue] gives it meets the pattern in full.
func (p Pattern) Match(v any) bool {
	return p.root == nil || p.err == nil && p.root.match(v, false)
}

// Compare says how much of the pattern a value meets.
func (p Pattern) Compare(v any) Comparison {
	var c Comparison
	if p.root != nil {
		p.root.compare(&c, "$", v, true, false)
	}
	return c
}

// CompareMissing is Compare for a value that is not there at all.
func (p Pattern) CompareMissing() Comparison {
	var c Comparison
	if p.root != nil {
		p.root.compare(&c, "$", nil, false, false)
	}
	return c
}

// MarshalJSON writes the pattern as it was given.
func (p Pattern) MarshalJSON() ([]byte, error) {
	if p.root == nil {
		return []byte("null"), nil
	}
	return p.raw.MarshalJSON()
}

// UnmarshalJSON reads the JSON form; null is the zero Pattern. A pattern that is not sound is no error here, so that a
// stored run can always be read; see [Pattern.Err].
func (p *Pattern) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*p = Pattern{}
		return nil
	}
	*p = ParsePattern(b)
	return nil
}

// A Comparison counts the expectations in a pattern, and those that were met. Each scalar, matcher, empty list and empty
// object is one expectation, and so is each key or element that should not be there.
type Comparison struct {
	Met, Total int
	Diff       []Difference
}

// OK reports whether every expectation was met.
func (c Comparison) OK() bool { return c.Met == c.Total && len(c.Diff) == 0 }

// A Difference is one place where a value is not as expected.
type Difference struct {
	// Path is the place, as in $.orders[0].status.
	Path string `json:"path"`
	// Want is the expectation there; empty when nothing should be there.
	Want Raw `json:"want,omitempty"`
	// Got is what is there; empty when nothing is.
	Got Raw `json:"got,omitempty"`
	// Why says in words what Want and Got don't show by themselves.
	Why string `json:"why,omitempty"`
}

// String is the difference in one line. It may hold text from outside.
func (d Difference) String() string {
	s := d.Path + ": "
	switch {
	case d.Want == nil:
		s += "unexpected " + clip(string(d.Got))
	case d.Got == nil:
		s += "missing, want " + clip(string(d.Want))
	default:
		s += "want " + clip(string(d.Want)) + ", got " + clip(string(d.Got))
	}
	if d.Why != "" {
		s += " (" + d.Why + ")"
	}
	return s
}

// child is the path of a key in an object.
func child(path, key string) string {
	for i, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return path + "[" + strconv.Quote(key) + "]"
		}
	}
	if key == "" {
		return path + `[""]`
	}
	return path + "." + key
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// A node is one place of a compiled pattern. loose says that extra keys are allowed.
type node interface {
	match(v any, loose bool) bool
	// compare adds to c what this node expects and how v meets it; present says whether there is a v.
	compare(c *Comparison, path string, v any, present, loose bool)
	vacuous() bool
	// want is the expectation as JSON.
	want() any
}

// one compares a node that is a single expectation.
func one(c *Comparison, n node, path string, v any, present, loose bool, why string) {
	c.Total++
	if present && n.match(v, loose) {
		c.Met++
		return
	}
	d := Difference{Path: path, Want: encode(n.want()), Why: why}
	if present {
		d.Got = encode(v)
	}
	c.Diff = append(c.Diff, d)
}

// encode is the JSON of a value as DecodeValue gives it, with numbers as they were spelt.
func encode(v any) Raw {
	b, err := json.Marshal(v)
	if err != nil {
		return Raw("null")
	}
	return b
}

type literal struct{ value any }

func (n literal) match(v any, _ bool) bool { return Equal(n.value, v) }
func (n literal) vacuous() bool            { return false }
func (n literal) want() any                { return n.value }
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

func (n object) vacuous() bool { return false }

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
		if present {
			seen++
		}
		if _, absent := n.fields[k].(absent); absent != !present {
			return false
		}
		if present && !n.fields[k].match(got, loose) {
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
	if !ok { // one line for the whole object, but every expectation in it counts as unmet
		var inner Comparison
		for _, k := range n.keys {
			n.fields[k].compare(&inner, child(path, k), nil, false, loose)
		}
		c.Total += inner.Total
		d := Difference{Path: path, Want: encode(n.want())}
		if present {
			d.Got, d.Why = encode(v), "want an object, got "+typeName(v)
		}
		c.Diff = append(c.Diff, d)
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

type list struct{ elements []node }

func (n list) vacuous() bool { return false }

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
		var inner Comparison
		for i, e := range n.elements {
			e.compare(&inner, element(path, i), nil, false, loose)
		}
		c.Total += inner.Total
		d := Difference{Path: path, Want: encode(n.want())}
		if present {
			d.Got, d.Why = encode(v), "want a list, got "+typeName(v)
		}
		c.Diff = append(c.Diff, d)
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
