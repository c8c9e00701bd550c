package jobsearch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// web is a loopback server with the posting, a search engine and a closed door, and the settings that lead there.
func web(t *testing.T) map[string]string {
	mux := http.NewServeMux()
	mux.HandleFunc("/job", func(w http.ResponseWriter, _ *http.Request) { w.Write(file("posting.html")) })
	mux.HandleFunc("/closed", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/html/", func(w http.ResponseWriter, r *http.Request) {
		key := "tidewell_overview"
		if strings.Contains(r.URL.Query().Get("q"), "news") {
			key = "tidewell_news"
		}
		for _, f := range searches()[key] {
			fmt.Fprintf(w, `<div class="result"><a class="result__a" href="%s">%s</a><a class="result__snippet">%s</a></div>`, f.URL, f.Title, f.Snippet)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return map[string]string{
		"JOBSEARCH_ALLOW_PRIVATE": "1", "JOBSEARCH_SEARCH_URL": s.URL + "/html/", "JOBSEARCH_LIVE_COMPANY": company,
		"JOBSEARCH_LIVE_JOB_URL": s.URL + "/job", "JOBSEARCH_RESTRICTED_URL": s.URL + "/closed", "JOBSEARCH_OUTPUT_DIR": filepath.Join(t.TempDir(), "out"),
	}
}

func getter(env map[string]string) func(string) string {
	return func(k string) string { return env[k] }
}

// liveAttempt runs the scripted twin on a task in the live world, as the harness never would, to show that the tools work.
func liveAttempt(t *testing.T, env map[string]string, task tooleval.Task) *tooleval.Run {
	t.Helper()
	world, err := Suite.LiveWorld.NewWorld(t.Context(), tooleval.WorldSpec{Task: task, Tools: Suite.Toolset(&task), Getenv: getter(env)})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	recorder := worlds.Record(worlds.Guard(world, world.Tools()), worlds.RecordOptions{})
	run := &tooleval.Run{Task: task}
	if run.Result, err = scripted(t.Context(), Suite.Assignment(&task, nil), recorder); err != nil {
		t.Fatal(err)
	}
	recorder.Close()
	run.Trajectory, run.State, run.StateFrom = recorder.Trajectory(), run.Result.State, "agent"
	state, err := world.State()
	if err != nil {
		t.Fatal(err)
	}
	if state != nil {
		run.State, run.StateFrom = state, "world"
	}
	return run
}

// TestLiveLadder: all five tasks with real tools, against servers on loopback; ten of each at a time.
func TestLiveLadder(t *testing.T) {
	env := web(t)
	if err := Suite.Validate(getter(env)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, task := range Suite.TasksIn(true, getter(env)) {
		for range 10 {
			all.Go(func() {
				run := liveAttempt(t, env, task)
				if task.ID == gracefulStep {
					c := run.Trajectory.Calls[0]
					if c.Status != tooleval.CallToolError || !strings.Contains(string(c.Result.Text), "403") {
						t.Errorf("the closed door: %+v", c)
					}
					return
				}
				if v, out := score(t, Suite, task.ID, run); v != 1 {
					t.Errorf("%s: %v: %q", task.ID, v, failures(out))
				}
			})
		}
	}
	all.Wait()
	reports, _ := filepath.Glob(filepath.Join(env["JOBSEARCH_OUTPUT_DIR"], "*", "report.md"))
	if len(reports) != 10 {
		t.Errorf("%d reports were kept, want one of each of 10 pipelines", len(reports))
	}
}

// TestLiveInputRots: a page that is gone and an engine that refuses are low scores, not broken runs.
func TestLiveInputRots(t *testing.T) {
	env := web(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	env["JOBSEARCH_LIVE_JOB_URL"], env["JOBSEARCH_SEARCH_URL"] = gone.URL, gone.URL
	for _, task := range Suite.TasksIn(true, getter(env)) {
		if task.ID == analyzeStep || task.ID == gracefulStep {
			continue
		}
		run := liveAttempt(t, env, task)
		for _, c := range run.Trajectory.Calls {
			if c.Status != tooleval.CallToolError {
				t.Errorf("%s: call %+v, want a tool error", task.ID, c)
			}
		}
		if v, _ := score(t, Suite, task.ID, run); v > 0.5 {
			t.Errorf("%s scores %v", task.ID, v)
		}
	}
}

// TestX09LivePrivate: without leave the tools reach nothing on this machine.
func TestX09LivePrivate(t *testing.T) {
	env := web(t)
	delete(env, "JOBSEARCH_ALLOW_PRIVATE")
	for _, task := range Suite.TasksIn(true, getter(env))[:2] {
		for _, c := range liveAttempt(t, env, task).Trajectory.Calls {
			if c.Status != tooleval.CallToolError || !strings.Contains(string(c.Result.Text), "refused") {
				t.Errorf("%s: %+v", task.ID, c)
			}
		}
	}
}

func TestLiveFiles(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	resume := filepath.Join(t.TempDir(), "cv.md")
	if err := os.WriteFile(resume, []byte("# Somebody else"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"JOBSEARCH_RESUME": resume}
	world, err := newLiveWorld(t.Context(), tooleval.WorldSpec{Task: tasks()[3], Tools: tools, Getenv: getter(env)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, args, want string
		isError          bool
	}{
		{"read_resume", ``, "# Somebody else", false},
		{"read_resume", `{}`, "# Somebody else", false},
		{"save_output", `{"filename":"report.md","content":"one"}`, "saved", false},
		{"save_output", `{"filename":"report.md","content":"two"}`, "saved", false},
		{"save_output", `{"filename":"../report.md","content":"x"}`, "folders", true},
		{"save_output", `{"filename":"/tmp/report.md","content":"x"}`, "folders", true},
		{"save_output", `{"filename":"a\u0000b","content":"x"}`, "printed", true},
		{"save_output", `{"filename":"r.md"}`, "not empty", true},
		{"save_output", `{"filename":"r.md","content":"` + strings.Repeat("x", 2<<20) + `"}`, "at most", true},
		{"save_output", `{"filename":7}`, "schema", true},
		{"save_output", `[]`, "schema", true},
		{"fetch_webpage", `{}`, "http and https", true},
		{"web_search", `{}`, "query is empty", true},
		{"dance", `{}`, "no tool", true},
	} {
		r, err := world.CallTool(t.Context(), tooleval.ToolCall{Tool: c.tool, Args: tooleval.Raw(c.args)})
		if err != nil || r.IsError != c.isError || !strings.Contains(string(r.Text), c.want) {
			t.Errorf("%s(%.60s): %v %+v, want %q", c.tool, c.args, err, r, c.want)
		}
	}
	state, err := world.State()
	want := `{"saved":[{"filename":"report.md","content":"one"},{"filename":"report.md","content":"two"}]}`
	if err != nil || string(state) != want {
		t.Errorf("state %s, %v; want %s", state, err, want)
	}
	if err := world.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLiveSettings(t *testing.T) {
	for name, value := range map[string]string{
		"JOBSEARCH_ALLOW_PRIVATE": "maybe", "JOBSEARCH_RESUME": filepath.Join(t.TempDir(), "missing"), "JOBSEARCH_OUTPUT_DIR": "/dev/null/x",
	} {
		_, err := newLiveWorld(t.Context(), tooleval.WorldSpec{Task: tasks()[3], Tools: tools, Getenv: getter(map[string]string{name: value})})
		if owner, _ := tooleval.BlamedOn(err); err == nil || owner != tooleval.OwnerUser || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v, owner %q", name, value, err, owner)
		}
	}
	live := Suite.TasksIn(true, getter(nil))
	for i, want := range map[int]string{0: defaultLiveURL, 1: "Anthropic", 4: defaultRestrictedURL} {
		if !strings.Contains(string(live[i].Input), want) {
			t.Errorf("the default input of %s is %s", live[i].ID, live[i].Input)
		}
	}
}
