//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/jobmind"
	"github.com/tooleval/tooleval/suites/jobsearch"
)

// extracted is a good answer to the extract task.
const extracted = `{"title":"Engineer","company":"Tidewell Robotics","location":"Rotterdam",` +
	`"responsibilities":["build"],"requirements":["Go"]}`

type (
	assignment = tooleval.Assignment
	handler    = tooleval.ToolHandler
	result     = tooleval.AgentResult
)

// faults are agents that misbehave, each a mode of this test binary.
var faults = map[string]func(){
	"prints garbage and goes": fault(func(context.Context, assignment, handler) (result, error) {
		out := os.NewFile(3, "") // where the shell has put the standard output
		fmt.Fprint(out, "Segmentation fault\n\x00\xff{\"jsonrpc\":\n{\"id\":2}\n[]\n")
		os.Exit(0)
		return result{}, nil
	}),
	"leaves a child": fault(func(ctx context.Context, a assignment, tools handler) (result, error) {
		child := exec.Command("sleep", "300")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Stdout = os.Stderr
		if err := child.Start(); err != nil {
			return result{}, err
		}
		_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "fetch_webpage", Args: a.Input})
		return result{Response: tooleval.Text(strconv.Itoa(child.Process.Pid)), State: tooleval.Raw(extracted)}, err
	}),
	"calls outside the toolset": fault(func(ctx context.Context, a assignment, tools handler) (result, error) {
		save := tooleval.ToolCall{Tool: "save_output", Args: tooleval.Raw(`{"filename":"a","content":"b"}`)}
		if r, err := tools.CallTool(ctx, save); err != nil || !r.IsError {
			return result{}, fmt.Errorf("the call was answered %+v, %w", r, err)
		}
		_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "fetch_webpage", Args: a.Input})
		return result{State: tooleval.Raw(extracted)}, err
	}),
	"never answers": fault(func(context.Context, assignment, handler) (result, error) {
		select {}
	}),
	"lacks entry points": func() {
		half := map[string]tooleval.Agent{"job_search.extract": nil, "job_search.reserch": nil}
		agents.Main(agents.Server{Name: "half", EntryPoints: half})
	},
	"exits at once": func() { fmt.Fprintln(os.Stderr, "I need a database"); os.Exit(3) },
}

func fault(f tooleval.AgentFunc) func() {
	return func() { agents.Main(agents.Server{Name: "faulty", Any: f}) }
}

