package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// A Home is the private folder of one run, so that a run finds nothing of an earlier one and nothing of the user.
type Home struct {
	// Root holds the other three, which start empty.
	Root, Home, Work, Tmp string
}

// NewHome makes a Home in the system's folder for temporary files, open to nobody else.
func NewHome() (*Home, error) {
	sweepOnce.Do(sweep)
	root, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", homePrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	in := func(name string) string { return filepath.Join(root, name) }
	h := &Home{Root: root, Home: in("home"), Work: in("work"), Tmp: in("tmp")}
	for _, dir := range []string{h.Home, h.Work, h.Tmp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, h.Remove())
		}
	}
	return h, nil
}

const homePrefix = "tooleval-run-"

var sweepOnce sync.Once

// sweep removes the homes of harnesses that were killed: their names say which process made them. They may hold keys.
func sweep() {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return // then there is nothing that could be removed
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), homePrefix)
		number, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if ours && err == nil && e.IsDir() && !alive(pid) {
			h := &Home{Root: filepath.Join(os.TempDir(), e.Name())}
			_ = h.Remove() // another user's stays
		}
	}
}

// inherited are the variables that a program gets from the harness's environment; nothing else of it is handed on.
var inherited = map[bool][]string{
	false: {"PATH"},
	true:  {"PATH", "PATHEXT", "SystemRoot", "ComSpec"}, // nothing starts on Windows without SystemRoot
}

// Env is the environment of a program in h: the harness's PATH, HOME and TMPDIR inside h, LANG=C.UTF-8, TERM=dumb, and
// extra. An extra NAME=value sets a variable, one of the above too; a NAME alone hands over the harness's own variable
// if it is set.
func (h *Home) Env(extra []string) []string {
	windows := runtime.GOOS == "windows"
	var env []string
	for _, name := range inherited[windows] {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "HOME="+h.Home, "TMPDIR="+h.Tmp, "LANG=C.UTF-8", "TERM=dumb")
	if windows {
		env = append(env, "USERPROFILE="+h.Home, "TEMP="+h.Tmp, "TMP="+h.Tmp)
	}
	for _, e := range extra {
		if !strings.Contains(e, "=") {
			v, ok := os.LookupEnv(e)
			if !ok {
				continue
			}
			e += "=" + v
		}
		env = append(env, e)
	}
	return env
}

// Remove removes the folder and all in it, also what a program made unreadable.
func (h *Home) Remove() error {
	if os.RemoveAll(h.Root) == nil {
		return nil
	}
	_ = filepath.WalkDir(h.Root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // before WalkDir reads it
		}
		return nil
	})
	return os.RemoveAll(h.Root)
}
