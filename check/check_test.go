package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/check"
	"github.com/tooleval/tooleval/scorers"
	"github.com/tooleval/tooleval/suites"
	"github.com/tooleval/tooleval/worlds"
)

// A play is what an oracle does.
type play struct {
	calls    []tooleval.ToolCall
	response string
	state    string
}

func (p play) Run(ctx context.Context, _ tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	for _, c := range p.calls {
		if _, err := tools.CallTool(ctx, c); err != nil {
			return tooleval.AgentResult{}, err
		}
	}
	return tooleval.AgentResult{Response: tooleval.Text(p.response), State: tooleval.Raw(p.state)}, nil
}

func call(tool, args string) tooleval.ToolCall {
	return tooleval.ToolCall{Tool: tool, Args: tooleval.Raw(args)}
}

// desk is a suite of one task, which is sound: find out the code of a parcel and say it, or send it off.
func desk(task tooleval.Task, scorer tooleval.Scorer, oracle tooleval.Agent) *tooleval.Suite {
	schema := tooleval.Raw(`{"type":"object","properties":{"parcel":{"type":"string"},"speed":{"enum":["slow","fast"]}},` +
		`"required":["parcel"],"additionalProperties":false}`)
	s := &tooleval.Suite{
		Name:        "desk",
		Tools:       []tooleval.Tool{{Name: "look_up", Schema: schema}, {Name: "send", Schema: schema}},
		EntryPoints: []tooleval.EntryPoint{{Name: "desk"}},
		MockWorld:   world,
	}
	task.EntryPoint = "desk"
	if task.ID == "" {
		task.ID = "t"
	}
	if task.Description == "" {
		task.Description = "Deal with the parcel from Oslo."
	}
	if task.Toolset == nil {
		task.Toolset = []string{"look_up", "send"}
	}
	s.Tasks = []tooleval.Task{task}
	if scorer != nil {
		s.Scorers = map[string]tooleval.Scorer{task.ID: scorer}
	}
	if oracle != nil {
		s.Minds = []tooleval.Mind{{Name: "scripted", New: func(context.Context, func(string) string) (tooleval.Agent, error) { return oracle, nil }}}
	}
	return s
}

// world keeps what is sent. Only the right parcel is known: P-77 from Bergen, which the clerk has to know by heart.
var world = &worlds.Mock{Fixtures: []worlds.Fixture{
	{Tool: "look_up", Args: tooleval.Match(tooleval.Subset(map[string]any{"parcel": "P-77"})),
		Results: []worlds.Answer{{Result: tooleval.JSONResult(map[string]any{"code": "QX-4193"})}}},
	{Tool: "send", Args: tooleval.Match(tooleval.Subset(map[string]any{"parcel": "P-13"})),
		Results: []worlds.Answer{{Result: tooleval.ErrorResult("no such parcel")}}},
	{Tool: "send", Keep: "sent", Results: []worlds.Answer{{Result: tooleval.TextResult("sent")}}},
	{Tool: "look_up", Results: []worlds.Answer{{Result: tooleval.ErrorResult("no such parcel")}}},
}}

// stateless is the same world without a state: there the agent's answer is what counts.
var stateless = &worlds.Mock{Fixtures: []worlds.Fixture{world.Fixtures[0], world.Fixtures[3],
	{Tool: "send", Results: []worlds.Answer{{Result: tooleval.TextResult("sent")}}}}}

func inWorld(s *tooleval.Suite, w tooleval.WorldFactory) *tooleval.Suite { s.MockWorld = w; return s }

func state(v any) tooleval.Pattern { return tooleval.Match(v) }

var (
	send     = play{calls: []tooleval.ToolCall{call("look_up", `{"parcel":"P-77"}`), call("send", `{"parcel":"P-77","speed":"fast"}`)}}
	sendGoal = func() *scorers.Goal {
		return &scorers.Goal{World: world, After: []scorers.Action{{Tool: "send", Args: tooleval.Raw(`{"parcel":"P-77","speed":"fast"}`)}}}
	}
	answer   = play{calls: []tooleval.ToolCall{call("look_up", `{"parcel":"P-77"}`)}, state: `{"code":"QX-4193"}`}
	codeIs   = state(map[string]any{"code": "QX-4193"})
	lookedUp = []tooleval.CallPattern{{Tool: "look_up", Args: state(map[string]any{"parcel": "P-77"})}}
)

