package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// Outlines streams the agent's runs without their bulk, several times as fast as [Reader.Runs]: in the order of their
// files' names, several attempts at one run included, runs of baselines left out. What is filled in of a Run is what
// totals are made of: which run it is, Identity, Ending, ErrorOwner, Started, Provenance.Attempts, the verdict, the scores and the
// names and verdicts of the checks in Score, the category and owner in Failure, and Tool, Status and TookMS of the calls.
// What is left out is not checked either: a file that is damaged only there is taken as good.
//
// The Run is good until the next one is asked for. Files are read on all processors; a few hundred are in memory at a
// time, and the names of all. A file that can't be read is yielded as a [*BadFile] in its place.
func (r *Reader) Outlines() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		root, err := os.OpenRoot(r.path)
		if err != nil {
			yield(File{}, fmt.Errorf("eval %s: %w", r.path, err))
			return
		}
		defer root.Close()
		dir, err := root.OpenRoot(runsDir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(File{}, fmt.Errorf("eval %s: %w", r.path, err))
			return
		}
		defer dir.Close()
		entries, err := readDir(dir)
		if err != nil {
			yield(File{}, &BadFile{filepath.Join(r.path, runsDir), err})
			return
		}
		var names []string
		o := reading{dir: dir, odd: map[string]bool{}, tasks: map[string]*tooleval.Eval{}}
		for i, t := range r.header.Tasks {
			if len(t.Contents) > 0 {
				o.tasks[t.ID] = &tooleval.Eval{Tasks: r.header.Tasks[i : i+1]}
			}
		}
		for _, entry := range entries {
			if !isRecord(entry) {
				continue
			}
			names = append(names, entry.Name())
			if !entry.Type().IsRegular() {
				o.odd[entry.Name()] = true
			}
		}
		slices.Sort(names)
		folder := filepath.Join(r.path, runsDir) + string(filepath.Separator)
		for b := range r.batches(&o, names) {
			for i := range b.runs {
				o := &b.runs[i]
				file := File{Path: folder + b.names[i], Run: &o.run}
				switch {
				case o.err != nil:
					if !yield(File{}, &BadFile{file.Path, o.err}) {
						return
					}
				case o.run.Baseline != "" || o.stale:
				case !yield(file, nil):
					return
				}
			}
		}
	}
}

const batchSize = 128

// A batch is some files that one goroutine reads together.
type batch struct {
	names []string
	runs  []outline
	done  chan struct{}
}

type outline struct {
	run   tooleval.Run
	stale bool // it is of a definition that the eval has left behind
	err   error
}

// batches reads files ahead on all processors and yields them in order.
func (r *Reader) batches(from *reading, names []string) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		workers := runtime.GOMAXPROCS(0)
		work, order := make(chan *batch), make(chan *batch, 2*workers)
		free := make(chan *batch, 3*workers+2)
		for range cap(free) {
			free <- &batch{runs: make([]outline, batchSize)}
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(order)
			defer close(work)
			for rest := names; len(rest) > 0; {
				n := min(batchSize, len(rest))
				select {
				case b := <-free:
					b.names, b.runs, b.done = rest[:n], b.runs[:n], make(chan struct{})
					rest = rest[n:]
					order <- b // never full: there are fewer batches
					select {
					case work <- b:
					case <-stop:
						return
					}
				case <-stop:
					return
				}
			}
		})
		for range workers {
			wg.Go(func() {
				o := outliner{eval: r.header.ID, words: map[string]string{}, buf: make([]byte, 1<<16)}
				for b := range work {
					for i, name := range b.names {
						out := &b.runs[i]
						out.err = o.read(from, name, &out.run)
						task := from.tasks[out.run.TaskID]
						out.stale = out.err == nil && task != nil && !task.Current(&out.run)
					}
					close(b.done)
				}
			})
		}
		for b := range order {
			<-b.done
			if !yield(b) {
				return
			}
			b.runs = b.runs[:batchSize]
			free <- b
		}
	}
}

// An outliner reads files one after another.
type outliner struct {
	eval  string
	words map[string]string // the words that come again in every file
	buf   []byte
	skim
}

// A reading is a folder of runs. The listing says already which of them are regular files; asking again for each would be
// a fifth of all the work.
type reading struct {
	dir *os.Root
	odd map[string]bool // those that are not
	// The eval with one task only, by task, where the header says what is current: a search for each run would take the
	// square of the number of tasks.
	tasks map[string]*tooleval.Eval
}

func (r *reading) open(name string) (*os.File, error) {
	if r.odd[name] {
		return openRegular(r.dir, name) // which says what it is
	}
	return r.dir.Open(name)
}

func (o *outliner) read(from *reading, name string, run *tooleval.Run) error {
	f, err := from.open(name)
	if err != nil {
		return err
	}
	n := 0
	for {
		m, err := f.Read(o.buf[n:])
		n += m
		if err == io.EOF || err == nil && m == 0 {
			break
		}
		if err != nil {
			f.Close()
			return err
		}
		if n == len(o.buf) {
			if n >= maxFile {
				f.Close()
				return fmt.Errorf("it has more than the %d bytes that are read", maxFile)
			}
			o.buf = append(o.buf, make([]byte, n)...)
		}
	}
	f.Close()
	o.skim = skim{b: o.buf[:n]}
	err = o.outline(run)
	const keep = 1 << 22
	if len(o.buf) > keep { // one huge run must not hold its memory for good
		o.buf = make([]byte, 1<<16)
	}
	return err
}

