package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/scorers/judge"
	"github.com/tooleval/tooleval/store"
)

// A label is a person's verdict on a run, which is named by its file, or by eval, task, index and mind.
type label struct {
	Run     string          `json:"run"`
	Eval    string          `json:"eval"`
	Task    string          `json:"task"`
	Index   *int            `json:"index"`
	Mind    string          `json:"mind"`
	Verdict string          `json:"verdict"`
	Note    string          `json:"note"` // for people; nothing is done with it
	line    int             // of the file
	human   judge.Verdict   // Verdict, read
	run     *tooleval.Run   // once it is found
	dir     string          // of the eval; empty for a run's file that lies in none
	verdict []judge.Verdict // of the judge, one for each time that it was asked; empty where there is none
	why     []tooleval.Text // why there is none
	model   string          // of the judge
	rubric  string
}

const (
	mostLabels     = 100_000
	mostLabelBytes = 64 << 20
)

// readLabels reads a file of labels: CSV for the ending .csv, else one JSON object a line. Everything wrong is reported.
func readLabels(path string) ([]*label, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostLabelBytes+1))
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	if len(b) > mostLabelBytes {
		return nil, fmt.Errorf("labels: %s has more than %d MiB", path, mostLabelBytes>>20)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var list []*label
	var errs []error
	fail := func(line int, format string, args ...any) {
		const most = 20
		if len(errs) < most {
			errs = append(errs, fmt.Errorf("%s:%d: %s", path, line, fmt.Sprintf(format, args...)))
		}
	}
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		list = labelsFromCSV(b, fail)
	} else {
		list = labelsFromJSONL(b, fail)
	}
	seen := map[string]int{}
	for _, l := range list {
		l.check(fail)
		key := "file " + filepath.Clean(l.Run)
		if l.Run == "" {
			index := -1
			if l.Index != nil {
				index = *l.Index
			}
			key = fmt.Sprintf("%q %q %d %q", l.Eval, l.Task, index, l.Mind)
		}
		if first, twice := seen[key]; twice {
			fail(l.line, "the run of line %d is labelled again; keep one verdict, the one that people agreed on", first)
		}
		seen[key] = l.line
	}
	if len(errs) == 0 && len(list) == 0 {
		return nil, fmt.Errorf("labels: %s has none", path)
	}
	if len(list) > mostLabels {
		return nil, fmt.Errorf("labels: %s has more than %d", path, mostLabels)
	}
	return list, errors.Join(errs...)
}

var labelKeys = []string{"run", "eval", "task", "index", "mind", "verdict", "note"}

func labelsFromJSONL(b []byte, fail func(int, string, ...any)) []*label {
	var list []*label
	for i, line := range bytes.Split(b, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var keys map[string]json.RawMessage
		l := &label{line: i + 1}
		if err := json.Unmarshal(line, &keys); err != nil || keys == nil {
			fail(i+1, "want a JSON object with run and verdict, or eval, task, index and verdict")
			continue
		}
		for _, k := range sortedRaw(keys) {
			if !slices.Contains(labelKeys, k) {
				fail(i+1, "unknown key %q%s", k, tooleval.DidYouMean(k, labelKeys))
			}
		}
		if err := json.Unmarshal(line, l); err != nil {
			fail(i+1, "%v", err)
			continue
		}
		list = append(list, l)
	}
	return list
}

func sortedRaw(m map[string]json.RawMessage) []string {
	var names []string
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func labelsFromCSV(b []byte, fail func(int, string, ...any)) []*label {
	r := csv.NewReader(bytes.NewReader(b))
	header, err := r.Read()
	if err != nil {
		fail(1, "no line with the names of the columns: run,verdict or eval,task,index,verdict")
		return nil
	}
	for _, name := range header {
		if !slices.Contains(labelKeys, strings.TrimSpace(name)) {
			fail(1, "unknown column %q%s", name, tooleval.DidYouMean(name, labelKeys))
		}
	}
	var list []*label
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return list
		}
		if err != nil {
			line := len(list) + 2
			var wrong *csv.ParseError
			if errors.As(err, &wrong) {
				line, err = wrong.Line, wrong.Err
			}
			fail(line, "%v", err)
			return list
		}
		line, _ := r.FieldPos(0)
		l := &label{line: line}
		for i, name := range header {
			cell := strings.TrimSpace(cells[i])
			switch strings.TrimSpace(name) {
			case "run":
				l.Run = cell
			case "eval":
				l.Eval = cell
			case "task":
				l.Task = cell
			case "mind":
				l.Mind = cell
			case "verdict":
				l.Verdict = cell
			case "index":
				if cell == "" {
					continue
				}
				n, err := strconv.Atoi(cell)
				if err != nil {
					fail(line, "index %q is no whole number", cell)
				}
				l.Index = &n
			}
		}
		list = append(list, l)
	}
}

