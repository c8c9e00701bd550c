package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

func TestRunsInTheOrderOfThePlan(t *testing.T) {
	h := header("z", "a")
	h.Minds = []string{"real", "scripted"}
	e := create(t, h, Options{})
	add := func(mind, task string, index, attempts int, started time.Time) {
		run := sampleRun(task, index)
		run.Mind, run.Provenance.Attempts, run.Started = mind, attempts, started
		put(t, e, run)
	}
	add("other", "a", 0, 0, started)
	add("scripted", "unplanned", 0, 0, started)
	add("scripted", "a", 10, 0, started)
	add("scripted", "a", 9, 1, started.Add(-time.Hour)) // a clock that went back
	add("scripted", "a", 9, 0, started)
	add("scripted", "z", 0, 0, started)
	add("real", "a", 0, 0, started)
	add("real", "a", 0, 2, started.Add(2*time.Hour))
	add("real", "a", 0, 1, started.Add(time.Hour))
	baseline := sampleRun("z", 0)
	baseline.Baseline = "random"
	put(t, e, baseline)
	baseline.Baseline = "do-nothing"
	name := put(t, e, baseline)
	if filepath.Base(filepath.Dir(name)) != baseDir || !strings.Contains(filepath.Base(name), "do-nothing") {
		t.Errorf("a baseline's run is %s", name)
	}
	r := mustOpen(t, e.Path())
	got, bad := collect(r.Runs())
	want := []string{"real/a.0#0", "real/a.0#1", "real/a.0#2", "scripted/z.0#0", "scripted/a.9#0", "scripted/a.9#1",
		"scripted/a.10#0",
		"scripted/unplanned.0#0", "other/a.0#0"}
	if diff := cmp.Diff(want, got); diff != "" || bad != nil {
		t.Error(diff, bad)
	}
	got, bad = collect(r.Baselines())
	if diff := cmp.Diff([]string{"do-nothingscripted/z.0#0", "randomscripted/z.0#0"}, got); diff != "" || bad != nil {
		t.Error(diff, bad)
	}
	seen := 0
	for f, err := range r.Files() {
		if again, readErr := ReadRun(f.Path); err != nil || readErr != nil || keyOf(again) != keyOf(f.Run) {
			t.Errorf("%s: %v, %v", f.Path, err, readErr)
		}
		seen++
	}
	if seen != 11 {
		t.Errorf("%d files of 11", seen)
	}
	for range r.Files() {
		break
	}
	for range r.Runs() { // a reader may stop
		break
	}
	for range Latest(r.Runs()) {
		break
	}
}

func TestT12LatestIsOneSample(t *testing.T) {
	e := create(t, header("a", "b"), Options{})
	for i, attempt := range []struct {
		task     string
		attempts int
		ending   tooleval.Ending
	}{{"a", 0, tooleval.TimedOut}, {"a", 1, tooleval.Errored}, {"a", 2, tooleval.Completed}, {"b", 0,
		tooleval.Completed}} {
		run := sampleRun(attempt.task, 0)
		run.Provenance.Attempts, run.Ending, run.Started = attempt.attempts, attempt.ending,
			started.Add(time.Duration(i)*time.Second)
		put(t, e, run)
	}
	r := mustOpen(t, e.Path())
	if got, _ := collect(Latest(r.Runs())); !reflect.DeepEqual(got, []string{"scripted/a.0#2", "scripted/b.0#0"}) {
		t.Errorf("got %v", got)
	}
	// When the newest can't be read, the one before counts, and the trouble is seen.
	names, _ := filepath.Glob(filepath.Join(e.Path(), runsDir, "a.0.*38*"))
	data := read(t, names[0])
	write(t, names[0], data[:len(data)-20])
	got, bad := collect(Latest(r.Runs()))
	if !reflect.DeepEqual(got, []string{"scripted/a.0#1", "scripted/b.0#0"}) || len(bad) != 1 {
		t.Errorf("got %v, %v", got, bad)
	}
}

