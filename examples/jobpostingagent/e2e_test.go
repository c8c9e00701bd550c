package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/jobmind"
	"github.com/tooleval/tooleval/suites/jobsearch"
)

// secret is the key of every test; it must not get into a record.
const secret = "sk-canary-0123456789abcdef"

// evaluated is what came of an eval.
type evaluated struct {
	code           int
	stdout, stderr string
	runs           map[string][]tooleval.Run // by task
}

// evaluate is `tooleval run --suite NAME ARGS` with nothing in the environment but what is given.
func evaluate(t *testing.T, suite *tooleval.Suite, env []string, args ...string) evaluated {
	t.Helper()
	results := filepath.Join(t.TempDir(), "results")
	var stdout, stderr bytes.Buffer
	app := cli.App{
		Suites: []*tooleval.Suite{suite}, Env: env, Stdout: &stdout, Stderr: &stderr,
		Args: append([]string{"run", "--suite", suite.Name, "--results", results}, args...),
	}
	e := evaluated{code: app.Run(t.Context()), runs: map[string][]tooleval.Run{}}
	e.stdout, e.stderr = stdout.String(), stderr.String()
	files, err := filepath.Glob(filepath.Join(results, "*", "runs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("X03: the key is in %s", f)
		}
		var run tooleval.Run
		if err := json.Unmarshal(b, &run); err != nil {
			t.Fatal(err)
		}
		e.runs[run.TaskID] = append(e.runs[run.TaskID], run)
	}
	if entries, _ := os.ReadDir(results); e.code == 2 && len(entries) > 0 {
		t.Errorf("a refused eval left %d entries in its results folder", len(entries))
	}
	return e
}

// model is the environment of an agent and a judge whose model is a script.
func model(t *testing.T, script fakellm.Script) []string {
	t.Helper()
	return []string{"ANTHROPIC_API_KEY=" + secret, "ANTHROPIC_BASE_URL=" + fakellm.New(t, script).URL("")}
}

func real(path string, env ...string) []string { return append(env, "JOBPOSTINGAGENT_PATH="+path) }

var ladder = []string{
	"job_search.extract", "job_search.research", "job_search.analyze", "job_search.pipeline",
	"job_search.graceful_degradation",
}

// perfect wants n runs of each task, each with outcome and process 1.
func perfect(t *testing.T, e evaluated, n int, tasks ...string) {
	t.Helper()
	if e.code != 0 {
		t.Fatalf("exit %d: %s", e.code, e.stderr)
	}
	for _, id := range tasks {
		if len(e.runs[id]) != n {
			t.Errorf("%s: %d runs, want %d", id, len(e.runs[id]), n)
		}
		for _, run := range e.runs[id] {
			outcome, _ := run.Score.Outcome.Score.Value()
			process, _ := run.Score.Process.Score.Value()
			if run.Score.Verdict != tooleval.Passed || outcome != 1 || process != 1 || run.Trajectory.Incomplete != "" {
				t.Errorf("%s: outcome %v, process %v, %s: %s\n%+v",
					id, outcome, process, run.Score.Verdict, run.Score.Why, run.Failure)
			}
		}
	}
}

// only is the single run of a task.
func (e evaluated) only(t *testing.T, task string) tooleval.Run {
	t.Helper()
	if e.code != 0 || len(e.runs[task]) != 1 {
		t.Fatalf("exit %d, %d runs of %s: %s", e.code, len(e.runs[task]), task, e.stderr)
	}
	return e.runs[task][0]
}

// failed checks why a run did not pass.
func failed(t *testing.T, run tooleval.Run, verdict tooleval.Verdict, owner tooleval.Owner, why string) {
	t.Helper()
	f := run.Failure
	if run.Score.Verdict != verdict || f == nil || f.Category != tooleval.RunError || f.Owner != owner ||
		!strings.Contains(string(f.Why), why) {
		t.Errorf("%s: verdict %s, ending %s, failure %+v; want %s, run_error, %s, %q",
			run.TaskID, run.Score.Verdict, run.Ending, f, verdict, owner, why)
	}
}

