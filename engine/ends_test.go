package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/worlds"
)

// A tool's answer may end the run. The agent's context then ends, and the run counts as completed whatever the agent
// makes of that.
func TestARunThatAToolEndedIsCompleted(t *testing.T) {
	s := suite(func(s *tooleval.Suite) {
		s.Tasks[0].Required, s.Tasks[0].MinimalCalls = nil, nil
		s.MockWorld = &worlds.Mock{InitialState: tooleval.Raw(`{"done":true}`), Fixtures: []worlds.Fixture{
			{Tool: "step", Results: []worlds.Answer{{Result: tooleval.ToolResult{Text: "bye", EndsRun: true}}}},
		}}
	})
	for name, after := range map[string]tooleval.AgentFunc{
		"waits": func(ctx context.Context, _ tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
			<-ctx.Done()
			return tooleval.AgentResult{}, context.Cause(ctx)
		},
		"goes on": func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			res, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "bomb"})
			if err != nil || !res.IsError {
				t.Errorf("a call after the end: got %+v, %v", res, err)
			}
			return tooleval.AgentResult{Response: "still here"}, nil
		},
		"breaks": func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, errors.New("oops")
		},
	} {
		run := eval(t, s, func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			if res, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step"}); err != nil || res.Text != "bye" {
				t.Errorf("got %+v, %v", res, err)
			}
			if !errors.Is(context.Cause(ctx), worlds.ErrEnded) {
				t.Errorf("%s: the cause is %v", name, context.Cause(ctx))
			}
			return after(ctx, a, tools)
		}, engine.Options{}, engine.RunnerOptions{})[0]
		if run.Ending != tooleval.Completed || run.Error != "" || run.Score.Verdict != tooleval.Passed || len(run.Trajectory.Calls) != 1 {
			t.Errorf("%s: got %s, %q, %s, %d calls", name, run.Ending, run.Error, run.Score.Verdict, len(run.Trajectory.Calls))
		}
		if warned := len(run.Warnings) == 1 && strings.Contains(string(run.Warnings[0]), "oops"); warned != (name == "breaks") {
			t.Errorf("%s: warnings %q", name, run.Warnings)
		}
	}
}
