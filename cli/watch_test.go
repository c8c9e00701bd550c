package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval/cli"
)

// A screen is what a command prints, for a test that looks on.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *screen) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.buf.String(), text)
}

// TestWatch: a change runs the suite again, a mistake is printed and waited out, and the user's interrupt ends it.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(call string) {
		t.Helper()
		text := `name: birds
tools: [{name: look_up}]
world: {mock: {fixtures: [{tool: look_up, text: fraank}]}}
tasks:
  - {id: heron, description: x, expected_state: {call: ` + call + `}, scripted: {calls: [look_up], state: {call: fraank}}}
`
		if err := os.MkdirAll("birds", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("birds", "suite.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("fraank")
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs screen
	// The results lie in the folder that is watched; they must not start another run.
	app := cli.App{Args: []string{"run", "./birds", "--watch", "--runs", "1", "--results", "birds/results"}, Stdout: &out, Stderr: &errs}
	done := make(chan int)
	go func() { done <- app.Run(ctx) }()
	await := func(s *screen, text string, n int) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); s.count(text) < n; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q was printed %d times, want %d\n%s\n%s", text, s.count(text), n, &out.buf, &errs.buf)
			}
		}
	}
	await(&errs, "watching birds for changes", 1)
	time.Sleep(time.Second)
	if n := out.count("passed 1/1 scored"); n != 1 {
		t.Errorf("it ran %d times before anything changed", n)
	}
	write("nothing at all")
	await(&errs, "watching birds for changes", 2)
	await(&out, "passed 0/1 scored", 1)
	write("{$regex: '('}")
	await(&errs, "watching birds for changes", 3)
	await(&errs, "birds/suite.yaml:5:57: $regex", 1)
	write("fraank")
	await(&out, "passed 1/1 scored", 2)
	await(&errs, "watching birds for changes", 4)
	cancel()
	select {
	case code := <-done:
		if code != 0 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}
