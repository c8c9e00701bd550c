package starlark

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval"
)

// An encoder writes the JSON of Starlark values.
type encoder struct {
	out []byte
	max int
	// python writes as Python's json.dumps does: keys in their order, ", " and ": ", 1.0 with its fraction. Otherwise the
	// form is canonical: sorted keys, no space, and 1.0 written as the integer that it equals.
	python bool
}

// dumps is the JSON of a value as a model likes to read it.
func dumps(v starlark.Value, most int) ([]byte, error) {
	e := encoder{max: most, python: true}
	err := e.value(v, maxDepth)
	return e.out, err
}

// canonical is the JSON of a value with sorted keys and no space.
func canonical(v starlark.Value, most int) ([]byte, error) {
	e := encoder{max: most}
	err := e.value(v, maxDepth)
	return e.out, err
}

func (e *encoder) value(v starlark.Value, depth int) error {
	if len(e.out) > e.max {
		return fmt.Errorf("its JSON has more than %d bytes", e.max)
	}
	if depth == 0 {
		return fmt.Errorf("it is nested more than %d deep, or contains itself", maxDepth)
	}
	if !e.python {
		if whole := untouched(v); whole != nil {
			e.out = append(e.out, whole...)
			return nil
		}
	}
	if m, ok := asMap(v); ok {
		return e.object(m, depth)
	}
	if s, ok := asSeq(v); ok {
		e.out = append(e.out, '[')
		for i := range s.Len() {
			e.comma(i)
			if err := e.value(s.peekAt(i), depth-1); err != nil {
				return at(fmt.Sprintf("[%d]", i), depth, err)
			}
		}
		e.out = append(e.out, ']')
		return nil
	}
	var err error
	e.out, err = appendScalar(e.out, v, e.python)
	return err
}

// at says where an error arose; the outermost few places will do.
func at(place string, depth int, err error) error {
	if depth < maxDepth-10 {
		return err
	}
	return fmt.Errorf("%s: %w", place, err)
}

// untouched is the JSON of what a script has not changed, nor read into.
func untouched(v starlark.Value) []byte {
	switch x := v.(type) {
	case *baseDict:
		return x.json()
	case *baseList:
		return x.json()
	case *dict:
		if !x.touched() {
			return x.over.json()
		}
	case *list:
		if !x.touched() {
			return x.over.json()
		}
	}
	return nil
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.out = append(e.out, ',')
		if e.python {
			e.out = append(e.out, ' ')
		}
	}
}

func (e *encoder) object(m mapping, depth int) error {
	e.out = append(e.out, '{')
	i := 0
	member := func(name string, v starlark.Value) error {
		e.comma(i)
		i++
		e.out = append(appendText(e.out, name), ':')
		if e.python {
			e.out = append(e.out, ' ')
		}
		if err := e.value(v, depth-1); err != nil {
			return at(fmt.Sprintf("%.80q", name), depth, err)
		}
		return nil
	}
	if d, ok := m.(*dict); ok && !e.python && d.more == nil { // the order of the base will do
		for _, at := range d.over.order {
			if v := d.peek(at); v != nil {
				if err := member(d.over.words[at], v); err != nil {
					return err
				}
			}
		}
	} else {
		names, err := keyNames(m)
		if err != nil {
			return err
		}
		if !e.python {
			slices.Sort(names)
		}
		for _, name := range names {
			v, _ := m.peekKey(starlark.String(name))
			if err := member(name, v); err != nil {
				return err
			}
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// keyNames are the keys of a mapping, which JSON wants to be strings.
func keyNames(m mapping) ([]string, error) {
	keys := m.names()
	names := make([]string, len(keys))
	for i, k := range keys {
		name, ok := k.(starlark.String)
		if !ok {
			return nil, fmt.Errorf("the key %.80s is no string, which JSON wants; write str(…)", k)
		}
		names[i] = string(name)
	}
	return names, nil
}

// appendScalar appends what is neither a list nor a dict.
func appendScalar(out []byte, v starlark.Value, python bool) ([]byte, error) {
	switch x := v.(type) {
	case starlark.NoneType:
		return append(out, "null"...), nil
	case starlark.Bool:
		return strconv.AppendBool(out, bool(x)), nil
	case starlark.String:
		return appendText(out, string(x)), nil
	case starlark.Int:
		if n, ok := x.Int64(); ok {
			return strconv.AppendInt(out, n, 10), nil
		}
		return append(out, x.String()...), nil
	case starlark.Float:
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return out, fmt.Errorf("%v has no JSON form", f)
		}
		if python {
			return append(out, floatText(f)...), nil
		}
		return strconv.AppendFloat(out, f, canonicalFormat(f), -1, 64), nil
	}
	return out, fmt.Errorf("a %s has no JSON form", v.Type())
}

// canonicalFormat is how encoding/json spells a float64.
func canonicalFormat(f float64) byte {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return 'e'
	}
	return 'f'
}

// floatText is a float64 as Python's repr spells it: 1.0, 1e+16, 0.0001.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64) // Go writes two digits of exponent, as Python does
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// appendText appends a string literal.
func appendText(out []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return append(append(append(out, '"'), s...), '"')
	}
	return append(out, tooleval.CanonicalJSON(s)...) // it knows of lone surrogates
}

// plain is a copy of a value that is made of Starlark's own containers all the way down.
func plain(v starlark.Value, depth int) (starlark.Value, error) {
	if depth == 0 {
		return nil, errors.New("nested too deep")
	}
	if m, ok := asMap(v); ok {
		out := starlark.NewDict(m.Len())
		for _, k := range m.names() {
			e, _ := m.peekKey(k)
			e, err := plain(e, depth-1)
			if err != nil {
				return nil, err
			}
			if err := out.SetKey(k, e); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if s, ok := asSeq(v); ok {
		out := make([]starlark.Value, s.Len())
		for i := range out {
			e, err := plain(s.peekAt(i), depth-1)
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		if isTuple(v) {
			return starlark.Tuple(out), nil
		}
		return starlark.NewList(out), nil
	}
	return v, nil
}

// text is what str() gives of a container of the state.
func text(v starlark.Value) string {
	p, err := plain(v, maxDepth)
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return p.String()
}