func checked(t *testing.T, s *tooleval.Suite) *check.Report {
	t.Helper()
	r, err := check.Suite(t.Context(), s, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rules(r *check.Report) []string {
	var out []string
	for _, f := range slices.Concat(r.Findings, r.Tasks[0].Findings) {
		out = append(out, f.Rule)
	}
	return out
}

func TestSoundTasks(t *testing.T) {
	for name, s := range map[string]*tooleval.Suite{
		"write": desk(tooleval.Task{Required: lookedUp, Forbidden: []tooleval.CallPattern{{Tool: "send", Args: state(map[string]any{"parcel": "P-13"})}}}, sendGoal(), send),
		"read":  inWorld(desk(tooleval.Task{ExpectedState: codeIs, Required: lookedUp}, nil, answer), stateless),
		"refusal that is right": desk(tooleval.Task{DoNothingMayPass: "the parcel must not be sent"},
			&scorers.Goal{World: world, After: []scorers.Action{}}, play{}),
	} {
		r := checked(t, s)
		if !r.IsSound() || len(r.Tasks[0].Findings) > 0 {
			t.Errorf("%s: %s: %+v, want sound without findings", name, r.Tasks[0].Status, r.Tasks[0])
		}
	}
}

// TestRules holds one deliberately broken suite for each rule.
func TestRules(t *testing.T) {
	noAfter := func(edit func(*scorers.Goal)) *scorers.Goal {
		g := &scorers.Goal{World: world, After: []scorers.Action{}}
		edit(g)
		return g
	}
	vacuous := tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
		inv := scorers.NewInvariants()
		inv.Check("something was sent", len(run.Trajectory.Calls) > 1, "")
		inv.Check("pigs can't fly", true, "")
		return inv.Outcome()
	})
	onlyInfo := tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
		return tooleval.Outcome{Score: tooleval.Scored(float64(min(1, len(run.Trajectory.Calls)/2))),
			Checks: []tooleval.Check{{Name: "calls", Verdict: tooleval.Passed, Info: true}}}, nil
	})
	fickle := tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
		if run.Mind == "scripted" {
			return tooleval.Outcome{Score: tooleval.Scored(1)}, nil
		}
		return tooleval.Outcome{Score: tooleval.Scored(0)}, nil
	})
	says := func(words ...string) tooleval.Scorer {
		return tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
			for _, w := range words {
				if strings.Contains(string(run.Result.Response), w) {
					return tooleval.Outcome{Score: tooleval.Scored(1)}, nil
				}
			}
			return tooleval.Outcome{Score: tooleval.Scored(0)}, nil
		})
	}
	manyCalls := tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
		return tooleval.Outcome{Score: tooleval.Scored(float64(min(1, len(run.Trajectory.Calls))))}, nil
	})
	gap := &worlds.Mock{Fixtures: world.Fixtures[2:3]}
	for _, c := range []struct {
		rule  string
		suite *tooleval.Suite
	}{
		{check.SuiteInvalid, desk(tooleval.Task{ExpectedState: codeIs, Toolset: []string{"lok_up"}}, nil, answer)},
		{check.GoalChecksNothing, desk(tooleval.Task{}, nil, answer)}, // S04
		{check.GoalChecksNothing, desk(tooleval.Task{}, noAfter(func(g *scorers.Goal) { g.Lenient = true }), send)},
		{check.GoalChecksNothing, desk(tooleval.Task{}, onlyInfo, send)},
		{check.GoalUnreachable, desk(tooleval.Task{Toolset: []string{"look_up"}}, sendGoal(), nil)},
		{check.GoalUnreachable, inWorld(desk(tooleval.Task{ExpectedState: state(map[string]any{"code": "ZZ-1"})}, nil, answer), stateless)}, // V01
		{check.ValueUnseen, inWorld(desk(tooleval.Task{ExpectedState: state(map[string]any{"code": "ZZ-1"})}, nil, play{state: `{"code":"ZZ-1"}`}), stateless)},
		{check.CallBreaksSchema, desk(tooleval.Task{Required: []tooleval.CallPattern{{Tool: "send", Args: state(map[string]any{"parcel": 77})}}}, sendGoal(), send)}, // V03
		{check.CallBreaksSchema, desk(tooleval.Task{Required: []tooleval.CallPattern{{Tool: "send", Args: state(tooleval.Subset(map[string]any{"speed": "warp"}))}}}, sendGoal(), send)},
		{check.CallBreaksSchema, desk(tooleval.Task{Trajectory: &tooleval.TrajectoryMatch{Mode: tooleval.MatchSuperset,
			Calls: []tooleval.ExpectedCall{{Tool: "send", Args: state(map[string]any{"parcle": "P-77"})}}}}, sendGoal(), send)},
		{check.TruthBreaksSchema, desk(tooleval.Task{}, &scorers.Goal{World: world, After: []scorers.Action{{Tool: "send", Args: tooleval.Raw(`{"parcel":7}`)}}}, nil)},
		{check.AnswerInPrompt, inWorld(desk(tooleval.Task{Description: "The code is QX-4193. What is the code?", ExpectedState: codeIs}, nil, answer), stateless)},
		{check.Guessable, inWorld(desk(tooleval.Task{ExpectedState: state(map[string]any{"sent": true})}, nil, play{state: `{"sent":true}`}), stateless)},
		{check.Guessable, inWorld(desk(tooleval.Task{ExpectedState: state(map[string]any{"speed": "fast"})}, nil, play{state: `{"speed":"fast"}`}), stateless)},
		{check.ExpectationsDontBar, desk(tooleval.Task{Required: lookedUp}, noAfter(func(*scorers.Goal) {}), answer)}, // S03
		{check.OracleNoEffect, desk(tooleval.Task{}, noAfter(func(*scorers.Goal) {}), answer)},                        // S12
		{check.OracleMissing, inWorld(desk(tooleval.Task{ExpectedState: codeIs}, nil, nil), stateless)},
		{check.OracleFails, inWorld(desk(tooleval.Task{ExpectedState: codeIs}, nil, play{state: `{"code":"QX-4194"}`}), stateless)},
		{check.OraclesDisagree, desk(tooleval.Task{}, noAfter(func(g *scorers.Goal) { g.Said = []scorers.Statement{{Words: "done"}} }), send)}, // S06
		{check.OracleGap, inWorld(desk(tooleval.Task{ExpectedState: state(map[string]any{"sent": []any{map[string]any{"parcel": "P-77", "speed": "fast"}}})}, nil, send), gap)},
		{check.OracleNotRepeatable, desk(tooleval.Task{}, fickle, send)},
		{check.DoNothingPasses, desk(tooleval.Task{}, noAfter(func(*scorers.Goal) {}), play{})},          // S05
		{check.RefusalPasses, desk(tooleval.Task{}, says("can't help"), play{response: "I can't help"})}, // V06
		{check.EchoPasses, desk(tooleval.Task{Description: "Say Oslo."}, says("Oslo"), play{response: "Oslo"})},
		{check.SpamPasses, desk(tooleval.Task{Description: "What is the code of P-77?"}, says("QX-4193"), play{response: "QX-4193"})},
		{check.RandomPasses, desk(tooleval.Task{}, manyCalls, send)},
		{check.CheckVacuous, desk(tooleval.Task{}, vacuous, send)},
	} {
		r := checked(t, c.suite)
		if got := rules(r); !slices.Contains(got, c.rule) {
			t.Errorf("%s: found %v: %+v", c.rule, got, r.Tasks[0].Findings)
		}
		if i := slices.IndexFunc(check.Rules, func(rule check.Rule) bool { return rule.ID == c.rule }); check.Rules[i].Severity == check.Broken && !r.IsBroken() {
			t.Errorf("%s: the suite does not count as broken", c.rule)
		}
		tested[c.rule] = true
	}
	for _, rule := range check.Rules {
		if !tested[rule.ID] {
			t.Errorf("no broken suite shows %s", rule.ID)
		}
	}
}

