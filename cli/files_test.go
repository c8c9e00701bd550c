package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// walk visits the files below the script's results folder.
func walk(ts *testscript.TestScript, visit func(path string, b []byte)) {
	root := ts.MkAbs("results")
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		visit(filepath.ToSlash(rel), b)
		return err
	}))
}

func fits(pattern, path string) bool {
	ok, err := filepath.Match(pattern, path)
	return ok && err == nil
}
