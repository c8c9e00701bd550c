package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tooleval/tooleval"
)

// readHeader reads the eval.json in a folder.
func readHeader(path string) (tooleval.Eval, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return tooleval.Eval{}, fmt.Errorf("eval %s: %w", path, err)
	}
	defer root.Close()
	b, err := readFile(root, headerName)
	if errors.Is(err, fs.ErrNotExist) {
		return tooleval.Eval{}, fmt.Errorf("%s is no eval: it has no %s: %w", path, headerName, err)
	}
	var header tooleval.Eval
	if err == nil {
		header, err = decodeHeader(b)
	}
	if err != nil {
		return tooleval.Eval{}, &BadFile{filepath.Join(path, headerName), err}
	}
	return header, nil
}

// decodeHeader reads an eval.json. A file of a newer schema version is refused.
func decodeHeader(b []byte) (tooleval.Eval, error) {
	var version struct {
		SchemaVersion *int `json:"schema_version"`
	}
	var header tooleval.Eval
	if err := json.Unmarshal(b, &version); err != nil {
		return header, describeJSON(b, err)
	}
	if err := checkVersion(version.SchemaVersion); err != nil {
		return header, err
	}
	if err := json.Unmarshal(b, &header); err != nil {
		return header, describeJSON(b, err)
	}
	return header, nil
}

// SetHeader replaces the header, as when an eval is resumed with more runs or tasks than it was planned with. It is the
// one file that is ever replaced, in one step. The eval keeps its id and the time at which it started, whatever the new
// header says; the schema version is set.
func (e *Eval) SetHeader(header tooleval.Eval) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("eval %s: set its header: %w", e.path, ErrClosed)
	}
	header.ID, header.Started = e.header.ID, e.header.Started
	header.SchemaVersion = tooleval.SchemaVersion
	b := encodeEval(&header, e.red)
	// What the file says, and not what was given, is the header: secrets are gone from it.
	stored, err := decodeHeader(b)
	if err == nil {
		err = writeHeader(e.path, b)
	}
	if err != nil {
		return fmt.Errorf("eval %s: write %s: %w", e.path, headerName, e.advise(err))
	}
	e.header = stored
	return nil
}

// writeHeader writes eval.json and syncs the folder and the one around it, so that the eval is there from now on.
func writeHeader(path string, b []byte) error {
	for _, dir := range []string{path, filepath.Dir(path)} {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		f := folder{root: root}
		if dir == path {
			err = f.replace(headerName, b)
		}
		if err := errors.Join(err, f.close()); err != nil {
			return err
		}
	}
	return nil
}
