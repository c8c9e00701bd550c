package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// A Summary is what a list of evals says of one.
type Summary struct {
	// ID is the name of the folder, which is the eval's id unless somebody renamed it.
	ID string
	// Path is the folder.
	Path string
	// Header is empty when Err is set.
	Header tooleval.Eval
	// Files counts the files of the agent's runs, several attempts at one run included. They were not read.
	Files int
	// Err says why the eval can't be read.
	Err error
}

// List lists the evals in a results folder, newest last; those that can't be read come first, with the reason. Folders
// that hold neither an eval.json nor runs are something else and left out. A results folder that isn't there has no
// evals.
func List(results string) ([]Summary, error) {
	entries, err := os.ReadDir(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("results folder %s: %w", results, err)
	}
	var list []Summary
	for _, entry := range entries {
		s := Summary{ID: entry.Name(), Path: filepath.Join(results, entry.Name())}
		if info, err := os.Stat(s.Path); err != nil || !info.IsDir() || strings.HasPrefix(s.ID, ".") {
			continue
		}
		s.Header, s.Err = readHeader(s.Path)
		runs, err := os.ReadDir(filepath.Join(s.Path, runsDir))
		if err != nil && errors.Is(s.Err, fs.ErrNotExist) {
			continue
		}
		for _, run := range runs {
			if isRecord(run) {
				s.Files++
			}
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Summary) int {
		return cmp.Or(a.Header.Started.Compare(b.Header.Started), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// latestName is the name under which [Find] knows the newest eval.
const latestName = "latest"

// Find is the folder of the eval that a person means by a name: "latest", an id, the beginning or the end of an id
// where only one eval has it, or a path. The error says what comes near.
func Find(results, name string) (string, error) {
	if name == "" {
		return "", errors.New(`name an eval: its id, the beginning or end of it, its folder, or "latest"`)
	}
	list, err := List(results)
	if err != nil {
		return "", err
	}
	var exact, partial []Summary
	var ids []string
	for _, s := range list {
		switch id := s.Header.ID; {
		case s.ID == name || id == name:
			exact = append(exact, s)
		case strings.HasPrefix(s.ID, name), strings.HasSuffix(s.ID, name), strings.HasPrefix(id, name),
			strings.HasSuffix(id, name):
			partial = append(partial, s)
		}
		ids = append(ids, s.ID)
	}
	if len(exact) == 0 {
		if _, err := os.Stat(filepath.Join(evalFolder(name), headerName)); err == nil {
			return evalFolder(name), nil
		}
	}
	if name == latestName && len(exact) == 0 {
		return latest(results, list)
	}
	matches := exact
	if len(matches) == 0 {
		matches = partial
	}
	switch len(matches) {
	case 1:
		return matches[0].Path, nil
	case 0:
		if len(list) == 0 {
			return "", fmt.Errorf("no eval %q: there are none in %s", name, results)
		}
		return "", fmt.Errorf("no eval %q in %s%s", name, results, tooleval.DidYouMean(name, append(ids, latestName)))
	}
	const most = 5
	var names []string
	for _, s := range matches[max(0, len(matches)-most):] {
		names = append(names, s.Path)
	}
	return "", fmt.Errorf("eval %q may be any of %d, the newest of them %s: give more of the id, or the path",
		name, len(matches), strings.Join(names, ", "))
}

// latest is the newest eval that can be read.
func latest(results string, list []Summary) (string, error) {
	for _, s := range slices.Backward(list) {
		if s.Err == nil {
			return s.Path, nil
		}
	}
	if len(list) > 0 {
		return "", fmt.Errorf("no eval in %s can be read: %w", results, list[len(list)-1].Err)
	}
	return "", fmt.Errorf("there are no evals in %s", results)
}
