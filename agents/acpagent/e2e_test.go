package acpagent_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/suites"
)

// TestCommand: the calc suite by the command, with an agent that takes its tools over HTTP and one that takes a
// program.
func TestCommand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	app := cli.App{Suites: suites.All, Stdout: &out, Stderr: &errs, Args: []string{"run", "--suite", "calc", "--task", "calc.arithmetic", "--runs", "3",
		"--agent", "acp:'" + self + "' acp-agent good", "--agent", "acp:'" + self + "' acp-agent stdio", "--results", dir}}
	if code := app.Run(t.Context()); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &out, &errs)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "runs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r tooleval.Run
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		if r.Baseline != "" {
			continue
		}
		seen++
		if r.Score.Verdict != tooleval.Passed || len(r.Trajectory.Calls) != 1 || r.Trajectory.Channel != tooleval.OverMCP {
			t.Errorf("%s: %s, %+v, %s", r.Mind, r.Score.Verdict, r.Trajectory, r.Error)
		}
	}
	if seen != 6 {
		t.Errorf("%d runs in %q\n%s", seen, files, &out)
	}
}
