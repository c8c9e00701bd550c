package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxLine is the most bytes that a line may have, line feed excluded.
const MaxLine = 64 << 20

// keep is the most bytes of buffer that are held between lines.
const keep = 1 << 20

// ErrTooLong is a line longer than allowed. Nothing can be read after it.
var ErrTooLong = errors.New("the line is too long")

// ErrUnended is what Next returns beside the last line when no line feed ended it.
var ErrUnended = errors.New("the last line has no line feed")

// A Reader reads lines of bounded length. It is for one goroutine.
type Reader struct {
	r   *bufio.Reader
	max int
	buf []byte
	err error
}

// NewReader reads from r lines of at most max bytes; 0 or less stands for [MaxLine].
func NewReader(r io.Reader, max int) *Reader {
	if max <= 0 {
		max = MaxLine
	}
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// Next is the next line without its line feed (and without a carriage return before it) that holds more than space. It
// stays valid until the next call. Errors are those of the underlying reader, [ErrTooLong] as soon as a line exceeds
// the limit, and [ErrUnended] together with a last line that has no line feed.
func (r *Reader) Next() ([]byte, error) {
	for r.err == nil {
		if cap(r.buf) > keep {
			r.buf = nil
		}
		r.buf = r.buf[:0]
		var part []byte
		err := bufio.ErrBufferFull
		for errors.Is(err, bufio.ErrBufferFull) {
			part, err = r.r.ReadSlice('\n')
			if len(r.buf)+len(bytes.TrimSuffix(part, []byte("\n"))) > r.max {
				r.err = fmt.Errorf("%w: more than %d bytes", ErrTooLong, r.max)
				return nil, r.err
			}
			r.buf = append(r.buf, part...)
		}
		r.err = err
		line := bytes.TrimSuffix(bytes.TrimSuffix(r.buf, []byte("\n")), []byte("\r"))
		if len(bytes.Trim(line, " \t\r")) == 0 {
			continue
		}
		if err != nil {
			return line, ErrUnended
		}
		return line, nil
	}
	return nil, r.err
}

// A Writer writes messages, each with one Write call. It may be used concurrently.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes m.
func (w *Writer) Send(m Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = m.Append(w.buf[:0])
	_, err := w.w.Write(w.buf)
	if cap(w.buf) > keep {
		w.buf = nil
	}
	return err
}
