package process

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Find is the absolute path of a program. A name without a slash is looked up in the PATH of env (where empty and
// relative entries are skipped: they would depend on the folder that the program starts in); a path is taken from the
// harness's own folder. The error is an [exec.ErrNotFound], [fs.ErrNotExist] or [fs.ErrPermission] and says what to do.
func Find(name string, env []string) (string, error) {
	if runtime.GOOS == "windows" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", err
		}
		return filepath.Abs(path)
	}
	if strings.Contains(name, "/") {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		return path, runnable(path)
	}
	list := lookup(env, "PATH")
	var denied error
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		switch err := runnable(path); {
		case err == nil:
			return path, nil
		case denied == nil && !os.IsNotExist(err):
			if _, statErr := os.Stat(path); statErr == nil {
				denied = err
			}
		}
	}
	if denied != nil {
		return "", denied
	}
	hint := ""
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		hint = fmt.Sprintf("; there is a file of that name here: write ./%s", name)
	}
	return "", fmt.Errorf("program %q: %w (PATH=%s)%s", name, exec.ErrNotFound, list, hint)
}

func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return fmt.Errorf("program %s: %w", path, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("program %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("program %s is a folder: %w", path, fs.ErrPermission)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("program %s is not executable (chmod +x makes it so): %w", path, fs.ErrPermission)
	}
	return nil
}

// lookup is the value of a variable in env, the last one if there are several.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
