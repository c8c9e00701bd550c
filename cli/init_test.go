package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tooleval/tooleval/cli"
)

// TestInitGo: the module that tooleval init --go makes builds, holds its own test, and runs.
func TestInitGo(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	app := cli.App{Args: []string{"init", "mine", "--go", "--description", `a "desk"`}, Stdout: &out, Stderr: &errs}
	if code := app.Run(t.Context()); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if !strings.Contains(out.String(), "Run it with: cd mine && go mod tidy && go run . run --suite mine") {
		t.Errorf("it printed %s", out.String())
	}
	t.Chdir("mine")
	sums, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("go.sum", sums, 0o644); err != nil {
		t.Fatal(err)
	}
	goCommand := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		b, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, b)
		}
		return string(b)
	}
	const module = "github.com/tooleval/tooleval"
	goCommand("mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+repo)
	goCommand("vet", ".")
	goCommand("test", ".")
	if got := goCommand("run", ".", "run", "--suite", "mine", "--runs", "1"); !strings.Contains(got, "passed 1/1 scored") {
		t.Errorf("it printed %s", got)
	}
	version := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(b), "\ngo ")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	if got, want := version("go.mod"), version(filepath.Join(repo, "go.mod")); got != want {
		t.Errorf("the module says go %s, ToolEval needs %s", got, want)
	}
}
