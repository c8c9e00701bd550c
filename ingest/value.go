package ingest

import (
	"bytes"
	"strconv"

	"github.com/tooleval/tooleval"
)

// A value is one JSON value without space around it that json.Valid accepts; nil stands for a missing one. It is walked
// over in place: recordings are large, and little of them is needed. Strings need not be valid UTF-8.
type value []byte

// The kinds of a value are the bytes that it can begin with, '0' for any number; 0 is a missing value.
func (v value) kind() byte {
	if len(v) == 0 {
		return 0
	}
	switch c := v[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return '0'
}

// none reports whether the value is missing or null.
func (v value) none() bool { return v.kind() == 0 || v.kind() == 'n' }

// what names the kind, for messages.
func (v value) what() string {
	switch v.kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case 0:
		return "missing"
	}
	return "a number"
}

// get is the value of a key, nil when v is no object or has no such key. Of a repeated key the last one counts.
func (v value) get(key string) value {
	var found value
	v.each(func(k, val value) bool {
		if k.is(key) {
			found = val
		}
		return true
	})
	return found
}

// path is get, key by key.
func (v value) path(keys ...string) value {
	for _, k := range keys {
		v = v.get(k)
	}
	return v
}

// has reports whether v is an object with all of these keys.
func (v value) has(keys ...string) bool {
	for _, k := range keys {
		if v.get(k) == nil {
			return false
		}
	}
	return true
}

// is reports whether v is the string s.
func (v value) is(s string) bool {
	if v.kind() != '"' {
		return false
	}
	inside := v[1 : len(v)-1]
	if string(inside) == s {
		return bytes.IndexByte(inside, '\\') < 0
	}
	if bytes.IndexByte(inside, '\\') < 0 {
		return false
	}
	t, _ := v.text()
	return string(t) == s
}

// text is the string that v is. Bytes that are not UTF-8 and lone surrogates are kept as tooleval.Text keeps them.
func (v value) text() (tooleval.Text, bool) {
	if v.kind() != '"' {
		return "", false
	}
	var t tooleval.Text
	if t.UnmarshalJSON(v) != nil {
		return "", false
	}
	return t, true
}

// str is the string that v is, or the empty one.
func (v value) str() string {
	t, _ := v.text()
	return string(t)
}

// name is str, or the digits of a number: ids are written both ways.
func (v value) name() string {
	if v.kind() == '0' {
		return string(v)
	}
	return v.str()
}

func (v value) number() (float64, bool) {
	if v.kind() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// integer is the whole number that v is, also one that is written as a string, as OTLP does.
func (v value) integer() (int64, bool) {
	s := string(v)
	if v.kind() == '"' {
		s = v.str()
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f, ok := v.number()
		if n = int64(f); !ok || float64(n) != f {
			return 0, false
		}
	}
	return n, true
}

// raw is a copy of v with space removed.
func (v value) raw() tooleval.Raw {
	if v == nil {
		return nil
	}
	return compact(v)
}

// list are the elements of v; nil when it is no list, and not nil when it is an empty one.
func (v value) list() []value {
	if v.kind() != '[' {
		return nil
	}
	out := []value{}
	for i := skipSpace(v, 1); v[i] != ']'; {
		end := skipValue(v, i)
		out = append(out, v[i:end:end])
		if i = skipSpace(v, end); v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
	return out
}

// each calls f with the keys and values of an object, in order, until f returns false.
func (v value) each(f func(key, val value) bool) {
	if v.kind() != '{' {
		return
	}
	for i := skipSpace(v, 1); v[i] != '}'; {
		end := skipValue(v, i)
		key := v[i:end:end]
		i = skipSpace(v, end)
		i = skipSpace(v, i+1)
		end = skipValue(v, i)
		if !f(key, v[i:end:end]) {
			return
		}
		if i = skipSpace(v, end); v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue is the end of the value that begins at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) {
		switch b[i] {
		case ',', ']', '}', ':', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// skipString is the end of the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		slashes := 0
		for k := i - 2; k >= 0 && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// textJSON is a string as JSON that value.str reads back.
func textJSON(s string) ([]byte, error) { return tooleval.Text(s).MarshalJSON() }
