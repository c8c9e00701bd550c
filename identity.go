package tooleval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// RunIdentity is the identity of the run with this index of everything that a content digest stands for.
func RunIdentity(content string, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", content, index))
	return hex.EncodeToString(sum[:16])
}

// Current reports whether a record belongs to the eval as it is planned now. A run of a task that has changed since then,
// or of another mind or world, stays on the disk but is no part of the eval's numbers. A header that doesn't say what is
// current takes every record.
func (e *Eval) Current(run *Run) bool {
	who := run.Mind
	if run.Baseline != "" {
		who = BaselineContent(run.Baseline)
	}
	for i := range e.Tasks {
		if e.Tasks[i].ID != run.TaskID {
			continue
		}
		content, known := e.Tasks[i].Contents[who]
		return !known || run.Identity == RunIdentity(content, run.Index)
	}
	return true
}

// BaselineContent is the key of a baseline in EvalTask.Contents, where minds stand by their names.
func BaselineContent(name string) string { return "baseline:" + name }
