//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"io/fs"
	"os"
)

// openLocked makes the file at path. There is no lock here that the kernel would release, so the file of a killed
// process has to be removed by hand.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	return f, err
}

func removeLock(f *os.File) error { return os.Remove(f.Name()) }

func isDiskFull(error) bool { return false }

func isReadOnly(error) bool { return false }
