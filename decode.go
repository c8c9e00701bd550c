package tooleval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep a JSON value may nest. encoding/json stops at 10000; a value just below that could be written
// inside a record but the record, being a little deeper, could never be read again.
const maxDepth = 1000

// DecodeValue decodes one JSON value into nil, bool, string, [json.Number], []any and map[string]any. Numbers keep every
// digit, and a lone surrogate is kept as [Text] keeps it. Of a repeated key the last one counts. Anything but exactly one
// value in valid UTF-8, nested at most 1000 deep, is an error.
func DecodeValue(b []byte) (any, error) { return decodeValue(b, false) }

// decodeValue is DecodeValue; with unique, a repeated key is an error.
func decodeValue(b []byte, unique bool) (any, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("not JSON: byte %d is not valid UTF-8", invalidAt(b))
	}
	d := decoder{s: string(b), unique: unique}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if d.space(); d.i < len(d.s) {
		return nil, fmt.Errorf("more than one JSON value: the second begins at byte %d", d.i)
	}
	return v, nil
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// A decoder walks over one text. Strings and numbers without escapes are slices of it, which is what makes it several
// times cheaper than encoding/json: every call of every run is decoded with it.
type decoder struct {
	s      string
	i      int
	unique bool
}

func (d *decoder) space() {
	for d.i < len(d.s) {
		switch d.s[d.i] {
		case ' ', '\t', '\r', '\n':
			d.i++
		default:
			return
		}
	}
}

func (d *decoder) unexpected(want string) error {
	if d.i >= len(d.s) {
		return fmt.Errorf("not JSON: it ends after %d bytes, want %s", len(d.s), want)
	}
	r, _ := utf8.DecodeRuneInString(d.s[d.i:])
	return fmt.Errorf("not JSON: %q at byte %d, want %s", r, d.i, want)
}

func (d *decoder) value(depth int) (any, error) {
	d.space()
	if d.i >= len(d.s) {
		return nil, d.unexpected("a value")
	}
	switch c := d.s[d.i]; {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return nil, fmt.Errorf("nested more than %d deep at byte %d", maxDepth, d.i)
		}
		d.i++
		if c == '{' {
			return d.object(depth)
		}
		return d.list(depth)
	case c == '"':
		return d.string()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	switch rest := d.s[d.i:]; {
	case strings.HasPrefix(rest, "true"):
		d.i += len("true")
		return true, nil
	case strings.HasPrefix(rest, "false"):
		d.i += len("false")
		return false, nil
	case strings.HasPrefix(rest, "null"):
		d.i += len("null")
		return nil, nil
	}
	return nil, d.unexpected("a value")
}

func (d *decoder) object(depth int) (any, error) {
	m := map[string]any{}
	if d.space(); d.i < len(d.s) && d.s[d.i] == '}' {
		d.i++
		return m, nil
	}
	for {
		if d.space(); d.i >= len(d.s) || d.s[d.i] != '"' {
			return nil, d.unexpected("a key in quotes")
		}
		at := d.i
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		if _, repeated := m[key]; repeated && d.unique {
			return nil, fmt.Errorf("key %q is written twice, the second time at byte %d", clip(key), at)
		}
		if d.space(); d.i >= len(d.s) || d.s[d.i] != ':' {
			return nil, d.unexpected("a colon")
		}
		d.i++
		if m[key], err = d.value(depth + 1); err != nil {
			return nil, err
		}
		if done, err := d.next('}'); done || err != nil {
			return m, err
		}
	}
}

func (d *decoder) list(depth int) (any, error) {
	l := []any{}
	if d.space(); d.i < len(d.s) && d.s[d.i] == ']' {
		d.i++
		return l, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		l = append(l, v)
		if done, err := d.next(']'); done || err != nil {
			return l, err
		}
	}
}

// next steps over a comma, or over the end of a list or object.
func (d *decoder) next(end byte) (done bool, err error) {
	d.space()
	if d.i < len(d.s) && (d.s[d.i] == ',' || d.s[d.i] == end) {
		d.i++
		return d.s[d.i-1] == end, nil
	}
	return false, d.unexpected(fmt.Sprintf("a comma or %q", end))
}

// string decodes the string that begins here.
func (d *decoder) string() (string, error) {
	d.i++
	start, escaped := d.i, false
	for ; d.i < len(d.s); d.i++ {
		switch c := d.s[d.i]; {
		case c == '"':
			body := d.s[start:d.i]
			d.i++
			if escaped {
				return unquoteWide([]byte(body)), nil
			}
			return body, nil
		case c < ' ':
			return "", d.unexpected("no control character in a string")
		case c == '\\':
			escaped = true
			if d.i++; d.i >= len(d.s) || !strings.ContainsRune(`"\/bfnrtu`, rune(d.s[d.i])) {
				return "", d.unexpected("an escape")
			}
			if d.s[d.i] == 'u' {
				for range 4 {
					if d.i++; d.i >= len(d.s) || !isHex(d.s[d.i]) {
						return "", d.unexpected("four hexadecimal digits")
					}
				}
			}
		}
	}
	return "", d.unexpected("the end of a string")
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func (d *decoder) number() (any, error) {
	start := d.i
	if d.s[d.i] == '-' {
		d.i++
	}
	if d.i < len(d.s) && d.s[d.i] == '0' {
		d.i++
	} else if !d.digits() {
		return nil, d.unexpected("a digit")
	}
	if d.i < len(d.s) && d.s[d.i] == '.' {
		if d.i++; !d.digits() {
			return nil, d.unexpected("a digit")
		}
	}
	if d.i < len(d.s) && d.s[d.i]|0x20 == 'e' {
		if d.i++; d.i < len(d.s) && (d.s[d.i] == '+' || d.s[d.i] == '-') {
			d.i++
		}
		if !d.digits() {
			return nil, d.unexpected("a digit")
		}
	}
	return json.Number(d.s[start:d.i]), nil
}

// digits steps over digits and reports whether there were any.
func (d *decoder) digits() bool {
	start := d.i
	for d.i < len(d.s) && d.s[d.i] >= '0' && d.s[d.i] <= '9' {
		d.i++
	}
	return d.i > start
}

// tooDeep reports whether b, which is JSON, nests deeper than maxDepth.
func tooDeep(b []byte) bool {
	if len(b) <= 2*maxDepth || bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) <= maxDepth {
		return false
	}
	depth, inside := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inside:
			if c == '\\' {
				i++
			}
			inside = c != '"'
		case c == '"':
			inside = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