var tested = map[string]bool{}

// TestUnscoredIsNeverSound: what needs a judge can't be told, and is said so.
func TestUnscoredIsNeverSound(t *testing.T) {
	judged := tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) {
		return tooleval.Outcome{Score: tooleval.Unscoredf("no judge was chosen")}, nil
	})
	r := checked(t, desk(tooleval.Task{}, judged, send))
	if task := r.Tasks[0]; task.Status != check.StatusNotEvaluable || len(task.NotEvaluable) < 3 || r.IsSound() || r.IsBroken() {
		t.Errorf("got %s %v, sound %v, broken %v", task.Status, task.NotEvaluable, r.IsSound(), r.IsBroken())
	}
}

// TestV07CrashIsNoPass: a scorer that breaks, a world that can't be made and an oracle that panics are no verdict.
func TestV07CrashIsNoPass(t *testing.T) {
	broken := tooleval.ScorerFunc(func(context.Context, *tooleval.Run) (tooleval.Outcome, error) { panic("scorer") })
	noWorld := tooleval.WorldFunc(func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { return nil, errors.New("no world") })
	crash := tooleval.AgentFunc(func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
		panic("oracle")
	})
	for name, s := range map[string]*tooleval.Suite{
		"scorer": desk(tooleval.Task{}, broken, send),
		"world":  inWorld(desk(tooleval.Task{ExpectedState: codeIs}, nil, send), noWorld),
		"oracle": inWorld(desk(tooleval.Task{ExpectedState: codeIs}, nil, crash), stateless),
	} {
		if r := checked(t, s); r.IsSound() {
			t.Errorf("%s: it counts as sound: %+v", name, r.Tasks[0])
		}
	}
}

