//go:build unix

package process

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary a harness that is killed, when asked to.
func TestMain(m *testing.M) {
	if os.Getenv("PROCESS_TEST_HARNESS") != "" {
		p, err := Start(Spec{Command: []string{"sleep", "60"}, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil {
			panic(err)
		}
		runtime.GC()
		fmt.Println(p.PID())
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, script string) (*Process, *bufio.Reader) {
	t.Helper()
	p, err := Start(Spec{Command: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: testEnv(), Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0, 0); p.Close() })
	return p, bufio.NewReader(p.Stdout)
}

func testEnv() []string { return []string{"PATH=" + os.Getenv("PATH")} }

// readPID reads the process id that a script prints.
func readPID(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	if runtime.GOOS == "linux" {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, state, _ := strings.Cut(string(b), ") ")
		return !strings.HasPrefix(state, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}

func gone(t *testing.T, pid int) {
	t.Helper()
	if running(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d is still there", pid)
	}
}

func TestStopOfAProgramThatExits(t *testing.T) {
	p, r := start(t, "echo hi; exit 3")
	if line, _ := r.ReadString('\n'); line != "hi\n" {
		t.Errorf("read %q", line)
	}
	exit := p.Stop(5*time.Second, 0)
	if !exit.Alone || exit.Killed || exit.Strays != 0 || len(exit.Left) > 0 || exit.String() != "exit status 3" {
		t.Errorf("got %+v, %v", exit, exit)
	}
	if again := p.Stop(0, 0); again.State != exit.State {
		t.Error("a second Stop gives another Exit")
	}
}

// TestE04WholeTreeIsGone: a child that goes on writing must not outlive Stop.
func TestE04WholeTreeIsGone(t *testing.T) {
	dir := t.TempDir()
	p, r := start(t, `(while :; do date >`+dir+`/state; sleep 0.02; done) & echo $!; sleep 60`)
	child := readPID(t, r)
	exit := p.Stop(0, time.Second)
	if exit.Alone || len(exit.Left) > 0 {
		t.Errorf("got %+v", exit)
	}
	gone(t, child)
	before, _ := os.Stat(filepath.Join(dir, "state"))
	time.Sleep(100 * time.Millisecond)
	if after, _ := os.Stat(filepath.Join(dir, "state")); before != nil && after.ModTime() != before.ModTime() {
		t.Error("the child still writes")
	}
}

func TestE05Descendants(t *testing.T) {
	for _, c := range []struct {
		name, script string
		linux        bool // only the mark in the environment finds it
	}{
		{"background child", "sleep 60 & echo $!; sleep 60", false},
		{"child of a program that exited", "sleep 60 & echo $!", false},
		{"setsid", `setsid sh -c 'echo $$; exec sleep 60' & sleep 60`, false},
		{"setsid, parent exited", `setsid sh -c 'echo $$; exec sleep 60' & exit 0`, true},
		{"setsid twice, parents exited", `setsid sh -c 'setsid sh -c "echo \$\$; exec sleep 60" & exit 0' & sleep 60`, true},
		{"setsid, environment cleared, parent alive", `setsid env -i sh -c 'echo $$; exec sleep 60' & sleep 60`, false},
		{"SIGTERM ignored", `trap "" TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & wait`, false},
		{"stopped", `sh -c 'echo $$; kill -STOP $$' & sleep 60`, false},
		{"name with parentheses", `cp "$(command -v sleep)" "./a) Z (b"; "./a) Z (b" 60 & echo $!; sleep 60`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); err != nil && strings.Contains(c.script, "setsid") {
				t.Skip("there is no setsid here")
			}
			if c.linux && runtime.GOOS != "linux" {
				t.Skip("such a process is found on Linux only")
			}
			p, r := start(t, c.script)
			pid := readPID(t, r)
			began := time.Now()
			exit := p.Stop(50*time.Millisecond, 300*time.Millisecond)
			if took := time.Since(began); took > 1300*time.Millisecond {
				t.Errorf("Stop took %v", took)
			}
			if len(exit.Left) > 0 {
				t.Errorf("left: %v", exit.Left)
			}
			gone(t, pid)
		})
	}
}

// TestStopCountsStrays: what a program leaves behind is told.
func TestStopCountsStrays(t *testing.T) {
	p, r := start(t, "sleep 60 & echo $!")
	pid := readPID(t, r)
	if exit := p.Stop(5*time.Second, 200*time.Millisecond); !exit.Alone || exit.Strays != 1 {
		t.Errorf("got %+v, want one stray", exit)
	}
	gone(t, pid)
}

func TestForkBombOfOrphans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the mark")
	}
	// Each process starts its successor in a new session and exits.
	p, r := start(t, `
echo 'sleep 0.01; setsid sh ./next & exit 0' >next
echo $$; setsid sh ./next & sleep 60`)
	readPID(t, r)
	time.Sleep(100 * time.Millisecond)
	if exit := p.Stop(0, 50*time.Millisecond); len(exit.Left) > 0 {
		t.Errorf("left: %v", exit.Left)
	}
	time.Sleep(30 * time.Millisecond)
	out, _ := exec.Command("grep", "-l", "-a", p.token, "-r", "/proc", "--include=environ", "-s").Output()
	if len(out) > 0 {
		t.Errorf("still there: %s", out)
	}
}

