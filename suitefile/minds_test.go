package suitefile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/suitefile"
)

type recorder struct {
	calls []string
	err   error
}

func (r *recorder) CallTool(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	r.calls = append(r.calls, c.Tool+string(c.Args))
	return tooleval.ErrorResult("no"), r.err
}

func TestScriptedMind(t *testing.T) {
	s := load(t, small+`    scripted:
      calls: [look_up, {tool: look_up, args: {z: 1.10, a: 0123}}]
      response: said
      state: {call: fraank}
  - id: b
    description: has no script
    expected_state: {call: fraank}
`)
	mind, ok := s.Mind("scripted")
	if !ok {
		t.Fatal("there is no mind named scripted")
	}
	agent, err := mind.New(t.Context(), station)
	if err != nil {
		t.Fatal(err)
	}
	var tools recorder
	got, err := agent.Run(t.Context(), tooleval.Assignment{TaskID: "a"}, &tools)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tooleval.AgentResult{Response: "said", State: tooleval.Raw(`{"call":"fraank"}`)}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`look_up{}`, `look_up{"z":1.10,"a":"0123"}`}, tools.calls); diff != "" {
		t.Error(diff)
	}
	tools.err = errors.New("the run is over")
	if _, err := agent.Run(t.Context(), tooleval.Assignment{TaskID: "a"}, &tools); !errors.Is(err, tools.err) {
		t.Errorf("got %v", err)
	}
	preflight := agent.(tooleval.Preflighter).Preflight
	if err := preflight(t.Context(), []tooleval.Assignment{{TaskID: "a"}}); err != nil {
		t.Error(err)
	}
	if err := preflight(t.Context(), []tooleval.Assignment{{TaskID: "a"}, {TaskID: "b"}}); err == nil || !strings.Contains(err.Error(), "no script for b:") {
		t.Errorf("got %v", err)
	}
	if _, err := agent.Run(t.Context(), tooleval.Assignment{TaskID: "b"}, &tools); err == nil {
		t.Error("a task without a script ran")
	} else if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerTask {
		t.Errorf("blamed on %q", owner)
	}
}

// TestV08AgentsStayOutside: an agent that is a command gets what it was given and nothing that leads to the suite's folder.
func TestV08AgentsStayOutside(t *testing.T) {
	dir := folder(t, small+"minds:\n  - {name: mine, command: [python3, ../agents/mine.py, --fast], env: [MY_KEY, MODE=test]}\n")
	s, err := suitefile.Load(dir, suitefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := s.Minds[0].New(t.Context(), station)
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := &agents.Process{
		Name: "mine", Command: []string{"python3", filepath.Join(real, "agents", "mine.py"), "--fast"}, Env: []string{"MY_KEY", "MODE=test"},
	}
	if diff := cmp.Diff(want, agent, cmpopts.IgnoreUnexported(agents.Process{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The answer key is in memory by now: the folder may be gone.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if s.Tasks[0].ExpectedState.Vacuous() {
		t.Error("the expectation went with the folder")
	}
	assignment := s.Assignment(&s.Tasks[0], nil)
	if text := fmt.Sprintf("%+v", assignment); strings.Contains(text, "fraank") || strings.Contains(text, dir) {
		t.Errorf("the agent is told %s", text)
	}
}
