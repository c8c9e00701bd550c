package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/jobmind"
)

// agentPath is the agent's program, built once.
var agentPath string

// TestMain builds the agent; or is the misbehaving agent that JOBPOSTINGAGENT_FAULT names.
func TestMain(m *testing.M) {
	if fault := os.Getenv("JOBPOSTINGAGENT_FAULT"); fault != "" {
		faults[fault]()
		os.Exit(0)
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "jobpostingagent-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	agentPath = filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		agentPath += ".exe"
	}
	// The flags are those with which the suite builds it from a folder, so that one compilation serves both.
	if out, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", agentPath, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the agent: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const fixtures = "../../suites/jobsearch/fixtures/"

// webServer is a web with a posting, a page behind a login and a search engine, as DuckDuckGo's HTML page.
func webServer(t *testing.T) string {
	t.Helper()
	posting, err := os.ReadFile(fixtures + "posting.html")
	if err != nil {
		t.Fatal(err)
	}
	var found map[string][]struct{ Title, URL, Snippet string }
	b, err := os.ReadFile(fixtures + "search.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &found); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/jobs/4417", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(posting)
	})
	mux.HandleFunc("/restricted", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	mux.HandleFunc("/html/", func(w http.ResponseWriter, r *http.Request) {
		key := "tidewell_overview"
		if strings.Contains(r.FormValue("q"), "news") {
			key = "tidewell_news"
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for _, f := range found[key] {
			fmt.Fprintf(w, `<div class="result"><a class="result__a" href="%s">%s</a><a class="result__snippet">%s</a></div>`,
				f.URL, f.Title, f.Snippet)
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// command runs the agent's program with a model that plays along.
func command(t *testing.T, script fakellm.Script, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, agentPath, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=" + fakellm.New(t, script).URL(""),
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// The agent by itself: a posting, a résumé, a report on the disk.
func TestRunCommand(t *testing.T) {
	web := webServer(t)
	script := jobmind.Script(jobmind.Options{})
	out := filepath.Join(t.TempDir(), "new", "folder")
	code, stdout, stderr := command(t, script, "run", web+"/jobs/4417", "--resume", fixtures+"resume.md", "--out", out,
		"--allow-private", "--search-url", web+"/html/", "--json")
	if code != 0 || !strings.Contains(stderr, "8 requests to claude-sonnet-5-5") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	var p Package
	if err := json.Unmarshal([]byte(stdout), &p); err != nil || p.JobDetails == nil || *p.JobDetails.Company != "Tidewell Robotics" {
		t.Errorf("error %v in %s", err, stdout)
	}
	report, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil || !strings.Contains(string(report), "## Recommendation\n\n5 of 5 requirements are met") {
		t.Errorf("error %v, report %s", err, report)
	}

	// The web is out of reach of a page's own network, unless allowed.
	code, stdout, stderr = command(t, script, "run", "--resume", fixtures+"resume.md", "--out", out, web+"/jobs/4417", "--model", "other")
	if code != 1 || !strings.Contains(stdout, "could not read") || !strings.Contains(stderr, "requests to other") {
		t.Errorf("a private address: exit %d: %s%s", code, stdout, stderr)
	}
	code, _, stderr = command(t, fakellm.Always(fakellm.Refusal("no")), "run", web, "--resume", fixtures+"resume.md", "--out", out)
	if code != 1 || !strings.Contains(stderr, "step extract: the model refused") {
		t.Errorf("a refusal: exit %d: %s", code, stderr)
	}
	forged := fakellm.CallTool("submit", `{"output":{},"answer":"\u001b[2KALL PASSED"}`)
	code, stdout, _ = command(t, fakellm.Turns(fakellm.CallTool("fetch_webpage", `{}`), forged), "run", web, "--resume", fixtures+"resume.md", "--out", out)
	if code != 1 || strings.Contains(stdout, "\x1b") || !strings.Contains(stdout, "ALL PASSED") {
		t.Errorf("X02: exit %d: %q", code, stdout)
	}
}

func TestWrongCommands(t *testing.T) {
	resume := fixtures + "resume.md"
	for _, c := range []struct{ args, says string }{
		{"run", "name the address"},
		{"run http://a.example", "--resume is required"},
		{"run http://a.example --resume /no/such/file", "no such file"},
		{"run http://a.example http://b.example --resume " + resume, "one URL at a time"},
		{"run http://a.example --resume " + resume + " --max-turns 0", "at least 1"},
		{"run http://a.example --resume " + resume + " --out " + resume, "--out"},
		{"run --rseume x", "flag provided but not defined"},
		{"serve now", "flags alone"},
		{"nothing", "usage:"},
		{"", "usage:"}, // the standard input is no pipe here
	} {
		code, stdout, stderr := command(t, fakellm.Always(fakellm.Text("")), strings.Fields(c.args)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want 2 and %q", c.args, code, stdout, stderr, c.says)
		}
	}
	if code, stdout, _ := command(t, fakellm.Always(fakellm.Text("")), "--help"); code != 0 || !strings.Contains(stdout, "usage:") {
		t.Errorf("--help: exit %d: %s", code, stdout)
	}
}

func TestLocalTools(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.md")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tools, err := openLocal(runOptions{resume: empty, out: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tools.out.Close() }()
	for _, c := range []struct {
		tool, args, says string
		isError          bool
	}{
		{"read_resume", `{}`, "empty", false},
		{"save_output", `{"filename":"a.md","content":"x"}`, "saved", false},
		{"save_output", `{"filename":"../a.md","content":"x"}`, "folders", true},
		{"save_output", `{"filename":"a.md"}`, "not empty", true},
		{"save_output", `[]`, "don't fit the schema", true},
		{"fetch_webpage", `{"url":"file:///etc/passwd"}`, "http", true},
		{"fetch_webpage", `{"url":"http://169.254.169.254/"}`, "not open to the public", true},
		{"web_search", `{"query":""}`, "empty", true},
		{"shell", ``, "no tool", true},
	} {
		r, err := tools.CallTool(t.Context(), tooleval.ToolCall{Tool: c.tool, Args: tooleval.Raw(c.args)})
		if err != nil || r.IsError != c.isError || !strings.Contains(string(r.Text), c.says) {
			t.Errorf("%s %s: got %+v, %v; want %q", c.tool, c.args, r, err, c.says)
		}
	}
}