// TestEscapedProcessDoesNotHoldStop: the documented limit, a process that shed group, parent and environment, may live
// on with the pipe in its hands, but Stop returns and reads end.
func TestEscapedProcessDoesNotHoldStop(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid here")
	}
	out := &Capture{}
	p, err := Start(Spec{Command: []string{"sh", "-c", "setsid env -i sh -c 'echo $$; exec sleep 30' &"}, Env: testEnv(), Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	for out.Size() == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	exit := p.Stop(0, 0)
	if took := time.Since(began); took > 2*time.Second || !exit.Alone {
		t.Errorf("Stop took %v: %+v", took, exit)
	}
	p.Close()
	if pid, err := strconv.Atoi(strings.TrimSpace(out.String())); err != nil || pid <= 1 {
		t.Errorf("the escaped process is unknown: %q", out.String())
	} else if running(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestHarnessKilled: SIGKILL of the harness takes the program along.
func TestHarnessKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the parent-death signal is Linux's")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "PROCESS_TEST_HARNESS=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := readPID(t, bufio.NewReader(out))
	time.Sleep(50 * time.Millisecond)
	if !running(pid) {
		t.Error("the program died while the harness lived")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for end := time.Now().Add(5 * time.Second); running(pid) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	gone(t, pid)
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	broken := filepath.Join(dir, "broken")
	for path, mode := range map[string]fs.FileMode{plain: 0o600, broken: 0o700} {
		if err := os.WriteFile(path, []byte("#!/no/such/interpreter\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		command []string
		is      error
		say     []string
	}{
		{nil, nil, []string{"the command is empty"}},
		{[]string{"no-such-program"}, exec.ErrNotFound, []string{`"no-such-program"`, "PATH=" + dir}},
		{[]string{"./no/such"}, fs.ErrNotExist, []string{"/no/such"}},
		{[]string{dir}, fs.ErrPermission, []string{dir, "is a folder"}},
		{[]string{plain}, fs.ErrPermission, []string{plain, "chmod +x"}},
		{[]string{"plain"}, fs.ErrPermission, []string{plain, "chmod +x"}},
		{[]string{broken}, fs.ErrNotExist, []string{broken, "interpreter"}},
	} {
		_, err := Start(Spec{Command: c.command, Env: []string{"PATH=" + dir}})
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%q: got %v, want %v", c.command, err, c.is)
			continue
		}
		for _, say := range c.say {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%q: %q does not say %q", c.command, err, say)
			}
		}
	}
	if _, err := Start(Spec{Command: []string{"sh"}, Env: testEnv(), Dir: plain}); err == nil {
		t.Error("started in a file")
	}
}

// TestX04OnlyTheGivenEnvironment: nothing but the given variables and the mark reaches the program.
func TestX04OnlyTheGivenEnvironment(t *testing.T) {
	t.Setenv("CANARY_DATABASE_URL", "secret")
	t.Setenv("HANDED_OVER", "yes")
	home, err := NewHome()
	if err != nil {
		t.Fatal(err)
	}
	out := &Capture{}
	p, err := Start(Spec{Command: []string{"env"}, Dir: home.Work, Stdout: out,
		Env: home.Env([]string{"HANDED_OVER", "NOT_SET_ANYWHERE", "SET=1", "TERM=xterm"})})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop(5*time.Second, 0)
	p.Close()
	allowed := map[string]bool{"PATH": true, "HOME": true, "TMPDIR": true, "LANG": true, "TERM": true, "SET": true,
		"HANDED_OVER": true, mark: true, "PWD": true}
	for line := range strings.Lines(out.String()) {
		if name, _, _ := strings.Cut(line, "="); !allowed[name] {
			t.Errorf("the program got %q", line)
		}
	}
	for _, want := range []string{"HOME=" + home.Home + "\n", "TMPDIR=" + home.Tmp + "\n", "HANDED_OVER=yes\n", "SET=1\n",
		"TERM=xterm\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the program lacks %q in\n%s", want, out)
		}
	}
	// A folder that the program made unreadable goes as well.
	if err := os.MkdirAll(filepath.Join(home.Work, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(filepath.Join(home.Work, "a"), 0)
	if err := home.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home.Root); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	out := &Capture{Limits: Limits{Head: 100, Tail: 100}}
	p, err := Start(Spec{Command: []string{"sh", "-c", "yes | head -c 5000000; printf end"}, Env: testEnv(), Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	exit := p.Stop(10*time.Second, 0)
	p.Close()
	if out.Size() != 5_000_003 || len(out.String()) > 300 || !strings.HasSuffix(out.String(), "end") {
		t.Errorf("%v: kept %d of %d bytes", exit, len(out.String()), out.Size())
	}
}
