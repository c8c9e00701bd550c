package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Temporary files begin with a dot, which no record's name does, and are ignored by readers.
const (
	tempPrefix = ".put-"
	tempSuffix = ".tmp"
)

// A folder holds the records of one kind. Only one process writes into it at a time.
type folder struct {
	root     *os.Root
	temps    atomic.Uint64
	lastSync atomic.Int64 // Unix nanoseconds
	noLinks  sync.Mutex   // held while a file is placed on a file system without hard links
}

func openFolder(parent *os.Root, name string) (*folder, error) {
	if err := parent.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &folder{root: root}, nil
}

// write makes a new file stem.json of data, or stem-2.json and so on where there is one already. When it returns, data
// is on the disk; the name follows with the next sync of the folder.
//
// The bytes go into a temporary file first, which gets its name only when they are all there and synced. So a name is
// either absent or that of a whole file, whenever the process is killed.
func (f *folder) write(stem string, data []byte) (name string, err error) {
	temp, err := f.writeTemp(data)
	if err != nil {
		return "", err
	}
	name, err = f.place(temp, stem, ".json", f.link)
	// Removing what was moved away is no error; anything else that keeps a temporary file is harmless.
	f.root.Remove(temp)
	if err != nil {
		return name, err
	}
	return name, f.syncSometimes()
}

// replace writes a file anew, in one step: there is always the old one or the new one.
func (f *folder) replace(name string, data []byte) error {
	temp, err := f.writeTemp(data)
	if err != nil {
		return err
	}
	if err := f.root.Rename(temp, name); err != nil {
		f.root.Remove(temp)
		return err
	}
	return nil
}

func (f *folder) writeTemp(data []byte) (string, error) {
	for {
		temp := tempPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(f.temps.Add(1), 10) + tempSuffix
		file, err := f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue // left by an earlier process of the same number
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(data)
		if err == nil {
			err = file.Sync()
		}
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			f.root.Remove(temp)
			return "", err
		}
		return temp, nil
	}
}

// place gives the temporary file the first name that is free.
func (f *folder) place(temp, stem, ext string, move func(temp, name string) error) (string, error) {
	const most = 100_000
	name := stem + ext
	for n := 2; ; n++ {
		err := move(temp, name)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		if n > most {
			return name, fmt.Errorf("%d files of this name are there already", most)
		}
		name = stem + "-" + strconv.Itoa(n) + ext
	}
}

// link moves a file to a name that must be free. A hard link is the one portable way that never overwrites.
func (f *folder) link(temp, name string) error {
	err := f.root.Link(temp, name)
	if err == nil || errors.Is(err, fs.ErrExist) || isDiskFull(err) {
		return err
	}
	if renameErr := f.rename(temp, name); renameErr != nil {
		if errors.Is(renameErr, fs.ErrExist) {
			return renameErr
		}
		return err // the first trouble says more
	}
	return nil
}

// rename is link for file systems without hard links (FAT, some network shares). Looking first is enough there, because
// the eval's lock keeps other processes out and the mutex this one's goroutines.
func (f *folder) rename(temp, name string) error {
	f.noLinks.Lock()
	defer f.noLinks.Unlock()
	if _, err := f.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &os.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
		}
		return err
	}
	return f.root.Rename(temp, name)
}

// syncSometimes syncs the folder when that was last done a second ago or more.
func (f *folder) syncSometimes() error {
	last, now := f.lastSync.Load(), time.Now().UnixNano()
	if now-last < int64(time.Second) && now >= last || !f.lastSync.CompareAndSwap(last, now) {
		return nil
	}
	return f.sync()
}

// sync makes the names of the files durable, which a file's own Sync does not.
func (f *folder) sync() error {
	if runtime.GOOS == "windows" { // there is no such thing
		return nil
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) { // some file systems can't
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// sweep removes the temporary files of a process that was killed. The eval must be locked.
func (f *folder) sweep() error {
	entries, err := readDir(f.root)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if isTemp(entry.Name()) && !entry.IsDir() {
			if err := f.root.Remove(entry.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// sweep is folder.sweep of a folder that is not open.
func sweep(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return (&folder{root: root}).sweep()
}

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// readDir lists a folder in no particular order.
func readDir(root *os.Root) ([]fs.DirEntry, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(-1)
}

func (f *folder) close() error { return errors.Join(f.sync(), f.root.Close()) }
