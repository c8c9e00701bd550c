package worlds

import (
	"bytes"

	"github.com/tooleval/tooleval"
)

// A Recorded gathers the calls of runs into one [Recording] a task. It is not safe for concurrent use.
//
// Of the runs of one task the first decides the results of a call; later ones add the calls that were not seen before. Only
// what a tool really answered is taken: calls that were refused, broke, ran out of time, hit a gap or an injected fault are
// left out. What comes in has to be free of secrets.
type Recorded struct {
	// WhenExhausted and WhenMissing are the policies of the recordings; empty stands for RepeatLast and MissIsGap.
	WhenExhausted Policy
	WhenMissing   string

	tasks  []*Recording
	byTask map[string]*Recording
	// LeftOut counts the calls that were not taken, Kept those that were.
	LeftOut, Kept int
}

// Add takes the calls of a run. The runs of baselines and those that never started are left out.
func (r *Recorded) Add(run *tooleval.Run) {
	if run.Baseline != "" || run.Ending == tooleval.NotStarted {
		return
	}
	rec := r.byTask[run.TaskID]
	if rec == nil {
		if r.byTask == nil {
			r.byTask = map[string]*Recording{}
		}
		rec = &Recording{SchemaVersion: RecordingVersion, Suite: run.Suite, TaskID: run.TaskID, World: run.World, Eval: run.Eval,
			Mind: run.Mind, WhenExhausted: RepeatLast, WhenMissing: MissIsGap, Calls: []RecordedCall{}}
		if r.WhenExhausted != "" {
			rec.WhenExhausted = r.WhenExhausted
		}
		if r.WhenMissing != "" {
			rec.WhenMissing = r.WhenMissing
		}
		r.byTask[run.TaskID] = rec
		r.tasks = append(r.tasks, rec)
	}
	rec.Runs++
	schemas := map[string]any{}
	for _, t := range run.Tools {
		if schema, err := tooleval.DecodeValue(t.Schema); err == nil {
			schemas[t.Name] = schema
		}
	}
	known := map[string]int{}
	for i, c := range rec.Calls {
		known[recordedKey(schemas, c.Tool, c.Args)] = i
	}
	before := len(rec.Calls)
	for i := range run.Trajectory.Calls {
		c := &run.Trajectory.Calls[i]
		answered := (c.Status == tooleval.CallOK || c.Status == tooleval.CallToolError) &&
			c.ArgsError == "" && c.FixtureGap == "" && c.Fault == ""
		if !answered {
			r.LeftOut++
			continue
		}
		key := recordedKey(schemas, c.Tool, c.Args)
		at, seen := known[key]
		switch {
		case !seen:
			known[key] = len(rec.Calls)
			rec.Calls = append(rec.Calls, RecordedCall{c.Tool, bytes.Clone(c.Args), []tooleval.ToolResult{copied(c.Result)}})
		case at >= before: // again in this run
			rec.Calls[at].Results = append(rec.Calls[at].Results, copied(c.Result))
		default: // an earlier run has answered it
			continue
		}
		r.Kept++
	}
	if rec.Runs == 1 && run.StateFrom == "world" {
		rec.State, rec.StateAfter = bytes.Clone(run.State), len(rec.Calls)
	}
}

// recordedKey is what makes two recorded calls the same: the canonical arguments, with the schema's defaults filled in.
func recordedKey(schemas map[string]any, tool string, args tooleval.Raw) string {
	v, err := tooleval.DecodeValue(args)
	if err != nil {
		return tool + "\x00" + string(args)
	}
	if schema, ok := schemas[tool]; ok {
		v = tooleval.FillDefaults(schema, v)
	}
	return tool + "\x00" + string(tooleval.CanonicalJSON(v))
}

// Recordings are those of the runs so far, in the order in which the tasks came.
func (r *Recorded) Recordings() []Recording {
	out := make([]Recording, len(r.tasks))
	for i, rec := range r.tasks {
		out[i] = *rec
	}
	return out
}
