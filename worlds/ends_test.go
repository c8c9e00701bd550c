package worlds_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// A result with EndsRun is handed out and recorded; what comes after it never reaches the world.
func TestAResultMayEndTheRun(t *testing.T) {
	for _, isError := range []bool{false, true} {
		reached, ended := 0, 0
		r := worlds.Record(handler(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
			reached++
			return tooleval.ToolResult{Text: "bye", EndsRun: c.Tool == "leave", IsError: isError}, nil
		}), worlds.RecordOptions{OnEnd: func() { ended++ }})
		for _, tool := range []string{"stay", "leave", "stay", "leave"} {
			res, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: tool})
			over := reached == 2 && ended == 1 && res.Text != "bye"
			if want := tool == "leave" && ended == 1; err != nil || res.EndsRun && !want || res.Text != "bye" && !over {
				t.Errorf("%s: got %+v, %v after %d calls", tool, res, err, reached)
			}
		}
		calls := r.Trajectory().Calls
		if reached != 2 || ended != 1 || r.Late() != 2 || len(calls) != 2 || !calls[1].Result.EndsRun {
			t.Errorf("got %d calls in the world, %d ends, %d late, record %+v; want 2, 1, 2", reached, ended, r.Late(), calls)
		}
	}
}

// Only an answer ends a run: not one that broke, not one that is too large to keep.
func TestABrokenAnswerEndsNoRun(t *testing.T) {
	ended := false
	r := worlds.Record(handler(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.ToolResult{EndsRun: true}, errors.New("broken")
	}), worlds.RecordOptions{OnEnd: func() { ended = true }})
	if _, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "x"}); err == nil || ended {
		t.Errorf("got %v, ended %v", err, ended)
	}
}
