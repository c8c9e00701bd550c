//go:build unix

package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// alive reports whether there is a process of this number; in doubt there is.
func alive(pid int) bool { return pid <= 0 || !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
