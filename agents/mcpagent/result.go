package mcpagent

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval"
)

// toMCP is a tool's answer as MCP has it: the text, and a JSON answer once more as an object.
func toMCP(r tooleval.ToolResult) *mcp.CallToolResult {
	structured := r.Structured
	if len(structured) > 0 && !structured.Valid() {
		structured = nil // not JSON after all: as text it can still be read
		if r.Text == "" {
			r.Text = tooleval.Text(r.Structured)
		}
	}
	if r.Text == "" && len(structured) > 0 {
		r.Text = tooleval.Text(structured)
	}
	if len(structured) == 0 {
		if raw := tooleval.Raw(r.Text); worthParsing(r.Text) && raw.Valid() {
			structured = raw
		}
	}
	out := &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: validText(string(r.Text))}},
		IsError: r.IsError,
	}
	if len(structured) > 0 {
		out.StructuredContent = object(structured)
	}
	return out
}

// worthParsing tells most prose from JSON by its first letter.
func worthParsing(t tooleval.Text) bool {
	s := strings.TrimLeft(string(t), " \t\r\n")
	return s != "" && strings.ContainsRune(`{["-0123456789tfn`, rune(s[0]))
}

// object is a JSON value as an object.
func object(v tooleval.Raw) json.RawMessage {
	v = bytes.TrimSpace(v)
	if v[0] == '{' {
		return json.RawMessage(v)
	}
	return append(append([]byte(`{"result":`), v...), '}')
}

// validText replaces what is not UTF-8, which no JSON can carry.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
