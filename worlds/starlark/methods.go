package starlark

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
)

type method func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

func methods(m map[string]method) map[string]*starlark.Builtin {
	out := make(map[string]*starlark.Builtin, len(m))
	for name, f := range m {
		out[name] = builtin(name, f)
	}
	return out
}

// builtin is f as a Starlark value; its errors begin with its name.
func builtin(name string, f method) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := f(b, args, kwargs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
		return v, nil
	})
}

// dictMethods are those of Starlark's own dict.
var dictMethods = methods(map[string]method{
	"clear": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return starlark.None, errors.Join(starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0), b.Receiver().(*dict).Clear())
	},
	"get": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var key starlark.Value
		fallback := starlark.Value(starlark.None)
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &key, &fallback); err != nil {
			return nil, err
		}
		v, found, err := b.Receiver().(*dict).Get(key)
		if !found {
			v = fallback
		}
		return v, err
	},
	"items": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		items := b.Receiver().(*dict).Items()
		out := make([]starlark.Value, len(items))
		for i, item := range items {
			out[i] = item
		}
		return starlark.NewList(out), starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0)
	},
	"keys": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return starlark.NewList(b.Receiver().(*dict).keys()), starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0)
	},
	"pop": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var key, fallback starlark.Value
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &key, &fallback); err != nil {
			return nil, err
		}
		v, found, err := b.Receiver().(*dict).Delete(key)
		switch {
		case err != nil || found:
			return v, err
		case fallback != nil:
			return fallback, nil
		}
		return nil, errors.New("missing key")
	},
	"popitem": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
			return nil, err
		}
		d := b.Receiver().(*dict)
		keys := d.keys()
		if len(keys) == 0 {
			return nil, errors.New("empty dict")
		}
		v, _, err := d.Delete(keys[0])
		return starlark.Tuple{keys[0], v}, err
	},
	"setdefault": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var key starlark.Value
		fallback := starlark.Value(starlark.None)
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &key, &fallback); err != nil {
			return nil, err
		}
		d := b.Receiver().(*dict)
		if v, found, err := d.Get(key); found || err != nil {
			return v, err
		}
		return fallback, d.SetKey(key, fallback)
	},
	"update": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var from starlark.Value
		if err := starlark.UnpackPositionalArgs(b.Name(), args, nil, 0, &from); err != nil {
			return nil, err
		}
		d := b.Receiver().(*dict)
		switch x := from.(type) {
		case nil:
		case starlark.IterableMapping:
			if err := update(d, x); err != nil {
				return nil, err
			}
		case starlark.Iterable:
			for pair := range starlark.Elements(x) {
				p, ok := pair.(starlark.Indexable)
				if !ok || p.Len() != 2 {
					return nil, errors.New("want a dict or pairs of a key and a value")
				}
				if err := d.SetKey(p.Index(0), p.Index(1)); err != nil {
					return nil, err
				}
			}
		default:
			return nil, fmt.Errorf("want a dict or pairs, got %s", from.Type())
		}
		for _, kw := range kwargs {
			if err := d.SetKey(kw[0], kw[1]); err != nil {
				return nil, err
			}
		}
		return starlark.None, nil
	},
	"values": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		items := b.Receiver().(*dict).Items()
		out := make([]starlark.Value, len(items))
		for i, item := range items {
			out[i] = item[1]
		}
		return starlark.NewList(out), starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0)
	},
})

// listMethods are those of Starlark's own list.
var listMethods = methods(map[string]method{
	"append": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var v starlark.Value
		l := b.Receiver().(*list)
		if err := errors.Join(starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v), l.checkMutable("append to")); err != nil {
			return nil, err
		}
		l.vals = append(l.vals, v)
		return starlark.None, nil
	},
	"clear": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		l := b.Receiver().(*list)
		if err := errors.Join(starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0), l.checkMutable("clear")); err != nil {
			return nil, err
		}
		l.vals = nil
		return starlark.None, nil
	},
	"extend": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var from starlark.Iterable
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &from); err != nil {
			return nil, err
		}
		return starlark.None, b.Receiver().(*list).extend(from)
	},
	"index": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var v starlark.Value
		start, end := 0, 1<<31
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v, &start, &end); err != nil {
			return nil, err
		}
		l := b.Receiver().(*list)
		i, err := l.find(v, clampIndex(start, l.Len()), clampIndex(end, l.Len()))
		return starlark.MakeInt(i), err
	},
	"insert": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var at int
		var v starlark.Value
		l := b.Receiver().(*list)
		if err := errors.Join(starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &at, &v), l.checkMutable("insert into")); err != nil {
			return nil, err
		}
		l.vals = slices.Insert(l.vals, clampIndex(at, len(l.vals)), v)
		return starlark.None, nil
	},
	"pop": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		l := b.Receiver().(*list)
		n := l.Len()
		at := n - 1
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0, &at); err != nil {
			return nil, err
		}
		if at < 0 {
			at += n
		}
		if at < 0 || at >= n {
			return nil, fmt.Errorf("index %d out of range: the list has %d elements", at, n)
		}
		if err := l.checkMutable("pop from"); err != nil {
			return nil, err
		}
		v := l.Index(at)
		l.vals = slices.Delete(l.vals, at, at+1)
		return v, nil
	},
	"remove": func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var v starlark.Value
		l := b.Receiver().(*list)
		if err := errors.Join(starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v), l.checkMutable("remove from")); err != nil {
			return nil, err
		}
		at, err := l.find(v, 0, l.Len())
		if err != nil {
			return nil, err
		}
		l.vals = slices.Delete(l.vals, at, at+1)
		return starlark.None, nil
	},
})

// extend appends the elements of from.
func (l *list) extend(from starlark.Iterable) error {
	var more []starlark.Value // gathered first: from may be l itself
	for v := range starlark.Elements(from) {
		more = append(more, v)
	}
	if err := l.checkMutable("extend"); err != nil {
		return err
	}
	l.vals = append(l.vals, more...)
	return nil
}

// find is the index of the first element in [start, end) that equals v.
func (l *list) find(v starlark.Value, start, end int) (int, error) {
	for i := start; i < end; i++ {
		if same, err := equal(l.Index(i), v, maxDepth); same || err != nil {
			return i, err
		}
	}
	return 0, errors.New("value not in list")
}

func clampIndex(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// Attr is a method.
func (d *dict) Attr(name string) (starlark.Value, error) { return attr(dictMethods, name, d) }

// AttrNames are the names of the methods.
func (d *dict) AttrNames() []string { return slices.Sorted(maps.Keys(dictMethods)) }

// Attr is a method.
func (l *list) Attr(name string) (starlark.Value, error) { return attr(listMethods, name, l) }

// AttrNames are the names of the methods.
func (l *list) AttrNames() []string { return slices.Sorted(maps.Keys(listMethods)) }

func attr(m map[string]*starlark.Builtin, name string, receiver starlark.Value) (starlark.Value, error) {
	if b, ok := m[name]; ok {
		return b.BindReceiver(receiver), nil
	}
	return nil, nil
}
