package scorers

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tooleval/tooleval"
)

// A Statement is something that has to be said to the user, in one message. Exactly one of Words, Number, Text and
// Pattern is set.
//
// None of them understands a sentence: "I can't confirm that it was saved" holds the words "it was saved". Pair a claim
// with the state that shows it, ask for what only the right answer has (a number, an id), or use a judge.
type Statement struct {
	// Name is the name of the check; empty stands for "says: " and what is asked for.
	Name string `json:"name,omitempty"`
	// Words are words in a row, whatever their case and whatever stands between them but letters and digits: "gate b12"
	// is in "Gate: B12!" but not in "gate b123".
	Words string `json:"words,omitempty"`
	// Number is a number, equal by value, with or without thousands commas, fraction zeros or a currency sign: 1786 is in
	// "$1,786.00". Digits that touch letters are no number (HAT136, 4k).
	Number json.Number `json:"number,omitempty"`
	// Text is a part of a message, in any case and with commas left out: 1786 is in "id 217860". Prefer Number.
	Text string `json:"text,omitempty"`
	// Pattern is a regular expression in Go's syntax that matches somewhere; a dot stops at a line's end unless (?s) is
	// given, and case counts unless (?i) is.
	Pattern string `json:"pattern,omitempty"`
	// Not asks that no message says it.
	Not bool `json:"not,omitempty"`
	// Info shows the check but lets it count for nothing.
	Info bool `json:"info,omitempty"`
}

func (s *Statement) name() string {
	if s.Name != "" {
		return s.Name
	}
	verb := "says: "
	if s.Not {
		verb = "does not say: "
	}
	return verb + s.Words + string(s.Number) + s.Text + s.Pattern
}

// compile is the test of one message.
func (s *Statement) compile() (func(message string) bool, error) {
	set := 0
	for _, v := range []string{s.Words, string(s.Number), s.Text, s.Pattern} {
		if v != "" {
			set++
		}
	}
	if set != 1 {
		return nil, errors.New("give exactly one of words, number, text and pattern")
	}
	switch {
	case s.Words != "":
		want := words(s.Words)
		if len(want) == 0 {
			return nil, fmt.Errorf("%q holds no word", s.Words)
		}
		return func(m string) bool { return containsRun(words(m), want) }, nil
	case s.Number != "":
		if v, err := tooleval.DecodeValue([]byte(s.Number)); err != nil {
			return nil, fmt.Errorf("number %q: %w", s.Number, err)
		} else if _, ok := v.(json.Number); !ok {
			return nil, fmt.Errorf("%q is no number", s.Number)
		}
		return func(m string) bool {
			return slices.ContainsFunc(numbers(m), func(n json.Number) bool { return tooleval.Equal(n, s.Number) })
		}, nil
	case s.Text != "":
		want := loose(s.Text)
		if want == "" {
			return nil, fmt.Errorf("text %q is empty without its commas", s.Text)
		}
		return func(m string) bool { return strings.Contains(loose(m), want) }, nil
	}
	re, err := regexp.Compile(s.Pattern)
	if err != nil {
		return nil, err
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("pattern %q fits an empty message, so it checks nothing", s.Pattern)
	}
	return re.MatchString, nil
}

// statement adds the check of a statement.
func (t *tally) statement(s *Statement, messages []string) error {
	said, err := s.compile()
	if err != nil {
		return fmt.Errorf("%s: %w", s.name(), err)
	}
	holds := slices.ContainsFunc(messages, said) != s.Not
	note := ""
	switch {
	case !holds && s.Not:
		note = "a message says it"
	case !holds && len(messages) == 0:
		note = "nothing was said"
	case !holds:
		note = fmt.Sprintf("none of %d messages says it", len(messages))
	}
	t.check(s.name(), holds, s.Info, note)
	if !s.Info {
		t.total++
		if holds {
			t.met++
		}
	}
	return nil
}

func loose(s string) string { return strings.ReplaceAll(strings.ToLower(s), ",", "") }

// words are the runs of letters, digits and marks, in lower case.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

func containsRun(in, want []string) bool {
	for i := 0; i+len(want) <= len(in); i++ {
		if slices.Equal(in[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

var numeral = regexp.MustCompile(`(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?`)

// numbers are the numbers in a text, as JSON spells them.
func numbers(s string) []json.Number {
	var out []json.Number
	for _, at := range numeral.FindAllStringIndex(s, -1) {
		before, after := []rune(s[:at[0]]), s[at[1]:]
		if touches(lastRune(before)) || touches(firstRune(after)) {
			continue
		}
		digits := strings.ReplaceAll(s[at[0]:at[1]], ",", "")
		if trimmed := strings.TrimLeft(digits, "0"); trimmed == "" || trimmed[0] == '.' {
			digits = "0" + trimmed
		} else {
			digits = trimmed
		}
		if negative(before) {
			digits = "-" + digits
		}
		out = append(out, json.Number(digits))
	}
	return out
}

// touches reports whether a character beside digits makes them a part of something else.
func touches(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// negative reports whether a text ends with a minus sign, and not with the dash of a range or a word.
func negative(before []rune) bool {
	n := len(before)
	for n > 0 && unicode.Is(unicode.Sc, before[n-1]) { // -$5
		n--
	}
	if n == 0 || before[n-1] != '-' && before[n-1] != '\u2212' {
		return false
	}
	before = before[:n-1]
	r := lastRune(before)
	return r == 0 || unicode.IsSpace(r) || r == '(' || unicode.Is(unicode.Sc, r) || r == ':' || r == '='
}

func lastRune(s []rune) rune {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
