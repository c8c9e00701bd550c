package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
)

// A path leads to a place in a JSON value: keys (string) and numbers of elements (int).
type path []any

func (p path) String() string {
	var b strings.Builder
	b.WriteByte('$')
	for _, step := range p {
		switch x := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", x)
		case string:
			if strings.ContainsAny(x, ` ."[]`) || x == "" {
				fmt.Fprintf(&b, "[%q]", x)
			} else {
				b.WriteString("." + x)
			}
		}
	}
	return b.String()
}

func (p path) child(step any) path { return append(slices.Clip(p), step) }

// mostWalked bounds the places that are looked at in one value.
const mostWalked = 100_000

// leaves are the places of the scalars and the empty containers of a value, in order.
func leaves(v any) []path {
	var out []path
	walk(v, nil, &out, nil)
	return out
}

// containers are the places of all values but the root that are containers, or keys of an object at the top.
func containers(v any) []path {
	var out []path
	walk(v, nil, nil, &out)
	return out
}

func walk(v any, p path, leaves, inner *[]path) {
	if leaves != nil && len(*leaves) >= mostWalked || inner != nil && len(*inner) >= mostWalked {
		return
	}
	m, isMap := v.(map[string]any)
	l, isList := v.([]any)
	if inner != nil && len(p) > 0 && (isMap || isList || len(p) == 1) {
		*inner = append(*inner, p)
	}
	if len(m)+len(l) == 0 {
		if leaves != nil {
			*leaves = append(*leaves, p)
		}
		return
	}
	if isMap {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			walk(m[k], p.child(k), leaves, inner)
		}
	}
	for i, e := range l {
		walk(e, p.child(i), leaves, inner)
	}
}

// some are at most n of the places without repeats: the first half, then others evenly spread.
func some(places []path, n int) []path {
	if len(places) <= n {
		return distinct(places)
	}
	half := n / 2
	out := slices.Clone(places[:half])
	for i := range n - half {
		out = append(out, places[half+i*(len(places)-half)/(n-half)])
	}
	return distinct(out)
}

func distinct(places []path) []path {
	seen := map[string]bool{}
	var out []path
	for _, p := range places {
		if s := p.String(); !seen[s] {
			seen[s] = true
			out = append(out, p)
		}
	}
	return out
}

// at is the value at a place; nil when there is none.
func at(v any, p path) any {
	for _, step := range p {
		switch x := v.(type) {
		case map[string]any:
			k, _ := step.(string)
			v = x[k]
		case []any:
			i, ok := step.(int)
			if !ok || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// edit is v with the place at p replaced by what change makes of it, or without it where change is nil. v stays as it is.
func edit(v any, p path, change func(any) any) any {
	if len(p) == 0 {
		if change == nil {
			return nil
		}
		return change(v)
	}
	last := len(p) == 1 && change == nil
	switch x := v.(type) {
	case map[string]any:
		k, _ := p[0].(string)
		out := maps.Clone(x)
		if last {
			delete(out, k)
		} else {
			out[k] = edit(x[k], p[1:], change)
		}
		return out
	case []any:
		i, ok := p[0].(int)
		if !ok || i >= len(x) {
			return v
		}
		if last {
			return slices.Delete(slices.Clone(x), i, i+1)
		}
		out := slices.Clone(x)
		out[i] = edit(x[i], p[1:], change)
		return out
	}
	return v
}

// another is a value of the same kind that differs, one of the allowed ones where there are some.
func another(v any, allowed []any) any {
	for _, a := range allowed {
		if !tooleval.Equal(a, v) {
			return a
		}
	}
	switch x := v.(type) {
	case bool:
		return !x
	case json.Number:
		if f, err := x.Float64(); err == nil && f < 1e12 && f > -1e12 {
			return json.Number(strconv.FormatFloat(f*2+1017, 'f', -1, 64))
		}
		return json.Number("7")
	case string:
		if x == "mutant" {
			return "another mutant"
		}
		return "mutant"
	case []any:
		return []any{"mutant"}
	case map[string]any:
		return map[string]any{"mutant": true}
	}
	return "mutant"
}

func encode(v any) tooleval.Raw {
	b, err := json.Marshal(v)
	if err != nil { // everything that is encoded here was decoded from JSON
		return nil
	}
	return b
}
