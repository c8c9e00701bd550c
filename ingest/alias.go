package ingest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// An Alias says that a name in recordings stands for a tool of the suite. A From that ends in * stands for every name that
// begins so; the * in To is then what follows. The name of a tool behind an MCP server that a format keeps apart is
// SERVER/TOOL.
type Alias struct{ From, To string }

// ParseAliases reads aliases as they are given on a command line: FROM=TO, as in mcp__docs__*=*.
func ParseAliases(list []string) ([]Alias, error) {
	var out []Alias
	var errs []error
	for _, text := range list {
		from, to, ok := strings.Cut(text, "=")
		a := Alias{strings.TrimSpace(from), strings.TrimSpace(to)}
		switch {
		case !ok || a.From == "" || a.To == "":
			errs = append(errs, fmt.Errorf("alias %q: write RECORDED=TOOL, as in mcp__docs__search=search", text))
			continue
		case strings.HasSuffix(a.From, "*") != strings.HasSuffix(a.To, "*"), strings.Count(a.From, "*") > 1, strings.Count(a.To, "*") > 1,
			strings.Contains(strings.TrimSuffix(a.From, "*"), "*"), strings.Contains(strings.TrimSuffix(a.To, "*"), "*"):
			errs = append(errs, fmt.Errorf("alias %q: a * may stand once, at the end of both sides", text))
			continue
		}
		for _, b := range out {
			if b.From == a.From && b.To != a.To {
				errs = append(errs, fmt.Errorf("alias %q: %q stands for %q already", text, a.From, b.To))
			}
		}
		out = append(out, a)
	}
	return out, errors.Join(errs...)
}

// resolve is the tool that a recorded name stands for: an exact alias, else that with the longest beginning, else the name
// itself.
func resolve(aliases []Alias, name string) string {
	best, to := -1, name
	for _, a := range aliases {
		if a.From == name {
			return a.To
		}
		start, wild := strings.CutSuffix(a.From, "*")
		if rest, ok := strings.CutPrefix(name, start); wild && ok && len(start) > best {
			best, to = len(start), strings.TrimSuffix(a.To, "*")+rest
		}
	}
	return to
}

// rename maps the names of all calls. Two names that become one tool in one recording are two tools that can't be told
// apart afterwards, which is an error. server is what stands before the tool's name in SERVER/TOOL, by call.
func rename(t *tooleval.Trajectory, servers map[int]string, aliases []Alias) error {
	was := map[string]string{}
	for i := range t.Calls {
		c := &t.Calls[i]
		full, name := c.Tool, c.Tool
		if s := servers[i]; s != "" {
			full = s + "/" + c.Tool
			if name = resolve(aliases, full); name == full {
				name = resolve(aliases, c.Tool)
			}
		} else {
			name = resolve(aliases, name)
		}
		if before, ok := was[name]; ok && before != full {
			return fmt.Errorf("%q and %q are both called and would both be tool %q: give each an alias of its own", before, full, name)
		}
		was[name] = full
		c.Tool = name
	}
	return nil
}
