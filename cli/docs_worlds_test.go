package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitefile"
)

// yamlBlock writes the first block of YAML of a page, without its indentation, to a file.
func yamlBlock(t *testing.T, page, file string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "```yaml\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page has no block of YAML")
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll("\n"+block, "\n   ", "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../docs/how-to/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFaultsPage: the example is sound, and every kind is explained.
func TestFaultsPage(t *testing.T) {
	text := page(t, "faults.md")
	f, err := suitefile.LoadFaults(yamlBlock(t, text, "faults.yaml"), []string{"look_up"})
	if err != nil || len(f.Faults) != 3 {
		t.Errorf("got %+v, %v", f, err)
	}
	for _, k := range tooleval.FaultKinds {
		if !strings.Contains(text, "| `"+string(k)+"` |") {
			t.Errorf("the page does not explain %s", k)
		}
	}
}

// TestRecordPage: the page names the policies, and by which flag each is set.
func TestRecordPage(t *testing.T) {
	text := page(t, "record-and-replay.md")
	a := App{}
	a.recordCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if (strings.HasPrefix(f.Name, "on-") || f.Name == "out") && !strings.Contains(text, "--"+f.Name) {
			t.Errorf("the page does not name --%s", f.Name)
		}
	})
}

// TestMCPPage: the suite on the page is sound.
func TestMCPPage(t *testing.T) {
	dir := filepath.Dir(yamlBlock(t, page(t, "mcp-server-as-world.md"), "suite.yaml"))
	s, err := suitefile.Load(dir, suitefile.Options{Getenv: func(string) string { return "a token" }})
	if err != nil {
		t.Fatal(err)
	}
	if s.LiveWorld == nil || s.MockWorld != nil {
		t.Errorf("got %+v", s)
	}
}
