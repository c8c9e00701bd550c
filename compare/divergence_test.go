package compare_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
)

func trajectory(calls ...tooleval.Call) *tooleval.Run {
	return &tooleval.Run{Eval: "e", Mind: "m", Trajectory: tooleval.Trajectory{Calls: calls}}
}

func step(tool, args, answer string) tooleval.Call {
	return tooleval.Call{Tool: tool, Args: tooleval.Raw(args), Status: tooleval.CallOK, Result: tooleval.TextResult(answer)}
}

// TestR13Divergence: the first call at which a run that passed and one that failed part.
func TestR13Divergence(t *testing.T) {
	a, b := step("search", `{"q":"x","n":1}`, "[1]"), step("fetch", `{"id":1}`, "ok")
	same := step("search", `{"n":1.0, "q":"x"}`, "[ 1.0 ]")
	refused := b
	refused.Status = tooleval.CallToolError
	broken := tooleval.Call{Tool: "fetch", Args: tooleval.Raw(`{"id`), ArgsText: `{"id`, ArgsError: "unexpected end", Status: tooleval.CallToolError}
	for _, c := range []struct {
		name       string
		pass, fail []tooleval.Call
		call       int
		what, why  string
	}{
		{"same by meaning", []tooleval.Call{a, b}, []tooleval.Call{same, b}, 0, compare.NoneDiffers, "all 2 calls are the same"},
		{"no calls", nil, nil, 0, compare.NoneDiffers, "all 0 calls"},
		{"tool", []tooleval.Call{a, b}, []tooleval.Call{a, a}, 2, compare.OtherTool, "call 2: fetch passed, search failed"},
		{"args", []tooleval.Call{a, b}, []tooleval.Call{same, step("fetch", `{"id":2}`, "ok")}, 2, compare.OtherArgs, "other arguments"},
		{"broken args", []tooleval.Call{b}, []tooleval.Call{broken}, 1, compare.OtherArgs, "other arguments"},
		{"status", []tooleval.Call{a, b}, []tooleval.Call{a, refused}, 2, compare.OtherStatus, "tool_error"},
		{"answer", []tooleval.Call{a, b}, []tooleval.Call{step("search", `{"q":"x","n":1}`, "[2]"), b}, 1, compare.OtherAnswer, "another answer"},
		{"the failing one stopped", []tooleval.Call{a, b}, []tooleval.Call{a}, 2, compare.OneEnded, "made no more calls"},
		{"the failing one went on", []tooleval.Call{a}, []tooleval.Call{a, b}, 2, compare.OneEnded, "was done"},
	} {
		d := compare.Diverge(trajectory(c.pass...), trajectory(c.fail...))
		if d.Call != c.call || d.What != c.what || !strings.Contains(d.Why, c.why) {
			t.Errorf("%s: got call %d, %s, %q", c.name, d.Call, d.What, d.Why)
		}
		if (d.What == compare.OneEnded) != (d.Passed == nil != (d.Failed == nil)) {
			t.Errorf("%s: calls %v and %v", c.name, d.Passed, d.Failed)
		}
	}
}

// TestR13FlippedTasks: for a task that flipped a run of each side is looked at, for a flaky one two of one side; a file
// that can't be read is a warning.
func TestR13FlippedTasks(t *testing.T) {
	a, b := evalOf{id: "a", tasks: []string{"A=pppp", "F=pfpp", "S=pppp"}}, evalOf{id: "b", tasks: []string{"A=ffff", "F=pppp", "S=pppp"}}
	var loaded []string
	load := func(ref string) (*tooleval.Run, error) {
		loaded = append(loaded, ref)
		tool := "good"
		if strings.HasPrefix(ref, "b/A") || ref == "a/F/1" {
			tool = "bad"
		}
		return trajectory(step(tool, `{}`, "")), nil
	}
	p := compare.Compare(a.sides(t)[0], b.sides(t)[0], compare.Options{Load: load})
	for id, refs := range map[string][2]string{"A": {"a/A/0", "b/A/0"}, "F": {"b/F/0", "a/F/1"}} {
		d := taskOf(t, &p, id).Divergence
		if d == nil || d.What != compare.OtherTool || d.Passing.Ref != refs[0] || d.Failing.Ref != refs[1] {
			t.Errorf("%s: got %+v", id, d)
		}
	}
	if taskOf(t, &p, "S").Divergence != nil || len(loaded) != 4 {
		t.Errorf("loaded %q", loaded)
	}
	p = compare.Compare(a.sides(t)[0], b.sides(t)[0], compare.Options{Load: func(string) (*tooleval.Run, error) { return nil, errors.New("gone") }})
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "gone") {
		t.Errorf("warnings %q", p.Warnings)
	}
}
