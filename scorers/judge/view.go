package judge

import (
	"bytes"
	"encoding/json"

	"github.com/tooleval/tooleval"
)

// Everything shows the task, the final answer, the final state and every tool call with its result. It is JSON, one part a
// line, so that what an agent wrote into one part can't pose as another. The answer key is not in it.
func Everything(run *tooleval.Run) string {
	type call struct {
		Tool   string              `json:"tool"`
		Args   tooleval.Raw        `json:"args,omitempty"`
		Status tooleval.CallStatus `json:"status"`
		Result tooleval.Text       `json:"result"`
	}
	calls := make([]call, 0, len(run.Trajectory.Calls))
	for _, c := range run.Trajectory.Calls {
		args := c.Args
		if args == nil && c.ArgsText != "" {
			args = tooleval.Raw(c.ArgsText)
		}
		result := c.Result.Text
		if result == "" && len(c.Result.Structured) > 0 {
			result = tooleval.Text(c.Result.Structured)
		}
		calls = append(calls, call{c.Tool, args, c.Status, result})
	}
	var b bytes.Buffer
	part := func(name string, v any) {
		b.WriteString(name + ": ")
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			b.WriteString("null\n")
		}
	}
	part("task", run.Task.Description)
	part("task_input", run.Task.Input)
	b.WriteString("tool_calls:\n")
	for _, c := range calls {
		part("  call", c)
	}
	part("typed_output", run.Result.State)
	part("final_state", run.State)
	part("final_answer", run.Result.Response)
	return b.String()
}

// FinalAnswer shows the final answer alone.
func FinalAnswer(run *tooleval.Run) string { return string(run.Result.Response) }
