package jobsearch

import (
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// An object is a part of what an agent returned. Anything may be in it, or missing: its methods give what is there in the
// wanted form, and nothing otherwise.
type object map[string]any

// objectOf decodes a state; nil when it is no JSON object.
func objectOf(state tooleval.Raw) object {
	if len(state) == 0 {
		return nil
	}
	v, err := tooleval.DecodeValue(state)
	if err != nil {
		return nil
	}
	o, _ := v.(map[string]any)
	return o
}

// object is the object under a key.
func (o object) object(key string) object {
	inner, _ := o[key].(map[string]any)
	return inner
}

// text is the string under a key, without space around it; empty for one that says only that there is nothing.
func (o object) text(key string) string {
	s, _ := o[key].(string)
	return said(s)
}

// texts are the strings in the list under a key; objects in it count as their strings put together. present is false when
// there is no list.
func (o object) texts(key string) (list []string, present bool) {
	elements, present := o[key].([]any)
	for _, e := range elements {
		var words []string
		gather(e, &words)
		if s := said(strings.Join(words, " ")); s != "" {
			list = append(list, s)
		}
	}
	return list, present
}

// gather appends every string in v.
func gather(v any, words *[]string) {
	switch x := v.(type) {
	case string:
		*words = append(*words, x)
	case []any:
		for _, e := range x {
			gather(e, words)
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			gather(x[k], words)
		}
	}
}

// said is s without space around it; empty when its words only fill a gap.
func said(s string) string {
	s = strings.TrimSpace(s)
	switch strings.ToLower(strings.Trim(s, " .()[]-")) {
	case "", "null", "none", "nil", "n/a", "na", "unknown", "not specified", "not stated", "not available", "tbd", "string":
		return ""
	}
	return s
}

// told is everything that the tools of this name told the agent.
func told(run *tooleval.Run, tool string) string {
	var b strings.Builder
	for i := range run.Trajectory.Calls {
		c := &run.Trajectory.Calls[i]
		if c.Tool == tool && c.Status == tooleval.CallOK {
			b.WriteString(string(c.Result.Text))
			b.WriteString("\n")
		}
	}
	return b.String()
}

// shares reports whether s, or one of its words of at least three letters that says something, is to be found in source.
func shares(s, source string) bool {
	source = strings.ToLower(source)
	if s != "" && strings.Contains(source, strings.ToLower(s)) {
		return true
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), notInWord) {
		if len(w) >= 3 && !slices.Contains(fillers, w) && strings.Contains(source, w) {
			return true
		}
	}
	return false
}

var fillers = []string{"and", "the", "for", "with", "has", "have", "from", "that", "this", "are", "not", "you", "your", "any", "all",
	"inc", "ltd", "gmbh", "llc", "experience", "years", "year", "candidate", "strong"}

func notInWord(r rune) bool {
	return !(r == '+' || r == '#' || r > 127 || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
}
