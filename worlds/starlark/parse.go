package starlark

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval"
)

// maxDigits bounds the integers that are read, as CPython does: what costs quadratic time must not come from an agent.
const maxDigits = 4300

// A parser makes Starlark values of JSON that [tooleval.Raw.Valid] has accepted, so that it meets no broken text. Keys
// keep their order; of a repeated key the last value counts, at the place of the first.
type parser struct {
	s    string
	i    int
	base bool // make the immutable nodes of a base instead of Starlark's own containers
}

// parseJSON makes a fresh, mutable Starlark value of JSON.
func parseJSON(raw tooleval.Raw) (starlark.Value, error) { return parse(raw, false) }

func parse(raw tooleval.Raw, base bool) (starlark.Value, error) {
	if !raw.Valid() {
		if _, err := tooleval.DecodeValue(raw); err != nil {
			return nil, err
		}
		return nil, errors.New("not JSON")
	}
	p := parser{s: string(raw), base: base}
	return p.value()
}

func (p *parser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\n' || p.s[p.i] == '\t' || p.s[p.i] == '\r') {
		p.i++
	}
}

func (p *parser) value() (starlark.Value, error) {
	p.space()
	switch p.s[p.i] {
	case '{':
		return p.object()
	case '[':
		return p.list()
	case '"':
		s, err := p.text()
		return starlark.String(s), err
	case 't':
		p.i += len("true")
		return starlark.True, nil
	case 'f':
		p.i += len("false")
		return starlark.False, nil
	case 'n':
		p.i += len("null")
		return starlark.None, nil
	}
	return p.number()
}

func (p *parser) object() (starlark.Value, error) {
	var names []string
	var vals []starlark.Value
	seen := map[string]int{}
	p.i++
	for p.space(); p.s[p.i] != '}'; p.space() {
		if p.s[p.i] == ',' {
			p.i++
			p.space()
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		p.space()
		p.i++ // the colon
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if at, repeated := seen[name]; repeated {
			vals[at] = v
			continue
		}
		seen[name] = len(names)
		names, vals = append(names, name), append(vals, v)
	}
	p.i++
	if p.base {
		return newBaseDict(names, slices.Clip(vals), seen), nil
	}
	d := starlark.NewDict(len(names))
	for i, name := range names {
		if err := d.SetKey(starlark.String(name), vals[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (p *parser) list() (starlark.Value, error) {
	var vals []starlark.Value
	p.i++
	for p.space(); p.s[p.i] != ']'; p.space() {
		if p.s[p.i] == ',' {
			p.i++
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		vals = append(vals, v)
	}
	p.i++
	if p.base {
		return &baseList{vals: slices.Clip(vals)}, nil
	}
	return starlark.NewList(vals), nil
}

func (p *parser) text() (string, error) {
	start := p.i
	for p.i++; p.s[p.i] != '"'; p.i++ {
		if p.s[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
	literal := p.s[start:p.i]
	if !strings.Contains(literal, `\`) {
		return literal[1 : len(literal)-1], nil
	}
	var t tooleval.Text // it keeps a lone surrogate
	err := t.UnmarshalJSON([]byte(literal))
	return string(t), err
}

func (p *parser) number() (starlark.Value, error) {
	start, whole := p.i, true
	for ; p.i < len(p.s) && strings.IndexByte("+-.0123456789eE", p.s[p.i]) >= 0; p.i++ {
		whole = whole && strings.IndexByte(".eE", p.s[p.i]) < 0
	}
	s := p.s[start:p.i]
	if !whole {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("number %.40s is out of range", s)
		}
		return starlark.Float(f), nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return starlark.MakeInt64(n), nil
	}
	if len(s) > maxDigits {
		return nil, fmt.Errorf("an integer of %d digits is too long; at most %d are read", len(s), maxDigits)
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("%.40q is no number", s)
	}
	return starlark.MakeBigInt(n), nil
}
