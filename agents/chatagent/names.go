package chatagent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// maxName is the longest name of a tool that both providers take.
const maxName = 64

// names are the tools' names as the model has them. Both providers take letters, digits, underscores and hyphens alone.
type names struct {
	offered []string // in the order of the tools
	tools   map[string]string
}

func newNames(tools []tooleval.Tool) *names {
	n := &names{tools: map[string]string{}}
	for _, t := range tools {
		if plain(t.Name) == t.Name {
			n.tools[t.Name] = t.Name
		}
	}
	for _, t := range tools {
		name := plain(t.Name)
		for i := 2; name != t.Name && n.tools[name] != ""; i++ {
			end := fmt.Sprintf("_%d", i)
			name = plain(t.Name)
			name = name[:min(len(name), maxName-len(end))] + end
		}
		n.tools[name] = t.Name
		n.offered = append(n.offered, name)
	}
	return n
}

// real is the tool that a called name stands for; a name that stands for none is itself.
func (n *names) real(called string) string {
	if t, ok := n.tools[called]; ok {
		return t
	}
	return called
}

func plain(name string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters, r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), maxName)]
}

// schema is a tool's schema as it is, with the "type" that servers insist on where it lacks one.
func schema(t tooleval.Tool) (json.RawMessage, error) {
	text := strings.TrimSpace(string(t.Schema))
	if text == "" {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	v, err := tooleval.DecodeValue([]byte(text))
	members, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, tooleval.Blamef(tooleval.OwnerTask, "tool %q can't be offered to a model: its schema is no JSON object", t.Name)
	}
	if _, ok := members["type"]; ok {
		return json.RawMessage(text), nil
	}
	front := `{"type":"object"`
	if len(members) > 0 {
		front += ","
	}
	return json.RawMessage(front + text[1:]), nil
}
