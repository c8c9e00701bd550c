package worlds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

// RecordingVersion is the version of the form of a [Recording].
const RecordingVersion = 1

// What a replayed world does with a call that was never recorded.
const (
	MissIsGap       = "gap"        // a fixture gap: the agent gets an error, and a failure is the world's
	MissIsToolError = "tool_error" // an ordinary error of the tool: an unknown argument is the agent's mistake
)

// A Recording is what the tools answered in the runs of one task: one JSON file that a person can read and edit.
type Recording struct {
	SchemaVersion int    `json:"schema_version"`
	Suite         string `json:"suite"`
	TaskID        string `json:"task_id"`
	// World is the kind of world that was recorded: live or mock.
	World string `json:"world"`
	// Eval, Mind and Runs say where it is from.
	Eval string `json:"eval,omitempty"`
	Mind string `json:"mind,omitempty"`
	Runs int    `json:"runs"`
	// WhenExhausted says what follows the last result of a call; WhenMissing what a call gets that is not here.
	WhenExhausted Policy `json:"when_exhausted"`
	WhenMissing   string `json:"when_missing"`
	// Calls are the different calls, in the order in which each was first made.
	Calls []RecordedCall `json:"calls"`
	// State is the world's final state, where it kept one, and StateAfter the number of Calls, from the first, that led to it.
	State      tooleval.State `json:"state,omitempty"`
	StateAfter int            `json:"state_after,omitempty"`
}

// A RecordedCall is a call with the results that it got, in order.
type RecordedCall struct {
	Tool    string                `json:"tool"`
	Args    tooleval.Raw          `json:"args"`
	Results []tooleval.ToolResult `json:"results"`
}

// Err is everything that is wrong with the recording by itself.
func (r *Recording) Err() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.SchemaVersion != RecordingVersion {
		fail("schema_version is %d; this version of ToolEval reads %d", r.SchemaVersion, RecordingVersion)
	}
	if r.Suite == "" || r.TaskID == "" {
		fail("suite and task_id are needed")
	}
	if r.World != "live" && r.World != "mock" {
		fail(`world is %q; it is "live" or "mock"`, r.World)
	}
	policies := []string{string(RepeatLast), string(Cycle), string(Fail)}
	if !slices.Contains(policies, string(r.WhenExhausted)) {
		fail("when_exhausted is %q; it is %s%s", r.WhenExhausted, strings.Join(policies, ", "), tooleval.DidYouMean(string(r.WhenExhausted), policies))
	}
	misses := []string{MissIsGap, MissIsToolError}
	if !slices.Contains(misses, r.WhenMissing) {
		fail("when_missing is %q; it is %s%s", r.WhenMissing, strings.Join(misses, ", "), tooleval.DidYouMean(r.WhenMissing, misses))
	}
	if r.StateAfter < 0 || r.StateAfter > len(r.Calls) {
		fail("state_after is %d, but there are %d calls", r.StateAfter, len(r.Calls))
	}
	first := map[string]int{}
	for i, c := range r.Calls {
		args, err := decodeArgs(c.Args)
		if err != nil {
			fail("call %d: %w", i+1, err)
			continue
		}
		if len(c.Results) == 0 {
			fail("call %d: it has no results", i+1)
		}
		for j, result := range c.Results {
			if len(result.Structured) > 0 && !result.Structured.Valid() {
				fail("call %d: result %d: its structured form is not JSON", i+1, j+1)
			}
		}
		key := c.Tool + "\x00" + string(tooleval.CanonicalJSON(args))
		if j, taken := first[key]; taken {
			fail("call %d is the same as call %d: put its results there", i+1, j+1)
		} else {
			first[key] = i
		}
	}
	return errors.Join(errs...)
}

// mostRecording bounds the file of a recording, in bytes.
const mostRecording = 256 << 20

// LoadRecordings reads the recordings in a folder, sorted by file name. The error is everything that is wrong with them, each
// with its file and, where that is known, its line.
func LoadRecordings(dir string) ([]Recording, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var errs []error
	var out []Recording
	files := map[string]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		rec, err := readRecording(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, taken := files[rec.TaskID]; taken {
			errs = append(errs, fmt.Errorf("%s: it is of task %q, as %s is; keep one", path, rec.TaskID, other))
		}
		files[rec.TaskID] = path
		out = append(out, *rec)
	}
	if len(out) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: there are no recordings (*.json) in it", dir))
	}
	return out, errors.Join(errs...)
}

func readRecording(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostRecording+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostRecording {
		return nil, fmt.Errorf("%s: it has more than %d MiB", path, mostRecording>>20)
	}
	var rec Recording
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(&rec); err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("something follows the object")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		at := d.InputOffset()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = syntax.Offset
		} else if _, key, ok := strings.Cut(err.Error(), "unknown field "); ok { // of which the decoder tells no place
			at = int64(max(bytes.Index(b, []byte(key)), 0))
		}
		line := 1 + bytes.Count(b[:min(int(at), len(b))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	rec.compact()
	if err := rec.Err(); err != nil {
		lines := strings.Split(err.Error(), "\n")
		for i := range lines {
			lines[i] = path + ": " + lines[i]
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	return &rec, nil
}

// compact takes the spaces out of foreign JSON, which a file has for its reader and a tool did not send.
func (r *Recording) compact() {
	r.State = compacted(r.State)
	for i := range r.Calls {
		c := &r.Calls[i]
		c.Args = compacted(c.Args)
		for j := range c.Results {
			c.Results[j].Structured = compacted(c.Results[j].Structured)
		}
	}
}

func compacted(raw tooleval.Raw) tooleval.Raw {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
