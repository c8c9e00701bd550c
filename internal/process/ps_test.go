//go:build !linux

package process

import "testing"

func TestParsePS(t *testing.T) {
	got := parsePS([]byte("  1     0     1 Ss   launchd\n 77     1    70 S+   my agent\n 78    77    70 Z    (sh)\n\nx y z w v\n"))
	if len(got) != 2 || got[77] != (member{pid: 77, parent: 1, group: 70, name: "my agent"}) {
		t.Errorf("got %v", got)
	}
}
