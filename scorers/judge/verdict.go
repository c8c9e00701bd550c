package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/tooleval/tooleval"
)

// words are the spellings of a verdict, and all of them: what is not here is not read. Numbers and booleans are in it by
// their JSON spelling; 1.0 is the number 1.
var words = map[string]Verdict{
	"pass": Pass, "passed": Pass, "true": Pass, "yes": Pass, "1": Pass,
	"fail": Fail, "failed": Fail, "false": Fail, "no": Fail, "0": Fail,
	"cannot_tell": CannotTell, "cannot tell": CannotTell,
}

// readVerdict reads one verdict; nil is one that can't be read, a missing one and null included. There is no default.
func readVerdict(raw json.RawMessage) *Verdict {
	if raw == nil {
		return nil
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		return nil
	}
	word := ""
	switch x := v.(type) {
	case string:
		word = strings.ToLower(strings.TrimSpace(x))
	case bool:
		word = fmt.Sprint(x)
	case json.Number:
		switch {
		case tooleval.Equal(x, 0):
			word = "0"
		case tooleval.Equal(x, 1):
			word = "1"
		}
	}
	if got, ok := words[word]; ok {
		return &got
	}
	return nil
}

// unread is why a reply can't be used; final when asking again would only shop for a better answer.
type unread struct {
	why   string
	final bool
}

// read reads a vote from a reply. Only the arguments of the verdict tool are looked at; why is empty when it could be read,
// and else in our own words, since it goes back to the judge.
func read(r *Rubric, got reply, lines string) (Vote, unread) {
	var v Vote
	no := func(format string, args ...any) (Vote, unread) { return v, unread{why: fmt.Sprintf(format, args...)} }
	switch {
	case got.refused:
		return v, unread{"the judge refused to answer", true}
	case got.broken:
		return no("the reply is no message of the API")
	case got.cutOff:
		return no("the reply was cut off at its limit of tokens")
	case len(got.calls) == 0:
		return no("the reply does not call %s", verdictTool)
	case len(got.calls) > 1:
		return no("the reply calls %s %d times", verdictTool, len(got.calls))
	}
	top, err := object(got.calls[0])
	if err != nil {
		return no("the arguments of %s %v", verdictTool, err)
	}
	if v.Overall = readVerdict(top["overall"]); v.Overall == nil {
		return no("overall is missing or no verdict")
	}
	_ = json.Unmarshal(top["reason"], &v.Reason) // a reason that is no text is no loss
	if len(r.Criteria) == 0 {
		v.Verdict = v.Overall
		return v, unread{}
	}
	if _, err := object(string(top["criteria"])); err != nil {
		return no("criteria is missing or no object")
	}
	var criteria map[string]json.RawMessage
	if json.Unmarshal(top["criteria"], &criteria) != nil {
		return no("criteria is missing or no object")
	}
	for _, c := range r.Criteria {
		var parts map[string]json.RawMessage
		if json.Unmarshal(criteria[c.ID], &parts) != nil {
			return no("criteria.%s is missing or no object", c.ID)
		}
		verdict := readVerdict(parts["verdict"])
		if verdict == nil {
			return no("criteria.%s.verdict is missing or no verdict", c.ID)
		}
		j := Judgement{ID: c.ID, Verdict: *verdict}
		_ = json.Unmarshal(parts["evidence"], &j.Evidence)
		if !quoted(lines, string(j.Evidence)) {
			v.Flags = append(v.Flags, fmt.Sprintf("the evidence for %s is no quote from the graded text", c.ID))
		}
		v.Criteria = append(v.Criteria, j)
		delete(criteria, c.ID)
	}
	if len(criteria) > 0 {
		v.Flags = append(v.Flags, fmt.Sprintf("the reply judges %d criteria that the rubric does not have", len(criteria)))
	}
	together := combine(v.Criteria)
	if together != *v.Overall {
		odd := fmt.Sprintf("the reply contradicts itself: overall says %s, the criteria say %s", *v.Overall, together)
		v.Flags = append(v.Flags, odd)
		if r.Decides == "" {
			return v, unread{odd, true}
		}
	}
	v.Verdict = v.Overall
	if r.Decides == ByCriteria {
		v.Verdict = &together
	}
	return v, unread{}
}

// combine is what the criteria say of the whole.
func combine(all []Judgement) Verdict {
	out := Pass
	for _, j := range all {
		switch j.Verdict {
		case Fail:
			return Fail
		case CannotTell:
			out = CannotTell
		}
	}
	return out
}

// object extracts the one JSON object from the arguments of a call: they should be it, but some models fence it, wrap it in
// a string or put words around it. An object that does not end, a second one, and a key that comes twice at any depth are
// errors: each leaves open what was meant.
func object(args string) (map[string]json.RawMessage, error) {
	const most = 1 << 20
	if len(args) > most {
		return nil, fmt.Errorf("have more than %d bytes", most)
	}
	var inner string
	if json.Unmarshal([]byte(args), &inner) == nil && inner != "" {
		args = inner
	}
	start := strings.IndexByte(args, '{')
	if start < 0 {
		return nil, errors.New("hold no JSON object")
	}
	d := json.NewDecoder(strings.NewReader(args[start:]))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, errors.New("are no JSON")
	}
	if strings.ContainsAny(args[start+int(d.InputOffset()):], "{}") {
		return nil, errors.New("hold more than one JSON object")
	}
	if err := repeated(raw); err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, errors.New("are no JSON object")
	}
	return top, nil
}

// repeated finds a key that an object holds twice, at any depth. encoding/json would take the last one.
func repeated(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // the next token is a value
	}
	var stack []level
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return errors.New("are no JSON")
		}
		top := len(stack) - 1
		if t == json.Delim('}') || t == json.Delim(']') {
			stack = stack[:top]
			continue
		}
		if top >= 0 && stack[top].keys != nil {
			if !stack[top].value {
				key := t.(string) // the decoder accepts nothing else here
				if stack[top].keys[key] {
					return errors.New("hold a key twice")
				}
				stack[top].keys[key], stack[top].value = true, true
				continue
			}
			stack[top].value = false
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, level{})
		}
	}
}

// quoted reports whether the evidence is in the text, but for space, case and punctuation: a quote from JSON may be
// escaped or not. Evidence without a letter or digit is none, and so it is quoted.
func quoted(lines, evidence string) bool {
	e := plainLetters(evidence)
	return e == "" || strings.Contains(plainLetters(lines), e)
}

func plainLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
