package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/tooleval/tooleval"
)

// DefaultMaxRecord is the most bytes that one recording may have.
const DefaultMaxRecord = 64 << 20

// Options say how recordings are read. The zero value works.
type Options struct {
	// Format is how the file is read; empty stands for what [Detect] finds.
	Format Format
	// Aliases map the names of tools.
	Aliases []Alias
	// ErrorPrefix makes every result whose text begins with it an error, whatever the format says; empty does nothing.
	ErrorPrefix string
	// Ending is that of recordings which do not show how they ended; empty leaves it unknown.
	Ending tooleval.Ending
	// MaxRecord is the most bytes of one recording; 0 stands for DefaultMaxRecord.
	MaxRecord int
}

// Read reads the recordings of a file, or of the folder of one of ToolEval's evals, in their order. An error is a
// [*RecordError]; reading goes on after one that has a Position. The file is open while it is being ranged over.
func Read(path string, o Options) iter.Seq2[*Recording, error] {
	return func(yield func(*Recording, error) bool) {
		info, err := os.Stat(path)
		if err != nil {
			yield(nil, &RecordError{File: path, Err: plainError(err)})
			return
		}
		if info.IsDir() {
			readFolder(path, o, yield)
			return
		}
		if !info.Mode().IsRegular() {
			yield(nil, &RecordError{File: path, Err: errors.New("it is no regular file; save the recordings to one first")})
			return
		}
		f, err := os.Open(path)
		if err != nil {
			yield(nil, &RecordError{File: path, Err: plainError(err)})
			return
		}
		defer f.Close()
		ReadInput(filepath.Base(path), f, o)(yield)
	}
}

// plainError is err without the path, which stands before it anyway.
func plainError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// ReadInput is [Read] for a file that is open; name stands in errors and in Source.File. The input is read from its start.
func ReadInput(name string, in Input, o Options) iter.Seq2[*Recording, error] {
	return func(yield func(*Recording, error) bool) {
		if o.MaxRecord <= 0 {
			o.MaxRecord = DefaultMaxRecord
		}
		s := &source{name: name, in: in, opts: o, format: o.Format}
		if s.format == "" {
			var err error
			if s.format, err = detect(in, o.MaxRecord); err != nil {
				yield(nil, s.fatal(err))
				return
			}
		}
		info := find(s.format)
		if info == nil {
			yield(nil, s.fatal(fmt.Errorf("unknown format %q", s.format)))
			return
		}
		if err := s.start(); err != nil {
			yield(nil, s.fatal(err))
			return
		}
		n := 0
		info.read(s, func(r *Recording, err error) bool {
			n++
			return yield(r, err)
		})
		if n == 0 {
			yield(nil, s.fatal(fmt.Errorf("there is no recording in it (read as %s)", info.what)))
		}
	}
}

// start finds out whether the file has one value a line, and goes back to its start.
func (s *source) start() error {
	if _, err := s.in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.lines = isLines(s.in, s.opts.MaxRecord)
	_, err := s.in.Seek(0, io.SeekStart)
	return err
}
