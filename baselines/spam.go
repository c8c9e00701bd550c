package baselines

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/tooleval/tooleval"
)

// Bounds of the spam agent.
const (
	mostSpam  = 24      // calls of one run
	mostTries = 6       // calls of one tool in one round
	mostSaid  = 1 << 20 // bytes of the final answer
)

// spam reads whatever it can and then says all of it: it shows that a task takes a heap of words for an answer.
type spam struct{ seed uint64 }

// Run goes over the tools twice, the second time with what the first round told it.
func (a spam) Run(ctx context.Context, as tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	h := fnv.New64a()
	h.Write([]byte(as.TaskID))
	s := spammer{r: rand.New(rand.NewPCG(a.seed, h.Sum64())), done: map[string]bool{}, merged: map[string]any{}}
	s.words.strings = candidates(as.Description)
	s.words.add(as.Input)
	s.said = append(s.said, as.Description, string(as.Input))
	for range 2 {
		for _, tool := range as.Tools {
			if !reads(tool.Name) {
				continue
			}
			if err := s.try(ctx, tool, tools); err != nil {
				return tooleval.AgentResult{}, err
			}
		}
		s.words = pool{strings: slices.Concat(s.found.strings, s.words.strings), numbers: slices.Concat(s.found.numbers, s.words.numbers)}
	}
	s.merged["everything"] = s.all
	said := strings.Join(s.said, "\n")
	return tooleval.AgentResult{Response: tooleval.Text(said[:min(len(said), mostSaid)]), State: encode(s.merged)}, context.Cause(ctx)
}

type spammer struct {
	r            *rand.Rand
	calls        int
	done         map[string]bool
	words, found pool
	said         []string
	merged       map[string]any // the keys of all answers that are objects
	all          []any
}

// try calls one tool with several arguments.
func (s *spammer) try(ctx context.Context, tool tooleval.Tool, tools tooleval.ToolHandler) error {
	for i := range mostTries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		args := s.arguments(tool.Schema, i)
		key := tool.Name + "\x00" + string(args)
		if s.done[key] {
			continue
		}
		if s.calls++; s.calls > mostSpam {
			return nil
		}
		s.done[key] = true
		res, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: tool.Name, Args: args})
		if err != nil {
			return tooleval.Blame(tooleval.OwnerWorld, err)
		}
		s.said = append(s.said, string(res.Text))
		if res.IsError {
			continue
		}
		raw := res.Structured
		if len(raw) == 0 {
			raw = tooleval.Raw(res.Text)
		}
		s.found.add(raw)
		if v, err := tooleval.DecodeValue(raw); err == nil {
			s.all = append(s.all, v)
			if m, ok := v.(map[string]any); ok {
				maps.Copy(s.merged, m)
			}
		}
	}
	return nil
}

// arguments are the required ones of a schema, the strings among them from what was read: the i-th word for the first,
// the next for the second, and so on.
func (s *spammer) arguments(schema tooleval.Raw, i int) tooleval.Raw {
	v, err := tooleval.DecodeValue(schema)
	if err != nil {
		return encode(map[string]any{})
	}
	top, _ := v.(map[string]any)
	props, _ := top["properties"].(map[string]any)
	required, _ := top["required"].([]any)
	g := generator{r: s.r, root: v, seen: s.words, budget: mostNodes}
	out := map[string]any{}
	for _, k := range required {
		name, ok := k.(string)
		if !ok {
			continue
		}
		prop, _ := props[name].(map[string]any)
		_, listed := prop["enum"]
		switch kind := prop["type"]; {
		case kind == "string" && !listed && len(s.words.strings) > 0:
			out[name] = s.words.strings[i%len(s.words.strings)]
			i++
		case (kind == "number" || kind == "integer") && len(s.words.numbers) > 0:
			out[name] = s.words.numbers[i%len(s.words.numbers)]
		default:
			out[name] = g.value(props[name], 1)
		}
	}
	return encode(out)
}

// writing are the words by which tools that change something, or end the work, give themselves away.
var writing = map[string]bool{}

func init() {
	for word := range strings.FieldsSeq("add append approve apply ask assign book buy cancel charge close commit confirm copy create " +
		"delete deploy disable draft edit enable escalate execute exec finish grant hand handoff insert install invite issue kill log mark merge " +
		"modify move note notify order pay post publish purchase push put record refund register reject release remove rename reply request reserve " +
		"reset restart return revoke run save schedule send set share ship start stop submit transfer uninstall update upload upsert write") {
		writing[word] = true
	}
}

// reads reports whether a tool's name says of no change: it does not begin with one of writing, and holds none of those
// that are never the name of a thing.
func reads(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(split(name)), func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) == 0 || !writing[words[0]] && !slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"cancel", "create", "delete", "remove", "update"}, w)
	})
}

// split puts a space before each capital that follows a small letter: saveOutput is two words.
func split(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// candidates are the words of a text that may be the argument of a tool, the likeliest first: what is quoted, what has a
// digit or an underscore in it, then names, from the end of the text to its beginning.
func candidates(text string) []string {
	const most = 100
	if len(text) > mostSaid {
		text = text[len(text)-mostSaid:]
	}
	var quoted, ids, names, rest []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 && part != "" && len(part) < most {
			quoted = append(quoted, part)
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'(),;!?{}[]<>`, r)
	}) {
		word = strings.Trim(word, ".:")
		switch {
		case word == "" || len(word) > most:
		case strings.ContainsFunc(word, func(r rune) bool { return r == '_' || unicode.IsDigit(r) }):
			ids = append(ids, word)
		case unicode.IsUpper([]rune(word)[0]):
			names = append(names, word)
		default:
			rest = append(rest, word)
		}
	}
	var out []string
	seen := map[string]bool{}
	for _, list := range [][]string{quoted, ids, names, rest} {
		slices.Reverse(list)
		for _, w := range list {
			if !seen[w] && len(out) < mostSeen && json.Valid([]byte(`"`+w+`"`)) {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}
