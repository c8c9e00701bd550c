package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tooleval/tooleval"
)

// smallDisk is a file system of 256 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("mounting a small file system needs root: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestL01FullDisk(t *testing.T) {
	dir := smallDisk(t)
	e, err := Create(dir, header("a"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for ; stored < 100; stored++ {
		run := sampleRun("a", stored)
		run.Result.Response = tooleval.Text(strings.Repeat("x", 20_000))
		if _, err = e.Put(run); err != nil {
			break
		}
	}
	wantError(t, err, "the disk is full: free space and run again with --resume "+e.Path(), filepath.Join(e.Path(),
		runsDir))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v is not ENOSPC", err)
	}
	for _, entry := range must(os.ReadDir(filepath.Join(e.Path(), runsDir))) {
		if isTemp(entry.Name()) {
			t.Errorf("%s takes space", entry.Name())
		}
	}
	got, bad := collect(mustOpen(t, e.Path()).Runs())
	if len(got) != stored || stored == 0 || bad != nil {
		t.Errorf("%d runs are there, %d were stored, %v", len(got), stored, bad)
	}
	// With space again, the same Put succeeds.
	os.Remove(put1(t, e.Path()))
	put(t, e, sampleRun("a", stored))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// put1 is some file of a run.
func put1(t *testing.T, path string) string {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(path, runsDir, "*.json"))
	if len(names) == 0 {
		t.Fatal("there are no runs")
	}
	return names[0]
}

func TestL01FullDiskAtTheStart(t *testing.T) {
	dir := smallDisk(t)
	ballast := filepath.Join(dir, "ballast")
	os.WriteFile(ballast, make([]byte, 1<<20), 0o644)
	_, err := Create(dir, header("a"), Options{})
	wantError(t, err, "the disk is full: free space and run again")
	os.Remove(ballast)
	e, err := Create(dir, header("a"), Options{})
	if err != nil {
		t.Fatalf("what the first try left is in the way: %v", err)
	}
	e.Close()
}

func TestReadOnlyFolder(t *testing.T) {
	dir := smallDisk(t)
	e, err := Create(dir, header("a"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, e, sampleRun("a", 0))
	e.Close()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("no read-only file system: ", err)
	}
	_, err = Reopen(e.Path(), Options{})
	wantError(t, err, e.Path(), "can't be written to")
	other := header("a")
	other.ID = "other"
	_, err = Create(dir, other, Options{})
	wantError(t, err, dir, "can't be written to", "name another results folder")
	if got, bad := collect(mustOpen(t, e.Path()).Runs()); len(got) != 1 || bad != nil {
		t.Errorf("reading: %v, %v", got, bad)
	}
}

// The same without root, where the mode of a folder counts.
func TestFolderWithoutPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere; see TestReadOnlyFolder")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o555)
	_, err := Create(dir, header("a"), Options{})
	wantError(t, err, dir, "can't be written to")
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v is not fs.ErrPermission", err)
	}
}
