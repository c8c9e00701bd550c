package process

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	line := "42 (a) Z (b c)) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 100"
	if m, ok := parseStat([]byte(line)); !ok || m != (member{pid: 42, parent: 7, group: 42, start: 987654, name: "a) Z (b c)"}) {
		t.Errorf("got %+v, %v", m, ok)
	}
	for _, bad := range []string{"", "42", "42 (a", "42 (a) S 1 2", "42 (a) Z 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9", ")("} {
		if m, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: got %+v", bad, m)
		}
	}
	if m, ok := readStat(os.Getpid()); !ok || m.pid != os.Getpid() || m.parent != os.Getppid() {
		t.Errorf("this process: %+v, %v", m, ok)
	}
}
