package starlark_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/worlds/starlark"
)

// shopSuite is the suite of docs/how-to/stateful-worlds.md, word for word.
func shopSuite(source []byte, state tooleval.State) (*tooleval.Suite, error) {
	object := func(properties string) tooleval.Raw {
		return tooleval.Raw(`{"type":"object","properties":{` + properties + `}}`)
	}
	tools := []tooleval.Tool{
		{Name: "find", Schema: object(`"item":{"type":"string"}`)},
		{Name: "buy", Schema: object(`"item":{"type":"string"},"count":{"type":"integer","default":1}`)},
		{Name: "ask_user", Schema: object(`"message":{"type":"string"}`)},
	}
	world, err := starlark.New(starlark.Config{Source: source, State: state, Changes: true})
	if err != nil {
		return nil, err
	}
	goal := &scorers.Goal{
		World:  world,
		After:  []scorers.Action{{Tool: "buy", Args: tooleval.Raw(`{"item": "boots", "count": 2}`)}},
		Ignore: []string{"$.orders[*].id"},
		Said:   []scorers.Statement{{Number: "80"}},
		Tells:  []scorers.Telling{{Tool: "ask_user", Arg: "message"}},
	}
	suite := &tooleval.Suite{
		Name: "shop", Tools: tools, EntryPoints: []tooleval.EntryPoint{{Name: "clerk"}}, MockWorld: world,
		Tasks: []tooleval.Task{{
			ID: "two-pairs", EntryPoint: "clerk", Toolset: []string{"find", "buy", "ask_user"},
			Description: "A customer is on the line. Find out what they want, sell it to them, and tell them the price.",
		}},
		Scorers: map[string]tooleval.Scorer{"two-pairs": goal},
	}
	return suite, nil
}

var block = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```$")

// The how-to shows what works: its script and state make its suite, its Go is the code above, and its table is the
// result.
func TestTheHowTo(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/stateful-worlds.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		if _, taken := blocks[m[1]]; !taken {
			blocks[m[1]] = strings.ReplaceAll("\n"+m[2], "\n   ", "\n")
		}
	}
	s, err := shopSuite([]byte(blocks["python"]), tooleval.Raw(strings.TrimSpace(blocks["json"])))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(blocks["go"]) {
		if line = strings.TrimSpace(line); !strings.Contains(string(code), line) {
			t.Errorf("the page shows code that no test runs: %s", line)
		}
	}
	serve := func(calls []tooleval.ToolCall, answer string) *tooleval.Run {
		agent := tooleval.AgentFunc(func(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			for _, c := range calls {
				if _, err := tools.CallTool(ctx, c); err != nil {
					return tooleval.AgentResult{}, err
				}
			}
			return tooleval.AgentResult{Response: tooleval.Text(answer)}, nil
		})
		suites, backends := []*tooleval.Suite{s}, []engine.Backend{{Name: "m", Agent: agent}}
		plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 1})
		if err != nil {
			t.Fatal(err)
		}
		runner, err := engine.NewRunner(suites, backends, plan, engine.RunnerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return runner.Do(t.Context(), plan.Job(plan.Baselines()))
	}
	call := func(tool, args string) tooleval.ToolCall {
		return tooleval.ToolCall{Tool: tool, Args: tooleval.Raw(args)}
	}
	good := serve([]tooleval.ToolCall{
		call("ask_user", `{"message":"What can I do for you?"}`), call("find", `{"item":"boots"}`), call("buy", `{"item":"boots","count":2}`),
		call("ask_user", `{"message":"That makes $80.00. Anything else?"}`),
	}, "")
	if good.Score.Verdict != tooleval.Passed || good.Ending != tooleval.Completed || !good.Trajectory.Calls[3].Result.EndsRun {
		t.Errorf("the good run: %s, %s: %s", good.Score.Verdict, good.Ending, good.Score.Why)
	}
	bad := serve([]tooleval.ToolCall{call("buy", `{"item":"boots"}`)}, "Done.")
	var table strings.Builder
	for _, c := range bad.Score.Outcome.Checks {
		fmt.Fprintf(&table, "%-21s %-7s %s\n", c.Name, c.Verdict, c.Note)
	}
	if want := strings.TrimSpace(blocks[""]); strings.TrimSpace(table.String()) != want {
		t.Errorf("the page shows\n%s\nbut the checks are\n%s", want, table.String())
	}
}
