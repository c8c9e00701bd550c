package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, o FolderOptions) (*Folder, string) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func TestFolder(t *testing.T) {
	f, dir := open(t, FolderOptions{})
	for _, name := range []string{"report.md", "Bericht für Mira.md", "a..b", "report.md"} {
		if err := f.Write(name, "content of "+name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if got, err := f.Read(name); err != nil || got != "content of "+name {
			t.Errorf("%q: read %q, %v", name, got, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "report.md")); err != nil || string(got) != "content of report.md" || f.Path() != dir {
		t.Errorf("on disk: %q, %v", got, err)
	}
	if _, err := f.Read("missing.md"); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want an error without the folder's path", err)
	}
}

// TestFolderEscapes: no name reaches a file outside the folder, for writing or for reading.
func TestFolderEscapes(t *testing.T) {
	f, dir := open(t, FolderOptions{})
	outside := filepath.Join(filepath.Dir(dir), "x")
	if err := os.WriteFile(outside, []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("real.md", "real"); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": outside, "relative": "../x", "self": "self", "inside": "real.md", "dangling": filepath.Join(filepath.Dir(dir), "new")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"../x", "/etc/passwd", outside, "a/b", `..\x`, `C:\x`, "x\x00", "a\nb", "", " ", ".", "..", ".hidden", "~/x/", "nul\x7f", "e\u202egnp.exe",
		strings.Repeat("n", 300), "bad\xff", "trailing.", "trailing ", "link", "relative", "self", "dangling", "inside", "folder",
	} {
		if err := f.Write(name, "mine"); err == nil {
			t.Errorf("%.40q was written", name)
		}
		if got, err := f.Read(name); err == nil {
			t.Errorf("%.40q was read: %q", name, got)
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "outside" {
		t.Errorf("the file outside is now %q, %v", got, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 2 {
		t.Errorf("files appeared outside: %v", entries)
	}
}

func TestFolderBounds(t *testing.T) {
	f, dir := open(t, FolderOptions{MaxFile: 10, MaxFiles: 3})
	if err := f.Write("big", "12345678901"); err == nil || !strings.Contains(err.Error(), "at most 10") {
		t.Error(err)
	}
	for i := range 3 {
		if err := f.Write(fmt.Sprint("f", i), "1234567890"); err != nil {
			t.Error(err)
		}
	}
	if err := f.Write("one too many", "x"); err == nil || !strings.Contains(err.Error(), "3 files") {
		t.Error(err)
	}
	for name, content := range map[string]string{"long": "12345678901", "binary": "a\x00b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read(name); err == nil {
			t.Errorf("%s was read: %q", name, got)
		}
	}
}

func TestFolderConcurrent(t *testing.T) {
	f, _ := open(t, FolderOptions{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := f.Write("same", strings.Repeat(fmt.Sprint(i), 100_000)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := f.Read("same"); err != nil || len(got) != 100_000 || strings.Trim(got, got[:1]) != "" {
		t.Errorf("mixed: %d bytes, %v", len(got), err)
	}
}

func TestReadTextFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "resume.md")
	if err := os.WriteFile(path, []byte("Mira \xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadTextFile(path, 0); err != nil || got != "Mira \uFFFD" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "missing"), "/dev/zero"} {
		if got, err := ReadTextFile(bad, 0); err == nil {
			t.Errorf("%s was read: %d bytes", bad, len(got))
		}
	}
	if _, err := ReadTextFile(path, 3); err == nil {
		t.Error("a file longer than the limit was read")
	}
}
