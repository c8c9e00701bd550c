package store

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// A skim walks over JSON and looks at parts of it only. What it skips need not be JSON. Once something is wrong, bad is
// set and every method returns without moving on.
type skim struct {
	b   []byte
	i   int
	bad bool
}

// at is the byte at the place; 0 at the end.
func (s *skim) at() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *skim) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// object calls value at the value of each key; it must consume it. What is no object is skipped.
func (s *skim) object(value func(key []byte)) {
	if s.space(); s.at() != '{' {
		s.skip()
		return
	}
	s.i++
	for !s.bad {
		switch s.space(); s.at() {
		case '}':
			s.i++
			return
		case ',':
			s.i++
		case '"':
			raw, plain := s.text()
			if s.space(); s.at() != ':' {
				s.bad = true
				return
			}
			s.i++
			s.space()
			if !plain {
				raw = nil // names with escapes are none of ours
			}
			value(raw)
		default:
			s.bad = true
		}
	}
}

// list calls element at each element; it must consume it. What is no list is skipped.
func (s *skim) list(element func()) {
	if s.space(); s.at() != '[' {
		s.skip()
		return
	}
	s.i++
	for !s.bad {
		switch s.space(); s.at() {
		case ']':
			s.i++
			return
		case ',':
			s.i++
		case 0:
			s.bad = true
		default:
			element()
		}
	}
}

// skip moves behind a value and returns its first byte.
func (s *skim) skip() (first byte) {
	s.space()
	first = s.at()
	switch first {
	case '"':
		s.text()
		return first
	case '{', '[':
	case 0, ',', ':', '}', ']':
		s.bad = true
		return first
	default:
		s.scalar()
		return first
	}
	depth := 0
	for i, b := s.i, s.b; i < len(b); i++ {
		if !structural[b[i]] {
			continue
		}
		switch b[i] {
		case '"':
			s.i = i
			if s.text(); s.bad {
				return first
			}
			i = s.i - 1
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				s.i = i + 1
				return first
			}
		}
	}
	s.i = len(s.b)
	s.bad = true
	return first
}

// structural are the bytes that matter when a value is skipped.
var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

// scalar is a number, true, false or null.
func (s *skim) scalar() []byte {
	begin := s.i
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return s.b[begin:s.i]
		}
		s.i++
	}
	return s.b[begin:s.i]
}

// text moves behind a string and returns what is between its quotes; plain when there are no escapes in it. What is no
// string is skipped.
func (s *skim) text() (raw []byte, plain bool) {
	if s.at() != '"' {
		s.skip()
		return nil, true
	}
	begin := s.i + 1
	plain = true
	for i := begin; ; i++ {
		n := bytes.IndexByte(s.b[min(i, len(s.b)):], '"')
		if n < 0 {
			s.i, s.bad = len(s.b), true
			return nil, true
		}
		chunk := s.b[i : i+n]
		i += n
		if plain && bytes.IndexByte(chunk, '\\') >= 0 {
			plain = false
		}
		if !plain && escaped(s.b[begin:i]) {
			continue
		}
		s.i = i + 1
		return s.b[begin:i], plain
	}
}

// escaped reports whether what follows b is behind an odd number of backslashes.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// unquoted is the string of what was between quotes.
func (s *skim) unquoted(raw []byte) string {
	var t string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if json.Unmarshal(quoted, &t) != nil {
		s.bad = true
	}
	return t
}

func (s *skim) int() int {
	s.space()
	if s.at() == '"' {
		s.bad = true
		return 0
	}
	n, err := strconv.Atoi(string(s.scalar()))
	if err != nil {
		s.bad = true
	}
	return n
}

// float is a number; ok is false for null.
func (s *skim) float() (v float64, ok bool) {
	s.space()
	switch s.at() {
	case '"', '{', '[', 'n':
		s.skip()
		return 0, false
	}
	v, err := strconv.ParseFloat(string(s.scalar()), 64)
	if err != nil {
		s.bad = true
	}
	return v, err == nil
}
