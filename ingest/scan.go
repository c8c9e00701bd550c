package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A scanner cuts a stream of JSON into values without holding more than one of them. It looks at brackets and strings only;
// what it cuts out is checked by whoever uses it.
type scanner struct {
	r    *bufio.Reader
	max  int
	line int // of what comes next, from 1
}

func newScanner(r io.Reader, max int) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 256<<10), max: max, line: 1}
}

// errTooLarge is a value of more bytes than Options.MaxRecord.
var errTooLarge = errors.New("too large")

// peek is the first byte of what comes next; io.EOF when nothing does.
func (s *scanner) peek() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case '\n':
			s.line++
		case ' ', '\t', '\r', 0xEF, 0xBB, 0xBF: // a byte order mark is no content
		default:
			return c, s.r.UnreadByte()
		}
	}
}

func (s *scanner) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", s.line, fmt.Sprintf(format, args...))
}

// must is peek where something has to come.
func (s *scanner) must() (byte, error) {
	c, err := s.peek()
	if errors.Is(err, io.EOF) {
		return 0, s.fail("the file stops in the middle")
	}
	return c, err
}

func (s *scanner) expect(want byte) error {
	c, err := s.must()
	if err != nil {
		return err
	}
	if c != want {
		return s.fail("not JSON: %q, want %q", c, want)
	}
	_, err = s.r.ReadByte()
	return err
}

// object calls f for each key; f has to consume the value.
func (s *scanner) object(f func(key string) error) error {
	return s.container('{', '}', func(int) error {
		if c, err := s.must(); err != nil || c != '"' {
			return errors.Join(err, s.fail("not JSON: want a key in quotes"))
		}
		key, err := s.value()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return f(key.str())
	})
}

// array calls f for each element; f has to consume it.
func (s *scanner) array(f func(i int) error) error { return s.container('[', ']', f) }

func (s *scanner) container(begin, end byte, f func(i int) error) error {
	if err := s.expect(begin); err != nil {
		return err
	}
	for i := 0; ; i++ {
		c, err := s.must()
		switch {
		case err != nil:
			return err
		case c == end && i == 0:
			return s.expect(end)
		}
		if err := f(i); err != nil {
			return err
		}
		if c, err = s.must(); err != nil {
			return err
		}
		if c == end {
			return s.expect(end)
		}
		if err := s.expect(','); err != nil {
			return err
		}
	}
}

// value is the next value, checked.
func (s *scanner) value() (value, error) {
	line := s.line
	v, err := s.cut(true)
	if err != nil {
		return nil, err
	}
	if !json.Valid(v) {
		return nil, fmt.Errorf("line %d: %w", line, invalid(v))
	}
	return v, nil
}

// skip passes over the next value, of any size.
func (s *scanner) skip() error {
	_, err := s.cut(false)
	return err
}

// cut reads up to the end of the next value.
func (s *scanner) cut(keep bool) (value, error) {
	first, err := s.must()
	if err != nil {
		return nil, err
	}
	start := s.line
	var out []byte
	depth, inside, escaped := 0, false, false
	scalar := first != '{' && first != '[' && first != '"'
	for {
		chunk, err := s.r.Peek(max(1, s.r.Buffered()))
		if len(chunk) == 0 {
			if errors.Is(err, io.EOF) && scalar && len(out) > 0 {
				return out, nil
			}
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("the value that begins in line %d does not end", start)
			}
			return nil, err
		}
		n, done := 0, false
		for n < len(chunk) && !done {
			c := chunk[n]
			if inside {
				if escaped {
					escaped = false
					n++
					continue
				}
				k := bytes.IndexAny(chunk[n:], "\"\\")
				if k < 0 {
					n = len(chunk)
					break
				}
				n += k
				escaped = chunk[n] == '\\'
				inside = escaped
				n++
				done = !inside && depth == 0
				continue
			}
			switch c {
			case '"':
				inside = true
			case '{', '[':
				depth++
			case '}', ']':
				if scalar && depth == 0 {
					done = true
					continue
				}
				if depth--; depth <= 0 {
					done = true
				}
			case ',', ':', ' ', '\n', '\t', '\r':
				if scalar && depth == 0 {
					done = true
					continue
				}
			}
			n++
		}
		s.line += bytes.Count(chunk[:n], []byte("\n"))
		if keep {
			if len(out)+n > s.max {
				return nil, fmt.Errorf("%w: the value that begins in line %d has more than %d bytes", errTooLarge, start, s.max)
			}
			out = append(out, chunk[:n]...)
		} else if scalar && len(out) == 0 && n > 0 {
			out = append(out, '0') // only that there was something
		}
		if _, err := s.r.Discard(n); err != nil {
			return nil, err
		}
		if done {
			if scalar && len(out) == 0 {
				return nil, s.fail("not JSON: %q, want a value", first)
			}
			return out, nil
		}
	}
}

// invalid says what is wrong with JSON that json.Valid refuses.
func invalid(b []byte) error {
	var v json.RawMessage
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return errors.New("not JSON")
}
