package starlark

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A dict is an object of the state as a script sees it. It lies over a node of the base, which it never changes, and
// costs next to nothing until it is used: vals is a copy of the node's values that is made when the first of them is
// changed, or read and found to be a container. That container is then wrapped and the wrapper kept in vals, so that
// reading a place twice gives the same value, and what one name changes another sees.
//
// It behaves like Starlark's own dict, but its keys are strings, since a state is JSON.
type dict struct {
	over *baseDict
	vals []starlark.Value // by place in over; nil stands for over.vals, a nil element for a deleted key
	more *starlark.Dict   // the keys that over doesn't have, or that were deleted and set again
	gone int              // the number of nil elements

	iterators int
	frozen    bool
}

var (
	_ starlark.IterableMapping = (*dict)(nil)
	_ starlark.HasSetKey       = (*dict)(nil)
	_ starlark.Sequence        = (*dict)(nil)
	_ starlark.HasAttrs        = (*dict)(nil)
	_ starlark.HasBinary       = (*dict)(nil)
	_ starlark.Comparable      = (*dict)(nil)
)

// wrap is what a script sees of a value of the base.
func wrap(v starlark.Value, frozen bool) starlark.Value {
	switch x := v.(type) {
	case *baseDict:
		return &dict{over: x, frozen: frozen}
	case *baseList:
		return &list{over: x, frozen: frozen}
	}
	return v
}

func (d *dict) touched() bool { return d.vals != nil || d.more != nil }

// peek is the value at a place as it is: nil when deleted, a node of the base when never read.
func (d *dict) peek(i int) starlark.Value {
	if d.vals == nil {
		return d.over.vals[i]
	}
	return d.vals[i]
}

// at is the value at a place for a script.
func (d *dict) at(i int) starlark.Value {
	v := d.peek(i)
	switch v.(type) {
	case *baseDict, *baseList:
		v = wrap(v, d.frozen)
		d.own()
		d.vals[i] = v
	}
	return v
}

func (d *dict) own() {
	if d.vals == nil {
		d.vals = slices.Clone(d.over.vals)
	}
}

// place is where the base has a key that is still there, or -1.
func (d *dict) place(name string) int {
	if i := d.over.find(name); i >= 0 && d.peek(i) != nil {
		return i
	}
	return -1
}

// Len is the number of keys.
func (d *dict) Len() int {
	n := len(d.over.vals) - d.gone
	if d.more != nil {
		n += d.more.Len()
	}
	return n
}

// Get looks up a key.
func (d *dict) Get(k starlark.Value) (starlark.Value, bool, error) {
	name, ok := k.(starlark.String)
	if !ok {
		_, err := k.Hash()
		return nil, false, err
	}
	if i := d.place(string(name)); i >= 0 {
		return d.at(i), true, nil
	}
	if d.more != nil {
		return d.more.Get(k)
	}
	return nil, false, nil
}

func (d *dict) checkMutable(verb string) error {
	if d.frozen {
		return fmt.Errorf("cannot %s frozen dict", verb)
	}
	if d.iterators > 0 {
		return fmt.Errorf("cannot %s dict during iteration", verb)
	}
	return nil
}

// SetKey sets a key; a new one goes to the end.
func (d *dict) SetKey(k, v starlark.Value) error {
	name, ok := k.(starlark.String)
	if !ok {
		return fmt.Errorf("a key of the state must be a string, not %s: the state is JSON", k.Type())
	}
	if err := d.checkMutable("insert into"); err != nil {
		return err
	}
	if i := d.place(string(name)); i >= 0 {
		d.own()
		d.vals[i] = v
		return nil
	}
	if d.more == nil {
		d.more = new(starlark.Dict)
	}
	return d.more.SetKey(k, v)
}

// Delete removes a key and returns its value.
func (d *dict) Delete(k starlark.Value) (starlark.Value, bool, error) {
	if err := d.checkMutable("delete from"); err != nil {
		return nil, false, err
	}
	name, ok := k.(starlark.String)
	if !ok {
		return nil, false, nil
	}
	if i := d.place(string(name)); i >= 0 {
		v := d.at(i)
		d.own()
		d.vals[i] = nil
		d.gone++
		return v, true, nil
	}
	if d.more != nil {
		return d.more.Delete(k)
	}
	return nil, false, nil
}

// Clear removes every key.
func (d *dict) Clear() error {
	if err := d.checkMutable("clear"); err != nil {
		return err
	}
	d.own()
	clear(d.vals)
	d.gone, d.more = len(d.vals), nil
	return nil
}

// keys are the keys in order.
func (d *dict) keys() []starlark.Value {
	keys := make([]starlark.Value, 0, d.Len())
	for i, k := range d.over.keys {
		if d.peek(i) != nil {
			keys = append(keys, k)
		}
	}
	if d.more != nil {
		keys = append(keys, d.more.Keys()...)
	}
	return keys
}

// Items are the pairs in order.
func (d *dict) Items() []starlark.Tuple {
	items := make([]starlark.Tuple, 0, d.Len())
	for i, k := range d.over.keys {
		if d.peek(i) != nil {
			items = append(items, starlark.Tuple{k, d.at(i)})
		}
	}
	if d.more != nil {
		items = append(items, d.more.Items()...)
	}
	return items
}

// Iterate goes over the keys in order.
func (d *dict) Iterate() starlark.Iterator {
	if !d.frozen {
		d.iterators++
	}
	return &dictIterator{d: d}
}

type dictIterator struct {
	d    *dict
	i    int
	rest starlark.Iterator
}

func (it *dictIterator) Next(p *starlark.Value) bool {
	d := it.d
	for ; it.i < len(d.over.keys); it.i++ {
		if d.peek(it.i) != nil {
			*p = d.over.keys[it.i]
			it.i++
			return true
		}
	}
	if it.rest == nil {
		if d.more == nil {
			return false
		}
		it.rest = d.more.Iterate()
	}
	return it.rest.Next(p)
}

func (it *dictIterator) Done() {
	if it.rest != nil {
		it.rest.Done()
	}
	if !it.d.frozen {
		it.d.iterators--
	}
}

func (d *dict) String() string        { return text(d) }
func (d *dict) Type() string          { return "dict" }
func (d *dict) Truth() starlark.Bool  { return d.Len() > 0 }
func (d *dict) Hash() (uint32, error) { return 0, errUnhashable("dict") }

// Freeze makes d and what was read or set in it immutable.
func (d *dict) Freeze() {
	if d.frozen {
		return
	}
	d.frozen = true
	for _, v := range d.vals {
		if v != nil {
			v.Freeze()
		}
	}
	if d.more != nil {
		d.more.Freeze()
	}
}

// CompareSameType compares by content.
func (d *dict) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return compare(op, d, y, depth)
}

// Binary is d | other, which gives a new dict.
func (d *dict) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	if op != syntax.PIPE {
		return nil, nil
	}
	other, ok := y.(starlark.IterableMapping)
	if !ok {
		return nil, nil
	}
	left, right := starlark.IterableMapping(d), other
	if side == starlark.Right {
		left, right = other, d
	}
	out := new(starlark.Dict)
	return out, errors.Join(update(out, left), update(out, right))
}

// update sets every pair of from in d.
func update(d starlark.HasSetKey, from starlark.IterableMapping) error {
	for _, item := range from.Items() {
		if err := d.SetKey(item[0], item[1]); err != nil {
			return err
		}
	}
	return nil
}
