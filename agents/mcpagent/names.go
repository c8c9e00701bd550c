package mcpagent

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// maxName is the length up to which every agent that was tried keeps a name whole, its own prefix included.
const maxName = 40

// names maps the tools' names to those that the agent is offered, and back.
type names struct {
	offered  []string // in the order of the tools
	tools    map[string]string
	prefixes []string
}

func newNames(tools []tooleval.Tool, opts Options) names {
	n := names{tools: make(map[string]string, len(tools)), prefixes: opts.Prefixes, offered: make([]string, len(tools))}
	for _, t := range tools {
		n.tools[t.Name] = t.Name
	}
	for i, t := range tools {
		name := t.Name
		if opts.PlainNames && !plainName(name) {
			name = n.plain(name)
			n.tools[name] = t.Name
		}
		n.offered[i] = name
	}
	return n
}

// real is the tool that a called name stands for; a name that stands for none is itself.
func (n *names) real(called string) string {
	if tool, ok := n.tools[called]; ok {
		return tool
	}
	for _, prefix := range n.prefixes {
		if rest, ok := strings.CutPrefix(called, prefix); ok {
			if tool, ok := n.tools[rest]; ok {
				return tool
			}
		}
	}
	return called
}

func plainName(name string) bool {
	return name != "" && len(name) <= maxName && strings.Trim(name, letters) == "" && !strings.ContainsAny(name[:1], "0123456789_")
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// plain is a plain name that no tool has yet.
func (n *names) plain(name string) string {
	var b strings.Builder
	for _, r := range name {
		if b.Len() == maxName {
			break
		}
		if !strings.ContainsRune(letters, r) {
			r = '_'
		}
		b.WriteRune(r)
	}
	base := strings.TrimLeft(b.String(), "0123456789_")
	if base == "" {
		base = "tool"
	}
	for i := 1; ; i++ {
		candidate := base
		if i > 1 {
			end := fmt.Sprintf("_%d", i)
			candidate = base[:min(len(base), maxName-len(end))] + end
		}
		if _, taken := n.tools[candidate]; !taken {
			return candidate
		}
	}
}
