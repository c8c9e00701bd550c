package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitefile"
)

// isSuitePath reports whether a suite is named by its folder: with a slash in it, as in ./my-suite, or . for this one.
func isSuitePath(s string) bool {
	return s == "." || s == ".." || strings.ContainsRune(s, '/') || strings.ContainsRune(s, filepath.Separator)
}

// loadSuite finds a suite by the path of its folder, or by its name among those of this binary and of the project.
func (a *App) loadSuite(nameOrPath string) (*tooleval.Suite, error) {
	if isSuitePath(nameOrPath) {
		return a.suiteFolder(nameOrPath)
	}
	for _, s := range a.Suites {
		if s.Name == nameOrPath {
			return s, nil
		}
	}
	folders, err := a.projectSuites()
	if err != nil {
		return nil, err
	}
	names := a.suiteNames()
	for _, dir := range folders {
		name := suitefile.Name(dir)
		if name == nameOrPath {
			return a.suiteFolder(dir)
		}
		names = append(names, name)
	}
	hint := tooleval.DidYouMean(nameOrPath, names)
	if _, err := os.Stat(filepath.Join(nameOrPath, suitefile.FileName)); err == nil && nameOrPath != "" {
		hint = fmt.Sprintf("; for the folder of that name write ./%s", nameOrPath)
	}
	return nil, fmt.Errorf("unknown suite %q%s; the suites are: %s", nameOrPath, hint, strings.Join(names, ", "))
}

// suiteError names the flag that an error is about, unless the error names a place in a file itself.
func suiteError(err error) error {
	if _, ok := errors.AsType[*suitefile.Error](err); ok {
		return err
	}
	return fmt.Errorf("--suite: %w", err)
}

// suiteFolder loads the suite in a folder. The path of its suite.yaml will do as well.
func (a *App) suiteFolder(path string) (*tooleval.Suite, error) {
	dir := suiteDir(path)
	if f, ok := a.goFolder(dir); ok {
		return f.load(dir, a.getenv)
	}
	return suitefile.Load(dir, suitefile.Options{Getenv: a.getenv})
}

func suiteDir(path string) string {
	if filepath.Base(path) == suitefile.FileName {
		return filepath.Dir(path)
	}
	return filepath.Clean(path)
}

// projectSuites are the folders that the project file lists. One with the name of a suite of this binary, or of another
// one of the project, could not be told apart by name, so that is an error.
func (a *App) projectSuites() ([]string, error) {
	p, err := suitefile.FindProject(".")
	if err != nil || p == nil {
		return nil, err
	}
	var errs []error
	first := map[string]string{}
	for _, dir := range p.Suites {
		name := suitefile.Name(dir)
		if name == "" {
			continue // Load says why
		}
		if slices.Contains(a.suiteNames(), name) {
			errs = append(errs, fmt.Errorf("%s: the suite in %s has the name of a built-in one, %q; rename it", p.Path, dir, name))
		} else if other, taken := first[name]; taken {
			errs = append(errs, fmt.Errorf("%s: the suites in %s and %s are both named %q; rename one", p.Path, other, dir, name))
		}
		first[name] = dir
	}
	return p.Suites, errors.Join(errs...)
}

// allSuites are the suites of this binary and those of the project. The error says which of the latter could not be
// loaded; the others are returned all the same.
func (a *App) allSuites() ([]*tooleval.Suite, error) {
	all := slices.Clone(a.Suites)
	folders, err := a.projectSuites()
	errs := []error{err}
	for _, dir := range folders {
		s, err := a.suiteFolder(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, s)
	}
	return all, errors.Join(errs...)
}

// completeSuites completes names of suites; a path is completed by the shell.
func (a *App) completeSuites(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := a.suiteNames()
	folders, err := a.projectSuites()
	if err != nil {
		return names, cobra.ShellCompDirectiveDefault
	}
	for _, dir := range folders {
		if name := suitefile.Name(dir); name != "" {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// name takes the suite from the argument of the command.
func (f *runFlags) name(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Changed("suite") {
		return fmt.Errorf("the suite is given twice, as --suite %s and as %s; keep one", f.suite, args[0])
	}
	return cmd.Flags().Set("suite", args[0]) // as a flag, so that the eval remembers it for --resume
}
