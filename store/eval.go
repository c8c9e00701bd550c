package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
)

// The names in the folder of an eval.
const (
	headerName = "eval.json"
	runsDir    = "runs"
	baseDir    = "baselines"
)

// ErrClosed is returned by [Eval.Put] after [Eval.Close].
var ErrClosed = errors.New("the eval is closed")

// Options are the settings of a writer. The zero Options work.
type Options struct {
	// Secrets are replaced in everything that is written; see [Redactor] for what is found.
	Secrets []Secret
}

// An Eval is the folder of one eval, open for writing and locked against other processes.
type Eval struct {
	path   string
	header tooleval.Eval
	red    *Redactor
	lock   *os.File

	mu        sync.RWMutex // held for reading by Put, for writing by Close and SetHeader
	closed    bool
	runs      *folder
	baselines *folder
}

// NewID is an id for an eval of a suite: 20261201T111836Z-calc-3f9a1c. Ids sort by time, and two that are made in the
// same second differ by chance (1 in 16 million that they don't; [Create] notices).
func NewID(suite string, now time.Time) string {
	const longest = 40
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c | 0x20
		}
		return '-'
	}, suite)
	name = strings.Trim(strings.Join(strings.FieldsFunc(name, func(c rune) bool { return c == '-' }), "-"), "-")
	if name = strings.Trim(name[:min(len(name), longest)], "-"); name == "" {
		name = "eval"
	}
	var random [3]byte
	rand.Read(random[:]) // never fails
	return now.UTC().Format("20060102T150405Z") + "-" + name + "-" + hex.EncodeToString(random[:])
}

// Create makes the folder results/ID with the header in it and opens it. An empty ID is replaced by [NewID]. The schema
// version is set. It is an error when the folder is there already: an eval is never written over.
func Create(results string, eval tooleval.Eval, opts Options) (*Eval, error) {
	if eval.ID == "" {
		eval.ID = NewID(eval.Suite, time.Now())
	}
	if lower := strings.ToLower(eval.ID); FileName(lower) != lower {
		return nil, fmt.Errorf("eval id %q is not the name of a folder: use letters, digits, dots, - and _, at most %d",
			eval.ID, longestName)
	}
	if err := os.MkdirAll(results, 0o755); err != nil {
		if info, statErr := os.Stat(results); statErr == nil && !info.IsDir() {
			return nil, fmt.Errorf("results folder %s is a file: name a folder", results)
		}
		return nil, fmt.Errorf("results folder %s: %w", results, advise(err))
	}
	path := filepath.Join(results, eval.ID)
	if err := os.Mkdir(path, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("eval %s exists: go on with it by --resume %s, or take another id: %w", path, path, err)
		}
		return nil, fmt.Errorf("results folder %s: %w", results, advise(err))
	}
	e, err := open(path, opts)
	if err == nil {
		eval.SchemaVersion = tooleval.SchemaVersion
		b := encodeEval(&eval, e.red)
		// What the file says, and not what was given, is the header: secrets are gone from it.
		if e.header, err = decodeHeader(b); err == nil {
			err = writeHeader(path, b)
		}
		if err != nil {
			err = fmt.Errorf("eval %s: write %s: %w", path, headerName, advise(err))
			_ = e.Close()
		}
	}
	if err != nil { // leave nothing behind that would be in the way of another try; the folders are empty
		for _, name := range []string{headerName, lockName, runsDir, baseDir, ""} {
			os.Remove(filepath.Join(path, name))
		}
		return nil, err
	}
	return e, nil
}

// Reopen opens the eval in a folder, or of an eval.json, to write more runs into it. Temporary files that a killed
// process left are removed. The error wraps [ErrLocked] while another process writes there.
func Reopen(path string, opts Options) (*Eval, error) {
	path = evalFolder(path)
	header, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	e, err := open(path, opts)
	if err != nil {
		return nil, err
	}
	e.header = header
	if err := errors.Join(sweep(path), e.runs.sweep(), e.baselines.sweep()); err != nil {
		return nil, errors.Join(fmt.Errorf("eval %s: remove left-over files: %w", path, advise(err)), e.Close())
	}
	return e, nil
}