// The offline proof without a key: four perfect tasks, and a fifth that nobody could judge.
func TestLadderScriptedWithoutKey(t *testing.T) {
	e := evaluate(t, jobsearch.Suite, nil, "--runs", "3")
	perfect(t, e, 3, ladder[:4]...)
	if n := len(e.runs[ladder[4]]); n != 3 {
		t.Errorf("%d runs of the fifth task", n)
	}
	for _, run := range e.runs[ladder[4]] {
		failed(t, run, tooleval.Unscored, tooleval.OwnerInfra, "needs ANTHROPIC_API_KEY: set it, or")
	}
	if !strings.Contains(e.stdout, "run_error") || !strings.Contains(e.stdout, "needs ANTHROPIC_API_KEY") {
		t.Errorf("the report does not say why: %s", e.stdout)
	}
}

func TestLadderScriptedWithJudge(t *testing.T) {
	e := evaluate(t, jobsearch.Suite, model(t, jobmind.Script(jobmind.Options{})), "--runs", "2")
	perfect(t, e, 2, ladder...)
	if detail := string(e.runs[ladder[4]][0].Score.Outcome.Detail); !strings.Contains(detail, "GRADED-TEXT") {
		t.Errorf("the exchange with the judge is not in the record: %.200s", detail)
	}
}

// Mode 1: a real mind, mock tools; ten runs at a time.
func TestLadderRealMock(t *testing.T) {
	e := evaluate(t, jobsearch.Suite, real(agentPath, model(t, jobmind.Script(jobmind.Options{}))...),
		"--agent", "real", "--runs", "2", "--concurrency", "10")
	perfect(t, e, 2, ladder...)
	for _, run := range e.runs["job_search.pipeline"] {
		if u := run.Result.Usage; u == nil || *u.Turns != 8 || *u.InputTokens == 0 || u.Model != "claude-sonnet-5-5" {
			t.Errorf("usage %+v", u)
		}
		if run.Trajectory.Channel != tooleval.OverStdio || run.StateFrom != "world" || len(run.Warnings)+len(run.Result.Warnings) > 0 {
			t.Errorf("channel %s, state of the %s, warnings %q %q",
				run.Trajectory.Channel, run.StateFrom, run.Warnings, run.Result.Warnings)
		}
	}
	if got := e.runs[ladder[4]][0].EntryPoint; got != "job_search.extract" {
		t.Errorf("the fifth task is served by %q", got)
	}
}

// Mode 2: a real mind and real tools, on loopback servers; ten runs at a time.
func TestLadderRealLive(t *testing.T) {
	web, out := webServer(t), t.TempDir()
	env := append(real(agentPath, model(t, jobmind.Script(jobmind.Options{}))...),
		"JOBSEARCH_LIVE_JOB_URL="+web+"/jobs/4417", "JOBSEARCH_LIVE_COMPANY=Tidewell Robotics",
		"JOBSEARCH_RESTRICTED_URL="+web+"/restricted", "JOBSEARCH_SEARCH_URL="+web+"/html/", "JOBSEARCH_ALLOW_PRIVATE=1",
		"JOBSEARCH_OUTPUT_DIR="+out)
	e := evaluate(t, jobsearch.Suite, env, "--agent", "real", "--live", "--runs", "2", "--concurrency", "10")
	perfect(t, e, 2, ladder...)
	reports, _ := filepath.Glob(filepath.Join(out, "*", "report.md"))
	if len(reports) != 2 {
		t.Errorf("%d reports on the disk, want 2", len(reports))
	}

	// A live input that has rotted is a low score, and no crash.
	env = append(env, "JOBSEARCH_LIVE_JOB_URL="+web+"/gone")
	e = evaluate(t, jobsearch.Suite, env, "--agent", "real", "--live", "--runs", "1", "--task", "job_search.extract")
	run := e.only(t, "job_search.extract")
	if v, ok := run.Score.Outcome.Score.Value(); !ok || v > 0.3 || run.Ending != tooleval.Completed {
		t.Errorf("a rotten input: outcome %v, ending %s", v, run.Ending)
	}
}

