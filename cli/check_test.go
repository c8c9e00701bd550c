package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tooleval/tooleval/check"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/examples/airline"
)

// TestCheckAirline: of the 50 tasks of τ-bench's airline exactly those are passed by doing nothing that a published
// audit names.
func TestCheckAirline(t *testing.T) {
	dir := os.Getenv("TAUBENCH_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "taubench")
	}
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skipf("the τ-bench reference data are not there (%v); set TAUBENCH_DIR to their folder", err)
	}
	var reference struct {
		Trivial struct {
			Airline struct {
				Idle struct {
					IDs []int `json:"task_ids"`
				} `json:"empty_reply_then_user_stops"`
			} `json:"airline"`
		} `json:"trivial_agents"`
	}
	if err := json.Unmarshal(b, &reference); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, id := range reference.Trivial.Airline.Idle.IDs {
		want = append(want, strconv.Itoa(id))
	}
	if len(want) != 19 {
		t.Fatalf("the reference names %d tasks, want 19", len(want))
	}
	run := func(args ...string) (string, int) {
		var out, errs bytes.Buffer
		app := &cli.App{Folders: []cli.Folder{{Path: "examples/airline", Load: airline.Folder}}, Env: []string{"TAUBENCH_DIR=" + dir},
			Args: append([]string{"check", "../examples/airline"}, args...), Stdout: &out, Stderr: &errs}
		code := app.Run(t.Context())
		if errs.Len() > 0 {
			t.Fatal(errs.String())
		}
		return out.String(), code
	}
	out, code := run("--format", "json")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	var r check.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.DoNothing, want) {
		t.Errorf("passed by doing nothing: %v\nwant %v", r.DoNothing, want)
	}
	for _, task := range r.Tasks {
		if task.Has(check.OracleFails) || task.Has(check.OracleMissing) {
			t.Errorf("task %s: %+v", task.ID, task.Findings)
		}
	}
	out, _ = run()
	if words := strings.Join(strings.Fields(out), " "); !strings.Contains(words, "19 of 50 tasks (38 %) are passed by doing nothing: "+strings.Join(want, ", ")) {
		t.Errorf("the table does not name them:\n%s", out)
	}
}

// TestAirlineWithoutData: a registered folder says what it needs.
func TestAirlineWithoutData(t *testing.T) {
	var out, errs bytes.Buffer
	app := &cli.App{Folders: []cli.Folder{{Path: "examples/airline", Load: airline.Folder}}, Env: []string{"TAUBENCH_DIR=" + t.TempDir()},
		Args: []string{"check", "../examples/airline"}, Stdout: &out, Stderr: &errs}
	if code := app.Run(t.Context()); code != 2 || !strings.Contains(errs.String(), "set TAUBENCH_DIR") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}
