package tooleval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// A compiler turns the JSON form of a pattern into nodes and gathers everything that is wrong with it.
type compiler struct{ errs []error }

func (c *compiler) err() error { return errors.Join(c.errs...) }

func (c *compiler) fail(path, format string, args ...any) node {
	c.errs = append(c.errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	return literal{nil}
}

func (c *compiler) compile(path string, v any) node {
	switch x := v.(type) {
	case []any:
		n := list{make([]node, len(x))}
		for i, e := range x {
			n.elements[i] = c.compile(element(path, i), e)
		}
		return n
	case map[string]any:
		for k := range x {
			if strings.HasPrefix(k, "$") {
				return c.matcher(path, x)
			}
		}
		n := object{keys: slices.Sorted(maps.Keys(x)), fields: make(map[string]node, len(x))}
		for _, k := range n.keys {
			n.fields[k] = c.compile(child(path, k), x[k])
		}
		return n
	}
	return literal{v}
}

// matcherOptions are the matchers, each with the keys that may stand beside it.
var matcherOptions = map[string][]string{
	"$any": nil, "$absent": nil, "$regex": nil, "$contains": {"ignore_case"}, "$number": {"tolerance"},
	"$one_of": nil, "$subset": nil, "$exact": nil, "$unordered": nil, "$literal": nil,
}

func (c *compiler) matcher(path string, m map[string]any) node {
	name := ""
	for k := range m {
		if strings.HasPrefix(k, "$") {
			if name != "" {
				return c.fail(path, "two matchers in one object: %s and %s; nest them, or write {\"$literal\": …}", min(name, k), max(name, k))
			}
			name = k
		}
	}
	options, known := matcherOptions[name]
	if !known {
		return c.fail(path, "unknown matcher %q%s; a key that begins with $ is written {\"$literal\": …}",
			name, DidYouMean(name, slices.Sorted(maps.Keys(matcherOptions))))
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k != name && !slices.Contains(options, k) {
			return c.fail(path, "unknown key %q beside %s%s", k, name, DidYouMean(k, options))
		}
	}
	return c.build(path, name, m)
}

func (c *compiler) build(path, name string, m map[string]any) node {
	arg := m[name]
	switch name {
	case "$any", "$absent":
		if arg != true {
			return c.fail(path, "%s takes true", name)
		}
		if name == "$any" {
			return anything{}
		}
		return absent{}
	case "$regex":
		expr, ok := arg.(string)
		if !ok {
			return c.fail(path, "$regex takes a string")
		}
		re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
		if err != nil {
			return c.fail(path, "$regex: %v", err)
		}
		return matchRegex{expr, re}
	case "$contains":
		part, ok := arg.(string)
		if !ok || part == "" {
			return c.fail(path, "$contains takes a string that is not empty")
		}
		fold := false
		if f, given := m["ignore_case"]; given {
			if fold, ok = f.(bool); !ok {
				return c.fail(path, "ignore_case takes true or false")
			}
		}
		return contains{part, fold}
	case "$number":
		return c.near(path, m)
	case "$one_of":
		l, ok := arg.([]any)
		if !ok || len(l) == 0 {
			return c.fail(path, "$one_of takes a list that is not empty")
		}
		n := oneOf{}
		for i, e := range l {
			n.patterns = append(n.patterns, c.compile(element(path, i), e))
		}
		return n
	case "$subset":
		if _, ok := arg.(map[string]any); !ok {
			return c.fail(path, "$subset takes an object")
		}
		return scope{c.compile(path, arg), true}
	case "$exact":
		return scope{c.compile(path, arg), false}
	case "$unordered":
		l, ok := arg.([]any)
		if !ok {
			return c.fail(path, "$unordered takes a list")
		}
		n := unordered{}
		for i, e := range l {
			n.elements = append(n.elements, c.compile(element(path, i), e))
		}
		return n
	}
	return literal{arg} // $literal
}

func (c *compiler) near(path string, m map[string]any) node {
	value, ok := m["$number"].(json.Number)
	if !ok {
		return c.fail(path, "$number takes a number")
	}
	n := near{value: value}
	if t, given := m["tolerance"]; given {
		num, ok := t.(json.Number)
		f, err := num.Float64()
		if !ok || err != nil || f < 0 {
			return c.fail(path, "tolerance takes a number that is not negative")
		}
		n.tolerance = f
	}
	if f, err := value.Float64(); err != nil || math.IsInf(f, 0) {
		return c.fail(path, "$number %s is out of range", value)
	}
	return n
}

type anything struct{}

func (anything) match(any, bool) bool { return true }
func (anything) vacuous() bool        { return true }
func (anything) want() any            { return Matcher{"$any": true} }
func (n anything) compare(c *Comparison, path string, v any, present, loose bool) {
	one(c, n, path, v, present, loose, "")
}

type absent struct{}

func (absent) match(any, bool) bool { return false }
func (absent) vacuous() bool        { return false }
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
	tolerance float64
}

