package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/suitefile"
)

// How --watch looks for changes. It looks instead of being told by the system, since that works the same everywhere, in
// containers and on network drives too, and a suite's folder has few files.
const (
	watchEvery = 300 * time.Millisecond
	watchFiles = 10_000
)

// A snapshot is what --watch compares: size and time of change by path.
type snapshot map[string]fileStamp

type fileStamp struct {
	size     int64
	modified time.Time
	mode     fs.FileMode
}

// look takes a snapshot of the files below a folder, except those below another.
func look(dir, except string) (snapshot, error) {
	s := snapshot{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone between two looks: the next one sees it
		}
		if d.IsDir() {
			if name := d.Name(); path != dir && (name == ".git" || name == "node_modules" || sameFile(path, except)) {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if s[path] = (fileStamp{info.Size(), info.ModTime(), info.Mode()}); len(s) > watchFiles {
			return fmt.Errorf("--watch: more than %d files below %s", watchFiles, dir)
		}
		return nil
	})
	return s, err
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (s snapshot) same(o snapshot) bool {
	if len(s) != len(o) {
		return false
	}
	for path, stamp := range s {
		if other, ok := o[path]; !ok || other.size != stamp.size || other.mode != stamp.mode || !other.modified.Equal(stamp.modified) {
			return false
		}
	}
	return true
}

// watch calls run, and again after every change below dir but not below except, until ctx is done. An error of run is printed and waited out:
// it is most likely what the next change mends. When the user ends it, what a run in flight returned is returned.
func (a *App) watch(ctx context.Context, dir, except string, run func() error) error {
	for {
		before, err := look(dir, except)
		if err != nil {
			return err
		}
		err = run()
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.complain(err)
		}
		fmt.Fprintf(a.Stderr, "watching %s for changes; interrupt to end\n", plain.Text(dir))
		if err := waitForChange(ctx, dir, except, before); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil // nothing was cut short
		}
	}
}

// waitForChange returns once what is below dir differs from before and has stayed the same for one look, so that an
// editor is done writing, or when ctx is done.
func waitForChange(ctx context.Context, dir, except string, before snapshot) error {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	last := before
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now, err := look(dir, except)
		if err != nil {
			return err
		}
		if !now.same(before) && now.same(last) {
			return nil
		}
		last = now
	}
}

// watchSuite runs a suite's folder again after every change in it.
func (a *App) watchSuite(cmd *cobra.Command, f *runFlags) error {
	dir := suiteDir(f.suite)
	if !isSuitePath(f.suite) {
		folders, err := a.projectSuites()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(folders, func(dir string) bool { return suitefile.Name(dir) == f.suite })
		if i < 0 {
			return fmt.Errorf("--watch: suite %q is no folder that could change; give a path, as in ./my-suite", f.suite)
		}
		dir = folders[i]
	}
	fresh := *f // what a run makes of the flags is no part of the next
	return a.watch(cmd.Context(), dir, f.results, func() error {
		*f = fresh
		return a.run(cmd.Context(), cmd, f)
	})
}
