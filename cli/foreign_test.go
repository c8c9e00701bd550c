package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agenttest"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/calcmind"
	"github.com/tooleval/tooleval/store"
	"github.com/tooleval/tooleval/suites/calc"
)

// call runs the command and returns its exit code and output.
func call(t *testing.T, env []string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env = append([]string{"PATH=" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + t.TempDir()}, env...)
	a := App{Suites: []*tooleval.Suite{calc.Suite}, Args: args, Env: env, Stdout: &out, Stderr: &errs}
	exit = a.Run(context.WithoutCancel(t.Context()))
	return exit, out.String(), errs.String()
}

// stored are the runs that an eval left in its folder.
func stored(t *testing.T, results string) []*tooleval.Run {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "runs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []*tooleval.Run
	for _, f := range files {
		run, err := store.ReadRun(f)
		if err != nil {
			t.Fatal(err)
		}
		if run.Baseline == "" {
			runs = append(runs, run)
		}
	}
	return runs
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"python3 agent.py":      {"python3", "agent.py"},
		"  a\t'b c'  \"d e\"f ": {"a", "b c", "d ef"},
		`a\ b 'c\d' "e\"f\n"`:   {"a b", `c\d`, `e"f\n`},
		`a '' ""`:               {"a", "", ""},
		"$HOME *":               {"$HOME", "*"},
		"":                      nil,
	} {
		if got, err := splitWords(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`a "b`, "a 'b", `a\`} {
		if got, err := splitWords(text); err == nil {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// TestCommandThatNeverSpoke: it is a run error that says what was missing, not an eval that can't be run.
func TestCommandThatNeverSpoke(t *testing.T) {
	results := t.TempDir()
	exit, _, stderr := call(t, nil, "run", "--suite", "calc", "--agent", "cmd:true", "--runs", "1", "--results", results)
	if exit != 0 {
		t.Fatalf("exit %d: %s", exit, stderr)
	}
	runs := stored(t, results)
	if len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, run := range runs {
		if f := run.Failure; f == nil || f.Category != tooleval.RunError || !strings.Contains(string(run.Error), "before it answered initialize") {
			t.Errorf("failure %+v, error %q", f, run.Error)
		}
	}
}

func TestForeignErrors(t *testing.T) {
	for _, c := range []struct{ agent, say string }{
		{"cmd:", "the command is empty"},
		{"cmd:no-such-program-anywhere", "not found"},
		{"cmd:'open", "ends within a quotation"},
		{"codx", `did you mean "codex"?`},
		{"codex", "set TOOLEVAL_MODEL, or write --agent codex:MODEL"},
		{"codex:", "the model behind the colon is missing"},
	} {
		exit, _, stderr := call(t, nil, "run", "--suite", "calc", "--runs", "1", "--agent", c.agent, "--results", t.TempDir())
		if exit != exitUsage || !strings.Contains(stderr, c.say) {
			t.Errorf("%s: exit %d: %s", c.agent, exit, stderr)
		}
	}
	exit, _, stderr := call(t, nil, "run", "--suite", "calc", "--agent", "cmd:true", "--sandbox", "bwrap", "--results", t.TempDir())
	if exit != exitUsage || !strings.Contains(stderr, "--sandbox bwrap") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}

func TestAgentsCommand(t *testing.T) {
	project := t.TempDir()
	t.Chdir(project)
	if err := os.Mkdir("agents", 0o700); err != nil {
		t.Fatal(err)
	}
	mine := "name: mine\ndescription: \"an \\u001b[31magent\"\ncommand: [cat, \"${prompt}\"]\n"
	if err := os.WriteFile("agents/mine.yaml", []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("agents/broken.yaml", []byte("name: broken\nfoo: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exit, stdout, stderr := call(t, nil, "agents")
	if exit != 0 || !strings.Contains(stdout, "codex ") || strings.Contains(stdout, "\x1b") || !strings.Contains(stdout, `agents/broken.yaml:2:1: unknown key "foo"`) {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
	exit, stdout, _ = call(t, nil, "agents", "--format", "json")
	var list []listedAgent
	if err := json.Unmarshal([]byte(stdout), &list); exit != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", exit, err, stdout)
	}
	i := slices.IndexFunc(list, func(l listedAgent) bool { return l.Name == "mine" })
	if i < 0 || list[i].Source != "agents/mine.yaml" || !strings.HasSuffix(list[i].Program, "/cat") || list[i].Tested != "" {
		t.Errorf("%+v", list)
	}
	if exit, stdout, _ = call(t, nil, "agents", "show", "pi"); exit != 0 || !strings.HasPrefix(stdout, "# built in\nname: pi\n") {
		t.Errorf("exit %d: %.100s", exit, stdout)
	}
	if exit, _, stderr = call(t, nil, "agents", "show", "broken"); exit != exitUsage || !strings.Contains(stderr, "broken.yaml:2:1") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
	// cat ends at once and never asks for tools.
	exit, stdout, stderr = call(t, nil, "agents", "try", "mine")
	if exit != exitUsage || !strings.Contains(stdout, "never tried with any version") || !strings.Contains(stderr, "it never connected to the tools' MCP server") {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
}

// TestRealAgent: the real codex on calc, and on the smoke task, as a user would run them.
func TestRealAgent(t *testing.T) {
	folder := os.Getenv("TOOLEVAL_TEST_AGENTS")
	if folder == "" || testing.Short() {
		t.Skip("TOOLEVAL_TEST_AGENTS is not set: no real agents here (see scripts/install-test-agents.sh)")
	}
	llm := fakellm.New(t, calcmind.Script)
	env := []string{"PATH=" + filepath.Join(folder, "bin") + ":" + os.Getenv("PATH"), "OPENAI_BASE_URL=" + llm.URL("") + "/v1", "OPENAI_API_KEY=key"}
	results := t.TempDir()
	exit, stdout, stderr := call(t, env, "run", "--suite", "calc", "--agent", "codex:fake-model", "--runs", "3", "--results", results)
	if exit != 0 {
		t.Fatalf("exit %d: %s%s", exit, stdout, stderr)
	}
	runs := stored(t, results)
	if len(runs) != 6 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, run := range runs {
		if run.Score.Outcome.Score != tooleval.Scored(1) || run.Score.Process.Score != tooleval.Scored(1) || len(run.Trajectory.Calls) != 1 ||
			run.Trajectory.Channel != tooleval.OverMCP || run.Mind != "codex:fake-model" {
			t.Errorf("%s: %+v %q", run.TaskID, run.Score, run.Error)
		}
	}
	exit, stdout, stderr = call(t, env, "agents", "try", "codex:fake-model")
	if exit != 0 || !strings.Contains(stdout, "look_up {\"topic\":\"birds\"}: ok") || !strings.Contains(stdout, "it works") {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
}

func TestAgentsCheck(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here")
	}
	script := filepath.Join("..", "agents", "testdata", "agent.py")
	exit, stdout, stderr := call(t, nil, "agents", "check", "python3 "+script, "--entry-point", "shop.total")
	if exit != 0 || !strings.Contains(stdout, "passed ") || strings.Contains(stdout, "failed ") {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
	exit, stdout, stderr = call(t, nil, "agents", "check", "true", "--format", "json")
	var r agenttest.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || exit != exitUsage || !strings.Contains(stderr, "checks failed") || r.Err() == nil {
		t.Errorf("exit %d, %v: %s%s", exit, err, stdout, stderr)
	}
	if exit, _, stderr = call(t, nil, "agents", "check", "no-such-program-anywhere"); exit != exitUsage || !strings.Contains(stderr, "not found") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}
