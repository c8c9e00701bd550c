//go:build unix && !linux

package process

import (
	"os/exec"
	"sync"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// members are the processes of a tree that were ever seen: their children belong to it too.
type members struct {
	mu   sync.Mutex
	seen map[int]bool
}

func (k *members) begin(pid int) { k.seen = map[int]bool{pid: true} }

// alive is every live process of the tree, as ps tells it.
func (p *Process) alive() []member {
	out, err := exec.Command("/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,comm=").Output()
	if err != nil {
		return nil
	}
	k := &p.known
	k.mu.Lock()
	defer k.mu.Unlock()
	leader := p.cmd.Process.Pid
	if p.hasExited() {
		delete(k.seen, leader) // its id may be another's by now
	}
	table := parsePS(out)
	var list []member
	for grown := true; grown; {
		grown = false
		for pid, m := range table {
			if k.seen[pid] || m.group == leader || k.seen[m.parent] {
				k.seen[pid] = true
				list = append(list, m)
				delete(table, pid)
				grown = true
			}
		}
	}
	return list
}

// signal sends SIGTERM or SIGKILL to the group and to each process.
func (p *Process) signal(list []member, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, sig) // an empty group is no trouble
	for _, m := range list {
		if m.group != p.cmd.Process.Pid {
			_ = syscall.Kill(m.pid, sig)
		}
	}
}
