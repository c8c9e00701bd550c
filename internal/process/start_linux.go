package process

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// launch starts the program on a thread that is kept until the program has exited: the parent-death signal comes when
// the thread dies that started the program, not when the harness does.
//
// The exit is awaited without reaping. As long as the program is a zombie, neither its process id nor its group's can
// be given to a stranger, so signals to them are safe.
func (p *Process) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := p.cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
		close(p.exited)
	}()
	return <-started
}

// reap collects the exit status. Nothing may be sent to the program or its group after it, so the group is killed once
// more, for a system without /proc.
func (p *Process) reap() *os.ProcessState {
	_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	_ = p.cmd.Wait() // the status is in the state
	return p.cmd.ProcessState
}
