package starlark

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval/internal/statepatch"
)

// A differ gathers how a state differs from its base, as a JSON patch. The patch is a function of the two values alone:
// what was changed and changed back is not in it.
type differ struct {
	ops  []statepatch.Op
	size int
	max  int
}

func (d *differ) add(op, path string, v starlark.Value) error {
	o := statepatch.Op{Op: op, Path: path}
	if v != nil {
		b, err := canonical(v, d.max)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		o.Value = b
	}
	if d.size += len(o.Value) + len(path); d.size > d.max {
		return fmt.Errorf("the changes have more than %d bytes", d.max)
	}
	d.ops = append(d.ops, o)
	return nil
}

// diff adds what turns a, a node of the base, into b.
func (d *differ) diff(path string, a, b starlark.Value, depth int) error {
	if depth == 0 {
		return fmt.Errorf("%.200s: nested more than %d deep, or contains itself", path, maxDepth)
	}
	if a == b {
		return nil
	}
	if x, ok := a.(*baseDict); ok {
		if y, ok := asMap(b); ok {
			return d.objects(path, x, y, depth)
		}
	}
	if x, ok := a.(*baseList); ok {
		if y, ok := asSeq(b); ok {
			return d.lists(path, x, b, y, depth)
		}
	}
	if !isContainer(a) && !isContainer(b) {
		if same, err := starlark.Equal(a, b); err != nil || same {
			return err
		}
	}
	return d.add("replace", path, b)
}

func (d *differ) objects(path string, a *baseDict, b mapping, depth int) error {
	over, _ := b.(*dict)
	if over != nil && over.over == a {
		if !over.touched() {
			return nil
		}
	} else {
		over = nil
	}
	// The names that may differ, sorted.
	var names []string
	for i, name := range a.words {
		if over == nil || over.peek(i) != a.vals[i] {
			names = append(names, name)
		}
	}
	switch {
	case over == nil:
		all, err := keyNames(b)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		names = append(names, all...)
	case over.more != nil:
		for _, k := range over.more.Keys() {
			names = append(names, string(k.(starlark.String)))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := path + "/" + escape.Replace(name)
		i := a.find(name)
		v, found := b.peekKey(starlark.String(name))
		var err error
		switch {
		case !found:
			err = d.add("remove", at, nil)
		case i < 0:
			err = d.add("add", at, v)
		default:
			err = d.diff(at, a.vals[i], v, depth-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) lists(path string, a *baseList, v starlark.Value, b sequence, depth int) error {
	if over, ok := v.(*list); ok && over.over == a && !over.touched() {
		return nil
	}
	n := len(a.vals)
	if b.Len() < n { // what went may have stood anywhere, and a whole list reads better than everything moved up
		return d.add("replace", path, v)
	}
	for i := range n {
		if err := d.diff(path+"/"+strconv.Itoa(i), a.vals[i], b.peekAt(i), depth-1); err != nil {
			return err
		}
	}
	for i := n; i < b.Len(); i++ {
		if err := d.add("add", path+"/"+strconv.Itoa(i), b.peekAt(i)); err != nil {
			return err
		}
	}
	return nil
}

// escape is that of JSON Pointer, RFC 6901.
var escape = strings.NewReplacer("~", "~0", "/", "~1")