// script writes a shell script and returns its path.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// faulty is a program that misbehaves.
func faulty(t *testing.T, fault string) string {
	t.Helper()
	if faults[fault] == nil {
		t.Fatalf("no fault %q", fault)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return script(t, fmt.Sprintf(`exec 3>&1; GORACE=atexit_sleep_ms=0 JOBPOSTINGAGENT_FAULT='%s' exec '%s'`, fault, exe))
}

// hurried is the Suite with a limit of a second for each run.
func hurried() *tooleval.Suite {
	s := *jobsearch.Suite
	s.Tasks = slices.Clone(s.Tasks)
	for i := range s.Tasks {
		s.Tasks[i].Limits.Timeout = time.Second
	}
	return &s
}

func extractOnce(t *testing.T, s *tooleval.Suite, env []string) tooleval.Run {
	t.Helper()
	return evaluate(t, s, env, "--agent", "real", "--runs", "1", "--task", "job_search.extract").only(t, "job_search.extract")
}

// gone waits for a process to be gone. One that is dead and whose parent never asks, as in a container, is gone too.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 100 {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) == syscall.ESRCH || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// remembering starts the real agent, leaving its process id in a file.
func remembering(t *testing.T) (program string, pid func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	return script(t, fmt.Sprintf(`echo $$ > '%s'; exec '%s'`, file, agentPath)), func() int {
		b, _ := os.ReadFile(file)
		n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return n
	}
}

// The real agent, killed while it waits for its model.
func TestKilledInMidRun(t *testing.T) {
	program, pid := remembering(t)
	kill := func(fakellm.Request) fakellm.Reply {
		_ = syscall.Kill(pid(), syscall.SIGKILL)
		return fakellm.Hang()
	}
	run := extractOnce(t, jobsearch.Suite, real(program, model(t, kill)...))
	failed(t, run, tooleval.Unscored, tooleval.OwnerInfra, "killed")
}

// The real agent, whose model never answers: the run ends in time, and the agent with it.
func TestModelNeverAnswers(t *testing.T) {
	program, pid := remembering(t)
	start := time.Now()
	run := extractOnce(t, hurried(), real(program, model(t, fakellm.Always(fakellm.Hang()))...))
	failed(t, run, tooleval.Failed, tooleval.OwnerAgent, "longer than 1s")
	if run.Ending != tooleval.TimedOut || time.Since(start) > 20*time.Second {
		t.Errorf("ending %s after %v", run.Ending, time.Since(start))
	}
	gone(t, pid())
}

func TestNeverAnswers(t *testing.T) {
	run := extractOnce(t, hurried(), real(faulty(t, "never answers")))
	failed(t, run, tooleval.Failed, tooleval.OwnerAgent, "longer than 1s")
	if run.Ending != tooleval.TimedOut {
		t.Errorf("ending %s", run.Ending)
	}
}

// H01: garbage before the real agent is noise; an agent that says nothing else has failed.
func TestH01GarbageOnStdout(t *testing.T) {
	program := script(t, fmt.Sprintf(`printf 'Welcome!\n\377\001{"x\n{"id":1}\n'; exec '%s'`, agentPath))
	e := evaluate(t, jobsearch.Suite, real(program, model(t, jobmind.Script(jobmind.Options{}))...),
		"--agent", "real", "--runs", "1", "--task", "job_search.extract")
	perfect(t, e, 1, "job_search.extract")
	if w := e.only(t, "job_search.extract").Result.Warnings; len(w) == 0 || !strings.Contains(fmt.Sprint(w), "Welcome!") {
		t.Errorf("warnings %q", w)
	}
	failed(t, extractOnce(t, jobsearch.Suite, real(faulty(t, "prints garbage and goes"))), tooleval.Failed, tooleval.OwnerAgent, "")
}

// E04: a child in a session of its own outlives neither its agent nor the run.
func TestE04ChildOutlivesTheAgent(t *testing.T) {
	run := extractOnce(t, jobsearch.Suite, real(faulty(t, "leaves a child")))
	pid, err := strconv.Atoi(string(run.Result.Response))
	if err != nil {
		t.Fatalf("response %q, failure %+v", run.Result.Response, run.Failure)
	}
	gone(t, pid)
	if !strings.Contains(fmt.Sprint(run.Result.Warnings), "left 1 processes behind") || run.Score.Verdict != tooleval.Passed {
		t.Errorf("%s, warnings %q", run.Score.Verdict, run.Result.Warnings)
	}
}

// A call outside the task's toolset is refused, recorded, and counts: process = mean(1, 1/2).
func TestCallOutsideTheToolset(t *testing.T) {
	run := extractOnce(t, jobsearch.Suite, real(faulty(t, "calls outside the toolset")))
	process, _ := run.Score.Process.Score.Value()
	if len(run.Trajectory.Calls) != 2 || run.Trajectory.Calls[0].Status != tooleval.CallRefused || process != 0.75 {
		b, _ := json.Marshal(run.Trajectory)
		t.Errorf("process %v, failure %+v, %s", process, run.Failure, b)
	}
}

// What is wrong with JOBPOSTINGAGENT_PATH is said before any task runs.
func TestJobPostingAgentPath(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	noProgram := script(t, "")
	if err := os.WriteFile(noProgram, []byte("\x7fELF but not really"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  []string
		says []string
	}{
		{"missing", nil, []string{"JOBPOSTINGAGENT_PATH is not set", "./examples/jobpostingagent"}},
		{"blank", real(" \t"), []string{"JOBPOSTINGAGENT_PATH is not set"}},
		{"not there", real("/no/such/agent"), []string{"JOBPOSTINGAGENT_PATH=/no/such/agent", "no such file or folder"}},
		{"not executable", real(text), []string{"is not executable: chmod +x"}},
		{"an empty folder", real(t.TempDir()), []string{"neither an executable named jobpostingagent nor Go files"}},
		{"no program", real(noProgram), []string{"agent.sh", "exec format error"}},
		{"exits at once", real(faulty(t, "exits at once")), []string{"I need a database", "exit status 3"}},
		{"lacks entry points", real(faulty(t, "lacks entry points")), []string{
			`lacks entry point "job_search.research" (did you mean "job_search.reserch"?)`, `lacks entry point "job_search.pipeline"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := evaluate(t, jobsearch.Suite, c.env, "--agent", "real", "--runs", "1")
			if e.code != 2 || e.stdout != "" || len(e.runs) > 0 {
				t.Errorf("exit %d, %d tasks run, stdout %q", e.code, len(e.runs), e.stdout)
			}
			for _, s := range c.says {
				if !strings.Contains(e.stderr, s) {
					t.Errorf("want %q in: %s", s, e.stderr)
				}
			}
		})
	}
}

// A folder with the agent's source is built.
func TestPathIsTheSourceFolder(t *testing.T) {
	compiled, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(compiled))) // which is below the folder that moves
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	e := evaluate(t, jobsearch.Suite, real(".", model(t, jobmind.Script(jobmind.Options{}))...),
		"--agent", "real", "--runs", "1", "--task", "job_search.analyze")
	perfect(t, e, 1, "job_search.analyze")
}
