package scorers

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/tooleval/tooleval"
)

// A place is a value in a state, or the lack of one.
type place struct {
	v  any
	is bool
}

func (p place) raw() tooleval.Raw {
	if !p.is {
		return nil
	}
	b, err := json.Marshal(p.v)
	if err != nil { // what DecodeValue gives has a JSON form
		return nil
	}
	const most = 16 << 10 // a record keeps evidence, not a second copy of a large state
	if len(b) > most {
		return tooleval.Raw(fmt.Sprintf(`"(%d bytes of JSON, not kept)"`, len(b)))
	}
	return b
}

// A treeComparison compares three states: the initial one, the expected one, and the final one. The three mostly share
// their parts, and what is shared is not looked into.
type treeComparison struct {
	rules      *pathRules
	met, total int // of the places that are expected to change
	diff       []tooleval.Difference
	others     []tooleval.Difference // places that changed but were not expected to
}

func (c *treeComparison) compare(path string, at []string, initial, expected, final place) {
	if c.rules.ignored(at) || same(expected, final) && same(initial, final) {
		return
	}
	if children, ok := c.split(at, initial, expected, final); ok {
		for _, ch := range children {
			c.compare(ch.path(path), append(at, ch.name), ch.of[0], ch.of[1], ch.of[2])
		}
		return
	}
	right := equalPlaces(expected, final)
	if equalPlaces(expected, initial) {
		if !right {
			c.others = append(c.others, tooleval.Difference{Path: path, Want: initial.raw(), Got: final.raw(),
				Why: "it was not to change"})
		}
		return
	}
	n := leaves(expected)
	c.total += n
	if right {
		c.met += n
		return
	}
	d := tooleval.Difference{Path: path, Want: expected.raw(), Got: final.raw()}
	if !expected.is {
		d.Why = "it was to be removed"
	} else if equalPlaces(final, initial) {
		d.Why = "it was to change"
	}
	c.diff = append(c.diff, d)
}

// changes gathers the places where the final state differs from the initial one, apart from those that a pattern names.
func (c *treeComparison) changes(path string, at []string, initial, final place, named shape) {
	if named.all || c.rules.ignored(at) || same(initial, final) {
		return
	}
	children, ok := c.split(at, initial, initial, final)
	if !ok {
		if !equalPlaces(initial, final) {
			c.others = append(c.others, tooleval.Difference{Path: path, Want: initial.raw(), Got: final.raw(),
				Why: "it was not to change"})
		}
		return
	}
	for _, ch := range children {
		c.changes(ch.path(path), append(at, ch.name), ch.of[0], ch.of[2], named.below[ch.name])
	}
}

// A child is a key or an element of three places.
type child struct {
	name  string // the key, or the number of the element
	label string // as it stands in a path
	of    [3]place
}

func (c child) path(parent string) string { return parent + c.label }

// split goes one level down, where all that is there is of one kind; ok is false when it is not, or is no container.
// The initial place may be anything: what is created has no initial form.
func (c *treeComparison) split(at []string, initial, expected, final place) (children []child, ok bool) {
	places := [3]place{initial, expected, final}
	if _, isMap := pick(expected, final).(map[string]any); isMap {
		var maps3 [3]map[string]any
		for i, p := range places {
			m, ok := p.v.(map[string]any)
			if !ok && i > 0 {
				return nil, false
			}
			maps3[i] = m
		}
		keys := map[string]bool{}
		for _, m := range maps3 {
			for k := range m {
				keys[k] = true
			}
		}
		if len(keys) == 0 {
			return nil, false
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			ch := child{name: k, label: keyLabel(k)}
			for i, m := range maps3 {
				v, found := m[k]
				ch.of[i] = place{v, found}
			}
			children = append(children, ch)
		}
		return children, true
	}
	var lists [3][]any
	for i, p := range places {
		l, ok := p.v.([]any)
		if !ok && i > 0 {
			return nil, false
		}
		lists[i] = l
	}
	if key, unordered := c.rules.unordered(at); unordered {
		return keyed(lists, key), true
	}
	n := max(len(lists[0]), len(lists[1]), len(lists[2]))
	if n == 0 {
		return nil, false
	}
	for j := range n {
		ch := child{name: strconv.Itoa(j), label: "[" + strconv.Itoa(j) + "]"}
		for i, l := range lists {
			if j < len(l) {
				ch.of[i] = place{l[j], true}
			}
		}
		children = append(children, ch)
	}
	return children, true
}

func pick(a, b place) any {
	if a.is {
		return a.v
	}
	return b.v
}

// keyed pairs the elements of three lists by the value of a key, or by their whole value. Of elements with the same
// value the first is paired with the first.
func keyed(lists [3][]any, key string) []child {
	byName := map[string]*child{}
	var order []string
	for i, l := range lists {
		count := map[string]int{}
		for _, e := range l {
			id := e
			if m, ok := e.(map[string]any); ok && key != "" {
				if v, found := m[key]; found {
					id = v
				}
			}
			name := string(tooleval.CanonicalJSON(id))
			count[name]++
			label := "[" + name + "]"
			if key != "" {
				label = "[" + key + "=" + name + "]"
			}
			if n := count[name]; n > 1 {
				name += "#" + strconv.Itoa(n)
				label += "#" + strconv.Itoa(n)
			}
			if byName[name] == nil {
				byName[name] = &child{name: "*", label: label}
				order = append(order, name)
			}
			byName[name].of[i] = place{e, true}
		}
	}
	slices.Sort(order)
	children := make([]child, len(order))
	for i, name := range order {
		children[i] = *byName[name]
	}
	return children
}

// same reports whether two places are one and the same object or list in memory: a cheap yes.
func same(a, b place) bool {
	if !a.is || !b.is {
		return a.is == b.is
	}
	switch x := a.v.(type) {
	case map[string]any:
		y, ok := b.v.(map[string]any)
		return ok && reflect.ValueOf(x).Pointer() == reflect.ValueOf(y).Pointer()
	case []any:
		y, ok := b.v.([]any)
		return ok && len(x) == len(y) && len(x) > 0 && &x[0] == &y[0]
	}
	return false
}

func equalPlaces(a, b place) bool {
	return a.is == b.is && (!a.is || tooleval.Equal(a.v, b.v))
}

// leaves is the number of scalars and empty containers in a place; a missing one counts as one.
func leaves(p place) int {
	n := 0
	switch x := p.v.(type) {
	case map[string]any:
		for _, v := range x {
			n += leaves(place{v, true})
		}
	case []any:
		for _, v := range x {
			n += leaves(place{v, true})
		}
	}
	return max(n, 1)
}

func keyLabel(k string) string {
	for i, r := range k {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return "[" + strconv.Quote(k) + "]"
		}
	}
	if k == "" {
		return `[""]`
	}
	return "." + k
}
