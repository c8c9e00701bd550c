package tooleval

import "slices"

// Equal reports whether two values mean the same JSON. Both are as [DecodeValue] gives them; Go's own numbers are
// accepted too. Numbers are equal by exact decimal value, whatever their spelling; true is not 1, "12" is not 12, key
// order doesn't matter, and a missing key is not null.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, Equal)
	case nil, bool, string:
		return a == b
	}
	p, ok := number(a)
	if !ok {
		return false
	}
	q, ok := number(b)
	return ok && equalNumbers(p, q)
}
