package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/tooleval/tooleval"
)

// maxFile is the size above which a file is not read.
const maxFile = 1 << 30

// A BadFile is a file that can't be read as what its place says it is. The other files are not affected by it.
type BadFile struct {
	Path string
	Err  error
}

// Error names the file. Its name may hold anything a file name can.
func (b *BadFile) Error() string { return fmt.Sprintf("bad file %q: %v", b.Path, b.Err) }

// Unwrap is what is wrong with the file.
func (b *BadFile) Unwrap() error { return b.Err }

// A VersionError says that a record was written by a newer ToolEval, in a schema version that this one does not know.
type VersionError struct{ Version int }

// Error says what to do.
func (v *VersionError) Error() string {
	return fmt.Sprintf("schema version %d is newer than %d, the newest that this tooleval reads: update tooleval",
		v.Version, tooleval.SchemaVersion)
}

func checkVersion(version *int) error {
	switch {
	case version == nil:
		return errors.New("it has no schema_version, so it is no record of tooleval")
	case *version < 1:
		return fmt.Errorf("there is no schema version %d", *version)
	case *version > tooleval.SchemaVersion:
		return &VersionError{*version}
	}
	return nil
}

// A Reader reads a stored eval, also one that is being written. It holds nothing open between calls.
type Reader struct {
	path   string
	header tooleval.Eval
}

// Open opens the eval in a folder, or of an eval.json, for reading.
func Open(path string) (*Reader, error) {
	path = evalFolder(path)
	header, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	return &Reader{path, header}, nil
}

// evalFolder is the folder of an eval that is named by its folder or by its eval.json.
func evalFolder(path string) string {
	if filepath.Base(path) == headerName {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return filepath.Dir(path)
		}
	}
	return path
}

// Path is the folder of the eval.
func (r *Reader) Path() string { return r.path }

// Header is the header of the eval.
func (r *Reader) Header() tooleval.Eval { return r.header }

// Runs streams the agent's runs that belong to the eval as it is planned now ([tooleval.Eval.Current]): by mind and task in the order of the plan (what is not in the plan last, by name),
// then by index, earlier attempts at the same run first (by Provenance.Attempts, then by the time they started). Runs
// of baselines are left out wherever they lie.
//
// One run at a time is in memory, and a few words for each file. A file that can't be read is yielded as a [*BadFile]
// in the place of its run, or at the end when it can't be told which run that would be; the rest is not affected. Files
// that begin with a dot or don't end in .json are ignored. Symbolic links are not followed.
func (r *Reader) Runs() iter.Seq2[*tooleval.Run, error] { return r.current(r.stream(false)) }

// Baselines streams the runs of baselines, first by the baseline's name and then like [Reader.Runs].
func (r *Reader) Baselines() iter.Seq2[*tooleval.Run, error] { return r.current(r.stream(true)) }

// A File is a run and where it is stored.
type File struct {
	// Path is good for [ReadRun] while the eval stays where it is.
	Path string
	Run  *tooleval.Run
}

// Files streams all runs with their paths: those of the agent in the order of [Reader.Runs] and then those of baselines, also
// those of definitions that the eval has left behind.
func (r *Reader) Files() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, baselines := range []bool{false, true} {
			for f, err := range r.stream(baselines) {
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

func (r *Reader) current(files iter.Seq2[File, error]) iter.Seq2[*tooleval.Run, error] {
	return func(yield func(*tooleval.Run, error) bool) {
		for f, err := range files {
			if err == nil && !r.header.Current(f.Run) {
				continue
			}
			if !yield(f.Run, err) {
				return
			}
		}
	}
}

func (r *Reader) stream(baselines bool) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		root, err := os.OpenRoot(r.path)
		if err != nil {
			yield(File{}, fmt.Errorf("eval %s: %w", r.path, err))
			return
		}
		defer root.Close()
		s := scanner{reader: r, root: root, baselines: baselines}
		for _, f := range s.scan() {
			out, err := File{Path: filepath.Join(r.path, f.path())}, f.err
			if err == nil {
				out.Run, err = s.load(f)
			}
			if err != nil {
				out, err = File{}, &BadFile{out.Path, err}
			}
			if !yield(out, err) {
				return
			}
		}
	}
}

// Latest keeps, of several attempts at the same run, the newest that can be read: one sample for each mind (or
// baseline), task and index, however often it was retried. runs must come in the order of [Reader.Runs]. Errors pass
// through.
func Latest(runs iter.Seq2[*tooleval.Run, error]) iter.Seq2[*tooleval.Run, error] {
	return func(yield func(*tooleval.Run, error) bool) {
		var last *tooleval.Run
		for run, err := range runs {
			if err != nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			if last != nil && keyOf(last) != keyOf(run) && !yield(last, nil) {
				return
			}
			last = run
		}
		if last != nil {
			yield(last, nil)
		}
	}
}

// A key says which run of an eval a record is an attempt at.
type key struct {
	baseline, mind, task string
	index                int
}

func keyOf(r *tooleval.Run) key { return key{r.Baseline, r.Mind, r.TaskID, r.Index} }

// ReadRun reads the file of one run, wherever it lies. The error is a [*BadFile].
func ReadRun(path string) (*tooleval.Run, error) {
	run, err := readRun(path)
	if err != nil {
		return nil, &BadFile{path, err}
	}
	return run, nil
}

func readRun(path string) (*tooleval.Run, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b, err := readFile(root, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return decodeRun(b)
}

// openRegular opens a file that is really one: not a link, which might lead anywhere, nor a pipe, which might never
// end.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link, which is not followed")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", info.Size(), maxFile)
	case info.Size() == 0:
		return nil, errors.New("it is empty")
	}
	return root.Open(name)
}

func readFile(root *os.Root, name string) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buf bytes.Buffer
	if info, err := f.Stat(); err == nil {
		buf.Grow(int(min(info.Size(), maxFile)) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(f, maxFile)); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
