package tooleval

import (
	"encoding/json"
	"fmt"
	"slices"
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
		// The JSON form must stay unsound too, for a pattern that is nested in another or stored.
		raw := encode(map[string]any{"$unencodable": err.Error()})
		return Pattern{raw: raw, root: literal{nil}, err: fmt.Errorf("the pattern has no JSON form: %w", err)}
	}
	return ParsePattern(b)
}

// ParsePattern makes a Pattern of its JSON form. What is wrong with it is reported by [Pattern.Err].
func ParsePattern(b []byte) Pattern {
	p := Pattern{raw: slices.Clone(b)}
	v, err := decodeValue(b, true)
	if err != nil {
		p.root, p.err = literal{nil}, err
		return p
	}
	c := compiler{}
	p.root = c.compile("$", v, false)
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
	return p.compare(v, true)
}

// CompareMissing is Compare for a value that is not there at all.
func (p Pattern) CompareMissing() Comparison {
	return p.compare(nil, false)
}

func (p Pattern) compare(v any, present bool) Comparison {
	var c Comparison
	switch {
	case p.err != nil: // an unsound pattern is met by nothing, not even by what it happened to be compiled to
		c.Total = 1
		d := Difference{Path: "$", Want: p.raw, Why: "the pattern is not sound: " + p.err.Error()}
		if present {
			d.Got = encode(v)
		}
		c.Diff = []Difference{d}
	case p.root != nil:
		p.root.compare(&c, "$", v, present, false)
	}
	return c
}

// MarshalJSON writes the pattern as it was given.
func (p Pattern) MarshalJSON() ([]byte, error) {
	if p.root == nil {
		return []byte("null"), nil
	}
	if l, ok := p.root.(literal); ok && l.value == nil && p.err == nil {
		return []byte(`{"$literal":null}`), nil // a bare null would be read back as the zero Pattern
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
	if *p = ParsePattern(b); p.err == nil || !looksWrapped(b) {
		return nil
	}
	// What MarshalJSON had to wrap was no JSON; anything else that looks like it was written by hand.
	var inner Raw
	if err := inner.UnmarshalJSON(b); err != nil {
		return err
	}
	if q := ParsePattern(inner); q.err != nil {
		*p = q
	}
	return nil
}
