package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestX02EscapeSequencesAreNeutralised(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"ascii", "calc.add: 12 + 30 = 42", "calc.add: 12 + 30 = 42"},
		{"clear line", "\x1b[2K\rALL PASSED", "␛[2K␍ALL PASSED"},
		{"link", "\x1b]8;;http://evil\x1b\\x\x1b]8;;\a", "␛]8;;http://evil␛\\x␛]8;;␇"},
		{"clipboard", "\x1b]52;c;aGk=\a", "␛]52;c;aGk=␇"},
		{"c1 as a rune", "\u009b2K", `\u009b2K`},
		{"c1 as a byte", "\x9b2K", `\x9b2K`},
		{"bidi", "a\u202eb\u2066c\u2069", `a\u202eb\u2066c\u2069`},
		{"zero width", "a\u200bb\ufeffc\u2060d\u00ade", `a\u200bb\ufeffc\u2060d\u00ade`},
		{"lines", "a\nb\r\nc\td\u2028e", `a␤b␍␤c d\u2028e`},
		{"del and nul", "\x00\x7f", "␀␡"},
		{"lone surrogate", "\xed\xa0\xbd", `\xed\xa0\xbd`},
		{"tags", "\U000e0041", `\U000e0041`},
		{"blank letter", "\u3164", `\u3164`},
		{"variation smuggling", "\U000e0101\ufe01", `\U000e0101\ufe01`},
		{"joiner in a word", "pass\u200ded", `pass\u200ded`},
		{"family", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 👩🏽\u200d🚀", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 👩🏽\u200d🚀"},
		{"other scripts", "日本 Ωμέγα नमस्ते", "日本 Ωμέγα नमस्ते"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: Text(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestBlockKeepsLines(t *testing.T) {
	if got, want := Block("a\r\nb\rc\n\td\x1b[0m"), "a\nb␍c\n    d␛[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClipCutsBetweenRunes(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aé", 2, "a…"}, {"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80…"}, {"ab", -1, "…"}, {"é", 0, "…"}} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31m", "\u202e\x9b", "👩\u200d👩", "\xff\xfe\r\n\t", "\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, block := Text(s), Block(s)
		for _, out := range []string{text, strings.ReplaceAll(block, "\n", "")} {
			if !utf8.ValidString(out) {
				t.Fatalf("%q became %q, which is not UTF-8", s, out)
			}
			for _, r := range out {
				if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
					t.Fatalf("%q became %q, which holds %U", s, out, r)
				}
			}
		}
		if again := Text(text); again != text {
			t.Fatalf("Text(%q) = %q, and Text of that is %q", s, text, again)
		}
		if again := Block(block); again != block {
			t.Fatalf("Block(%q) = %q, and Block of that is %q", s, block, again)
		}
	})
}
