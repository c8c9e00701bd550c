package profile

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

//go:embed builtin/*.yaml
var builtin embed.FS

const builtIn = "built in"

// Folders are where profiles are looked up before the built-in ones: ./agents, then tooleval/agents in the user's
// configuration folder. The argument looks up an environment variable.
func Folders(getenv func(string) string) []string {
	folders := []string{"agents"}
	if dir := configFolder(getenv); dir != "" {
		folders = append(folders, filepath.Join(dir, "tooleval", "agents"))
	}
	return folders
}

func configFolder(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return dir
}

// A Listed is a profile that was found, or the error of its file.
type Listed struct {
	Name    string // the file's name without .yaml
	Profile *Profile
	Err     error
	// Hides is the source of a profile of the same name further down, which this one stands in front of.
	Hides string
}

// List is every profile by name. A folder that does not exist holds none.
func List(folders []string) ([]Listed, error) {
	var list []Listed
	var errs []error
	add := func(name, source string, read func() ([]byte, error)) {
		if i := slices.IndexFunc(list, func(l Listed) bool { return l.Name == name }); i >= 0 {
			if list[i].Hides == "" {
				list[i].Hides = source
			}
			return
		}
		l := Listed{Name: name}
		text, err := read()
		if err == nil {
			l.Profile, err = Load(source, text)
		}
		if err == nil && l.Profile.Name != name {
			err = fmt.Errorf("%s: the profile calls itself %q; its name and its file's must be the same", source, l.Profile.Name)
		}
		if l.Err = err; err != nil {
			l.Profile = nil
		}
		if source == builtIn && err == nil {
			l.Profile.Source = builtIn
		}
		list = append(list, l)
	}
	for _, folder := range folders {
		files, err := os.ReadDir(folder)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			continue
		}
		for _, f := range files {
			if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok {
				path := filepath.Join(folder, f.Name())
				add(name, path, func() ([]byte, error) { return readBounded(path) })
			}
		}
	}
	files, err := builtin.ReadDir("builtin")
	errs = append(errs, err)
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".yaml")
		add(name, builtIn, func() ([]byte, error) { return builtin.ReadFile("builtin/" + f.Name()) })
	}
	slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return list, errors.Join(errs...)
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s: not a file of at most %d bytes", path, maxFile)
	}
	return os.ReadFile(path)
}

// ErrUnknown is wrapped by Find's error when there is no profile of that name.
var ErrUnknown = errors.New("unknown agent")

// Find is the profile of a name, the first one in the order of the folders.
func Find(name string, folders []string) (*Profile, error) {
	list, err := List(folders)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range list {
		if l.Name == name {
			return l.Profile, l.Err
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf("%w %q%s; there are: %s", ErrUnknown, name, tooleval.DidYouMean(name, names), strings.Join(names, ", "))
}
