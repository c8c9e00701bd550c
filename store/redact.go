package store

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// A Secret is a value that must not be stored, and the name that is stored in its place.
type Secret struct {
	Name  string
	Value string
}

// A Redactor replaces secrets in text by [redacted:NAME]. It finds the exact value and what it becomes in JSON strings,
// in URLs and in base64 (standard and URL alphabet, alone or inside a longer encoded text). Values that are shorter
// than six bytes are ignored: they would turn up everywhere by chance.
//
// It doesn't find a secret that was changed in another way: reversed, in hexadecimal, in base64 that is wrapped into
// lines, cut in two. A nil Redactor replaces nothing. A Redactor is immutable and safe for concurrent use.
//
// The search is that of Wu and Manber (1994) with blocks of two bytes: it looks at every fifth byte of a text that
// holds nothing like a secret, whatever the number of secrets.
type Redactor struct {
	skip  []uint8                 // by two bytes: how far the window may move on when it ends with them
	forms map[[window]byte][]form // by the first bytes, longest first
}

// window is the length of the shortest form that is looked for.
const window = 6

type form struct{ text, mark string }

// NewRedactor makes a Redactor of the secrets; nil when none of them is long enough.
func NewRedactor(secrets []Secret) *Redactor {
	r := &Redactor{forms: map[[window]byte][]form{}}
	seen := map[string]bool{}
	for _, s := range secrets {
		for _, text := range formsOf(strings.TrimSpace(s.Value)) {
			if len(text) >= window && !seen[text] {
				seen[text] = true
				start := [window]byte([]byte(text[:window]))
				r.forms[start] = append(r.forms[start], form{text, mark(s.Name)})
			}
		}
	}
	if len(seen) == 0 {
		return nil
	}
	r.skip = bytes.Repeat([]byte{window - 1}, 1<<16)
	for start, forms := range r.forms {
		slices.SortStableFunc(forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
		for end := 1; end < window; end++ {
			block := int(start[end-1])<<8 | int(start[end])
			r.skip[block] = min(r.skip[block], uint8(window-1-end))
		}
	}
	return r
}

// mark is what stands for a secret. The name may be anything, but what is stored is a plain word.
func mark(name string) string {
	const longest = 64
	clean := strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, name)
	if clean == "" {
		return "[redacted]"
	}
	return "[redacted:" + clean[:min(len(clean), longest)] + "]"
}

// Text is s with every secret replaced.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	var out []byte
	last := 0
	for hit := range find(r, s) {
		out = append(append(out, s[last:hit.start]...), hit.mark...)
		last = hit.end
	}
	if last == 0 {
		return s
	}
	return string(append(out, s[last:]...))
}

type hit struct {
	start, end int
	mark       string
}

// find yields where there are secrets in s. Those that overlap are one: what is left of the second must not stay.
func find[S string | []byte](r *Redactor, s S) iter.Seq[hit] {
	return func(yield func(hit) bool) {
		var last hit
		for i := window - 1; i < len(s); {
			if skip := r.skip[int(s[i-1])<<8|int(s[i])]; skip > 0 {
				i += int(skip)
				continue
			}
			at := i - (window - 1)
			i++
			n, mark := formAt(r, s[at:])
			switch {
			case n == 0:
			case at < last.end:
				last.end = max(last.end, at+n)
			default:
				if last.end > 0 && !yield(last) {
					return
				}
				last = hit{at, at + n, mark}
			}
		}
		if last.end > 0 {
			yield(last)
		}
	}
}

// formAt is the length of the longest form that s begins with, 0 for none, and what stands for it.
func formAt[S string | []byte](r *Redactor, s S) (int, string) {
	var start [window]byte
	copy(start[:], s)
	for _, f := range r.forms[start] {
		if len(f.text) <= len(s) && string(s[:len(f.text)]) == f.text {
			return len(f.text), f.mark
		}
	}
	return 0, ""
}

// contains reports whether there is a secret in b.
func (r *Redactor) contains(b []byte) bool {
	for range find(r, b) {
		return true
	}
	return false
}

// json is b, which should be JSON, with every secret replaced: in strings and keys whatever escapes they are spelt
// with, and numbers that are a secret become strings. JSON stays JSON. b is not changed.
func (r *Redactor) json(b []byte) []byte {
	if r == nil || !r.contains(b) && bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	if !tooleval.Raw(b).Valid() {
		return []byte(r.Text(string(b)))
	}
	out := make([]byte, 0, len(b)+64)
	for i := 0; i < len(b); {
		end := i + 1
		switch c := b[i]; {
		case c == '"':
			end = literalEnd(b, i)
			out = append(out, r.literal(b[i:end])...)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(b) && strings.IndexByte("0123456789.eE+-", b[end]) >= 0 {
				end++
			}
			number := string(b[i:end])
			if clean := r.Text(number); clean != number {
				number = `"` + clean + `"`
			}
			out = append(out, number...)
		default:
			out = append(out, c)
		}
		i = end
	}
	return out
}

// literal is a string literal with every secret replaced. It keeps its spelling when it holds none.
func (r *Redactor) literal(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		if !r.contains(b) {
			return b
		}
		return []byte(`"` + r.Text(string(b[1:len(b)-1])) + `"`)
	}
	var t tooleval.Text
	if t.UnmarshalJSON(b) != nil {
		return b
	}
	clean := r.Text(string(t))
	if clean == string(t) {
		return b
	}
	if !utf8.ValidString(clean) { // a lone surrogate beside a secret
		clean = strings.ToValidUTF8(clean, "\uFFFD")
	}
	return appendLiteral(nil, clean)
}

// Redacted is run, or, where a known secret occurs in it, a copy as it is stored: for whatever is printed beside the files.
func (e *Eval) Redacted(run *tooleval.Run) *tooleval.Run {
	if e.red == nil {
		return run
	}
	plain, stored := encodeRun(nil, run, nil), encodeRun(nil, run, e.red)
	if bytes.Equal(plain, stored) {
		return run
	}
	clean, err := decodeRun(stored)
	if err != nil { // what is written can be read; if not, nothing is better than a secret
		return &tooleval.Run{Eval: run.Eval, Suite: run.Suite, TaskID: run.TaskID, Index: run.Index, Mind: run.Mind,
			Baseline: run.Baseline, Identity: run.Identity, Ending: run.Ending}
	}
	return clean
}
