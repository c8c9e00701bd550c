package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
)

// An errorDocument is what stands in a results file when there are no results.
type errorDocument struct {
	SchemaVersion int    `json:"schema_version"`
	Error         string `json:"error"`
	ExitCode      int    `json:"exit_code"`
}

// writing runs a command that may write files of its results. Whatever happens they are written as a whole, and when the
// command fails before it has results they say so: a file of an earlier call must not be taken for this one's.
func (a *App) writing(ctx context.Context, g *gateFlags, run func() error) error {
	err := run()
	if err == nil || g.written || g.out == "" && g.junit == "" {
		return err
	}
	var gate *gateError
	if errors.As(err, &gate) {
		return err
	}
	if g.out != "" {
		var b bytes.Buffer
		if strings.EqualFold(filepath.Ext(g.out), ".json") {
			if doc, e := json.MarshalIndent(errorDocument{report.SchemaVersion, err.Error(), exitCode(ctx, err)}, "", "  "); e == nil {
				b.Write(append(doc, '\n'))
			}
		} else {
			fmt.Fprintln(&b, "tooleval: "+plain.Block(err.Error()))
		}
		if e := writeFile(g.out, b.Bytes()); e != nil {
			err = errors.Join(err, fmt.Errorf("--out: %w", e))
		}
	}
	if g.junit != "" {
		var b bytes.Buffer
		e := report.JUnitError(&b, err.Error())
		if e == nil {
			e = writeFile(g.junit, b.Bytes())
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("--junit: %w", e))
		}
	}
	return err
}

// writeOut writes the files that were asked for.
func (a *App) writeOut(g *gateFlags, r report.Report) error {
	if g.out != "" {
		var b bytes.Buffer
		if err := printReport(&b, r, formatOf(g.out), false, a.getenv); err != nil {
			return err
		}
		if err := writeFile(g.out, b.Bytes()); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if g.junit != "" {
		var b bytes.Buffer
		if err := report.JUnit(&b, r, r.Gate); err != nil {
			return err
		}
		if err := writeFile(g.junit, b.Bytes()); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	return nil
}

// formatOf is the format that the ending of a file asks for.
func formatOf(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		return "json"
	case ".md", ".markdown":
		return "markdown"
	}
	return "table"
}

// writable finds out before a long eval, and not after it, that a file can't be written.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: name another", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tooleval-*")
	if err != nil {
		return fmt.Errorf("%s can't be written: make its folder, or name another: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeFile replaces a file in one step: a reader sees the old one or the whole new one.
func writeFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tooleval-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
