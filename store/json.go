package store

import (
	"math"
	"strconv"
)

func (e *encoder) bool(b bool)   { e.out = strconv.AppendBool(e.out, b) }
func (e *encoder) int(n int64)   { e.out = strconv.AppendInt(e.out, n, 10) }
func (e *encoder) uint(n uint64) { e.out = strconv.AppendUint(e.out, n, 10) }

// appendFloat spells a finite number as encoding/json does.
func appendFloat(out []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	out = strconv.AppendFloat(out, f, format, -1, 64)
	if n := len(out); format == 'e' && n >= 4 && out[n-4] == 'e' && out[n-3] == '-' && out[n-2] == '0' {
		out[n-2] = out[n-1] // e-09 is e-9
		out = out[:n-1]
	}
	return out
}

// plain are the bytes that stand for themselves in a JSON string, those of longer runes included.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// appendLiteral appends valid UTF-8 as a JSON string. As in encoding/json the two line separators are escaped, because
// they end a line in old JavaScript; <, > and & are not, which would only make the files harder to read.
func appendLiteral(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if plain[c] {
			// U+2028 and U+2029 are e2 80 a8 and e2 80 a9.
			if c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8 {
				out = append(append(out, s[start:i]...), '\\', 'u', '2', '0', '2', hex[s[i+2]&15])
				i += 2
				start = i + 1
			}
			continue
		}
		out = append(out, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\f':
			out = append(out, '\\', 'f')
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(out, s[start:]...), '"')
}

// appendJSON appends b, which should be JSON, with only the space that it wants: objects and lists down to so many
// levels are laid out as json.Indent does, those below stay on one line. base is the depth of b itself. Strings and
// numbers keep their spelling. Bytes that are no JSON come out as other bytes that are no JSON.
func appendJSON(out, b []byte, base, levels int) []byte {
	depth := 0 // open brackets
	line := func() {
		if depth > levels || levels == 0 {
			return
		}
		out = append(out, '\n')
		for range base + depth {
			out = append(out, ' ', ' ')
		}
	}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case ' ', '\t', '\r', '\n':
			for i+1 < len(b) && isSpace(b[i+1]) {
				i++
			}
			// "1 2" must not become the number 12.
			if i+1 < len(b) && len(out) > 0 && !isStructure(out[len(out)-1]) && !isStructure(b[i+1]) {
				out = append(out, ' ')
			}
		case '"':
			end := literalEnd(b, i)
			out = append(out, b[i:end]...)
			i = end - 1
		case '{', '[':
			out = append(out, c)
			depth++
			j := i + 1
			for j < len(b) && isSpace(b[j]) {
				j++
			}
			if j < len(b) && b[j] == c+2 { // nothing in it; in ASCII } is { + 2 and ] is [ + 2
				out = append(out, b[j])
				depth--
				i = j
				continue
			}
			line()
		case '}', ']':
			if depth <= levels && levels > 0 {
				depth--
				out = append(out, '\n')
				for range base + depth {
					out = append(out, ' ', ' ')
				}
			} else {
				depth--
			}
			out = append(out, c)
		case ',':
			out = append(out, c)
			line()
		case ':':
			out = append(out, c)
			if depth <= levels && levels > 0 {
				out = append(out, ' ')
			}
		default:
			out = append(out, c)
		}
	}
	return out
}

// literalEnd is the offset after the string literal that begins at i, or the end of b.
func literalEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func isStructure(c byte) bool {
	switch c {
	case '{', '}', '[', ']', ',', ':', '\n', ' ':
		return true
	}
	return false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
