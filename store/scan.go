package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
)

// A head is what the first lines of a run's file say. It is all that is needed to put the runs in order without holding
// them.
type head struct {
	key
	version *int
	eval    string
}

// readHead reads no more of a file than it has to: the fields of a head come first in every file that this package
// writes, and the identity after them. In a file with another order it reads on until it knows.
func readHead(r io.Reader) (head, error) {
	var h head
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err != nil {
		return h, err
	}
	if t != json.Delim('{') {
		return h, fmt.Errorf("it holds no JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return h, err
		}
		name, _ := t.(string)
		var into any
		switch name {
		case "schema_version":
			into = &h.version
		case "eval":
			into = &h.eval
		case "task_id":
			into = &h.task
		case "index":
			into = &h.index
		case "mind":
			into = &h.mind
		case "baseline":
			into = &h.baseline
		default:
			into = new(skipped)
		}
		if err := d.Decode(into); err != nil {
			return h, err
		}
		seen[name] = true
		if name == "identity" && seen["schema_version"] && seen["task_id"] && seen["index"] && seen["mind"] {
			return h, checkVersion(h.version)
		}
	}
	if _, err := d.Token(); err != nil { // the file ends here, or should have
		return h, err
	}
	if err := checkVersion(h.version); err != nil {
		return h, err
	}
	for _, name := range []string{"task_id", "index", "mind"} {
		if !seen[name] {
			return h, fmt.Errorf("it has no %s, so it is no run", name)
		}
	}
	return h, nil
}

// skipped is a JSON value that nobody keeps.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

// A file is one file of runs, as the scan leaves it.
type file struct {
	dir, name string
	err       error // when it can't be told which run it is of
	index     int
	group     int32 // the baseline, mind and task, in the order in which they are yielded
	attempts  int   // attempts and started are known only where there are several files of one run
	started   time.Time
}

func (f *file) path() string { return path.Join(f.dir, f.name) }

// A scanner puts the files of an eval in order.
type scanner struct {
	reader    *Reader
	root      *os.Root
	baselines bool
}

func (s *scanner) scan() []file {
	groups := map[key]int32{} // with index 0
	var files, bad []file
	for _, dir := range []string{runsDir, baseDir} {
		names, err := s.names(dir)
		if err != nil {
			bad = append(bad, file{dir: dir, err: err})
		}
		for _, name := range names {
			f := file{dir: dir, name: name}
			h, err := s.head(f)
			switch {
			case err != nil && s.baselines != (dir == baseDir):
			case err != nil:
				f.err = err
				bad = append(bad, f)
			case (h.baseline != "") == s.baselines:
				f.index = h.index
				k := h.key
				k.index = 0
				g, known := groups[k]
				if !known {
					g = int32(len(groups))
					groups[k] = g
				}
				f.group = g
				files = append(files, f)
			}
		}
	}
	rank := s.ranks(groups)
	for i := range files {
		files[i].group = rank[files[i].group]
	}
	slices.SortFunc(files, compareRuns)
	s.orderAttempts(files)
	return append(files, bad...)
}

// names are the files in a folder that should be runs. A folder that isn't there is empty.
func (s *scanner) names(dir string) ([]string, error) {
	root, err := s.root.OpenRoot(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := readDir(root)
	var names []string
	for _, entry := range entries {
		if isRecord(entry) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

func isRecord(entry fs.DirEntry) bool {
	return !entry.IsDir() && strings.HasSuffix(entry.Name(), ".json") && !strings.HasPrefix(entry.Name(), ".")
}

func (s *scanner) head(f file) (head, error) {
	in, err := openRegular(s.root, f.path())
	if err != nil {
		return head{}, err
	}
	defer in.Close()
	h, err := readHead(io.LimitReader(in, maxFile))
	if err == nil && h.eval != s.reader.header.ID {
		err = fmt.Errorf("it belongs to eval %q", h.eval)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("it stops in the middle: %w", err)
	}
	return h, err
}

// ranks are the places of the groups in the order of the plan.
func (s *scanner) ranks(groups map[key]int32) []int32 {
	header := &s.reader.header
	minds, tasks := map[string]int{}, map[string]int{}
	for i, m := range slices.Backward(header.Minds) {
		minds[m] = i - len(header.Minds) // planned ones are negative, others 0
	}
	for i, t := range slices.Backward(header.Tasks) {
		tasks[t.ID] = i - len(header.Tasks)
	}
	sorted := slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.baseline, b.baseline),
			cmp.Compare(minds[a.mind], minds[b.mind]), cmp.Compare(a.mind, b.mind),
			cmp.Compare(tasks[a.task], tasks[b.task]), cmp.Compare(a.task, b.task))
	})
	rank := make([]int32, len(groups))
	for i, k := range sorted {
		rank[groups[k]] = int32(i)
	}
	return rank
}

func compareRuns(a, b file) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.index, b.index), cmp.Compare(a.attempts, b.attempts),
		a.started.Compare(b.started), cmp.Compare(a.name, b.name), cmp.Compare(a.dir, b.dir))
}

// orderAttempts sorts the files of one run by age. Only these few have to be read for that.
func (s *scanner) orderAttempts(files []file) {
	for i := 0; i < len(files); {
		j := i + 1
		for j < len(files) && files[j].group == files[i].group && files[j].index == files[i].index {
			j++
		}
		if same := files[i:j]; len(same) > 1 {
			for k := range same {
				if run, err := s.load(same[k]); err == nil { // else it is yielded as bad later
					same[k].attempts, same[k].started = run.Provenance.Attempts, run.Started
				}
			}
			slices.SortFunc(same, compareRuns)
		}
		i = j
	}
}

func (s *scanner) load(f file) (*tooleval.Run, error) {
	b, err := readFile(s.root, f.path())
	if err != nil {
		return nil, err
	}
	return decodeRun(b)
}
