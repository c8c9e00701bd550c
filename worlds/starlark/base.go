package starlark

import (
	"errors"
	"slices"

	"go.starlark.net/starlark"
)

// A base is an initial state: a tree that is parsed once, never changes, and is shared by all runs. What a script
// sees of it are Dicts and Lists that lie over its nodes. Its containers are Starlark values only so that they can
// stand among scalars; no script ever gets hold of one.
type base struct {
	root starlark.Value
	json []byte // canonical: sorted keys, no space; every container knows its part
}

type baseDict struct {
	words []string         // the keys
	keys  []starlark.Value // the same as Starlark strings
	vals  []starlark.Value
	index map[string]int // nil when there are few keys
	order []int          // the places of the keys in sorted order
	part
}

type baseList struct {
	vals []starlark.Value
	part
}

const fewNames = 8 // up to here looking at each name is cheaper than a map

func newBaseDict(names []string, vals []starlark.Value, index map[string]int) *baseDict {
	d := &baseDict{words: slices.Clip(names), vals: vals, keys: make([]starlark.Value, len(names)), order: make([]int, len(names))}
	for i, name := range names {
		d.keys[i] = starlark.String(name)
		d.order[i] = i
	}
	slices.SortFunc(d.order, func(i, j int) int {
		if names[i] < names[j] {
			return -1
		}
		return 1
	})
	if len(names) > fewNames {
		d.index = index
	}
	return d
}

// find is the place of a name, or -1.
func (d *baseDict) find(name string) int {
	if d.index != nil {
		if i, ok := d.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range d.words {
		if n == name {
			return i
		}
	}
	return -1
}

// newBase parses an initial state.
func newBase(raw []byte) (*base, error) {
	root, err := parse(raw, true)
	if err != nil {
		return nil, err
	}
	if _, ok := root.(*baseDict); !ok {
		return nil, errors.New("the state is not a JSON object")
	}
	b := &base{root: root}
	b.mark(root)
	return b, nil
}

// mark appends the canonical JSON of a node and notes in each container which part is its own.
func (b *base) mark(v starlark.Value) {
	from := len(b.json)
	switch x := v.(type) {
	case *baseDict:
		b.json = append(b.json, '{')
		for n, i := range x.order {
			if n > 0 {
				b.json = append(b.json, ',')
			}
			b.json = append(appendText(b.json, x.words[i]), ':')
			b.mark(x.vals[i])
		}
		b.json = append(b.json, '}')
		x.part = part{b, from, len(b.json)}
	case *baseList:
		b.json = append(b.json, '[')
		for i, e := range x.vals {
			if i > 0 {
				b.json = append(b.json, ',')
			}
			b.mark(e)
		}
		b.json = append(b.json, ']')
		x.part = part{b, from, len(b.json)}
	default:
		b.json, _ = appendScalar(b.json, v, false) // what was parsed has a JSON form
	}
}

// A part is where in a base's JSON a container stands.
type part struct {
	of       *base
	from, to int
}

func (p part) json() []byte { return p.of.json[p.from:p.to] }

func (d *baseDict) String() string        { return string(d.json()) }
func (d *baseDict) Type() string          { return "dict" }
func (d *baseDict) Freeze()               {}
func (d *baseDict) Truth() starlark.Bool  { return len(d.words) > 0 }
func (d *baseDict) Hash() (uint32, error) { return 0, errUnhashable("dict") }

func (l *baseList) String() string        { return string(l.json()) }
func (l *baseList) Type() string          { return "list" }
func (l *baseList) Freeze()               {}
func (l *baseList) Truth() starlark.Bool  { return len(l.vals) > 0 }
func (l *baseList) Hash() (uint32, error) { return 0, errUnhashable("list") }

func errUnhashable(kind string) error { return errors.New("unhashable type: " + kind) }