func (n near) match(v any, _ bool) bool {
	s, ok := number(v)
	if !ok {
		return false
	}
	if equalNumbers(s, string(n.value)) {
		return true
	}
	if n.tolerance == 0 {
		return false
	}
	got, err := json.Number(s).Float64()
	if err != nil {
		return false
	}
	want, _ := n.value.Float64()
	return math.Abs(got-want) <= n.tolerance
}
func (n near) vacuous() bool { return math.IsInf(n.tolerance, 0) }
func (n near) want() any     { return Matcher{"$number": n.value, "tolerance": n.tolerance} }
func (n near) compare(c *Comparison, path string, v any, present, loose bool) {
	one(c, n, path, v, present, loose, "")
}

type oneOf struct{ patterns []node }

func (n oneOf) match(v any, loose bool) bool {
	return slices.ContainsFunc(n.patterns, func(p node) bool { return p.match(v, loose) })
}
func (n oneOf) vacuous() bool { return slices.ContainsFunc(n.patterns, node.vacuous) }
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
		best, at := -1.0, 0
		for i, p := range n.patterns {
			var inner Comparison
			p.compare(&inner, path, v, true, loose)
			if share := float64(inner.Met) / float64(max(inner.Total, 1)); share > best {
				best, at = share, i
			}
		}
		if best > 0 {
			var inner Comparison
			n.patterns[at].compare(&inner, path, v, true, loose)
			if len(inner.Diff) > 0 {
				why = fmt.Sprintf("alternative %d comes closest: %s", at+1, inner.Diff[0])
			}
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

type unordered struct{ elements []node }

func (n unordered) vacuous() bool { return false }
func (n unordered) want() any     { return Matcher{"$unordered": list(n).want()} }

func (n unordered) match(v any, loose bool) bool {
	l, ok := v.([]any)
	if !ok || len(l) != len(n.elements) {
		return false
	}
	return matched(n.pair(l, loose)) == len(l)
}

// pair assigns elements of the pattern to elements of the list, as many as possible.
func (n unordered) pair(l []any, loose bool) []int {
	return MaxMatching(len(n.elements), len(l), func(i, j int) bool { return n.elements[i].match(l[j], loose) })
}

func matched(pairs []int) int {
	k := 0
	for _, j := range pairs {
		if j >= 0 {
			k++
		}
	}
	return k
}

func (n unordered) compare(c *Comparison, path string, v any, present, loose bool) {
	l, ok := v.([]any)
	if !ok || len(n.elements) == 0 {
		list(n).compare(c, path, v, present, loose)
		return
	}
	pairs := n.pair(l, loose)
	used := make([]bool, len(l))
	for _, j := range pairs {
		if j >= 0 {
			used[j] = true
		}
	}
	for i, e := range n.elements {
		if j := pairs[i]; j >= 0 {
			e.compare(c, element(path, j), l[j], true, loose)
			continue
		}
		var inner Comparison
		e.compare(&inner, path, nil, false, loose)
		c.Total += inner.Total
		c.Diff = append(c.Diff, Difference{Path: path, Want: encode(e.want()), Why: "no element left that matches"})
	}
	for j, v := range l {
		if !used[j] {
			c.Total++
			c.Diff = append(c.Diff, Difference{Path: element(path, j), Got: encode(v), Why: "no such element is expected"})
		}
	}
}

// MaxMatching pairs each of n left items with at most one of m right items, each right item used once, so that as many
// as possible are paired (Kuhn's augmenting paths, O(n·m·edges)). It returns, for each left item, its right item or -1.
// Left items are served in order and prefer right items that come first, so the result is deterministic.
func MaxMatching(n, m int, fits func(left, right int) bool) []int {
	left := make([]int, n)
	right := make([]int, m)
	for i := range left {
		left[i] = -1
	}
	for j := range right {
		right[j] = -1
	}
	seen := make([]int, m)
	var augment func(i, round int) bool
	augment = func(i, round int) bool {
		for j := range m {
			if seen[j] == round || !fits(i, j) {
				continue
			}
			seen[j] = round
			if right[j] < 0 || augment(right[j], round) {
				left[i], right[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range n {
		augment(i, i+1)
	}
	return left
}
