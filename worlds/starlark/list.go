package starlark

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A list is a list of the state as a script sees it: like dict, a thin cover over a node of the base, whose values are
// copied when the first of them is changed, or read and found to be a container. It behaves like Starlark's own list.
type list struct {
	over *baseList
	vals []starlark.Value // nil stands for over.vals
	own  bool

	iterators int
	frozen    bool
}

var (
	_ starlark.Sequence    = (*list)(nil)
	_ starlark.Sliceable   = (*list)(nil)
	_ starlark.HasSetIndex = (*list)(nil)
	_ starlark.Container   = (*list)(nil)
	_ starlark.HasAttrs    = (*list)(nil)
	_ starlark.HasBinary   = (*list)(nil)
	_ starlark.Comparable  = (*list)(nil)
)

func (l *list) touched() bool { return l.own }

// all are the values as they are: nodes of the base where never read.
func (l *list) all() []starlark.Value {
	if !l.own {
		return l.over.vals
	}
	return l.vals
}

func (l *list) take() {
	if !l.own {
		l.vals, l.own = slices.Clone(l.over.vals), true
	}
}

// Len is the number of elements.
func (l *list) Len() int { return len(l.all()) }

// Index is the element at i.
func (l *list) Index(i int) starlark.Value {
	v := l.all()[i]
	switch v.(type) {
	case *baseDict, *baseList:
		v = wrap(v, l.frozen)
		l.take()
		l.vals[i] = v
	}
	return v
}

func (l *list) checkMutable(verb string) error {
	if l.frozen {
		return fmt.Errorf("cannot %s frozen list", verb)
	}
	if l.iterators > 0 {
		return fmt.Errorf("cannot %s list during iteration", verb)
	}
	l.take()
	return nil
}

// SetIndex sets the element at i.
func (l *list) SetIndex(i int, v starlark.Value) error {
	if err := l.checkMutable("assign to element of"); err != nil {
		return err
	}
	l.vals[i] = v
	return nil
}

// Iterate goes over the elements.
func (l *list) Iterate() starlark.Iterator {
	if !l.frozen {
		l.iterators++
	}
	return &listIterator{l: l}
}

type listIterator struct {
	l *list
	i int
}

func (it *listIterator) Next(p *starlark.Value) bool {
	if it.i >= it.l.Len() {
		return false
	}
	*p = it.l.Index(it.i)
	it.i++
	return true
}

func (it *listIterator) Done() {
	if !it.l.frozen {
		it.l.iterators--
	}
}

// copy is a list of Starlark's own with the same elements.
func (l *list) copy() *starlark.List {
	elems := make([]starlark.Value, l.Len())
	for i := range elems {
		elems[i] = l.Index(i)
	}
	return starlark.NewList(elems)
}

// Slice is a new list of some of the elements.
func (l *list) Slice(start, end, step int) starlark.Value { return l.copy().Slice(start, end, step) }

// Has reports whether an element equals y.
func (l *list) Has(y starlark.Value) (bool, error) { return contains(l, y) }

func (l *list) String() string        { return text(l) }
func (l *list) Type() string          { return "list" }
func (l *list) Truth() starlark.Bool  { return l.Len() > 0 }
func (l *list) Hash() (uint32, error) { return 0, errUnhashable("list") }

// Freeze makes l and what was read or set in it immutable.
func (l *list) Freeze() {
	if l.frozen {
		return
	}
	l.frozen = true
	for _, v := range l.vals {
		v.Freeze()
	}
}

// CompareSameType compares by content.
func (l *list) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return compare(op, l, y, depth)
}

// Binary is l + other and l * n, which give a new list.
func (l *list) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	x := starlark.Value(l.copy())
	switch o := y.(type) {
	case *list:
		y = o.copy()
	case *starlark.List, starlark.Int:
	default:
		return nil, nil
	}
	if op != syntax.PLUS && op != syntax.STAR {
		return nil, nil
	}
	if side == starlark.Right {
		x, y = y, x
	}
	return starlark.Binary(op, x, y)
}
