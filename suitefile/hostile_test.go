package suitefile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tooleval/tooleval/suitefile"
)

const small = `name: birds
tools:
  - name: look_up
world:
  mock:
    fixtures:
      - {tool: look_up, text: fraank}
tasks:
  - id: a
    description: x
    expected_state: {call: fraank}
`

// makePipe makes a named pipe, where there are any.
var makePipe = func(string) error { return errors.ErrUnsupported }

// wrong loads a suite that must be refused with a message that has want in it.
func wrong(t *testing.T, dir, want string) {
	t.Helper()
	s, err := suitefile.Load(dir, suitefile.Options{})
	if err == nil || s != nil {
		t.Fatal("it was accepted")
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want something with %q", err, want)
	}
}

// TestPathsStayInside: neither a link nor a pipe nor a folder is read, whatever the suite names.
func TestPathsStayInside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(outside, []byte(`{"secret": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(small, "description: x", "description: x\n    input_file: input.json", 1)
	for name, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"a link out":              {func(p string) error { return os.Symlink(outside, p) }, "leads out of the suite's folder"},
		"a relative link out":     {func(p string) error { return os.Symlink("../../secret.json", p) }, "leads out of the suite's folder"},
		"a pipe":                  {makePipe, "no plain file"},
		"a folder":                {func(p string) error { return os.Mkdir(p, 0o755) }, "no plain file"},
		"a device, by a link":     {func(p string) error { return os.Symlink("/dev/zero", p) }, "leads out of the suite's folder"},
		"a link to itself":        {func(p string) error { return os.Symlink("input.json", p) }, "input.json"},
		"bytes that are no UTF-8": {func(p string) error { return os.WriteFile(p, []byte("{\"a\": \"\xff\"}"), 0o644) }, "input.json:1:8: not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, text)
			if err := c.make(filepath.Join(dir, "input.json")); err != nil {
				t.Skip(err)
			}
			wrong(t, dir, c.want)
		})
	}
	t.Run("a link inside", func(t *testing.T) {
		dir := folder(t, text)
		if err := os.WriteFile(filepath.Join(dir, "real.json"), []byte(`{"a": 1}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("real.json", filepath.Join(dir, "input.json")); err != nil {
			t.Skip(err)
		}
		if _, err := suitefile.Load(dir, suitefile.Options{}); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"../secret.json", outside, "a/../../secret.json", "C:/x", `..\secret.json`, "", "nul\x00"} {
		quoted := fmt.Sprintf("%q", name)
		wrong(t, folder(t, strings.Replace(text, "input_file: input.json", "input_file: "+quoted, 1)), "suite.yaml:")
	}
}

// TestBounded: what would blow up is refused, soon and without taking the memory.
func TestBounded(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), ", "))
	}
	row := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct{ text, want string }{
		"an alias bomb":      {bomb, "unknown key"},
		"an alias in itself": {"a: &a [*a]\n", ""},
		"lists in lists":     {"name: " + strings.Repeat("[", 100_000), "nested more than 200 deep"},
		"maps in maps":       {"name: " + strings.Repeat("{a: ", 100_000), "nested more than 200 deep"},
		"indented": {func() string {
			var b strings.Builder
			for i := range 400 {
				fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
			}
			return b.String()
		}(), "nested more than 200 deep"},
		"templates that multiply": {
			"vars: {x: " + row + "}\n" + strings.Replace(small, "description: x", "description: '"+strings.Repeat("${x}", 10_000)+"'", 1),
			"longer than",
		},
		"a matrix that multiplies": {
			strings.Replace(small, "description: x", "matrix: {csv: rows.csv}\n    description: '${a} "+row+"'", 1), "larger than 256 MiB",
		},
		"a long number":    {strings.Replace(small, "call: fraank}\n", "call: "+strings.Repeat("9", 5000)+"}\n", 1), "a number of 5000 characters"},
		"many problems":    {strings.Repeat("- a\n", 10), "want keys with values"},
		"a NUL":            {"name: a\x00b\n", "suite.yaml:1:8: the character U+0000"},
		"no UTF-8":         {"name: a\xffb\n", "suite.yaml:1:8: this byte is not valid UTF-8"},
		"nothing":          {"", "the file is empty"},
		"only a comment":   {"# nothing\n", "the file is empty"},
		"two documents":    {small + "---\n" + small, "a second document begins here"},
		"a mark and NEL":   {"\ufeffname: \u0085\n", "suite.yaml"},
		"a key in a key":   {"? {a: b}\n: c\n", "a key must be text"},
		"a tab":            {"name: x\n\ttools: y\n", "suite.yaml:2:1"},
		"a directive":      {"%YAML 3.0\n---\nname: x\n", "suite.yaml"},
		"a bad tag":        {"name: !<!> x\n", "suite.yaml"},
		"an endless quote": {"name: \"x\n", "suite.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, &txtar.Archive{Files: []txtar.File{
				{Name: "suite.yaml", Data: []byte(c.text)},
				{Name: "rows.csv", Data: []byte("a\n" + numbers(20_000))},
			}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			wrong(t, dir, c.want)
			runtime.ReadMemStats(&after)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
			if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 4000 {
				t.Errorf("it allocated %d MiB", n)
			}
		})
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// TestProblemsAreBounded: a file that is wrong everywhere gives a readable message.
func TestProblemsAreBounded(t *testing.T) {
	text := small
	for i := range 1000 {
		text += fmt.Sprintf("  - {id: t%d, about: x}\n", i)
	}
	_, err := suitefile.Load(folder(t, text), suitefile.Options{})
	if n := strings.Count(err.Error(), "\n"); n != suitefile.MostProblems {
		t.Errorf("%d lines, want %d and one that counts the rest", n, suitefile.MostProblems)
	}
	if !strings.Contains(err.Error(), "\nand 2800 more") {
		t.Errorf("it does not say how many more there are: %s", err.Error()[len(err.Error())-100:])
	}
}

func TestNoFolder(t *testing.T) {
	if _, err := suitefile.Load(filepath.Join(t.TempDir(), "none"), suitefile.Options{}); err == nil || !strings.Contains(err.Error(), "none: no such file") {
		t.Error(err)
	}
	dir := t.TempDir()
	wrong(t, dir, "there is no such file; make a suite's folder with: tooleval init")
	if err := os.WriteFile(filepath.Join(dir, "suite.yml"), []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	wrong(t, dir, "there is a suite.yml: rename it")
	if name := suitefile.Name(dir); name != "" {
		t.Errorf("a name out of nothing: %q", name)
	}
	if name := suitefile.Name(folder(t, small)); name != "birds" {
		t.Errorf("got the name %q", name)
	}
}

// FuzzLoad: whatever the file is, Load returns a sound Suite or an error with a place, and never panics.
func FuzzLoad(f *testing.F) {
	for _, kind := range []string{"valid", "invalid"} {
		paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.txtar"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			a, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			for _, file := range a.Files {
				if file.Name == "suite.yaml" {
					f.Add(file.Data)
				}
			}
		}
	}
	f.Add([]byte("a: &a [*a, *a]\n<<: *a\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, "suite.yaml"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := suitefile.Load(dir, suitefile.Options{Getenv: station})
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
		if s != nil {
			if err := s.Validate(nil); err != nil {
				t.Fatalf("loaded, but not sound: %v", err)
			}
		}
	})
}
