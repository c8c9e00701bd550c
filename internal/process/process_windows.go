package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

type members struct{}

func (*members) begin(int) {}

// alive knows only the program itself.
func (p *Process) alive() []member {
	if p.hasExited() {
		return nil
	}
	return []member{{pid: p.cmd.Process.Pid, name: p.cmd.Path}}
}

// signal ends the tree at once when kill is set; there is no polite way to end a program without a window.
func (p *Process) signal(_ []member, kill bool) {
	if !kill {
		return
	}
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.cmd.Process.Pid)).Run() != nil {
		_ = p.cmd.Process.Kill()
	}
}

func describe(s *os.ProcessState) string { return fmt.Sprintf("exit status %d", s.ExitCode()) }

// KilledBy is 0: there are no signals.
func (e Exit) KilledBy() int { return 0 }
