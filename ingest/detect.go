package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A DetectError says that a file can't be told to be of one format. Candidates are those that fit; none when nothing does.
type DetectError struct{ Candidates []Format }

// Error lists the candidates and what to do.
func (d *DetectError) Error() string {
	list := d.Candidates
	text := "it may be any of: "
	if len(list) == 0 {
		list = Formats()
		text = "it is of no format that is known: "
	}
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = string(f)
	}
	return text + strings.Join(names, ", ") + "; name one with --format"
}

// Detect finds the format of a file or folder. The error is a [*DetectError] when none fits or several do.
func Detect(path string) (Format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", &RecordError{File: path, Err: plainError(err)}
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(path, evalHeader)); err != nil {
			return "", &RecordError{File: path, Err: errors.New("a folder is read only when it is that of an eval, with an eval.json in it")}
		}
		return Runs, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", &RecordError{File: path, Err: plainError(err)}
	}
	defer f.Close()
	format, err := detect(f, DefaultMaxRecord)
	if err != nil {
		err = &RecordError{File: path, Err: err}
	}
	return format, err
}

// A probe is what detection looks at: the first values of a file, in full or, for one large object, with its lists cut.
type probe struct {
	zip    bool
	values []value
	failed error // why not more values could be read
}

const (
	probeValues = 50      // values, and elements of a list, that are looked at
	probeBytes  = 4 << 20 // and how many bytes of them, the first excepted
)

func detect(in Input, max int) (Format, error) {
	p, err := look(in, max)
	if err != nil {
		return "", err
	}
	d := &DetectError{}
	for _, f := range allFormats {
		if f.fits(p) {
			d.Candidates = append(d.Candidates, f.format)
		}
	}
	if len(d.Candidates) == 0 && p.failed != nil {
		return "", p.failed
	}
	if len(d.Candidates) != 1 {
		return "", d
	}
	return d.Candidates[0], nil
}

func look(in Input, max int) (*probe, error) {
	var magic [4]byte
	if _, err := in.ReadAt(magic[:], 0); err == nil && bytes.Equal(magic[:], []byte("PK\x03\x04")) {
		return &probe{zip: true}, nil
	}
	s := &source{in: in, opts: Options{MaxRecord: max}}
	if err := s.start(); err != nil {
		return nil, err
	}
	p := &probe{}
	if !s.lines {
		sc := newScanner(in, max)
		c, err := sc.peek()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the file is empty")
		}
		if err != nil {
			return nil, err
		}
		switch c {
		case '{':
			v, err := outline(sc)
			p.values = []value{v}
			return p, err
		case '[':
		default:
			return nil, fmt.Errorf("it is neither JSON nor a zip archive: it begins with %q", c)
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	size := 0
	s.values(func(v value, _ bool, err error) bool {
		if err != nil {
			p.failed = err
			return false
		}
		p.values = append(p.values, v)
		size += len(v)
		return len(p.values) < probeValues && size < probeBytes
	})
	if known, ok := errors.AsType[*RecordError](p.failed); ok {
		p.failed = known.Err
	}
	if len(p.values) == 0 && p.failed != nil {
		return nil, p.failed
	}
	return p, nil
}

// outline is an object with its lists cut: all keys, the values that are not too long, and the first elements of lists.
func outline(sc *scanner) (value, error) {
	out := value("{")
	err := sc.object(func(key string) error {
		c, err := sc.must()
		if err != nil {
			return err
		}
		var v value
		if c == '[' {
			var items []value
			size := 0
			err = sc.array(func(i int) error {
				if i >= probeValues || size >= probeBytes {
					return sc.skip()
				}
				e, err := sc.value()
				items = append(items, e)
				size += len(e)
				return err
			})
			v = joinList(items)
		} else if v, err = sc.value(); len(v) > probeBytes {
			v = value("null")
		}
		if err != nil {
			return err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendKey(out, key)
		out = append(append(out, ':'), v...)
		return nil
	})
	return append(out, '}'), err
}

func appendKey(out value, key string) value {
	b, err := textJSON(key)
	if err != nil {
		return append(out, `""`...)
	}
	return append(out, b...)
}

// items are the items that detection looks at, for a format whose recordings are lists of items or objects with a list
// under one of these keys.
func (p *probe) items(isItem func(value) bool, keys ...string) []value {
	if len(p.values) == 0 {
		return nil
	}
	first := p.values[0]
	if isItem(first) {
		return p.values
	}
	if first.kind() == '[' {
		return first.list()
	}
	var all []value
	for _, k := range keys {
		all = append(all, first.get(k).list()...)
	}
	return all
}

// first is the first value.
func (p *probe) first() value {
	if len(p.values) == 0 {
		return nil
	}
	return p.values[0]
}
