package suitefile

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// An object is a JSON object whose keys keep the order in which they were written: it is what a model reads of a schema
// or a result.
type object struct {
	keys   []string
	values map[string]any
}

func newObject(size int) *object { return &object{make([]string, 0, size), make(map[string]any, size)} }

func (o *object) set(key string, v any) {
	if _, there := o.values[key]; !there {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// encode is the JSON of a value, its numbers and the order of its keys as they were written.
func encode(v any) tooleval.Raw { return appendJSON(nil, v) }

func appendJSON(out []byte, v any) []byte {
	switch x := v.(type) {
	case json.RawMessage:
		return append(out, x...)
	case *object:
		out = append(out, '{')
		for i, k := range x.keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, k), ':')
			out = appendJSON(out, x.values[k])
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, e := range x {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, e)
		}
		return append(out, ']')
	case string:
		return appendText(out, x)
	case json.Number:
		return append(out, x...)
	case bool:
		if x {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	}
	return append(out, "null"...) // a value is made of nothing else
}

// appendText appends a JSON string.
func appendText(out []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		out = append(append(out, '"'), s...)
		return append(out, '"')
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // a text always has an encoding
		return append(out, "null"...)
	}
	return append(out, bytes.TrimRight(buf.Bytes(), "\n")...)
}

// members are the members of a JSON object, whose text is known to be sound, in their order.
func members(text []byte) *object {
	o := newObject(0)
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return o
	}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		var raw json.RawMessage
		if err != nil || !ok || d.Decode(&raw) != nil {
			return o
		}
		o.set(name, scalarOrRaw(raw))
	}
	return o
}

// scalarOrRaw is a JSON value whose text is known to be sound: a scalar as such, so that it can stand inside of a text.
func scalarOrRaw(text []byte) any {
	v, err := tooleval.DecodeValue(text)
	switch v.(type) {
	case map[string]any, []any:
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			return json.RawMessage("null")
		}
		return json.RawMessage(compact.Bytes())
	}
	if err != nil {
		return nil
	}
	return v
}
