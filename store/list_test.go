package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// results is a folder with three evals, one bad one and something else.
func results(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, id := range []string{"20261201T111836Z-calc-aaaaaa", "20261201T111836Z-calc-bbbbbb",
		"20261202T000000Z-jobs-cccccc"} {
		h := header("a")
		h.ID, h.Started = id, started.Add(time.Duration(i)*time.Hour)
		e, err := Create(dir, h, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range i {
			put(t, e, sampleRun("a", j))
		}
		e.Close()
	}
	write(t, filepath.Join(dir, "broken", headerName), "{")
	write(t, filepath.Join(dir, "headless", runsDir, "x.json"), "{}")
	write(t, filepath.Join(dir, "elsewhere", "notes.txt"), "")
	write(t, filepath.Join(dir, "file.json"), "")
	return dir
}

func TestList(t *testing.T) {
	dir := results(t)
	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		id    string
		files int
		bad   bool
	}{{"broken", 0, true}, {"headless", 1, true}, {"20261201T111836Z-calc-aaaaaa", 0, false},
		{"20261201T111836Z-calc-bbbbbb", 1, false},
		{"20261202T000000Z-jobs-cccccc", 2, false}}
	if len(list) != len(want) {
		t.Fatalf("got %+v", list)
	}
	for i, w := range want {
		if s := list[i]; s.ID != w.id || s.Files != w.files || (s.Err != nil) != w.bad || s.Path != filepath.Join(dir, w.id) {
			t.Errorf("got %+v, want %+v", s, w)
		}
	}
	if list, err := List(filepath.Join(dir, "none")); list != nil || err != nil {
		t.Errorf("no folder: %v, %v", list, err)
	}
	_, err = List(filepath.Join(dir, "file.json"))
	wantError(t, err, "file.json")
}

func TestFind(t *testing.T) {
	dir := results(t)
	os.Rename(filepath.Join(dir, "20261201T111836Z-calc-aaaaaa"), filepath.Join(dir, "first"))
	outside := filepath.Join(t.TempDir(), "copy")
	os.CopyFS(outside, os.DirFS(filepath.Join(dir, "first")))
	jobs := "20261202T000000Z-jobs-cccccc"
	for name, want := range map[string]string{
		"latest": filepath.Join(dir, jobs), jobs: filepath.Join(dir, jobs), "20261202": filepath.Join(dir, jobs),
		"cccccc": filepath.Join(dir, jobs),
		"first":  filepath.Join(dir, "first"), "20261201T111836Z-calc-aaaaaa": filepath.Join(dir, "first"),
		outside: outside, filepath.Join(outside, headerName): outside, filepath.Join(dir, jobs): filepath.Join(dir, jobs),
		"broken": filepath.Join(dir, "broken"),
	} {
		if got, err := Find(dir, name); got != want || err != nil {
			t.Errorf("Find(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for name, parts := range map[string][]string{
		"20261202T000000Z-jobs-cccccd": {`no eval "20261202T000000Z-jobs-cccccd"`, "did you mean", jobs},
		"lastest":                      {`did you mean "latest"?`},
		"2026":                         {"any of 3", jobs},
		"":                             {"latest"},
		"zzz":                          {`no eval "zzz" in ` + dir},
	} {
		_, err := Find(dir, name)
		wantError(t, err, parts...)
	}
	_, err := Find(t.TempDir(), "latest")
	wantError(t, err, "there are no evals")
	_, err = Find(t.TempDir(), "x")
	wantError(t, err, "there are none")
}
