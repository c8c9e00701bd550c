package profile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// given are the variables that the harness gives: those of the run's folders, of its tools, and of the task.
var given = []string{
	"home", "work", "tmp", "mcp_url", "mcp_token", "mcp_shim", "tools",
	"prompt", "prompt_file", "task", "task_id", "description", "input", "entry_point",
}

// expand replaces every ${name} by its value, once: a value is never looked through again. $${ stands for ${ itself. The
// escape is applied to values; nil leaves them as they are.
func expand(s string, lookup func(string) (string, error), escape func(string) string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has no closing brace (write $${ for the two characters themselves)", clip(s[i:]))
		}
		value, err := lookup(s[i+2 : i+end])
		if err != nil {
			return "", err
		}
		if escape != nil {
			value = escape(value)
		}
		b.WriteString(s[:i])
		b.WriteString(value)
		s = s[i+end+1:]
	}
}

// used are the variables of a text.
func used(s string) []string {
	var names []string
	_, _ = expand(s, func(name string) (string, error) { names = append(names, name); return "", nil }, nil)
	return names
}

// escapeFor is the escape for values in a file.
func escapeFor(path string) func(string) string {
	switch filepath.Ext(path) {
	case ".json", ".toml":
		return inString
	}
	return nil
}

// inString is a value as the inside of a string literal of JSON, which is one of TOML's basic strings too.
func inString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return ""
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
