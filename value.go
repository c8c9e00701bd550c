package tooleval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// DecodeValue decodes one JSON value into nil, bool, string, [json.Number], []any and map[string]any. Numbers keep every
// digit. Anything but exactly one value is an error.
func DecodeValue(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	// The decoder stops after the first value; only space may follow it.
	if len(bytes.TrimLeft(b[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

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

// number is the JSON spelling of a Go number; NaN and the infinities have none.
func number(v any) (string, bool) {
	switch n := v.(type) {
	case json.Number:
		return string(n), true
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return "", false
		}
		return strconv.FormatFloat(n, 'g', -1, 64), true
	case int:
		return strconv.Itoa(n), true
	case int64:
		return strconv.FormatInt(n, 10), true
	case uint64:
		return strconv.FormatUint(n, 10), true
	}
	return "", false
}

func equalNumbers(a, b string) bool {
	return a == b || canonicalNumber(a) == canonicalNumber(b)
}

// canonicalNumber spells a JSON number as its digits without outer zeros and an exponent, so that equal values have one
// spelling. Nothing is computed with the exponent but a sum, so 1e999999999 costs no more than 1.
func canonicalNumber(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	s = strings.TrimPrefix(s, "+")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	shift := int64(len(digits) - len(trimmed) - len(fraction))
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 63)
		if err != nil { // an exponent beyond all reason stays as it is spelt
			return sign + trimmed + "e" + exponent + "+" + strconv.FormatInt(shift, 10)
		}
		shift += e
	}
	if shift >= 0 && shift <= 20 {
		return sign + trimmed + strings.Repeat("0", int(shift))
	}
	return sign + trimmed + "e" + strconv.FormatInt(shift, 10)
}

// CanonicalJSON encodes a value as [DecodeValue] gives it so that equal values, and only those, give equal bytes: sorted
// keys, one spelling a number, no space. It is what digests are taken of.
func CanonicalJSON(v any) []byte { return appendCanonical(nil, v) }

func appendCanonical(out []byte, v any) []byte {
	switch x := v.(type) {
	case map[string]any:
		out = append(out, '{')
		for i, k := range slices.Sorted(maps.Keys(x)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendString(out, k)
			out = append(out, ':')
			out = appendCanonical(out, x[k])
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, e := range x {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, e)
		}
		return append(out, ']')
	case string:
		return appendString(out, x)
	case bool:
		return strconv.AppendBool(out, x)
	}
	if n, ok := number(v); ok {
		return append(out, canonicalNumber(n)...)
	}
	return append(out, "null"...)
}

func appendString(out []byte, s string) []byte {
	b, err := marshalPlain(s)
	if err != nil { // a string always has an encoding
		return append(out, strconv.Quote(s)...)
	}
	return append(out, b...)
}

// FillDefaults returns args with the defaults of an object schema filled in for the properties that are missing, also
// inside nested objects that are present. Neither input is changed.
func FillDefaults(schema, args any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return args
	}
	props, ok := s["properties"].(map[string]any)
	if !ok {
		return args
	}
	in, ok := args.(map[string]any)
	if !ok {
		return args
	}
	out, copied := in, false
	set := func(k string, v any) {
		if !copied {
			out, copied = maps.Clone(in), true
		}
		out[k] = v
	}
	for k, p := range props {
		prop, ok := p.(map[string]any)
		if !ok {
			continue
		}
		have, present := in[k]
		if !present {
			if d, ok := prop["default"]; ok {
				set(k, d)
			}
			continue
		}
		if _, nested := prop["properties"]; nested {
			if filled := FillDefaults(prop, have); !Equal(filled, have) {
				set(k, filled)
			}
		}
	}
	return out
}
