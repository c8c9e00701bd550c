package suitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ProjectFile names the suites of a project, so that they can be run by name from every folder of it.
const ProjectFile = "tooleval.yaml"

// A Project is what a project file says.
type Project struct {
	// Path is the project file; Suites are the folders of its suites, relative ones below the file's own folder.
	Path   string
	Suites []string
}

// projectShape describes the project file.
var projectShape = &shape{
	kind: record, name: "the project", doc: "The file tooleval.yaml.",
	fields: []field{must("suites", texts, "the folders of the suites, relative to this file")},
}

// FindProject reads the project file of a folder or of the nearest folder above it, as far as the one that holds .git. It
// is nil when there is none. The error is an [*Error] when the file is not sound.
func FindProject(dir string) (*Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		path := filepath.Join(dir, ProjectFile)
		_, err := os.Lstat(path)
		switch {
		case err == nil:
			return readProject(dir)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: %w", path, cause(err))
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return nil, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil, nil
		}
		dir = above
	}
}

func readProject(dir string) (*Project, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	defer root.Close()
	var found problems
	left := int64(budget)
	f := &folder{root: root, dir: dir}
	src := f.source(ProjectFile)
	c := checker{folder: f, problems: &found, budget: &left, src: src, scope: &scope{}}
	p := &Project{Path: src.shown}
	if b, err := f.read(ProjectFile, mostYAML); err != nil {
		c.fail(place{file: src}, "%v", err)
	} else if node, at, err := src.parse(b); err != nil {
		c.fail(at, "%v", err)
	} else if e := c.check(node, projectShape); e != nil {
		for _, s := range e.get("suites").elements() {
			path := filepath.FromSlash(s.words)
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			if _, err := os.Stat(filepath.Join(path, FileName)); err != nil {
				c.fail(s.at, "%s: no suite there: %v", clip(s.words), cause(err))
			}
			p.Suites = append(p.Suites, path)
		}
	}
	if err := found.err(); err != nil {
		return nil, err
	}
	return p, nil
}
