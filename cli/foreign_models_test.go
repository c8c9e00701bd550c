package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/suites"
)

// calcMind is a model that does the calc suite right: one call, and the tool's answer as its own.
func calcMind(r fakellm.Request) fakellm.Reply {
	if results := r.Results(); len(results) > 0 {
		return fakellm.Reply{Text: "The answer:\n```json\n" + results[0].Text + "\n```", Usage: fakellm.Usage{Input: 100, Output: 10, CacheRead: 40}}
	}
	if strings.Contains(r.Messages[0].Text, "6 * 7") {
		return fakellm.CallTool("calculate", `{"expression": "6 * 7"}`)
	}
	return fakellm.CallTool("convert", `{"value": 5, "from": "mile", "to": "kilometer"}`)
}

// run runs the command and returns its exit code, its output, and the runs that it kept.
func run(t *testing.T, env map[string]string, args ...string) (code int, out, errs string, runs []tooleval.Run) {
	t.Helper()
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	app := cli.App{Suites: suites.All, Args: append(args, "--results", dir), Stdout: &stdout, Stderr: &stderr}
	for k, v := range env {
		app.Env = append(app.Env, k+"="+v)
	}
	code = app.Run(t.Context())
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "runs" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(b), "sk-canary") {
			t.Errorf("%s has the key in it", path)
		}
		var r tooleval.Run
		if err := json.Unmarshal(b, &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if r.Baseline == "" {
			runs = append(runs, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return code, stdout.String(), stderr.String(), runs
}

// TestAgentsSideBySide: two bare models and a web service do the same tasks in one eval.
func TestAgentsSideBySide(t *testing.T) {
	llm := fakellm.New(t, fakellm.Authorized("sk-canary", calcMind))
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Assignment tooleval.Assignment
			Calls      struct{ URL, Token string }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		body := `{"tool":"calculate","args":{"expression":"6 * 7"}}`
		if q.Assignment.TaskID == "calc.convert" {
			body = `{"tool":"convert","args":{"value":5,"from":"mile","to":"kilometer"}}`
		}
		req, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, q.Calls.URL, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+q.Calls.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		var result tooleval.ToolResult
		if err := json.Unmarshal(b, &result); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		_ = json.NewEncoder(w).Encode(tooleval.AgentResult{Response: result.Text, State: result.Structured})
	}))
	t.Cleanup(service.Close)
	names := []string{"anthropic:fake-model", "openai:fake-model?temperature=0&seed=7", service.URL + "/agent"}
	code, out, errs, runs := run(t, map[string]string{
		"ANTHROPIC_API_KEY": "sk-canary", "OPENAI_API_KEY": "sk-canary", "ANTHROPIC_BASE_URL": llm.URL("a"), "OPENAI_BASE_URL": llm.URL("o") + "/v1",
	}, "run", "--suite", "calc", "--runs", "3", "--agent", names[0], "--agent", names[1], "--agent", names[2])
	if code != 0 || len(runs) != 3*2*3 {
		t.Fatalf("exit code %d, %d runs\n%s\n%s", code, len(runs), out, errs)
	}
	channels := map[string]string{names[0]: "in_process", names[1]: "in_process", names[2]: "http"}
	seen := map[string]int{}
	for _, r := range runs {
		seen[r.Mind]++
		if r.Score.Verdict != tooleval.Passed || r.Failure != nil || len(r.Trajectory.Calls) != 1 || r.Trajectory.Channel != channels[r.Mind] {
			t.Errorf("%s %s %d: outcome %+v, failure %+v, calls %+v, channel %s", r.Mind, r.TaskID, r.Index, r.Score.Outcome, r.Failure, r.Trajectory.Calls, r.Trajectory.Channel)
		}
		if u := r.Result.Usage; r.Mind != names[2] && (u == nil || *u.Turns != 2 || *u.CachedTokens != 40 || u.CostUSD != nil) {
			t.Errorf("%s: usage %+v", r.Mind, u)
		}
	}
	for _, name := range names {
		if seen[name] != 6 || !strings.Contains(out, name[:15]) {
			t.Errorf("%s: %d runs, in the report:\n%s", name, seen[name], out)
		}
	}
}

// TestE01ProviderTroubleIsUnscored: a model that could not be asked is no bad model.
func TestE01ProviderTroubleIsUnscored(t *testing.T) {
	llm := fakellm.New(t, fakellm.Always(fakellm.RateLimited(time.Millisecond)))
	code, _, _, runs := run(t, map[string]string{"OPENAI_BASE_URL": llm.URL("o")}, "run", "--suite", "calc", "--runs", "1", "--agent", "openai:m?retries=0")
	if code != 0 || len(runs) != 2 {
		t.Fatalf("exit code %d, %d runs", code, len(runs))
	}
	for _, r := range runs {
		if r.Score.Verdict != tooleval.Unscored || r.ErrorOwner != tooleval.OwnerInfra {
			t.Errorf("%+v, owner %s", r.Score, r.ErrorOwner)
		}
	}
}

// TestWhatIsWrongIsSaidAtOnce: the exit code is 2, nothing runs, and the message says what to set.
func TestWhatIsWrongIsSaidAtOnce(t *testing.T) {
	for agent, want := range map[string]string{
		"anthropic:m":                     "set ANTHROPIC_API_KEY",
		"openai:m":                        "set OPENAI_API_KEY",
		"openai:":                         "the model is missing",
		"openai:m?temp=1":                 "unknown option",
		"anthropic:m?seed=1":              "takes no temperature and no seed",
		"http://u:pw@localhost/":          "without a user",
		"openai:m?base_url=http://u:pw@h": "without a user",
		"http:":                           "want http://",
		"acp:":                            "for example: acp:gemini --acp",
		"acp:no-such-program-anywhere":    "no-such-program-anywhere",
		"acp:'unended":                    "within a quotation",
		"opnai:m":                         "openai:MODEL",
		"acp:sh -c 'exit 0' --weird-ok":   "unknown policy",
	} {
		env := map[string]string{"PATH": os.Getenv("PATH")}
		if strings.Contains(want, "policy") {
			env["TOOLEVAL_ACP_PERMISSIONS"] = "some"
		}
		code, _, errs, runs := run(t, env, "run", "--suite", "calc", "--runs", "1", "--agent", agent)
		if code != 2 || len(runs) != 0 || !strings.Contains(errs, want) || strings.Contains(errs, "pw@") {
			t.Errorf("%s: exit code %d, %d runs, %s", agent, code, len(runs), errs)
		}
	}
}
