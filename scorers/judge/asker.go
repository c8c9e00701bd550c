package judge

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// An asker puts one question to a model. The reply's sent, raw and tries are filled in also when there is an error, as far
// as it came. Errors are blamed on their owner, but for an unsupported or tooLong one.
type asker interface {
	ask(ctx context.Context, q question) (reply, error)
}

type question struct {
	system, user string
	schema       json.RawMessage
	maxTokens    int
	// forced makes the model call the tool; strict holds it to the schema.
	forced, strict bool
}

const toolDescription = "Submit the verdict on the graded work. Call it exactly once."

type reply struct {
	// sent and raw are the bodies of the last try.
	sent, raw []byte
	// calls are the arguments of every call of the verdict tool.
	calls []string
	// broken is a reply of status 200 that is no message; cutOff one that ran into its limit of tokens.
	broken, cutOff, refused bool
	stop, model             string
	usage                   json.RawMessage
	tries                   int
}

// body is the reply as it is kept; nil when there was none.
func (r *reply) body() tooleval.Raw {
	if len(r.raw) == 0 {
		return nil
	}
	return tooleval.Raw(r.raw)
}

// unsupported is a request that the server refused because of how the answer was asked for.
type unsupported struct {
	forced, strict bool
	err            error
}

func (u *unsupported) Error() string { return u.err.Error() }
func (u *unsupported) Unwrap() error { return u.err }

// refusedShape looks for the two things that servers refuse. Their messages have no code to go by.
func refusedShape(message string, err error) *unsupported {
	m := strings.ToLower(message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(m, w) {
				return true
			}
		}
		return false
	}
	u := &unsupported{
		forced: has("tool_choice", "tool choice", "thinking"),
		strict: has("strict", "grammar", "schema", "additionalproperties"),
		err:    err,
	}
	if !u.forced && !u.strict {
		return nil
	}
	return u
}

// tooLong is a request that does not fit the model.
type tooLong struct{ err error }

func (t *tooLong) Error() string { return t.err.Error() }
func (t *tooLong) Unwrap() error { return t.err }

// hide takes a key out of what a server may have echoed.
func hide(s, key string) string {
	if len(key) < 4 { // no key, or one that would turn up in any text
		return s
	}
	return strings.ReplaceAll(s, key, "[key]")
}

// short cuts a server's message.
func short(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
