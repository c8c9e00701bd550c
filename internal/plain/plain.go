// Package plain makes text from outside safe to print for a human. Escape sequences could forge a verdict, set the
// title or write the clipboard; bidi controls reorder what is read; invisible characters hide what is there.
//
//	fmt.Fprintf(w, "task %s: %s\n", plain.Text(id), plain.Text(why))
//	fmt.Fprint(w, plain.Block(answer))
//
// Nothing dangerous is dropped without a trace: it becomes something visible. Neutralise at each print to a human, cut
// long text first (see [Clip]), and measure widths on the clean text. Records and JSON output stay untouched.
//
// Limits: text that looks like other text (homoglyphs) and piles of combining marks pass, and the result is not escaped
// for HTML or Markdown.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is s on a single line: control characters become their pictures (ESC is ␛, a line feed ␤), a tab becomes a space,
// and C1, bidi, zero-width and other invisible characters as well as bytes that are not UTF-8 become escapes such as
// \u202e and \xff. The result is valid UTF-8 without control bytes, and Text of it is the same.
func Text(s string) string { return clean(s, false) }

// Block is Text that keeps line feeds. A carriage return before a line feed is dropped with it, and a tab becomes four
// spaces.
func Block(s string) string { return clean(s, true) }

// Clip cuts s to at most n bytes at a rune's start and ends it with … where something was cut. It keeps the cost of a
// huge text down: clip first, then clean.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for cut := n; cut > n-utf8.UTFMax && cut > 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			n = cut
			break
		}
	}
	return s[:n] + "…"
}

func clean(s string, lines bool) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	before := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		rest := s[i+size:]
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n' && lines:
			b.WriteByte('\n')
		case r == '\r' && lines && strings.HasPrefix(rest, "\n"): // the line feed says it all
		case r == '\n':
			b.WriteRune('␤')
		case r == '\t' && lines:
			b.WriteString("    ")
		case r == '\t':
			b.WriteByte(' ')
		case r < 0x20:
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r == zwj && joinsEmoji(before, rest):
			b.WriteRune(r)
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		before = r
		i += size
	}
	return b.String()
}

// printable reports whether s is printable ASCII, which is the usual case.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

const zwj = '\u200d'

// joinsEmoji reports whether a zero-width joiner between two runes makes one picture, as in a family. Elsewhere it
// hides in plain words.
func joinsEmoji(before rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	picture := func(r rune) bool { return r > 0x2000 && r != utf8.RuneError && unicode.Is(unicode.So, r) }
	return picture(after) && (picture(before) || before == '\ufe0f' || (before >= 0x1f3fb && before <= 0x1f3ff))
}

// hidden reports whether r does something other than show a mark of its own.
func hidden(r rune) bool {
	if r < 0x80 {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		r >= 0xfe00 && r <= 0xfe0e || r >= 0xe0100 && r <= 0xe01ef // selectors other than the emoji one carry smuggled text
}
