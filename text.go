package tooleval

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is text from outside that must keep its bytes. In JSON it is a string, or, where its bytes are not valid UTF-8,
// {"$bytes": base64}: encoding/json alone would silently turn such bytes into U+FFFD, and evidence must not change.
// A lone surrogate in a JSON string, which UTF-8 can't express, is kept in the generalised form of three bytes (WTF-8).
type Text string

// MarshalJSON writes a string, or {"$bytes": …} when t is not valid UTF-8.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return appendString(nil, string(t)), nil
	}
	return json.Marshal(map[string]string{"$bytes": base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON reads what MarshalJSON writes, and any JSON string.
func (t *Text) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) > 0 && b[0] == '"':
		s, err := unquote(b)
		if err != nil {
			return err
		}
		*t = Text(s)
		return nil
	case len(b) > 0 && b[0] == '{':
		var o struct {
			Bytes *[]byte `json:"$bytes"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		if o.Bytes == nil {
			return fmt.Errorf("text: want a string or {\"$bytes\": base64}, got %s", clip(string(b)))
		}
		*t = Text(*o.Bytes)
		return nil
	case bytes.Equal(b, []byte("null")):
		*t = ""
		return nil
	}
	return fmt.Errorf("text: want a string, got %s", clip(string(b)))
}

// Raw is bytes that should be one JSON value but may be anything. In JSON it is that value with insignificant space
// removed; bytes that are not a [Raw.Valid] value become {"$text": string} or {"$bytes": base64}, and so does a value that
// looks like one of these two, so that reading back always gives the same meaning. Nil is written as null and so read back
// as the value null, unless omitempty leaves it out.
type Raw []byte

// MarshalJSON writes the value itself where it can.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	if r.Valid() && !looksWrapped(r) {
		return r, nil
	}
	if utf8.Valid(r) {
		return append(appendString([]byte(`{"$text":`), string(r)), '}'), nil
	}
	return json.Marshal(map[string]string{"$bytes": base64.StdEncoding.EncodeToString(r)})
}

// UnmarshalJSON reads what MarshalJSON writes, and any JSON value.
func (r *Raw) UnmarshalJSON(b []byte) error {
	if looksWrapped(b) {
		var o struct {
			Text  *Text   `json:"$text"`
			Bytes *[]byte `json:"$bytes"`
		}
		// What is no base64 was not written by MarshalJSON, so it is a value like any other.
		if err := json.Unmarshal(b, &o); err == nil && o.Text != nil {
			*r = Raw(*o.Text)
			return nil
		} else if err == nil && o.Bytes != nil {
			*r = Raw(*o.Bytes)
			return nil
		}
	}
	*r = append(Raw{}, b...)
	return nil
}

// Valid reports whether r is one JSON value in valid UTF-8, nested at most 1000 deep: what [DecodeValue] takes.
func (r Raw) Valid() bool { return json.Valid(r) && utf8.Valid(r) && !tooDeep(r) }

// String is the bytes as they are.
func (r Raw) String() string { return string(r) }

// looksWrapped reports whether b is an object with the single key $text or $bytes and a string value.
func looksWrapped(b []byte) bool {
	if !bytes.Contains(b, []byte("$")) || !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return false
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(b, &o) != nil || len(o) != 1 {
		return false
	}
	for k, v := range o {
		return (k == "$text" || k == "$bytes") && len(v) > 0 && v[0] == '"'
	}
	return false
}

// unquote decodes a JSON string literal, keeping lone surrogates as WTF-8.
func unquote(b []byte) (string, error) {
	var s string
	if !utf8.Valid(b) || bytes.Contains(b, []byte(`\u`)) {
		if !json.Valid(b) {
			return "", fmt.Errorf("text: not a JSON string: %s", clip(string(b)))
		}
		return unquoteWide(b[1 : len(b)-1]), nil
	}
	err := json.Unmarshal(b, &s)
	return s, err
}

// unquoteWide decodes the inside of a string literal that json.Valid accepts.
func unquoteWide(b []byte) string {
	var out strings.Builder
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			out.WriteByte(b[i])
			i++
			continue
		}
		if b[i+1] != 'u' {
			out.WriteByte(unescape[b[i+1]])
			i += 2
			continue
		}
		r := hex4(b[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			if i+6 <= len(b) && b[i] == '\\' && b[i+1] == 'u' {
				if full := utf16.DecodeRune(r, hex4(b[i+2:])); full != utf8.RuneError {
					out.WriteRune(full)
					i += 6
					continue
				}
			}
			out.Write([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

var unescape = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hex4(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(n)
}

// clip shortens s for an error message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) { // no further back: it may not be UTF-8 at all
		cut--
	}
	return s[:cut] + "…"
}
