package jobsearch

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/engine"
)

// The test's own program stands in for the real agent: the model's name tells it so, since the agent gets little else.
const standIn = "stand-in"

func TestMain(m *testing.M) {
	steps := map[string]tooleval.Agent{}
	switch os.Getenv("JOBPOSTINGAGENT_MODEL") {
	case standIn:
		for _, e := range []string{extractStep, researchStep, analyzeStep, pipelineStep} {
			steps[e] = tooleval.AgentFunc(scripted)
		}
	case "environment":
		steps[extractStep] = tooleval.AgentFunc(func(context.Context, tooleval.Assignment, tooleval.ToolHandler) (tooleval.AgentResult, error) {
			b, err := json.Marshal(os.Environ())
			return tooleval.AgentResult{State: b}, err
		})
	default:
		os.Exit(m.Run())
	}
	agents.Main(agents.Server{Name: program, EntryPoints: steps})
}

func realMind(t *testing.T, env map[string]string) tooleval.Agent {
	t.Helper()
	if env["JOBPOSTINGAGENT_PATH"] == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		env["JOBPOSTINGAGENT_PATH"] = self
	}
	agent, err := newReal(t.Context(), getter(env))
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// TestRealLadder runs all five tasks through a process: the fifth by the alias to extract.
func TestRealLadder(t *testing.T) {
	agent := realMind(t, map[string]string{"JOBPOSTINGAGENT_MODEL": standIn})
	mind, _ := Suite.Mind("real")
	backends := []engine.Backend{{Name: mind.Name, Agent: agent, Aliases: mind.Aliases}}
	list := []*tooleval.Suite{Suite}
	plan, err := engine.NewPlan(list, backends, engine.Options{Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner(list, backends, plan, engine.RunnerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Preflight(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range plan.Len() {
		job := plan.Job(i)
		if job.Baseline != "" {
			continue
		}
		seen++
		run := runner.Do(t.Context(), job)
		if job.Task == gracefulStep {
			if run.EntryPoint != extractStep || !strings.Contains(string(run.Result.Response), "could not read") || run.Score.Verdict != tooleval.Unscored ||
				run.ErrorOwner != tooleval.OwnerInfra {
				t.Errorf("%s: entry point %s, %s, %q, owner %s (%s)", job.Task, run.EntryPoint, run.Score.Verdict, run.Result.Response, run.ErrorOwner, run.Error)
			}
		} else if run.Score.Verdict != tooleval.Passed {
			t.Errorf("%s: %s", job.Task, run.Score.Why)
		}
	}
	if seen != 5 {
		t.Errorf("%d tasks ran", seen)
	}
}

// TestX04RealEnvironment: the agent gets what is on the list, and nothing else of the harness's.
func TestX04RealEnvironment(t *testing.T) {
	t.Setenv("CANARY_DATABASE_URL", "canary")
	agent := realMind(t, map[string]string{
		"JOBPOSTINGAGENT_MODEL": "environment", "ANTHROPIC_API_KEY": "key-1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
		"OPENAI_API_KEY": "judge-key", "JOBSEARCH_RESUME": "secret-path",
	})
	result, err := agent.Run(t.Context(), tooleval.Assignment{EntryPoint: extractStep, Tools: tools}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := string(result.State)
	for _, want := range []string{"ANTHROPIC_API_KEY=key-1", "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "JOBPOSTINGAGENT_MODEL=environment"} {
		if !strings.Contains(env, want) {
			t.Errorf("the agent's environment lacks %s: %s", want, env)
		}
	}
	for _, secret := range []string{"canary", "judge-key", "secret-path", "JOBPOSTINGAGENT_PATH"} {
		if strings.Contains(env, secret) {
			t.Errorf("the agent's environment holds %s", secret)
		}
	}
	b, err := json.Marshal(agent.(tooleval.Fingerprinter).Fingerprint())
	if err != nil || strings.Contains(string(b), "key-1") || !strings.Contains(string(b), "environment") || !strings.Contains(string(b), `"program":`) {
		t.Errorf("fingerprint %s, %v", b, err)
	}
}

// TestRealLacksEntryPoint: an agent without an entry point is found out before any task runs.
func TestRealLacksEntryPoint(t *testing.T) {
	agent := realMind(t, map[string]string{"JOBPOSTINGAGENT_MODEL": "environment"})
	err := agent.(tooleval.Preflighter).Preflight(t.Context(), []tooleval.Assignment{{EntryPoint: extractStep}, {EntryPoint: pipelineStep}})
	if err == nil || !strings.Contains(err.Error(), pipelineStep) {
		t.Errorf("%v, want an error that names %s", err, pipelineStep)
	}
}

func write(t *testing.T, dir, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRealPathTrouble(t *testing.T) {
	plain := write(t, t.TempDir(), "agent", "#!/bin/sh\n", 0o644)
	broken := t.TempDir()
	write(t, broken, "go.mod", "module broken\n", 0o644)
	write(t, broken, "main.go", "package main\nfunc main() { undefined() }\n", 0o644)
	library := t.TempDir()
	write(t, library, "go.mod", "module library\n", 0o644)
	write(t, library, "l.go", "package library\n", 0o644)
	locked := t.TempDir()
	write(t, locked, program, "x", 0o644)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	keepGoCache(t)
	for _, c := range []struct{ path, want string }{
		{"", "JOBPOSTINGAGENT_PATH is not set"}, {"  ", "JOBPOSTINGAGENT_PATH is not set"}, {"/nowhere/agent", "no such file"},
		{plain, "chmod +x"}, {t.TempDir(), "neither an executable named jobpostingagent nor Go files"}, {locked, "chmod +x"},
		{broken, "undefined"}, {library, "package must be main"}, {"/dev/null", "is not a file"},
	} {
		if _, err := newReal(t.Context(), getter(map[string]string{"JOBPOSTINGAGENT_PATH": c.path})); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want an error with %q", c.path, err, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := newReal(t.Context(), getter(map[string]string{"JOBPOSTINGAGENT_PATH": broken})); err == nil || !strings.Contains(err.Error(), "Go is not in PATH") {
		t.Errorf("without Go: %v", err)
	}
	noise := write(t, t.TempDir(), "agent", "#!/bin/sh\nexit 3\n", 0o755)
	agent := realMind(t, map[string]string{"JOBPOSTINGAGENT_PATH": noise})
	if err := agent.(tooleval.Preflighter).Preflight(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a program that ends at once: %v", err)
	}
}

// TestRealBuilds: a folder of Go source is built, to the same file as long as the source is the same.
func TestRealBuilds(t *testing.T) {
	keepGoCache(t)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	dir := t.TempDir()
	write(t, dir, "go.mod", "module agent\n\ngo 1.26\n", 0o644)
	write(t, dir, "main.go", "package main\n\nfunc main() {}\n", 0o644)
	first, err := locate(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := locate(t.Context(), dir)
	if err != nil || again != first || !strings.HasPrefix(first, cache) {
		t.Errorf("built %s, then %s, %v", first, again, err)
	}
	write(t, dir, "main.go", "package main\n\nfunc main() { println(1) }\n", 0o644)
	if other, err := locate(t.Context(), dir); err != nil || other == first {
		t.Errorf("another source gives %s, %v", other, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(first), "build-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	ready := t.TempDir()
	write(t, ready, "main.go", "this is no Go", 0o644)
	built := write(t, ready, program, "#!/bin/sh\n", 0o755)
	if got, err := locate(t.Context(), ready); err != nil || got != built {
		t.Errorf("a folder with a built agent gives %s, %v", got, err)
	}
}

// keepGoCache keeps Go's build cache where it is when the cache folder moves.
func keepGoCache(t *testing.T) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skipf("go env: %v", err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
}
