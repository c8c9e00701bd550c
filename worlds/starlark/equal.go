package starlark

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxDepth bounds how deep values may nest, as package tooleval does for JSON. A value that contains itself ends here.
const maxDepth = 1000

// equal is the == of scripts. Starlark's own would panic when one of its containers meets one of the state's, which
// says that it has the same type; see rewrite for how scripts come to use this one.
func equal(x, y starlark.Value, depth int) (bool, error) {
	if depth == 0 {
		return false, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	if a, ok := asMap(x); ok {
		b, ok := asMap(y)
		if !ok || a.Len() != b.Len() {
			return false, nil
		}
		for _, name := range a.names() {
			v, found := b.peekKey(name)
			if !found {
				return false, nil
			}
			w, _ := a.peekKey(name)
			if same, err := equal(w, v, depth-1); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if _, tuple := x.(starlark.Tuple); tuple != isTuple(y) {
		return false, nil
	}
	if a, ok := asSeq(x); ok {
		b, ok := asSeq(y)
		if !ok || a.Len() != b.Len() {
			return false, nil
		}
		for i := range a.Len() {
			if same, err := equal(a.peekAt(i), b.peekAt(i), depth-1); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if isContainer(y) {
		return false, nil
	}
	return starlark.Equal(x, y)
}

func isTuple(v starlark.Value) bool {
	_, ok := v.(starlark.Tuple)
	return ok
}

func isContainer(v starlark.Value) bool {
	if _, ok := asMap(v); ok {
		return true
	}
	_, ok := asSeq(v)
	return ok
}

// compare is CompareSameType of the state's containers.
func compare(op syntax.Token, x, y starlark.Value, depth int) (bool, error) {
	switch op {
	case syntax.EQL, syntax.NEQ:
		same, err := equal(x, y, min(depth, maxDepth))
		return same == (op == syntax.EQL), err
	}
	return false, fmt.Errorf("%s %s %s not implemented", x.Type(), op, y.Type())
}

// contains is the "in" of lists.
func contains(l sequence, y starlark.Value) (bool, error) {
	for i := range l.Len() {
		if same, err := equal(l.peekAt(i), y, maxDepth); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// A mapping is any of the dicts: a script's own, the state's, or a node of the base.
type mapping interface {
	Len() int
	names() []starlark.Value
	// peekKey looks up a key without wrapping what it finds.
	peekKey(k starlark.Value) (starlark.Value, bool)
}

// A sequence is any of the lists, or a tuple.
type sequence interface {
	Len() int
	peekAt(i int) starlark.Value
}

func asMap(v starlark.Value) (mapping, bool) {
	switch x := v.(type) {
	case *starlark.Dict:
		return ownDict{x}, true
	case *dict:
		return x, true
	case *baseDict:
		return x, true
	}
	return nil, false
}

func asSeq(v starlark.Value) (sequence, bool) {
	switch x := v.(type) {
	case *starlark.List:
		return ownSeq{x}, true
	case starlark.Tuple:
		return ownSeq{x}, true
	case *list:
		return x, true
	case *baseList:
		return x, true
	}
	return nil, false
}

type ownDict struct{ *starlark.Dict }

func (d ownDict) names() []starlark.Value { return d.Keys() }
func (d ownDict) peekKey(k starlark.Value) (starlark.Value, bool) {
	v, found, _ := d.Get(k)
	return v, found
}

type ownSeq struct{ starlark.Indexable }

func (s ownSeq) peekAt(i int) starlark.Value { return s.Index(i) }

func (d *dict) names() []starlark.Value { return d.keys() }
func (d *dict) peekKey(k starlark.Value) (starlark.Value, bool) {
	name, ok := k.(starlark.String)
	if !ok {
		return nil, false
	}
	if i := d.place(string(name)); i >= 0 {
		return d.peek(i), true
	}
	if d.more != nil {
		v, found, _ := d.more.Get(k)
		return v, found
	}
	return nil, false
}

func (d *baseDict) Len() int                { return len(d.vals) }
func (d *baseDict) names() []starlark.Value { return d.keys }
func (d *baseDict) peekKey(k starlark.Value) (starlark.Value, bool) {
	if name, ok := k.(starlark.String); ok {
		if i := d.find(string(name)); i >= 0 {
			return d.vals[i], true
		}
	}
	return nil, false
}

func (l *list) peekAt(i int) starlark.Value     { return l.all()[i] }
func (l *baseList) Len() int                    { return len(l.vals) }
func (l *baseList) peekAt(i int) starlark.Value { return l.vals[i] }