// word is a string that is likely to come again.
func (o *outliner) word() string {
	raw, plain := o.text()
	if w, ok := o.words[string(raw)]; ok && plain {
		return w
	}
	if !plain || !utf8.Valid(raw) {
		return o.unquoted(raw)
	}
	w := string(raw)
	const most = 1 << 14
	if len(o.words) < most {
		o.words[w] = w
	}
	return w
}

// outline fills in run from the file in o.
func (o *outliner) outline(run *tooleval.Run) error {
	checks, calls := run.Score.Outcome.Checks[:0], run.Trajectory.Calls[:0]
	*run = tooleval.Run{}
	var version *int
	seen := 0
	o.object(func(key []byte) {
		switch string(key) {
		case "schema_version":
			v := o.int()
			version = &v
		case "eval":
			run.Eval = o.word()
		case "suite":
			run.Suite = o.word()
		case "task_id":
			run.TaskID = o.word()
			seen |= 1
		case "index":
			run.Index = o.int()
			seen |= 2
		case "mind":
			run.Mind = o.word()
			seen |= 4
		case "world":
			run.World = o.word()
		case "baseline":
			run.Baseline = o.word()
		case "identity": // not a word: it differs in every file
			raw, _ := o.text()
			run.Identity = string(raw)
		case "ending":
			run.Ending = tooleval.Ending(o.word())
		case "error_owner":
			run.ErrorOwner = tooleval.Owner(o.word())
		case "score":
			run.Score.Outcome.Checks = checks
			o.score(&run.Score)
		case "failure":
			run.Failure = o.failure()
		case "trajectory":
			run.Trajectory.Calls = calls
			o.trajectory(&run.Trajectory)
		case "provenance":
			o.object(func(key []byte) {
				if string(key) == "attempts" {
					run.Provenance.Attempts = o.int()
					return
				}
				o.skip()
			})
		case "started":
			// A time that is none leaves the zero time: it only orders attempts.
			_ = run.Started.UnmarshalText([]byte(o.word()))
		default:
			o.skip()
		}
	})
	if o.space(); o.i < len(o.b) && !o.bad {
		o.bad = true
	}
	switch {
	case len(o.b) == 0:
		return errors.New("it is empty")
	case o.bad && o.i >= len(o.b):
		return fmt.Errorf("it stops in the middle, after %d bytes", len(o.b))
	case o.bad:
		return fmt.Errorf("byte %d: it is no JSON of a run", o.i)
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	for i, name := range []string{"task_id", "index", "mind"} {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("it has no %s, so it is no run", name)
		}
	}
	if run.Eval != o.eval {
		return fmt.Errorf("it belongs to eval %q", strings.Clone(run.Eval))
	}
	return nil
}

func (o *outliner) score(s *tooleval.TaskScore) {
	o.object(func(key []byte) {
		switch string(key) {
		case "verdict":
			s.Verdict = tooleval.Verdict(o.word())
		case "outcome":
			o.object(func(key []byte) {
				switch string(key) {
				case "score":
					s.Outcome.Score = o.number()
				case "checks":
					o.list(func() { s.Outcome.Checks = append(s.Outcome.Checks, o.check()) })
				default:
					o.skip()
				}
			})
		case "process":
			o.object(func(key []byte) {
				if string(key) == "score" {
					s.Process.Score = o.number()
					return
				}
				o.skip()
			})
		default:
			o.skip()
		}
	})
}

// number is a Score without its reason.
func (o *outliner) number() tooleval.Score {
	var score tooleval.Score
	o.object(func(key []byte) {
		if string(key) == "value" {
			if v, ok := o.float(); ok {
				score = tooleval.Scored(v)
			}
			return
		}
		o.skip()
	})
	return score
}

func (o *outliner) check() (c tooleval.Check) {
	o.object(func(key []byte) {
		switch string(key) {
		case "name":
			c.Name = o.word()
		case "verdict":
			c.Verdict = tooleval.Verdict(o.word())
		case "info":
			c.Info = o.skip() == 't'
		default:
			o.skip()
		}
	})
	return c
}

func (o *outliner) failure() *tooleval.Failure {
	if o.space(); o.at() != '{' {
		o.skip()
		return nil
	}
	f := new(tooleval.Failure)
	o.object(func(key []byte) {
		switch string(key) {
		case "category":
			f.Category = tooleval.Category(o.word())
		case "owner":
			f.Owner = tooleval.Owner(o.word())
		default:
			o.skip()
		}
	})
	return f
}

func (o *outliner) trajectory(t *tooleval.Trajectory) {
	o.object(func(key []byte) {
		if string(key) != "calls" {
			o.skip()
			return
		}
		o.list(func() {
			var c tooleval.Call
			o.object(func(key []byte) {
				switch string(key) {
				case "tool":
					c.Tool = o.word()
				case "status":
					c.Status = tooleval.CallStatus(o.word())
				case "took_ms":
					c.TookMS, _ = o.float()
				default:
					o.skip()
				}
			})
			t.Calls = append(t.Calls, c)
		})
	})
}
