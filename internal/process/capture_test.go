package process

import (
	"strings"
	"testing"
)

func TestCapture(t *testing.T) {
	for _, c := range []struct {
		writes []string
		want   string
		tail   string // of 3
	}{
		{nil, "", ""},
		{[]string{"abc"}, "abc", "abc"},
		{[]string{"abcd", "efgh"}, "abcdefgh", "fgh"},
		{[]string{"abcdefgh", "i"}, "abcd\n… 1 bytes are left out …\nfghi", "ghi"},
		{strings.Split("abcdefghijklm", ""), "abcd\n… 5 bytes are left out …\njklm", "klm"},
		{[]string{"abcdefghijklmnopqrstuvwxyz"}, "abcd\n… 18 bytes are left out …\nwxyz", "xyz"},
	} {
		o := &Capture{Limits: Limits{Head: 4, Tail: 4}}
		for _, w := range c.writes {
			if n, err := o.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("Write gave %d, %v", n, err)
			}
		}
		if o.String() != c.want || o.Tail(3) != c.tail {
			t.Errorf("%q: got %q and %q, want %q and %q", c.writes, o.String(), o.Tail(3), c.want, c.tail)
		}
	}
	none := &Capture{Limits: Limits{Head: 1}}
	none.Write([]byte("abc"))
	if got := none.String(); got != "a\n… 2 bytes are left out …\n" {
		t.Errorf("without a tail: %q", got)
	}
}
