package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// ErrLocked is wrapped by the error of an eval that another process is writing into.
var ErrLocked = errors.New("another process is writing into it")

// lockName is the file that a writing process holds locked. The kernel lets go of the lock when the process ends,
// however it ends, so a file that a killed process left behind locks nobody out.
const lockName = "lock"

// A holder is what a lock file says of the process that holds it.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// lockFolder takes the lock of the folder.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	const tries = 100 // other writers that come and go; a link that is followed would never be the file itself
	for range tries {
		f, err := openLocked(path)
		if errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("eval %s: %w", dir, describeHolder(path))
		}
		if err != nil {
			return nil, fmt.Errorf("eval %s: lock it: %w", dir, advise(err))
		}
		// The last holder may have removed the file after it was opened here.
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			host, _ := os.Hostname()
			b, _ := json.Marshal(holder{os.Getpid(), host, time.Now().UTC().Truncate(time.Second)})
			// What the file says only helps people; a full disk must not keep an eval from being read or closed.
			if f.Truncate(0) == nil {
				_, _ = f.WriteAt(append(b, '\n'), 0)
			}
			return f, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("eval %s: the file %s can't be held: it is a link, or other writers come and go", dir, lockName)
}

// unlockFolder removes the lock file and lets go of it, in an order in which nobody can hold a removed one for good.
func unlockFolder(f *os.File) error {
	return errors.Join(removeLock(f), f.Close())
}

func describeHolder(path string) error {
	const most = 4096
	var h holder
	if f, err := os.Open(path); err == nil {
		b, _ := io.ReadAll(io.LimitReader(f, most))
		f.Close()
		_ = json.Unmarshal(b, &h)
	}
	if h.PID == 0 {
		return fmt.Errorf("%w: wait until it has ended, or stop it", ErrLocked)
	}
	return fmt.Errorf("%w: process %d on %s, since %s: wait until it has ended, or stop it", ErrLocked, h.PID, h.Host,
		h.Since.Format(time.RFC3339))
}
