package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitefile"
)

// A Folder is a suite in Go that is named by the path of its own folder, as ./my-suite is, since making it takes data
// that are not part of the binary.
type Folder struct {
	// Path is the folder's path in its repository, with slashes. A path that ends with it, and holds no suite.yaml, stands
	// for this suite.
	Path string
	// Load makes the suite. Dir is the folder as the user named it; getenv looks up an environment variable.
	Load func(dir string, getenv func(string) string) (*tooleval.Suite, error)
}

// goFolder is the registered folder that a path stands for.
func (a *App) goFolder(dir string) (Folder, bool) {
	if _, err := os.Stat(filepath.Join(dir, suitefile.FileName)); err == nil {
		return Folder{}, false
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, false
	}
	if info, err := os.Stat(full); err != nil || !info.IsDir() {
		return Folder{}, false
	}
	for _, f := range a.Folders {
		if strings.HasSuffix(filepath.ToSlash(full), "/"+f.Path) {
			return f, true
		}
	}
	return Folder{}, false
}

func (f Folder) load(dir string, getenv func(string) string) (*tooleval.Suite, error) {
	s, err := f.Load(dir, getenv)
	if err != nil {
		return nil, fmt.Errorf("suite folder %s: %w", dir, err)
	}
	return s, nil
}