// TestBuiltInSuites: what we ship is sound, but for the one task that a judge decides.
func TestBuiltInSuites(t *testing.T) {
	for _, s := range suites.All {
		r := checked(t, s)
		for _, task := range r.Tasks {
			want := check.StatusSound
			if task.ID == "job_search.graceful_degradation" {
				want = check.StatusNotEvaluable
			}
			if task.Status != want || len(task.Findings) > 0 {
				t.Errorf("%s: %s, want %s: %+v", task.ID, task.Status, want, task.Findings)
			}
		}
	}
}

func TestDeterministic(t *testing.T) {
	var first string
	for i := range 3 {
		r, err := check.Suite(t.Context(), suites.All[0], check.Options{Seed: 7, Concurrency: 1 + i*3})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = string(b)
		} else if string(b) != first {
			t.Fatalf("two checks differ:\n%s\n%s", first, b)
		}
	}
}

func TestCheckThatCantBeMade(t *testing.T) {
	if _, err := check.Suite(t.Context(), desk(tooleval.Task{ExpectedState: codeIs}, nil, answer), check.Options{Tasks: []string{"nope"}}); err == nil ||
		!strings.Contains(err.Error(), "nope") {
		t.Errorf("unknown task: %v", err)
	}
	live := desk(tooleval.Task{ExpectedState: codeIs}, nil, answer)
	live.LiveWorld, live.MockWorld = world, nil
	if _, err := check.Suite(t.Context(), live, check.Options{}); err == nil || !strings.Contains(err.Error(), "no mock world") {
		t.Errorf("no mock world: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.Suite(ctx, desk(tooleval.Task{}, sendGoal(), send), check.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestDocument holds docs/checks.md to the rules.
func TestDocument(t *testing.T) {
	const path = "../docs/checks.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), "## Rules\n\n")
	if !ok {
		t.Fatalf("%s has no part named Rules", path)
	}
	if rest == check.Reference() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("the rules in %s are not those of the code; run the test with UPDATE=1", path)
	}
	if err := os.WriteFile(path, []byte(fmt.Sprint(head, "## Rules\n\n", check.Reference())), 0o644); err != nil {
		t.Fatal(err)
	}
}
