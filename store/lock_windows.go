package store

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens the file at path so that nobody else can open it for writing. Readers may, to see who holds it.
func openLocked(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// removeLock does nothing: an open file can't be removed, and a closed one may be another process's already.
func removeLock(*os.File) error { return nil }

func isDiskFull(err error) bool {
	const handleDiskFull, diskFull, quota = syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull) || errors.Is(err, quota)
}

func isReadOnly(err error) bool {
	const writeProtect = syscall.Errno(19)
	return errors.Is(err, writeProtect)
}
