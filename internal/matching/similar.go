package matching

import "github.com/tooleval/tooleval"

// A Similarity is how much of a call pattern a call meets, in 0..1: 1 when it fits, else the share of the expectations of
// its arguments that are met. It is 0 for a call of another tool, with malformed arguments, or that did not end ok.
type Similarity struct {
	Value float64
	// Diff is how the arguments differ; empty when Value is 1, or 0 for another reason than the arguments.
	Diff []tooleval.Difference
}

// Similarities compares each pattern with each call of a run: one row a pattern, one column a call.
func Similarities(run *tooleval.Run, patterns []tooleval.CallPattern) [][]Similarity {
	calls := run.Trajectory.Calls
	args := arguments{calls: calls}
	rows := make([][]Similarity, len(patterns))
	for i := range patterns {
		w := prepare(run, &patterns[i])
		rows[i] = make([]Similarity, len(calls))
		for j := range calls {
			c := &calls[j]
			if c.Tool != w.tool || !w.accepts(c) || c.ArgsError != "" {
				continue
			}
			if w.fits(&args, j) {
				rows[i][j].Value = 1
				continue
			}
			if v, ok := args.of(j, w.schema); ok {
				c := w.compare(v)
				rows[i][j] = Similarity{float64(c.Met) / float64(max(c.Total, 1)), c.Diff}
			}
		}
	}
	return rows
}