func TestL01BadFilesAreNamedAndTheRestLoads(t *testing.T) {
	e := create(t, header("a"), Options{})
	whole := read(t, put(t, e, sampleRun("a", 0)))
	dir := filepath.Join(e.Path(), runsDir)
	swap := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	cases := map[string]struct{ data, want string }{
		"empty.json":         {"", "it is empty"},
		"half.json":          {whole[:len(whole)/2], "it stops in the middle"},
		"begun.json":         {whole[:30], "it stops in the middle"},
		"almost.json":        {whole[:len(whole)-3], "it stops in the middle"},
		"text.json":          {"not JSON", "invalid character"},
		"nul.json":           {strings.Repeat("\x00", 4096), "invalid character"},
		"list.json":          {"[]", "no JSON object"},
		"two.json":           {whole + whole, "after top-level value"},
		"other.json":         {`{"schema_version":1,"eval":"` + header().ID + `"}`, "it has no task_id"},
		"stranger.json":      {`{"a":1}`, "no schema_version"},
		"syntax.json":        {swap(`"seed": 7`, `"seed": 7,,`), "line 10"},
		"type.json":          {swap(`"seed": 7`, `"seed": "seven"`), "seed"},
		"future.json":        {swap(`"schema_version": 1`, `"schema_version": 99`), "schema version 99 is newer than 1"},
		"zero.json":          {swap(`"schema_version": 1`, `"schema_version": 0`), "no schema version 0"},
		"foreign.json":       {swap(header().ID, "another"), `it belongs to eval "another"`},
		"double.json":        {swap("\n}\n", ",\n  \"task_id\": \"b\"\n}\n"), "says twice"},
		"folder.json/x":      {"", ""},
		".hidden.json":       {"", ""},
		"._appledouble.json": {"\x00", ""},
		"notes.txt":          {"x", ""},
	}
	want := map[string]string{}
	for name, c := range cases {
		write(t, filepath.Join(dir, name), c.data)
		if c.want != "" {
			want[filepath.Join(dir, name)] = c.want
		}
	}
	secret := filepath.Join(t.TempDir(), "elsewhere.json")
	write(t, secret, whole)
	if os.Symlink(secret, filepath.Join(dir, "link.json")) == nil {
		want[filepath.Join(dir, "link.json")] = "symbolic link"
	}
	got, bad := collect(mustOpen(t, e.Path()).Runs())
	if !reflect.DeepEqual(got, []string{"scripted/a.0#0"}) {
		t.Errorf("got %v", got)
	}
	for _, err := range bad {
		var b *BadFile
		if !errors.As(err, &b) || !strings.Contains(err.Error(), want[b.Path]) || want[b.Path] == "" {
			t.Errorf("got %v, want %q", err, want[b.Path])
			continue
		}
		var version *VersionError
		if strings.HasSuffix(b.Path, "future.json") && (!errors.As(err, &version) || version.Version != 99) {
			t.Errorf("%v is no VersionError", err)
		}
		delete(want, b.Path)
	}
	if len(want) > 0 {
		t.Errorf("no error for %v", want)
	}
	if n := must(List(filepath.Dir(e.Path())))[0].Files; n != len(cases)-4+2 {
		t.Errorf("the list counts %d files", n)
	}
}

func TestL09OldAndUnknownFields(t *testing.T) {
	r, err := Open(filepath.Join("testdata", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header(); h.ID != "20261201T111836Z-calc-3f9a1c" || len(h.Tasks) != 1 || h.Options["runs"] != "1" {
		t.Errorf("header %+v", h)
	}
	var runs []*tooleval.Run
	for run, err := range r.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	want := sampleRun("calc.add", 0)
	want.Eval = header().ID
	if diff := cmp.Diff(string(encodeRun(nil, want, nil)), string(encodeRun(nil, runs[0], nil))); diff != "" {
		t.Error(diff)
	}
	// Fields of a later ToolEval with the same version are no trouble.
	data := read(t, filepath.Join("testdata", "v1", runsDir, "any-name.json"))
	later := filepath.Join(t.TempDir(), "later.json")
	write(t, later, strings.Replace(data, "{", `{"new_field": {"task_id": 5}, "extra": [1e999],`, 1))
	if run, err := ReadRun(later); err != nil || run.TaskID != "calc.add" {
		t.Errorf("unknown fields: %v", err)
	}
}

func TestL09NewerHeaderIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "future", headerName), `{"schema_version": 2, "id": 5}`)
	_, err := Open(filepath.Join(dir, "future"))
	wantError(t, err, filepath.Join(dir, "future", headerName), "schema version 2 is newer than 1", "update")
	var version *VersionError
	if !errors.As(err, &version) {
		t.Errorf("%v is no VersionError", err)
	}
	if _, err := Reopen(filepath.Join(dir, "future"), Options{}); !errors.As(err, &version) {
		t.Errorf("Reopen: %v", err)
	}
	list, err := List(dir)
	if err != nil || len(list) != 1 || list[0].ID != "future" || !errors.As(list[0].Err, &version) {
		t.Errorf("List: %+v, %v", list, err)
	}
}

