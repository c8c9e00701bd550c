//go:build unix

package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// childEnv names the eval that the test binary, started again as a child, writes into until it is killed.
const childEnv = "TOOLEVAL_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		putForever(path)
	}
	os.Exit(m.Run())
}

// putForever prints the name of each run when it is stored.
func putForever(path string) {
	e, err := Reopen(path, Options{})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	writers(1<<30, func(i int) {
		run := sampleRun("a", i)
		run.Result.Response += "x"
		name, err := e.Put(run)
		if err != nil {
			name = "error: " + err.Error()
		}
		os.Stdout.WriteString(name + "\n")
	})
}

// child starts a child that writes into an eval; the result reads what it has stored.
func child(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

func TestE14KillLosesOnlyWhatIsInFlight(t *testing.T) {
	e := create(t, header("a"), Options{})
	e.Close()
	stored := map[string]bool{}
	for round := range 5 {
		cmd, lines := child(t, e.Path())
		for n := 0; n < 20+7*round && lines.Scan(); n++ {
			stored[lines.Text()] = true
		}
		_, err := Reopen(e.Path(), Options{})
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint("process ", cmd.Process.Pid)) {
			t.Errorf("while the child writes: %v", err)
		}
		cmd.Process.Kill()
		for lines.Scan() { // what it had stored before it was killed
			stored[lines.Text()] = true
		}
		cmd.Wait()
		// A reader needs nothing repaired: every file is whole.
		got, bad := collect(mustOpen(t, e.Path()).Runs())
		if bad != nil || len(got) < len(stored) {
			t.Fatalf("%d runs are there, %d were stored, %v", len(got), len(stored), bad)
		}
		for name := range stored {
			if _, err := ReadRun(filepath.Join(e.Path(), name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	again, err := Reopen(e.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, entry := range must(os.ReadDir(filepath.Join(e.Path(), runsDir))) {
		if isTemp(entry.Name()) {
			t.Errorf("%s was left", entry.Name())
		}
	}
	put(t, again, sampleRun("a", 0))
}

func TestL01TwoProcesses(t *testing.T) {
	e := create(t, header("a"), Options{})
	// The child is locked out by this process.
	_, lines := child(t, e.Path())
	if lines.Scan(); !strings.Contains(lines.Text(), fmt.Sprint("error: eval ", e.Path(),
		": another process is writing into it: process ", os.Getpid())) {
		t.Errorf("the child says %q", lines.Text())
	}
	put(t, e, sampleRun("a", 0))
	e.Close()
	// And this process by the child, until that is gone.
	cmd, lines := child(t, e.Path())
	lines.Scan()
	if _, err := Reopen(e.Path(), Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	deadline := time.Now().Add(5 * time.Second)
	for {
		again, err := Reopen(e.Path(), Options{})
		if err == nil {
			again.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