func (l *label) check(fail func(int, string, ...any)) {
	switch strings.ToLower(strings.TrimSpace(l.Verdict)) {
	case "pass", "passed":
		l.human = judge.Pass
	case "fail", "failed":
		l.human = judge.Fail
	case "":
		fail(l.line, "verdict is missing: it is pass or fail")
	default:
		fail(l.line, "verdict %q: it is pass or fail%s", l.Verdict, tooleval.DidYouMean(l.Verdict, []string{"pass", "fail"}))
	}
	named := l.Eval != "" || l.Task != "" || l.Index != nil || l.Mind != ""
	switch {
	case l.Run != "" && named:
		fail(l.line, "name the run by its file, or by eval, task and index, not by both")
	case l.Run == "" && (l.Eval == "" || l.Task == "" || l.Index == nil):
		fail(l.line, "name the run: by run, its file, or by eval, task and index (from 0)")
	}
}

// findLabelled reads the runs that labels are about.
func (a *App) findLabelled(labels []*label, results string) error {
	var errs []error
	fail := func(l *label, format string, args ...any) {
		errs = append(errs, fmt.Errorf("label of line %d: %w", l.line, fmt.Errorf(format, args...)))
	}
	byDir := map[string][]*label{}
	var dirs []string
	for _, l := range labels {
		if l.Run != "" {
			run, err := store.ReadRun(l.Run)
			if err != nil {
				fail(l, "%w", err)
				continue
			}
			l.run = run
			if dir := filepath.Dir(filepath.Dir(l.Run)); isEval(dir) {
				l.dir = dir
			}
			continue
		}
		dir, err := store.Find(results, l.Eval)
		if err != nil {
			fail(l, "%w", err)
			continue
		}
		if l.dir = dir; byDir[dir] == nil {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], l)
	}
	for _, dir := range dirs {
		reader, err := store.Open(dir)
		if err != nil {
			return err
		}
		type key struct {
			task, mind string
			index      int
		}
		wanted := map[key]*label{}
		for _, l := range byDir[dir] {
			if minds := reader.Header().Minds; l.Mind == "" && len(minds) != 1 {
				fail(l, "the eval has %d minds: name one by mind (%s)", len(minds), strings.Join(minds, ", "))
			} else if l.Mind == "" {
				l.Mind = minds[0]
			}
			wanted[key{l.Task, l.Mind, *l.Index}] = l
		}
		for run, err := range store.Latest(reader.Runs()) {
			if err != nil {
				continue // a label of it is reported below
			}
			if l := wanted[key{run.TaskID, run.Mind, run.Index}]; l != nil {
				l.run = run
			}
		}
		for _, l := range byDir[dir] {
			if l.run == nil && l.Mind != "" {
				fail(l, "eval %s has no run %d (from 0) of task %q by %s", reader.Header().ID, *l.Index, l.Task, l.Mind)
			}
		}
	}
	first := map[string]int{}
	for _, l := range labels {
		if l.run == nil {
			continue
		}
		id := fmt.Sprintf("%q %q %q %d %q", l.run.Eval, l.run.TaskID, l.run.Mind, l.run.Index, l.run.Baseline)
		if line, twice := first[id]; twice {
			fail(l, "its run is that of line %d", line)
		}
		first[id] = l.line
	}
	const most = 20
	if len(errs) > most {
		errs = append(errs[:most], fmt.Errorf("and %d more labels", len(errs)-most))
	}
	return errors.Join(errs...)
}

func isEval(dir string) bool {
	_, err := store.Open(dir)
	return err == nil
}
