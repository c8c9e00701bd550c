package suitefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/worlds/starlark"
)

// Options are the settings of [Load]. The zero Options are ready to use.
type Options struct {
	// Getenv looks up the environment variables that the suite lists under env. Nil stands for an empty environment.
	Getenv func(string) string
}

// Load reads the suite in a folder. The error is an [*Error] with everything that is wrong with its files, or says why
// the folder can't be read. What Load returns holds no reference to the folder, which may change or vanish afterwards.
func Load(dir string, o Options) (*tooleval.Suite, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("suite folder %s: %w", dir, cause(err))
	}
	defer root.Close()
	var problems problems
	left := int64(budget)
	f := &folder{root: root, dir: dir}
	src := f.source(FileName)
	l := &loader{options: o, troubled: map[string]bool{}, places: map[string]place{}, files: map[string]tooleval.Raw{}, nodes: map[string]*yaml.Node{}}
	l.checker = checker{folder: f, problems: &problems, budget: &left, src: src, scope: &scope{}}
	b, err := f.read(FileName, mostYAML)
	if err != nil {
		problems.add(place{file: src}, "", "%v%s", err, otherName(f))
		return nil, problems.err()
	}
	if node, at, err := src.parse(b); err != nil {
		problems.add(at, "", "%v", err)
	} else if l.declare(node) {
		if e := l.check(node, format()); e != nil {
			l.build(e)
		}
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	return l.suite, nil
}

// Name is the name of the suite in a folder, read without looking at the rest of it; empty when it can't be told.
func Name(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	f := &folder{root: root, dir: dir}
	b, err := f.read(FileName, mostYAML)
	if err != nil {
		return ""
	}
	node, _, err := f.source(FileName).parse(b)
	if err != nil {
		return ""
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "name" {
			return node.Content[i+1].Value
		}
	}
	return ""
}

// otherName is a hint for a folder whose file has a name that is nearly right.
func otherName(f *folder) string {
	for _, name := range []string{"suite.yml", "suite.json", "Suite.yaml"} {
		if _, err := f.root.Lstat(name); err == nil {
			return fmt.Sprintf("; there is a %s: rename it", name)
		}
	}
	return "; make a suite's folder with: tooleval init " + filepath.ToSlash(f.dir)
}

// cause is an error of opening a path without the path.
func cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// A loader builds a Suite of the entries that a checker found to be sound.
type loader struct {
	checker
	options Options
	suite   *tooleval.Suite

	// places are where things are defined, by kind and name, as in `task "a"`; troubled are those with a problem.
	places   map[string]place
	troubled map[string]bool
	nodes    map[string]*yaml.Node // of what has a place
	limits   tooleval.Limits
	scorers  map[string]tooleval.Scorer
	scripts  map[string]*scriptedMind // by mind
	files    map[string]tooleval.Raw  // JSON files that were read; nil for one that is not sound
	toolset  []string
	programs map[string]*starlark.Program // by file; nil for one that is not sound
	goals    []*scorers.Goal
	users    map[string]*entry       // by task
	data     map[string]tooleval.Raw // by task
	outer    *scope                  // of the values under vars
}

func (l *loader) build(e *entry) {
	s := &tooleval.Suite{
		Name: e.get("name").text(), Description: e.get("description").text(), Version: e.get("version").text(),
		Scorers: map[string]tooleval.Scorer{},
	}
	l.suite, l.scorers, l.scripts = s, map[string]tooleval.Scorer{}, map[string]*scriptedMind{}
	l.programs, l.users, l.data = map[string]*starlark.Program{}, map[string]*entry{}, map[string]tooleval.Raw{}
	l.places["suite"] = e.at
	if vars := e.get("vars"); vars != nil {
		inner := l.checker
		inner.scope = l.outer
		f, _ := format().field("vars")
		inner.check(vars.node, f.shape)
	}
	l.limits = buildLimits(e.get("limits"))
	l.buildTools(e.get("tools"))
	l.buildEntryPoints(e.get("entry_points"))
	l.buildScorers(e.get("scorers"))
	l.buildMinds(e.get("minds"))
	l.buildTasks(e.get("tasks"))
	l.checkScripts()
	l.buildWorld(e.get("world")) // after the tasks, which say what is special in theirs
	if len(s.Scorers) == 0 {
		s.Scorers = nil
	}
	l.validate()
}

// define notes where something is defined, and reports a name that is taken. It returns the key under which it is noted.
func (l *loader) define(kind, name string, at place) string {
	key := fmt.Sprintf("%s %q", kind, name)
	if first, taken := l.places[key]; taken {
		l.fail(at, "%s %q is used twice; the first is at %s", kind, clip(name), first)
		l.troubled[key] = true
		return key
	}
	l.places[key] = at
	return key
}

// watch runs f and notes whether it found something wrong.
func (l *loader) watch(key string, f func()) {
	before := l.problems.count()
	f()
	if l.problems.count() > before {
		l.troubled[key] = true
	}
}

// known reports a name that is none of the known ones.
func (l *loader) known(e *entry, what string, known []string) bool {
	if e == nil || slices.Contains(known, e.words) {
		return e != nil
	}
	hint := tooleval.DidYouMean(e.words, known)
	const few = 12
	if hint == "" && len(known) > 0 && len(known) <= few {
		hint = "; known are: " + strings.Join(known, ", ")
	}
	e.fail(l, "unknown %s %q%s", what, clip(e.words), hint)
	return false
}

// fail reports a problem at the place of an entry.
func (e *entry) fail(l *loader, format string, args ...any) { l.fail(e.at, format, args...) }

func buildLimits(e *entry) tooleval.Limits {
	return tooleval.Limits{Timeout: e.get("timeout").duration(), Calls: e.get("calls").int()}
}
