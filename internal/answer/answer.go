// Package answer reads what an agent meant by its final text.
package answer

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tooleval/tooleval"
)

// budget bounds the bytes that are looked at in search of an object at the end of a text.
const budget = 16 << 20

// JSONObject is the one JSON object that a text is or ends with, in compact form: the whole text, else the object in
// its last fenced block that holds one, else the object that the text ends with, else its last line that is one. Words
// before it don't matter; an object in the middle of a sentence is not an answer.
func JSONObject(text string) (tooleval.Raw, bool) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "{") {
		return nil, false
	}
	for _, look := range []func(string) (tooleval.Raw, bool){object, fenced, atEnd, lastLine} {
		if raw, ok := look(text); ok {
			return raw, true
		}
	}
	return nil, false
}

// object is a text that is nothing but an object.
func object(s string) (tooleval.Raw, bool) {
	raw := tooleval.Raw(strings.TrimSpace(s))
	if len(raw) == 0 || raw[0] != '{' || !raw.Valid() {
		return nil, false
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// fenced is the object in the last block between lines of three backticks that holds one.
func fenced(text string) (found tooleval.Raw, ok bool) {
	const fence = "```"
	blocks := strings.Split(text, fence)
	for i := len(blocks) - 2; i >= 1; i-- {
		inside := blocks[i]
		if first, rest, more := strings.Cut(inside, "\n"); more && !strings.Contains(first, "{") {
			inside = rest // behind the language
		}
		if raw, ok := object(inside); ok {
			return raw, true
		}
	}
	return nil, false
}

// atEnd is the object behind which there is nothing but punctuation.
func atEnd(text string) (tooleval.Raw, bool) {
	end := strings.TrimRight(text, " \t\r\n.`*)")
	if !strings.HasSuffix(end, "}") {
		return nil, false
	}
	for left, looked := end, 0; looked < budget; {
		start := strings.IndexByte(left, '{')
		if start < 0 {
			return nil, false
		}
		left = left[start:]
		d := json.NewDecoder(strings.NewReader(left))
		var raw json.RawMessage
		err := d.Decode(&raw)
		switch {
		case err != nil:
			looked += len(left)
			left = left[1:]
		case len(raw) == len(left):
			return object(left)
		default:
			looked += len(raw)
			left = left[len(raw):]
		}
	}
	return nil, false
}

// lastLine is the last line that is an object.
func lastLine(text string) (tooleval.Raw, bool) {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if raw, ok := object(lines[i]); ok {
			return raw, true
		}
	}
	return nil, false
}
