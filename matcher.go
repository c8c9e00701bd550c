package tooleval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type anything struct{}

func (anything) match(any, bool) bool { return true }
func (anything) vacuous() bool        { return true }
func (anything) missing() bool        { return false }
func (anything) want() any            { return Matcher{"$any": true} }
func (n anything) compare(c *Comparison, path string, v any, present, loose bool) {
	one(c, n, path, v, present, loose, "")
}

type absent struct{}

func (absent) match(any, bool) bool { return false }
func (absent) vacuous() bool        { return false }
func (absent) missing() bool        { return true }
func (absent) want() any            { return Matcher{"$absent": true} }
func (n absent) compare(c *Comparison, path string, v any, present, _ bool) {
	c.Total++
	if !present {
		c.Met++
		return
	}
	c.Diff = append(c.Diff, Difference{Path: path, Got: encode(v), Why: "the key must be absent"})
}

type matchRegex struct {
	expr string
	re   *regexp.Regexp
}

func (n matchRegex) match(v any, _ bool) bool {
	s, ok := v.(string)
	return ok && n.re.MatchString(s)
}
func (n matchRegex) vacuous() bool { return false }
func (n matchRegex) missing() bool { return false }
func (n matchRegex) want() any     { return Matcher{"$regex": n.expr} }
func (n matchRegex) compare(c *Comparison, path string, v any, present, loose bool) {
	one(c, n, path, v, present, loose, "")
}

type contains struct {
	part string
	fold bool
}

func (n contains) match(v any, _ bool) bool {
	s, ok := v.(string)
	if n.fold {
		return ok && strings.Contains(strings.ToLower(s), strings.ToLower(n.part))
	}
	return ok && strings.Contains(s, n.part)
}
func (n contains) vacuous() bool { return false }
func (n contains) missing() bool { return false }
func (n contains) want() any {
	if n.fold {
		return Matcher{"$contains": n.part, "ignore_case": true}
	}
	return Matcher{"$contains": n.part}
}
func (n contains) compare(c *Comparison, path string, v any, present, loose bool) {
	one(c, n, path, v, present, loose, "")
}

type near struct {
	value     json.Number
	tolerance json.Number
}

func (n near) match(v any, _ bool) bool {
	s, ok := number(v)
	if !ok {
		return false
	}
	return equalNumbers(s, string(n.value)) || within(s, string(n.value), string(n.tolerance))
}
func (n near) vacuous() bool { return false }
func (n near) missing() bool { return false }
func (n near) want() any     { return Matcher{"$number": n.value, "tolerance": n.tolerance} }
func (n near) compare(c *Comparison, path string, v any, present, loose bool) {
	one(c, n, path, v, present, loose, "")
}

type oneOf struct{ patterns []node }

func (n oneOf) match(v any, loose bool) bool {
	return slices.ContainsFunc(n.patterns, func(p node) bool { return p.match(v, loose) })
}
func (n oneOf) vacuous() bool { return slices.ContainsFunc(n.patterns, node.vacuous) }
func (n oneOf) missing() bool { return slices.ContainsFunc(n.patterns, node.missing) }
func (n oneOf) want() any {
	l := make([]any, len(n.patterns))
	for i, p := range n.patterns {
		l[i] = p.want()
	}
	return Matcher{"$one_of": l}
}

// compare counts the alternatives as one expectation and says which of them came closest.
func (n oneOf) compare(c *Comparison, path string, v any, present, loose bool) {
	why := ""
	if present && !n.match(v, loose) && len(n.patterns) > 1 {
		best, share := Comparison{}, 0.0 // kept, not made again: comparing twice at each level of nesting is exponential
		at := 0
		for i, p := range n.patterns {
			var inner Comparison
			p.compare(&inner, path, v, true, loose)
			if part := float64(inner.Met) / float64(max(inner.Total, 1)); part > share {
				best, share, at = inner, part, i
			}
		}
		if len(best.Diff) > 0 {
			d := best.Diff[0]
			d.Why = clip(d.Why) // it may hold the differences of alternatives within alternatives
			why = fmt.Sprintf("alternative %d comes closest: %s", at+1, d)
		}
	}
	one(c, n, path, v, present, loose, why)
}

// scope sets whether extra keys are allowed below it.
type scope struct {
	inner node
	loose bool
}

func (n scope) match(v any, _ bool) bool { return n.inner.match(v, n.loose) }
func (n scope) missing() bool            { return n.inner.missing() }
func (n scope) vacuous() bool {
	o, ok := n.inner.(object)
	return n.inner.vacuous() || ok && n.loose && len(o.keys) == 0
}
func (n scope) want() any {
	if n.loose {
		return Matcher{"$subset": n.inner.want()}
	}
	return Matcher{"$exact": n.inner.want()}
}
func (n scope) compare(c *Comparison, path string, v any, present, _ bool) {
	n.inner.compare(c, path, v, present, n.loose)
}
