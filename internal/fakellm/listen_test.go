package fakellm_test

import (
	"strings"
	"testing"

	"github.com/tooleval/tooleval/internal/fakellm"
)

func TestListen(t *testing.T) {
	s, err := fakellm.Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	taken := strings.TrimPrefix(s.URL(""), "http://")
	for addr, want := range map[string]string{
		"0.0.0.0:0": "127.0.0.1 or localhost alone", ":0": "127.0.0.1 or localhost alone", "192.0.2.1:80": "alone",
		"127.0.0.1": "want a form like", "": "want a form like", taken: "in use",
	} {
		if s, err := fakellm.Listen(addr, nil); err == nil || !strings.Contains(err.Error(), want) {
			if s != nil {
				s.Close()
			}
			t.Errorf("%q: got error %v, want %q", addr, err, want)
		}
	}
}
