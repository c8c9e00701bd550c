package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSweep: the homes of a killed harness go, those of a living one stay.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skipf("no process could be run: %v", err)
	}
	stale := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-x", homePrefix, dead.Process.Pid))
	ours := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-x", homePrefix, os.Getpid()))
	odd := filepath.Join(os.TempDir(), homePrefix+"x")
	for _, dir := range []string{stale, ours, odd} {
		if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the home of a process that is gone is still there: %v", err)
	}
	for _, dir := range []string{ours, odd} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s is gone: %v", dir, err)
		}
	}
}
