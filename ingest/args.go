package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// compact is a copy of JSON with space removed.
func compact(b []byte) tooleval.Raw {
	var buf bytes.Buffer
	buf.Grow(len(b))
	if json.Compact(&buf, b) != nil { // a value is always JSON
		return bytes.Clone(b)
	}
	return buf.Bytes()
}

// setArgs fills in the arguments of a call: an object, or JSON text, as the recorder would have had them. Space is no part
// of them, since in half of the formats it is the file's and not the agent's. Text that is no JSON object is kept as it
// came, with the reason.
func setArgs(c *tooleval.Call, v value) {
	text := tooleval.Text(v)
	if v.kind() == '"' {
		text, _ = v.text()
	}
	if v.kind() == 0 {
		c.ArgsError = "the call has no arguments"
		return
	}
	setArgsText(c, text)
}

// setArgsText is setArgs for arguments as an agent wrote them. None at all stand for {}.
func setArgsText(c *tooleval.Call, text tooleval.Text) {
	start := strings.TrimLeft(string(text), " \t\r\n")
	if start == "" {
		c.Args = tooleval.Raw("{}")
		return
	}
	raw := tooleval.Raw(text)
	if !raw.Valid() {
		_, err := tooleval.DecodeValue(raw)
		c.ArgsText, c.ArgsError = text, "arguments are not JSON"
		if err != nil {
			c.ArgsError += ": " + strings.TrimPrefix(err.Error(), "not JSON: ")
		}
		return
	}
	c.Args = compact(raw)
	if start[0] == '{' {
		return
	}
	c.ArgsText = text
	c.ArgsError = fmt.Sprintf("arguments are %s, want an object", strings.Replace(value(c.Args).what(), "a list", "an array", 1))
}
