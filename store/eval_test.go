package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

func TestNewID(t *testing.T) {
	now := time.Date(2026, 12, 1, 13, 18, 36, 0, time.FixedZone("", 2*3600))
	for suite, want := range map[string]string{"calc": "calc", "Job Search/2": "job-search-2", "": "eval", "🙈": "eval",
		"../..":                  "eval",
		strings.Repeat("x", 500): strings.Repeat("x", 40)} {
		got := NewID(suite, now)
		if !regexp.MustCompile(`^20261201T111836Z-` + want + `-[0-9a-f]{6}$`).MatchString(got) {
			t.Errorf("NewID(%.20q) = %q", suite, got)
		}
		if FileName(strings.ToLower(got)) != strings.ToLower(got) {
			t.Errorf("%q is no folder name", got)
		}
	}
	if NewID("a", now) == NewID("a", now) {
		t.Error("two ids are the same")
	}
}

func TestCreateWritesTheHeader(t *testing.T) {
	h := header("b", "a")
	h.Options = map[string]string{"runs": "3"}
	e := create(t, h, Options{})
	h.SchemaVersion = tooleval.SchemaVersion
	if diff := cmp.Diff(h, mustOpen(t, e.Path()).Header()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(h, e.Header()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(h, mustOpen(t, filepath.Join(e.Path(), "eval.json")).Header()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateErrors(t *testing.T) {
	results := t.TempDir()
	e, err := Create(results, header("a"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = Create(results, header("a"), Options{})
	wantError(t, err, "exists", "go on with it by --resume ")
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v is not fs.ErrExist", err)
	}
	file := filepath.Join(results, "file")
	write(t, file, "")
	_, err = Create(file, header("a"), Options{})
	wantError(t, err, file, "is a file")
	for _, id := range []string{"..", "a/b", "a b", "con", "é", ".x", strings.Repeat("x", 101)} {
		_, err = Create(results, tooleval.Eval{ID: id}, Options{})
		wantError(t, err, "is not the name of a folder")
	}
	fresh, err := Create(results, tooleval.Eval{Suite: "calc"}, Options{})
	if err != nil || !strings.Contains(fresh.Header().ID, "-calc-") {
		t.Errorf("an eval without an id: %v", err)
	}
	fresh.Close()
	_, err = Reopen(filepath.Join(results, "nowhere"), Options{})
	wantError(t, err, "nowhere")
	_, err = Reopen(results, Options{})
	wantError(t, err, "is no eval", "eval.json")
}

func TestPutNeverOverwrites(t *testing.T) {
	e := create(t, header("calc.add"), Options{})
	run := sampleRun("calc.add", 0)
	first := put(t, e, run)
	before := read(t, first)
	names := map[string]bool{filepath.Base(first): true}
	for range 3 {
		run.Result.Response += "!"
		names[filepath.Base(put(t, e, run))] = true
	}
	if len(names) != 4 || !names["calc.add.0.20261201T111836123Z-4.json"] {
		t.Errorf("names %v", names)
	}
	if read(t, first) != before {
		t.Error("the first file was changed")
	}
	for _, name := range must(os.ReadDir(filepath.Join(e.Path(), runsDir))) {
		if isTemp(name.Name()) {
			t.Errorf("%s was left", name.Name())
		}
	}
}

// Where there are no hard links the same promise is kept another way.
func TestPutWithoutHardLinks(t *testing.T) {
	e := create(t, header("a"), Options{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			temp, err := e.runs.writeTemp(fmt.Append(nil, i))
			if err == nil {
				_, err = e.runs.place(temp, "same", ".json", e.runs.rename)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, entry := range must(os.ReadDir(filepath.Join(e.Path(), runsDir))) {
		seen[read(t, filepath.Join(e.Path(), runsDir, entry.Name()))] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d of 20 files are left", len(seen))
	}
}

func TestPutConcurrently(t *testing.T) {
	e := create(t, header("calc.add"), Options{Secrets: []Secret{{"K", "the total is"}}})
	const n = 200
	took := writers(n, func(i int) { put(t, e, sampleRun("calc.add", i%50)) })
	t.Logf("%d runs in %v", n, took)
	got, bad := collect(mustOpen(t, e.Path()).Runs())
	if len(got) != n || bad != nil {
		t.Errorf("%d runs of %d, %v", len(got), n, bad)
	}
	if latest, _ := collect(Latest(mustOpen(t, e.Path()).Runs())); len(latest) != 50 {
		t.Errorf("%d samples of 50", len(latest))
	}
}

func TestPutRefuses(t *testing.T) {
	e := create(t, header("a"), Options{})
	_, err := e.Put(nil)
	wantError(t, err, "no run")
	other := sampleRun("a", 0)
	other.Eval = "another"
	_, err = e.Put(other)
	wantError(t, err, `belongs to eval "another"`)
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	_, err = e.Put(sampleRun("a", 0))
	if wantError(t, err, `task "a", run 0`); !errors.Is(err, ErrClosed) {
		t.Errorf("%v is not ErrClosed", err)
	}
}

// Close waits for what is under way: whatever Put has accepted is there.
func TestCloseWhilePutting(t *testing.T) {
	e := create(t, header("a"), Options{})
	var mu sync.Mutex
	stored := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				_, err := e.Put(sampleRun("a", i))
				if err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					stored++
					mu.Unlock()
				}
			}
		})
	}
	time.Sleep(5 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if got, bad := collect(mustOpen(t, e.Path()).Runs()); len(got) != stored || bad != nil {
		t.Errorf("%d runs are there, %d were stored, %v", len(got), stored, bad)
	}
}

func TestL01OneWriterAtATime(t *testing.T) {
	e := create(t, header("a"), Options{})
	_, err := Reopen(e.Path(), Options{})
	wantError(t, err, "another process is writing into it", fmt.Sprint("process ", os.Getpid(), " on "))
	if !errors.Is(err, ErrLocked) {
		t.Errorf("%v is not ErrLocked", err)
	}
	mustOpen(t, e.Path()) // readers are not locked out
	e.Close()
	if _, err := os.Stat(filepath.Join(e.Path(), lockName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file is left: %v", err)
	}
	again, err := Reopen(filepath.Join(e.Path(), headerName), Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, again, sampleRun("a", 0))
	again.Close()
}

func TestReopenSweepsTemporaryFiles(t *testing.T) {
	e := create(t, header("a"), Options{})
	kept := put(t, e, sampleRun("a", 0))
	e.Close()
	half := filepath.Join(e.Path(), runsDir, ".put-1-1.tmp")
	write(t, half, `{"schema_ver`)
	header := filepath.Join(e.Path(), ".put-1-2.tmp")
	write(t, header, "")
	write(t, filepath.Join(e.Path(), runsDir, "notes.tmp"), "a person's")
	write(t, filepath.Join(e.Path(), lockName), "left by a process that was killed")
	if got, bad := collect(mustOpen(t, e.Path()).Runs()); len(got) != 1 || bad != nil {
		t.Errorf("a reader sees %v, %v", got, bad)
	}
	again, err := Reopen(e.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary file is left: %v", err)
	}
	if _, err := os.Stat(header); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary header is left: %v", err)
	}
	read(t, kept)
	read(t, filepath.Join(e.Path(), runsDir, "notes.tmp"))
	if diff := cmp.Diff(e.Header(), again.Header()); diff != "" {
		t.Error(diff)
	}
}

// A folder from elsewhere must not lead a writer out of it.
func TestHostileLinksWhenWriting(t *testing.T) {
	outside := t.TempDir()
	e := create(t, header("a"), Options{})
	e.Close()
	precious := filepath.Join(outside, "precious")
	write(t, precious, "keep me")
	if err := os.Symlink(precious, filepath.Join(e.Path(), lockName)); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if again, err := Reopen(e.Path(), Options{}); err == nil {
		again.Close()
		t.Error("a link for a lock was taken")
	}
	if read(t, precious) != "keep me" {
		t.Error("the lock was written through the link")
	}
	os.Remove(filepath.Join(e.Path(), lockName))
	os.Remove(filepath.Join(e.Path(), runsDir))
	os.Symlink(outside, filepath.Join(e.Path(), runsDir))
	if again, err := Reopen(e.Path(), Options{}); err == nil {
		again.Close()
		t.Error("a link for the runs folder was taken")
	}
}

func TestSetHeaderIsRedactedAndLeavesNothing(t *testing.T) {
	e := create(t, header("a"), Options{Secrets: []Secret{{"KEY", "canary-value"}}})
	h := header("a", "b")
	h.Runs, h.Options = 5, map[string]string{"x": "canary-value"}
	if err := e.SetHeader(h); err != nil {
		t.Fatal(err)
	}
	h.SchemaVersion, h.Options = tooleval.SchemaVersion, map[string]string{"x": "[redacted:KEY]"}
	for _, got := range []tooleval.Eval{e.Header(), mustOpen(t, e.Path()).Header()} {
		if diff := cmp.Diff(h, got); diff != "" {
			t.Error(diff)
		}
	}
	e.Close()
	if err := e.SetHeader(h); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if entries := must(os.ReadDir(e.Path())); len(entries) != 3 {
		t.Errorf("the folder holds %v", entries)
	}
}
