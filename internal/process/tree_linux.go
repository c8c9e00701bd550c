package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kthreadd is the parent of the kernel's own threads, which have no environment.
const kthreadd = 2

// A member is a live process of a tree. Start, in clock ticks since boot, tells it from a later process of the same id.
type member struct {
	pid, parent, group int
	start              uint64
	name               string
}

func (m member) String() string { return fmt.Sprintf("process %d (%s)", m.pid, m.name) }

// members are the processes of a tree that were ever seen, by id, with their start: their children belong to it too.
type members struct {
	mu    sync.Mutex
	first uint64 // the program's own start: nothing that is older belongs to its tree
	seen  map[int]uint64
}

func (k *members) begin(pid int) {
	k.seen = map[int]uint64{}
	if m, ok := readStat(pid); ok {
		k.first = m.start
		k.seen[pid] = m.start
	}
}

// alive is every live process of the tree.
func (p *Process) alive() []member {
	k := &p.known
	k.mu.Lock()
	defer k.mu.Unlock()
	leader := p.cmd.Process.Pid
	table := processes(k.first)
	in := map[int]bool{}
	var belongs func(m member, depth int) bool
	belongs = func(m member, depth int) bool {
		if known, done := in[m.pid]; done {
			return known
		}
		start, seen := k.seen[m.pid]
		yes := seen && start == m.start || m.group == leader ||
			m.parent != kthreadd && marked(m.pid, p.token)
		if !yes && depth < 1000 {
			if parent, ok := table[m.parent]; ok {
				yes = belongs(parent, depth+1)
			}
		}
		in[m.pid] = yes
		return yes
	}
	var list []member
	for _, m := range table {
		if belongs(m, 0) {
			k.seen[m.pid] = m.start
			list = append(list, m)
		}
	}
	if !in[leader] && !p.hasExited() {
		// Its main thread has ended but others run, or there is no /proc.
		list = append(list, member{pid: leader, group: leader, name: p.cmd.Path})
	}
	return list
}

// processes are the live processes that started at or after a time, by id. Without a /proc there are none, and only the
// process group is ended.
func processes(since uint64) map[int]member {
	table := map[int]member{}
	dir, err := os.Open("/proc")
	if err != nil {
		return table
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if m, ok := readStat(pid); ok && m.start >= since {
			table[pid] = m
		}
	}
	return table
}

// readStat reads one line of the process table; a zombie counts as gone.
func readStat(pid int) (member, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return member{}, false
	}
	return parseStat(b)
}

// parseStat reads "pid (name) state ppid pgrp … starttime …"; the name may hold spaces and parentheses. See proc(5).
func parseStat(b []byte) (member, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return member{}, false
	}
	f := bytes.Fields(b[end+1:])
	if len(f) < 20 || len(f[0]) != 1 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return member{}, false
	}
	m := member{name: string(b[open+1 : end])}
	var err [4]error
	m.pid, err[0] = strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	m.parent, err[1] = strconv.Atoi(string(f[1]))
	m.group, err[2] = strconv.Atoi(string(f[2]))
	m.start, err[3] = strconv.ParseUint(string(f[19]), 10, 64)
	return m, err == [4]error{}
}

// marked reports whether the environment that a process started with holds the token. In the middle of an exec a process
// seems to have none, so an empty one is looked at again.
func marked(pid int, token string) bool {
	for range 4 {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || len(b) > 0 {
			return err == nil && bytes.Contains(b, []byte(token))
		}
		time.Sleep(500 * time.Microsecond)
	}
	return false
}

// signal sends SIGTERM or SIGKILL to the group and to each process.
func (p *Process) signal(list []member, kill bool) {
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	_ = unix.Kill(-p.cmd.Process.Pid, sig) // an empty group is no trouble
	for _, m := range list {
		if m.group != p.cmd.Process.Pid {
			m.send(sig)
		}
	}
}

// send signals m and nothing else: the descriptor pins the process while its start is compared once more.
func (m member) send(sig unix.Signal) {
	fd, err := unix.PidfdOpen(m.pid, 0)
	if err != nil {
		if err == unix.ENOSYS { // before Linux 5.3
			_ = unix.Kill(m.pid, sig)
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := readStat(m.pid); ok && now.start == m.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}
