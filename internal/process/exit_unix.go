//go:build unix

package process

import (
	"fmt"
	"os"
	"syscall"
)

func describe(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		core := ""
		if w.CoreDump() {
			core = ", core dumped"
		}
		return fmt.Sprintf("killed by signal %d (%v%s)", int(w.Signal()), w.Signal(), core)
	}
	return fmt.Sprintf("exit status %d", s.ExitCode())
}

// KilledBy is the number of the signal that ended the program; 0 when it exited.
func (e Exit) KilledBy() int {
	if e.State == nil {
		return 0
	}
	if w, ok := e.State.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}
