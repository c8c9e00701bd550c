package ingest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// The names in the folder of an eval; see package store.
const (
	evalHeader = "eval.json"
	evalRuns   = "runs"
)

func fitsRun(p *probe) bool { return p.first().has("schema_version", "task_id", "trajectory", "score") }

// readRuns reads run files, one after another where there are several.
func readRuns(s *source, yield func(*Recording, error) bool) {
	n := 0
	s.values(func(v value, _ bool, err error) bool {
		n++
		position := fmt.Sprintf("run %d", n)
		if err != nil {
			return yield(nil, s.wrap(position, err))
		}
		run, err := decodeRun(v)
		if err != nil {
			return yield(nil, s.bad(position, err))
		}
		return yield(s.ours(run, position))
	})
}

// decodeRun reads a run. The layout of the file is no part of the JSON in it.
func decodeRun(v value) (*tooleval.Run, error) {
	if version, ok := v.get("schema_version").integer(); !ok || version < 1 {
		return nil, errors.New("it has no schema_version, so it is no record of tooleval")
	} else if version > tooleval.SchemaVersion {
		return nil, fmt.Errorf("schema version %d is newer than %d, the newest that this tooleval reads: update tooleval", version, tooleval.SchemaVersion)
	}
	run := new(tooleval.Run)
	if err := json.Unmarshal(v.raw(), run); err != nil {
		return nil, err
	}
	return run, nil
}

// ours makes a Recording of a record of our own, which keeps all that it says.
func (s *source) ours(run *tooleval.Run, position string) (*Recording, error) {
	r := &Recording{Source: Source{Format: Runs, File: s.name, Position: position, Agent: run.Mind}, TaskID: run.TaskID, Index: run.Index,
		Trajectory: run.Trajectory, Result: run.Result, Ending: run.Ending, Error: run.Error, ErrorOwner: run.ErrorOwner, Run: run}
	if run.StateFrom == "world" {
		r.State = run.State
	}
	if run.Result.Response != "" {
		r.Said = []tooleval.Text{run.Result.Response}
	}
	if v := run.Score.Verdict; v == tooleval.Passed || v == tooleval.Failed {
		passed := v == tooleval.Passed
		r.Given.Passed = &passed
	}
	if r.Trajectory.Calls == nil {
		r.Trajectory.Calls = []tooleval.Call{}
	}
	if err := rename(&r.Trajectory, nil, s.opts.Aliases); err != nil {
		return nil, s.bad(position, err)
	}
	return r, nil
}

// readFolder reads the agent's runs in the folder of an eval: of several attempts at one run the newest.
func readFolder(dir string, o Options, yield func(*Recording, error) bool) {
	fail := func(err error) { yield(nil, &RecordError{File: dir, Err: err}) }
	if o.Format != "" && o.Format != Runs {
		fail(fmt.Errorf("a folder can't be read as %s: name its files", o.Format))
		return
	}
	if _, err := os.Stat(filepath.Join(dir, evalHeader)); err != nil {
		fail(errors.New("a folder is read only when it is that of an eval, with an eval.json in it: name the files"))
		return
	}
	root, err := os.OpenRoot(filepath.Join(dir, evalRuns))
	if err != nil {
		fail(plainError(err))
		return
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		fail(plainError(err))
		return
	}
	s := &source{name: dir, format: Runs, opts: o}
	if s.opts.MaxRecord <= 0 {
		s.opts.MaxRecord = DefaultMaxRecord
	}
	type attempt struct {
		name string
		run  *tooleval.Run // without what is large
	}
	newest := map[string]attempt{}
	broken := map[string]error{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		run, err := s.runFile(root, e.Name())
		if err != nil {
			broken[e.Name()] = err
			continue
		}
		if run.Baseline != "" {
			continue
		}
		small := &tooleval.Run{Mind: run.Mind, TaskID: run.TaskID, Index: run.Index, Started: run.Started, Provenance: run.Provenance}
		key := fmt.Sprintf("%q %q %d", run.Mind, run.TaskID, run.Index)
		old, ok := newest[key]
		if !ok || cmp.Or(cmp.Compare(small.Provenance.Attempts, old.run.Provenance.Attempts), small.Started.Compare(old.run.Started)) > 0 {
			newest[key] = attempt{e.Name(), small}
		}
	}
	list := make([]attempt, 0, len(newest))
	for _, a := range newest {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b attempt) int {
		return cmp.Or(cmp.Compare(a.run.Mind, b.run.Mind), cmp.Compare(a.run.TaskID, b.run.TaskID), cmp.Compare(a.run.Index, b.run.Index))
	})
	for name, err := range sorted(broken) {
		if !yield(nil, s.bad(evalRuns+"/"+name, err)) {
			return
		}
	}
	for _, a := range list {
		position := evalRuns + "/" + a.name
		run, err := s.runFile(root, a.name)
		if err != nil {
			err = s.bad(position, err)
			if !yield(nil, err) {
				return
			}
			continue
		}
		if !yield(s.ours(run, position)) {
			return
		}
	}
	if len(list)+len(broken) == 0 {
		fail(errors.New("there is no run in it"))
	}
}

func (s *source) runFile(root *os.Root, name string) (*tooleval.Run, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, plainError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, plainError(err)
	}
	defer f.Close()
	v, err := newScanner(f, s.opts.MaxRecord).value()
	if err != nil {
		return nil, err
	}
	return decodeRun(v)
}

func sorted(m map[string]error) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		names := make([]string, 0, len(m))
		for n := range m {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if !yield(n, m[n]) {
				return
			}
		}
	}
}