// open locks the folder and opens what is in it, without the header.
func open(path string, opts Options) (*Eval, error) {
	lock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	e := &Eval{path: path, red: NewRedactor(opts.Secrets), lock: lock}
	root, err := os.OpenRoot(path)
	if err == nil {
		defer root.Close()
		if e.runs, err = openFolder(root, runsDir); err == nil {
			if e.baselines, err = openFolder(root, baseDir); err != nil {
				_ = e.runs.close()
			}
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("eval %s: %w", path, advise(err)), unlockFolder(lock))
	}
	return e, nil
}

// Path is the folder of the eval.
func (e *Eval) Path() string { return e.path }

// Header is the header as it is stored.
func (e *Eval) Header() tooleval.Eval {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.header
}

// Put stores a finished run and returns the path of its file inside the eval's folder. The run's bytes are on the disk
// when it returns. It may be called concurrently. run is not changed and not kept; the stored record gets the eval's id
// where it has none, and the schema version.
//
// When there is an error the run is not stored; it says what to do about it, and calling Put again is safe.
func (e *Eval) Put(run *tooleval.Run) (string, error) {
	if run == nil {
		return "", errors.New("no run to store")
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	fail := func(name string, err error) (string, error) {
		return "", fmt.Errorf("task %q, run %d: store it in %s: %w", run.TaskID, run.Index, filepath.Join(e.path, name), err)
	}
	if e.closed {
		return fail("", ErrClosed)
	}
	record := *run
	record.SchemaVersion = tooleval.SchemaVersion
	if record.Eval == "" {
		record.Eval = e.header.ID
	}
	if record.Eval != e.header.ID {
		return fail("", fmt.Errorf("it belongs to eval %q", record.Eval))
	}
	buf := buffers.Get().(*[]byte)
	data := encodeRun((*buf)[:0], &record, e.red)
	dir, at := runsDir, e.runs
	if record.Baseline != "" {
		dir, at = baseDir, e.baselines
	}
	name, err := at.write(e.fileStem(&record), data)
	const keep = 1 << 20 // one huge run must not hold its memory for good
	if cap(data) <= keep {
		*buf = data
		buffers.Put(buf)
	}
	if err != nil {
		return fail(filepath.Join(dir, name), e.advise(err))
	}
	return dir + "/" + name, nil
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// fileStem is the name of a run's file for people: task, mind where there are several, baseline, index, time.
func (e *Eval) fileStem(run *tooleval.Run) string {
	const longestPart = 40
	parts := []string{FileName(run.TaskID)}
	if len(e.header.Minds) > 1 {
		parts = append(parts, fileName(run.Mind, longestPart))
	}
	if run.Baseline != "" {
		parts = append(parts, fileName(run.Baseline, longestPart))
	}
	when := run.Started.UTC()
	if y := when.Year(); when.IsZero() || y < 0 || y > 9999 {
		when = time.Now().UTC()
	}
	parts = append(parts, strconv.Itoa(run.Index), strings.Replace(when.Format("20060102T150405.000Z"), ".", "", 1))
	return strings.Join(parts, ".")
}

// Close waits for the Puts that are under way, makes the names of all files durable and gives up the lock. It returns
// the first error that says a run may not survive a loss of power. A second Close does nothing.
func (e *Eval) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	if err := errors.Join(e.runs.close(), e.baselines.close(), unlockFolder(e.lock)); err != nil {
		return fmt.Errorf("eval %s: close it: %w", e.path, advise(err))
	}
	return nil
}

// advise adds to an error what can be done about it.
func (e *Eval) advise(err error) error {
	if isDiskFull(err) {
		return fmt.Errorf("the disk is full: free space and run again with --resume %s: %w", e.path, err)
	}
	return advise(err)
}

func advise(err error) error {
	switch {
	case isDiskFull(err):
		return fmt.Errorf("the disk is full: free space and run again: %w", err)
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		return fmt.Errorf("it can't be written to: make it writable, or name another results folder: %w", err)
	}
	return err
}
