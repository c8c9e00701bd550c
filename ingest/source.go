package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tooleval/tooleval/internal/wire"
)

// An Input is a file that is open for reading.
type Input interface {
	io.Reader
	io.Seeker
	io.ReaderAt
}

// A source is one file that is being read.
type source struct {
	name   string
	format Format
	in     Input
	opts   Options
	lines  bool // the file has one JSON value a line
}

// fatal is an error after which nothing of the file can be read.
func (s *source) fatal(err error) error {
	if errors.Is(err, errTooLarge) {
		err = fmt.Errorf("%w; raise the limit if that is a recording", err)
	}
	return &RecordError{File: s.name, Err: err}
}

func (s *source) bad(position string, err error) error {
	return &RecordError{File: s.name, Position: position, Err: err}
}

// isLines reports whether a file has one JSON value a line: its first line is one, and there is another line.
func isLines(in io.Reader, max int) bool {
	r := wire.NewReader(in, max)
	first, err := r.Next()
	if err != nil || len(first) == 0 || (first[0] != '{' && first[0] != '[') || !json.Valid(first) {
		return false
	}
	_, err = r.Next()
	return err == nil || errors.Is(err, wire.ErrUnended)
}

// values yields the values of a file: those of a list, or those that follow one another, each checked. inList says that it
// is an element of the list that the file consists of. An error that does not end the file is a bad line.
func (s *source) values(yield func(v value, inList bool, err error) bool) {
	if s.lines {
		r := wire.NewReader(s.in, s.opts.MaxRecord)
		for {
			line, err := r.Next()
			if err != nil && !errors.Is(err, wire.ErrUnended) {
				if !errors.Is(err, io.EOF) {
					yield(nil, false, s.fatal(err))
				}
				return
			}
			line = bytes.Trim(bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")), " \t\r")
			if !json.Valid(line) {
				if !yield(nil, false, invalid(line)) {
					return
				}
				continue
			}
			if !yield(bytes.Clone(line), false, nil) {
				return
			}
		}
	}
	sc := newScanner(s.in, s.opts.MaxRecord)
	for n := 0; ; n++ {
		c, err := sc.peek()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			yield(nil, false, s.fatal(errors.New("the file is empty")))
			return
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			yield(nil, false, s.fatal(err))
			return
		}
		if c != '[' || n > 0 {
			v, err := sc.value()
			if err != nil {
				yield(nil, false, s.fatal(err))
				return
			}
			if !yield(v, false, nil) {
				return
			}
			continue
		}
		stopped := false
		err = sc.array(func(int) error {
			v, err := sc.value()
			if err == nil && !yield(v, true, nil) {
				stopped = true
				err = io.EOF
			}
			return err
		})
		if stopped {
			return
		}
		if err != nil {
			yield(nil, true, s.fatal(err))
			return
		}
	}
}

// conversations yields the recordings of a format whose recordings are lists of items, or objects with such lists. A file
// whose values are items is one recording.
func (s *source) conversations(isItem func(value) bool, yield func(position string, v value, err error) bool) {
	var items []value
	size, n := 0, 0
	collecting, stopped := false, false
	s.values(func(v value, _ bool, err error) bool {
		position := fmt.Sprintf("recording %d", n+1)
		n++
		var known *RecordError
		switch {
		case errors.As(err, &known):
			stopped = true
			yield("", nil, err)
			return false
		case err != nil:
			stopped = !yield(position, nil, s.bad(position, err))
			return !stopped
		}
		if n == 1 && isItem(v) {
			collecting = true
		}
		if !collecting {
			stopped = !yield(position, v, nil)
			return !stopped
		}
		if size += len(v) + 1; size > s.opts.MaxRecord {
			stopped = true
			yield("", nil, s.fatal(fmt.Errorf("%w: the recording has more than %d bytes", errTooLarge, s.opts.MaxRecord)))
			return false
		}
		items = append(items, v)
		return true
	})
	if collecting && !stopped {
		yield("the whole file", joinList(items), nil)
	}
}

func joinList(items []value) value {
	list := value("[")
	for i, v := range items {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, v...)
	}
	return append(list, ']')
}
