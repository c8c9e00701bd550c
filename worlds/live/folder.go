package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Defaults of FolderOptions.
const (
	DefaultMaxFile  = 1 << 20
	DefaultMaxFiles = 100
)

// maxName is the longest name, in bytes, that a file may have; some file systems allow no more.
const maxName = 120

// FolderOptions bound a Folder. The zero value works.
type FolderOptions struct {
	// MaxFile is the most bytes of one file; 0 stands for DefaultMaxFile.
	MaxFile int
	// MaxFiles is the most writes; 0 stands for DefaultMaxFiles.
	MaxFiles int
}

// A Folder reads and writes files in one folder and nowhere else: names are plain, without separators, and the operating
// system is asked not to follow a link out of the folder. It may be used concurrently.
type Folder struct {
	root *os.Root
	opts FolderOptions

	mu     sync.Mutex
	writes int
}

// OpenFolder opens dir, which must exist. Close it after use.
func OpenFolder(dir string, o FolderOptions) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o.MaxFile = cmp.Or(o.MaxFile, DefaultMaxFile)
	o.MaxFiles = cmp.Or(o.MaxFiles, DefaultMaxFiles)
	return &Folder{root: root, opts: o}, nil
}

// Path is the folder.
func (f *Folder) Path() string { return f.root.Name() }

// Close releases the folder; the files stay.
func (f *Folder) Close() error { return f.root.Close() }

// Write makes a file with this content, or replaces one. Errors are written for an agent to read.
func (f *Folder) Write(name, content string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(content) > f.opts.MaxFile {
		return fmt.Errorf("the content has %d bytes; a file may have at most %d", len(content), f.opts.MaxFile)
	}
	f.mu.Lock() // two writes of one name must not mix
	defer f.mu.Unlock()
	if f.writes >= f.opts.MaxFiles {
		return fmt.Errorf("%d files were written already; no more are taken", f.writes)
	}
	if err := f.regular(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.root.WriteFile(name, []byte(content), 0o644); err != nil {
		return fmt.Errorf("%q can't be written: %w", name, cause(err))
	}
	f.writes++
	return nil
}

// Read is the content of a file. Bytes that are not UTF-8 become U+FFFD.
func (f *Folder) Read(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	if err := f.regular(name); err != nil {
		return "", err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return "", fmt.Errorf("%q can't be read: %w", name, cause(err))
	}
	defer file.Close()
	return readText(file, name, f.opts.MaxFile)
}

// ReadTextFile is the content of a file of the user's own choice, of at most limit bytes; 0 stands for DefaultMaxFile.
// Bytes that are not UTF-8 become U+FFFD.
func ReadTextFile(path string, limit int) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return "", fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return readText(file, path, cmp.Or(limit, DefaultMaxFile))
}

func readText(r io.Reader, name string, limit int) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%q can't be read: %w", name, cause(err))
	case len(b) > limit:
		return "", fmt.Errorf("%q is longer than the %d bytes that are read", name, limit)
	case strings.IndexByte(string(b), 0) >= 0:
		return "", fmt.Errorf("%q holds binary data, not text", name)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}

// regular fails on everything that is not a file of this very folder: links, pipes, devices, folders.
func (f *Folder) regular(name string) error {
	info, err := f.root.Lstat(name)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w", name, cause(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is there already and is not a file", name)
	}
	return nil
}

// cause is an error without the operation and the path that the operating system's functions put before it.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// checkName takes the plain name of a file, the same on every operating system.
func checkName(name string) error {
	bad := func(why string) error {
		shown, _ := clip(name, 100)
		return fmt.Errorf("%q is not the name of a file: %s", shown, why)
	}
	switch {
	case name == "":
		return bad("it is empty")
	case len(name) > maxName:
		return bad(fmt.Sprintf("it has %d bytes, and at most %d are taken", len(name), maxName))
	case !utf8.ValidString(name):
		return bad("it is not valid UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return bad("it holds characters that can't be printed")
	case strings.ContainsAny(name, `/\:*?"<>|`):
		return bad("folders and special characters are not allowed in it")
	case strings.HasPrefix(name, "."), strings.TrimRight(name, ". ") != name, !filepath.IsLocal(name):
		return bad("it must not begin with a dot, or end with a dot or a space")
	}
	return nil
}
