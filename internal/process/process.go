package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// mark is the environment variable by which a process is known as part of a tree.
	mark = "TOOLEVAL_RUN_TOKEN"
	// killWait bounds the time from SIGKILL to the end of the tree.
	killWait = 500 * time.Millisecond
	// pipeWait bounds the time for what is still in a pipe once the tree is gone; only an escaped process keeps one
	// open.
	pipeWait = 100 * time.Millisecond
)

// A Spec says what to start.
type Spec struct {
	// Command is the program and its arguments. A name without a slash is looked up in the PATH of Env; a relative path
	// is taken from the harness's own folder, whatever Dir is.
	Command []string
	// Dir is the folder that the program starts in; empty stands for the harness's own.
	Dir string
	// Env is the whole environment, as NAME=value; of a name that occurs twice the last one counts. One variable with a
	// random mark is added.
	Env []string
	// Stdin asks for a pipe to the program; otherwise it reads end of file.
	Stdin bool
	// Stdout and Stderr take what the program writes. Without a Stdout there is a pipe, which the caller must read;
	// without a Stderr it is dropped. They are not used after Stop.
	Stdout, Stderr io.Writer
}

// A Process is a started program. Its methods may be used concurrently.
type Process struct {
	// Stdin is the pipe to the program; nil if none was asked for.
	Stdin *os.File
	// Stdout is the pipe from the program; nil if Spec.Stdout takes the output. Stop makes reads of it end.
	Stdout *os.File

	cmd    *exec.Cmd
	token  string
	exited chan struct{}
	copies sync.WaitGroup
	pipes  []*os.File // the read ends, to be closed at the end
	known  members

	stop sync.Once
	exit Exit
}

// An Exit says how a tree ended.
type Exit struct {
	// State is the program's exit status.
	State *os.ProcessState
	// Alone reports whether the program exited before it was sent a signal.
	Alone bool
	// Killed reports whether SIGKILL was needed for any process of the tree.
	Killed bool
	// Strays counts the processes that the program left behind when it had exited.
	Strays int
	// Left names the processes that are still there; empty when the tree is gone.
	Left []string
}

// String is the program's exit status in words.
func (e Exit) String() string {
	if e.State == nil {
		return "unknown exit status"
	}
	return describe(e.State)
}

// Start starts a program. The error of a program that can't be started says what was looked for and where.
func Start(spec Spec) (*Process, error) {
	if len(spec.Command) == 0 || spec.Command[0] == "" {
		return nil, errors.New("the command is empty")
	}
	path, err := Find(spec.Command[0], spec.Env)
	if err != nil {
		return nil, err
	}
	if spec.Dir != "" {
		if info, err := os.Stat(spec.Dir); err != nil {
			return nil, fmt.Errorf("the folder to start in: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("the folder to start in, %s, is not a folder", spec.Dir)
		}
	}
	p := &Process{token: rand.Text(), exited: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: path, Args: spec.Command, Dir: spec.Dir, SysProcAttr: attributes()}
	// A harness inside an agent's tree passes the outer mark on, so that the outer harness finds this tree too.
	p.cmd.Env = append(append([]string{}, spec.Env...), mark+"="+os.Getenv(mark)+"."+p.token)

	var theirs []*os.File // closed here once the program has them
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	output := func(to io.Writer) (ours, child *os.File, err error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		theirs, p.pipes = append(theirs, w), append(p.pipes, r)
		if to != nil {
			p.copies.Go(func() { copyAll(to, r) })
		}
		return r, w, nil
	}
	fail := func(err error) (*Process, error) {
		for _, f := range theirs {
			f.Close()
		}
		p.closePipes()
		return nil, err
	}
	if spec.Stdin {
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		theirs, p.Stdin, p.cmd.Stdin = append(theirs, r), w, r
	}
	ours, child, err := output(spec.Stdout)
	if err != nil {
		return fail(err)
	}
	p.cmd.Stdout = child
	if spec.Stdout == nil {
		p.Stdout = ours
	}
	if spec.Stderr != nil {
		if _, child, err = output(spec.Stderr); err != nil {
			return fail(err)
		}
		p.cmd.Stderr = child
	}
	if err := p.launch(); err != nil {
		return fail(startError(path, err))
	}
	p.known.begin(p.cmd.Process.Pid)
	return p, nil
}

// copyAll reads to the end, whatever the writer says: the program must never block on its output.
func copyAll(to io.Writer, from io.Reader) {
	if _, err := io.Copy(to, from); err != nil {
		_, _ = io.Copy(io.Discard, from)
	}
}

// startError says more than "no such file" about a file that is there.
func startError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there, but the interpreter in its first line is not: %w", path, err)
	}
	return fmt.Errorf("%s can't be started: %w", path, err)
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the program itself has exited; what it started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Stop ends the tree and returns when it is gone. The program gets alone to exit by itself; then every process left
// gets SIGTERM, and SIGKILL after grace. Stop takes at most alone + grace + 1 s. It closes Stdin, and reads of Stdout
// end. Every call gives the same Exit; only the first one's times count.
func (p *Process) Stop(alone, grace time.Duration) Exit {
	p.stop.Do(func() { p.exit = p.end(alone, grace) })
	return p.exit
}

func (p *Process) end(alone, grace time.Duration) Exit {
	p.alive() // before the program exits: now its descendants are still attached to it
	exit := Exit{Alone: p.exitsWithin(alone)}
	left := p.alive()
	if len(left) == 0 {
		left = p.alive() // a fork can hide from one look through the process table, not from two
	}
	if exit.Alone {
		exit.Strays = len(left)
	}
	if len(left) > 0 {
		p.signal(left, false)
		left = p.waitGone(grace, false)
	}
	if len(left) > 0 {
		exit.Killed = true
		left = p.waitGone(killWait, true)
	}
	for _, m := range left {
		exit.Left = append(exit.Left, m.String())
	}
	if p.Stdin != nil {
		p.Stdin.Close()
	}
	if p.exitsWithin(pipeWait) {
		exit.State = p.reap()
	}
	p.endReads()
	return exit
}

// waitGone waits until nothing is left of the tree and returns what is. With kill it sends SIGKILL again and again,
// since a process may have been forked while the others were being killed.
func (p *Process) waitGone(limit time.Duration, kill bool) []member {
	deadline := time.Now().Add(limit)
	pause := time.Millisecond
	empty := 0
	for {
		left := p.alive()
		if len(left) == 0 {
			if empty++; empty == 2 {
				return nil
			}
			continue
		}
		empty = 0
		if time.Now().After(deadline) {
			return left
		}
		if kill {
			p.signal(left, true)
		}
		time.Sleep(min(pause, time.Until(deadline)+time.Millisecond))
		pause = min(2*pause, 40*time.Millisecond)
	}
}

func (p *Process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *Process) exitsWithin(d time.Duration) bool {
	if p.hasExited() {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// endReads gives readers of the pipes a moment for what is still in them and then makes their reads fail.
func (p *Process) endReads() {
	done := make(chan struct{})
	go func() { p.copies.Wait(); close(done) }()
	for _, r := range p.pipes {
		if r.SetReadDeadline(time.Now().Add(pipeWait)) != nil { // no deadlines on this system's pipes
			time.AfterFunc(pipeWait, func() { r.Close() })
		}
	}
	<-done
}

// Close releases the pipes. It is called after Stop, once Stdout has been read to its end.
func (p *Process) Close() { p.closePipes() }

func (p *Process) closePipes() {
	for _, r := range p.pipes {
		r.Close()
	}
	if p.Stdin != nil {
		p.Stdin.Close()
	}
}