func TestL10NamesCarryNoMeaning(t *testing.T) {
	e := create(t, header("a", "b"), Options{})
	for i, task := range []string{"b", "a"} {
		name := put(t, e, sampleRun(task, i))
		if err := os.Rename(name, filepath.Join(filepath.Dir(name),
			fmt.Sprintf("%d copy of b.7.20301201T000000000Z (1).json", i))); err != nil {
			t.Fatal(err)
		}
	}
	baseline := sampleRun("a", 0)
	baseline.Baseline = "spam"
	name := put(t, e, baseline)
	os.Rename(name, filepath.Join(e.Path(), runsDir, "x.json"))
	e.Close()
	moved := filepath.Join(t.TempDir(), "renamed eval")
	if err := os.CopyFS(moved, os.DirFS(e.Path())); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, moved)
	if got, bad := collect(r.Runs()); !reflect.DeepEqual(got, []string{"scripted/a.1#0", "scripted/b.0#0"}) || bad != nil {
		t.Errorf("got %v, %v", got, bad)
	}
	if got, bad := collect(r.Baselines()); !reflect.DeepEqual(got, []string{"spamscripted/a.0#0"}) || bad != nil {
		t.Errorf("got %v, %v", got, bad)
	}
	if strings.Contains(read(t, filepath.Join(moved, runsDir, "x.json")), e.Path()) {
		t.Error("a record holds the path of its folder")
	}
}

func TestReadRun(t *testing.T) {
	if _, err := ReadRun(filepath.Join("testdata", "v1", runsDir, "any-name.json")); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	_, err := ReadRun(filepath.Join(dir, "none.json"))
	if wantError(t, err, "none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	_, err = ReadRun(dir)
	wantError(t, err, "not a regular file")
	huge := filepath.Join(dir, "huge.json")
	write(t, huge, "{")
	if err := os.Truncate(huge, maxFile+1); err == nil {
		_, err = ReadRun(huge)
		wantError(t, err, "1073741825 bytes")
	}
}

// E23: one run at a time is in memory.
func TestE23RunsAreStreamed(t *testing.T) {
	e := create(t, header("a"), Options{})
	const n, size = 12, 2 << 20
	for i := range n {
		run := sampleRun("a", i)
		run.Result.Response = tooleval.Text(strings.Repeat("x", size))
		put(t, e, run)
	}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	for _, err := range mustOpen(t, e.Path()).Runs() {
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
	}
	if most > before.HeapAlloc+5*size {
		t.Errorf("%d MiB were held for runs of %d MiB", (most-before.HeapAlloc)>>20, size>>20)
	}
}

func TestManyFiles(t *testing.T) {
	const n = 3000
	h := header("a")
	e := create(t, h, Options{})
	e.Close()
	run := sampleRun("a", 0)
	run.Eval = h.ID
	for i := range n {
		run.Index = n - 1 - i
		write(t, filepath.Join(e.Path(), runsDir, fmt.Sprintf("%d.json", i)), string(encodeRun(nil, run, nil)))
	}
	next := 0
	begin := time.Now()
	for run, err := range Latest(mustOpen(t, e.Path()).Runs()) {
		if err != nil || run.Index != next {
			t.Fatalf("run %d, %v, want %d", run.Index, err, next)
		}
		next++
	}
	t.Logf("%d files in %v", next, time.Since(begin))
	if next != n {
		t.Errorf("%d runs of %d", next, n)
	}
}

func FuzzDecodeRun(f *testing.F) {
	f.Add(encodeRun(nil, sampleRun("a", 0), nil))
	f.Add([]byte(`{"schema_version":1,"task_id":"a","index":0,"mind":"m","identity":""}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, b []byte) {
		run, err := decodeRun(b)
		if err != nil {
			return
		}
		if _, err := decodeRun(encodeRun(nil, run, nil)); err != nil {
			t.Errorf("a run that was read can't be read again: %v", err)
		}
	})
}
