package profile_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval/agents/profile"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/calcmind"
)

// needsBwrap skips a test where there is no working bubblewrap.
func needsBwrap(t *testing.T) {
	t.Helper()
	if err := exec.Command("bwrap", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true").Run(); err != nil {
		t.Skipf("there is no working bubblewrap here: %v", err)
	}
}

// answering is a server on loopback that answers with a text.
func answering(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadAll(conn)
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestFence: a fenced agent reaches its tools and what its profile names, and nothing else.
func TestFence(t *testing.T) {
	needsBwrap(t)
	o := profile.Options{Getenv: getenv(), Sandbox: "bwrap"}
	r, err := fake(t, "good", "", o).Run(t.Context(), assignment, calculate)
	if err != nil || string(r.State) != `{"result":42}` || len(r.Warnings) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	self, _ := os.Executable()
	allowed, denied := answering(t, "allowed"), answering(t, "denied")
	more := fmt.Sprintf("sandbox: {network: [\"http://%s/v1\", \"model.example:443\"]}\ncommand: [%q, fake-agent, reaches, %q, %q, \"model.example:443\", \"1.1.1.1:53\", \"${prompt}\"]",
		allowed, self, allowed, denied)
	r, err = fake(t, "reaches", more, o).Run(t.Context(), assignment, calculate)
	got := string(r.Response)
	if err != nil || !strings.Contains(got, allowed+": allowed") || !strings.Contains(got, denied+": no") || !strings.Contains(got, "1.1.1.1:53: no") {
		t.Errorf("%v\n%s", err, got)
	}
	if !strings.Contains(got, "model.example:443: \n") { // there is no such host outside, but the way in is there
		t.Errorf("the named host has no address inside:\n%s", got)
	}

	wd, _ := os.Getwd()
	more = fmt.Sprintf("command: [%q, fake-agent, looks, %q, /usr, \"${work}\", \"${prompt}\"]", self, wd)
	r, err = fake(t, "looks", more, o).Run(t.Context(), assignment, calculate)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(r.Response), "\n")
	if !strings.HasPrefix(lines[0], wd+": 0 ") { // empty, or, below a folder that is hidden as a whole, not there
		t.Errorf("it sees the harness's own folder: %s", lines[0])
	}
	if _, err := os.Stat(filepath.Join(wd, "canary-of-a-test")); err == nil {
		t.Error("it wrote into the harness's own folder")
	}
	if strings.HasPrefix(lines[1], "/usr: 0") || !strings.HasSuffix(lines[1], "true false") {
		t.Errorf("the system is not read-only: %s", lines[1])
	}
	if !strings.HasSuffix(lines[2], "true true") {
		t.Errorf("its own folder: %s", lines[2])
	}
}

// TestFencedLimit: a fenced agent that hangs ends as soon, with everything that it started.
func TestFencedLimit(t *testing.T) {
	needsBwrap(t)
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	more := "env: {set: {MCP_URL: \"${mcp_url}\", MCP_TOKEN: \"${mcp_token}\", BEAT: \"${work}/beat\"}}"
	self, _ := os.Executable()
	p, err := profile.Load("fake.yaml", []byte(fmt.Sprintf("name: fake\n%s\ncommand: [%q, fake-agent, \"ignores TERM\", \"${prompt}\"]\n", more, self)))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := profile.New(t.Context(), p, profile.Options{Getenv: getenv(), Sandbox: "bwrap"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = agent.Run(ctx, assignment, calculate)
	if took := time.Since(began); err == nil || took > 3500*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
	time.Sleep(100 * time.Millisecond)
	if out, _ := exec.Command("pgrep", "-f", self+" fake-agent beats").Output(); len(out) > 0 {
		t.Errorf("still there: %s", out)
	}
}

// TestRealAgentFenced: codex behind the fence reaches its model and its tools.
func TestRealAgentFenced(t *testing.T) {
	folder := realAgents(t)
	needsBwrap(t)
	llm := fakellm.New(t, calcmind.Script)
	agent := builtIn(t, "codex", profile.Options{Getenv: environment(folder, llm.URL("")), Sandbox: "bwrap"})
	for _, run := range evaluate(t, agent, 1, 1, "calc.arithmetic") {
		if run.Score.Verdict != "passed" {
			t.Errorf("%s: %s", run.Score.Verdict, run.Error)
		}
	}
}