func TestScriptedLiveIsRefused(t *testing.T) {
	if e := evaluate(t, jobsearch.Suite, nil, "--live"); e.code != 2 || !strings.Contains(e.stderr, "canned answers prove nothing") {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
}

// A pipeline of seven calls where five are needed scores process 0.857: mean(1, 5/7), with nothing forbidden in reach.
func TestExtraCallsCost(t *testing.T) {
	e := evaluate(t, jobsearch.Suite, real(agentPath, model(t, jobmind.Script(jobmind.Options{Wasteful: true}))...),
		"--agent", "real", "--runs", "1", "--task", "job_search.pipeline")
	run := e.only(t, "job_search.pipeline")
	process, _ := run.Score.Process.Score.Value()
	efficiency, _ := run.Score.Process.Component("efficiency").Score.Value()
	if len(run.Trajectory.Calls) != 7 || math.Abs(process-6.0/7) > 1e-9 || math.Abs(efficiency-5.0/7) > 1e-9 {
		t.Errorf("%d calls, process %v, efficiency %v", len(run.Trajectory.Calls), process, efficiency)
	}
	if outcome, _ := run.Score.Outcome.Score.Value(); outcome != 1 || run.Score.Verdict != tooleval.Passed {
		t.Errorf("outcome %v, %s", outcome, run.Score.Verdict)
	}
}

// What goes wrong between the agent and its model, as the harness sees it (E01: never as the agent's failure, unless it is).
func TestE01ModelTroubles(t *testing.T) {
	mind := jobmind.Script(jobmind.Options{})
	first := func(r fakellm.Reply) fakellm.Script {
		return func(q fakellm.Request) fakellm.Reply {
			if q.N == 0 {
				return r
			}
			return mind(q)
		}
	}
	for _, c := range []struct {
		name    string
		script  fakellm.Script
		verdict tooleval.Verdict
		owner   tooleval.Owner
		why     string
	}{
		{"429 with retry-after", first(fakellm.RateLimited(20 * time.Millisecond)), tooleval.Passed, "", ""},
		{"529", first(fakellm.Overloaded()), tooleval.Passed, "", ""},
		{"truncated reply", first(fakellm.Truncated(fakellm.Text("The page says that the company is looking for"))), tooleval.Passed, "", ""},
		{"429 for good", fakellm.Always(fakellm.RateLimited(time.Millisecond)), tooleval.Unscored, tooleval.OwnerInfra, "status 429 (rate_limit_error)"},
		{"529 for good", fakellm.Always(fakellm.Overloaded()), tooleval.Unscored, tooleval.OwnerInfra, "status 529 (overloaded_error)"},
		{"wrong key", fakellm.Authorized("another", mind), tooleval.Unscored, tooleval.OwnerUser, "authentication_error"},
		{"refusal", fakellm.Always(fakellm.Refusal("no")), tooleval.Failed, tooleval.OwnerAgent, "the model refused"},
		{"max tokens", fakellm.Always(fakellm.MaxTokens(fakellm.Text("and so on"))), tooleval.Failed, tooleval.OwnerAgent, "cut off at 8192 tokens"},
		{"no end", fakellm.Always(fakellm.CallTool("fetch_webpage", `{"url":"https://careers.tidewell.example/jobs/4417"}`)),
			tooleval.Failed, tooleval.OwnerAgent, "no output after 12 turns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := evaluate(t, jobsearch.Suite, real(agentPath, model(t, c.script)...),
				"--agent", "real", "--runs", "1", "--task", "job_search.extract")
			if c.verdict == tooleval.Passed {
				perfect(t, e, 1, "job_search.extract")
				return
			}
			failed(t, e.only(t, "job_search.extract"), c.verdict, c.owner, c.why)
		})
	}
}

// A call outside the step's tools stays in the agent: the harness never sees it, and the run is perfect.
func TestCallOutsideTheSubset(t *testing.T) {
	mind := jobmind.Script(jobmind.Options{})
	script := func(r fakellm.Request) fakellm.Reply {
		if r.Turn() == 0 {
			return fakellm.CallTools(fakellm.Call{Name: "save_output", Args: `{"filename":"x.md","content":"y"}`},
				fakellm.Call{Name: "fetch_webpage", Args: `{"url":"https://careers.tidewell.example/jobs/4417"}`})
		}
		return mind(r)
	}
	e := evaluate(t, jobsearch.Suite, real(agentPath, model(t, script)...),
		"--agent", "real", "--runs", "1", "--task", "job_search.extract")
	perfect(t, e, 1, "job_search.extract")
	if n := len(e.only(t, "job_search.extract").Trajectory.Calls); n != 1 {
		t.Errorf("%d calls reached the harness", n)
	}
}
