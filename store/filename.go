package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	longestName = 100 // of FileName; with mind, index and timestamp a file's name stays well below 255 bytes
	hashDigits  = 32  // 128 bits
)

// FileName is the one way from any id to a part of a file name. The result is not empty, has at most 100 bytes, all of
// them a-z, 0-9 or one of _ - . + % ~, neither begins nor ends with a dot, is no device name of Windows, and differs
// from the result of every other id, also on file systems that ignore case or normalise Unicode.
//
// An upper-case letter becomes + and its lower-case form, every other byte that is not listed above becomes %xx. What
// gets too long is cut and ends in %~ and a SHA-256 of the id.
func FileName(id string) string { return fileName(id, longestName) }

func fileName(id string, limit int) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, limit+3)
	for i := 0; i < len(id) && len(out) <= limit; i++ {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_',
			c == '-' && i > 0, c == '.' && i > 0 && i < len(id)-1:
			out = append(out, c)
		case c >= 'A' && c <= 'Z':
			out = append(out, '+', c|0x20)
		default:
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	switch {
	case len(out) == 0:
		return "%"
	case isDevice(string(out)):
		out = append([]byte{'%', digits[out[0]>>4], digits[out[0]&15]}, out[1:]...)
	}
	if len(out) <= limit {
		return string(out)
	}
	out = out[:limit-len("%~")-hashDigits]
	if i := strings.LastIndexByte(string(out), '%'); i >= len(out)-2 { // don't cut an escape in two
		out = out[:i]
	} else if out[len(out)-1] == '+' {
		out = out[:len(out)-1]
	}
	sum := sha256.Sum256([]byte(id))
	return string(out) + "%~" + hex.EncodeToString(sum[:])[:hashDigits]
}

// isDevice reports whether Windows would open a device instead of the file; what follows the first dot is no help.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && stem[3] >= '0' && stem[3] <= '9'
}
