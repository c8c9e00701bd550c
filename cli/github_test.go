package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tooleval/tooleval/compare"
)

// TestAnnotationsCantInject: whatever the name of a task or the words of an agent, a workflow command is one line and
// stays what it is.
func TestAnnotationsCantInject(t *testing.T) {
	evil := "x\n::set-output name=a::b\r\n::stop-commands::x%0A::error::, a:b\x1b[2K"
	got := command("error", evil, evil)
	if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") || strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("%q", got)
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(got, "::error title="), "::")
	if strings.ContainsAny(title, ":,") || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(got, "%25", ""), "%0A", ""), "%0D") {
		t.Errorf("%q", got)
	}
	if want := "::error title=a%3Ab%2C c 100%25::100 %25 of%0Atwo lines\n"; command("error", "a:b, c 100%", "100 % of\ntwo lines") != want {
		t.Errorf("got %q, want %q", command("error", "a:b, c 100%", "100 % of\ntwo lines"), want)
	}
	if long := command("error", "t", strings.Repeat("ü", 100_000)); len(long) > 2*mostAnnotation {
		t.Errorf("%d bytes", len(long))
	}
}

// TestAnnotationsAreFew: GitHub drops all but ten of a kind, so that those that fail come first.
func TestAnnotationsAreFew(t *testing.T) {
	r := compare.Result{Answer: compare.Fail}
	for i := range 30 {
		c := compare.Condition{Name: "process", Answer: compare.NotEnough, Why: "open"}
		if i > 20 {
			c.Answer, c.Why = compare.Fail, "failed"
		}
		r.Conditions = append(r.Conditions, c)
	}
	var b bytes.Buffer
	a := App{Stderr: &b}
	a.annotate(&r)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != mostAnnotations || !strings.HasPrefix(lines[8], "::error") || !strings.HasPrefix(lines[9], "::warning") {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
}

// TestQuiet: in GitHub Actions what an agent said is printed and is no command.
func TestQuiet(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain\n", "plain\n"},
		{"::error::x\n", ": :error::x\n"},
		{"  \t::set-output name=a::b\nnext ::fine\n", "  \t: :set-output name=a::b\nnext ::fine\n"},
		{"a ##[set-output name=x]y\n", "a ## [set-output name=x]y\n"},
		{"::cut", ": :cut"},
		{"{\"a\":\n \"##[x] ::\"}\n", "{\"a\":\n \"##\\u005bx] ::\"}\n"},
		{"", ""},
	} {
		for size := 1; size < 6; size++ {
			var b bytes.Buffer
			q := quiet{w: &b}
			for in := []byte(c.in); len(in) > 0; {
				n := min(size, len(in))
				if _, err := q.Write(in[:n]); err != nil {
					t.Fatal(err)
				}
				in = in[n:]
			}
			if err := q.flush(); err != nil || b.String() != c.want {
				t.Errorf("%q in pieces of %d: got %q, want %q", c.in, size, b.String(), c.want)
			}
		}
	}
	var many bytes.Buffer
	shared := quiet{w: &many}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				_, _ = shared.Write([]byte("::x\n"))
			}
		})
	}
	wg.Wait()
	if got := strings.Count(many.String(), ": :x\n"); got != 400 {
		t.Errorf("%d of 400 lines", got)
	}
	var b bytes.Buffer
	doc, _ := json.Marshal(map[string]string{"k": "##[x]"})
	q := quiet{w: &b}
	_, _ = q.Write(doc)
	_ = q.flush()
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["k"] != "##[x]" {
		t.Errorf("the document means something else: %q, %v", b.String(), err)
	}
}

// TestL11WriteFile: a file is replaced in one step, and nothing is left behind where it can't be.
func TestL11WriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	for _, text := range []string{"one", "two"} {
		if err := writeFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("got %q, %v", b, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(dir, "folder"), []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if writable(filepath.Join(dir, "folder")) == nil || writable(filepath.Join(dir, "none", "x")) == nil || writable(path) != nil {
		t.Error("writable is wrong")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
