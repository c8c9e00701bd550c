//go:build !linux

package process

import (
	"fmt"
	"strconv"
	"strings"
)

// A member is a live process of a tree.
type member struct {
	pid, parent, group int
	name               string
}

func (m member) String() string { return fmt.Sprintf("process %d (%s)", m.pid, m.name) }

// parsePS reads lines of "pid ppid pgid stat comm" and leaves out zombies.
func parsePS(out []byte) map[int]member {
	table := map[int]member{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.HasPrefix(f[3], "Z") {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		group, err3 := strconv.Atoi(f[2])
		if err1 == nil && err2 == nil && err3 == nil {
			table[pid] = member{pid: pid, parent: parent, group: group, name: strings.Join(f[4:], " ")}
		}
	}
	return table
}
