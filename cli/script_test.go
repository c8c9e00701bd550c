package cli_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/suites"
	"github.com/tooleval/tooleval/worlds"
)

// TestMain makes this test binary the tooleval command for the scripts, with a suite of misbehaving agents beside the
// built-in ones.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tooleval":  func() { cli.Main(append(suites.All, moody)...) },
		"mcp-birds": mcpBirds,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"files": files, "canary": canary, "serve-birds": serveBirds,
		},
	})
}

// files N GLOB: exactly N files fit the pattern.
func files(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: files N GLOB")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	walk(ts, func(path string, _ []byte) {
		if fits(args[1], path) {
			got++
		}
	})
	if got != want {
		ts.Fatalf("%d files fit %s, want %d", got, args[1], want)
	}
}

// canary TEXT: no file below results has the text in it.
func canary(ts *testscript.TestScript, _ bool, args []string) {
	seen := 0
	walk(ts, func(path string, b []byte) {
		seen++
		if strings.Contains(string(b), args[0]) {
			ts.Fatalf("%s has %q in it", path, args[0])
		}
	})
	if seen == 0 {
		ts.Fatalf("there is no file to look at")
	}
}

// moody is a suite whose minds misbehave on purpose. What a mind needs to remember between the runs of one process is
// kept here.
var moody = &tooleval.Suite{
	Name:        "moody",
	Description: "agents that misbehave",
	Tools:       []tooleval.Tool{{Name: "step", Schema: tooleval.Raw(`{"type":"object"}`)}},
	EntryPoints: []tooleval.EntryPoint{{Name: "moody.run"}},
	Tasks: []tooleval.Task{{
		ID: "moody.run", EntryPoint: "moody.run", Toolset: []string{"step"}, Tags: []string{"odd"},
		Description:   "evil \x1b[2K\rALL PASSED",
		Required:      []tooleval.CallPattern{{Tool: "step"}},
		ExpectedState: tooleval.Match(map[string]any{"done": true}),
	}},
	MockWorld: &worlds.Mock{Fixtures: []worlds.Fixture{{Tool: "step", Results: []worlds.Answer{{Result: tooleval.TextResult("ok")}}}}},
	Minds: []tooleval.Mind{
		mind("scripted", good),
		mind("flaky", func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			if flips.Add(1)%2 == 0 {
				return tooleval.AgentResult{Response: "no"}, nil
			}
			return good(ctx, a, tools)
		}),
		mind("slow", func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			select {
			case <-ctx.Done():
				return tooleval.AgentResult{}, ctx.Err()
			case <-time.After(100 * time.Millisecond):
				return good(ctx, a, tools)
			}
		}),
		mind("limited", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{}, tooleval.Blamef(tooleval.OwnerInfra, "429 too many requests")
		}),
		mind("leaky", func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step", Args: tooleval.Raw(`{"key":"` + os.Getenv("CANARY_API_KEY") + `"}`)})
			return tooleval.AgentResult{Response: tooleval.Text("the key is " + os.Getenv("CANARY_API_KEY")), State: tooleval.Raw(`{"done":true}`)}, err
		}),
		mind("hostile", func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			return tooleval.AgentResult{
				Response: "\x1b]0;title\x07\x1b[2K\rALL PASSED\xff\u202e", State: tooleval.Raw(`{"done":"\u001b[31m\ud83d"}`),
			}, nil
		}),
	},
}

var flips atomic.Int32

func mind(name string, f tooleval.AgentFunc) tooleval.Mind {
	return tooleval.Mind{Name: name, New: func(context.Context, func(string) string) (tooleval.Agent, error) { return f, nil }}
}

func good(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "step"})
	return tooleval.AgentResult{Response: "done", State: tooleval.Raw(`{"done":true}`)}, err
}
