package tooleval

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// encode is the JSON of a value as DecodeValue gives it, with numbers as they were spelt.
func encode(v any) Raw { return appendValue(nil, v, false) }

// CanonicalJSON encodes a value as [DecodeValue] gives it so that equal values, and only those, give equal bytes: sorted
// keys, one spelling a number, no space. It is what digests are taken of.
func CanonicalJSON(v any) []byte { return appendValue(nil, v, true) }

// appendValue appends the JSON of v. What has none (NaN, a type that DecodeValue never gives) becomes null.
func appendValue(out []byte, v any, canonical bool) []byte {
	switch x := v.(type) {
	case Matcher:
		return appendValue(out, map[string]any(x), canonical)
	case map[string]any:
		out = append(out, '{')
		for i, k := range sortedKeys(x) {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendString(out, k)
			out = append(out, ':')
			out = appendValue(out, x[k], canonical)
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, e := range x {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, e, canonical)
		}
		return append(out, ']')
	case string:
		return appendString(out, x)
	case bool:
		return strconv.AppendBool(out, x)
	}
	n, ok := number(v)
	switch {
	case !ok:
		return append(out, "null"...)
	case canonical:
		return append(out, canonicalNumber(n)...)
	}
	return append(out, n...)
}

func sortedKeys(m map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// appendString appends a string literal. A lone surrogate is written as its escape; any other byte that is not UTF-8,
// which DecodeValue never gives, becomes U+FFFD. The two line separators are escaped because they end a line in old
// JavaScript; <, > and & are not, which would only make files harder to read.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		n, escape := 1, rune(c)
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || size > 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
			n, escape = size, r
			if surrogate, ok := wideSurrogate(s[i:]); ok {
				n, escape = 3, surrogate
			}
		}
		out = append(out, s[start:i]...)
		if short := shortEscape(c); short != 0 {
			out = append(out, '\\', short)
		} else {
			out = append(out, '\\', 'u', hex[escape>>12&15], hex[escape>>8&15], hex[escape>>4&15], hex[escape&15])
		}
		i += n
		start = i
	}
	out = append(out, s[start:]...)
	return append(out, '"')
}

// wideSurrogate is the surrogate that s begins with in the three bytes of WTF-8.
func wideSurrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// shortEscape is the letter of a two-character escape; 0 when c has none.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}
