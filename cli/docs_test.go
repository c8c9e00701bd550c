package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"
)

// TestGatePage: the how-to names every flag of a gate, and the exit codes that the program has.
func TestGatePage(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/gate-in-ci.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	a := App{}
	named := 0
	a.gateCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "results" || f.Name == "format" {
			return
		}
		named++
		if !strings.Contains(text, "`--"+f.Name) {
			t.Errorf("the page does not name --%s", f.Name)
		}
	})
	if named != len(gateFlagNames) {
		t.Errorf("%d flags, but %d are kept out of the eval's header", named, len(gateFlagNames))
	}
	for _, row := range []string{"| 0 | every", "| 1 | the gate failed", "| 2 | usage", "| 3 | not enough evidence", "| 130 | cancelled"} {
		if !strings.Contains(text, row) {
			t.Errorf("the table of exit codes has no %q", row)
		}
	}
}

// TestAction: the GitHub Action is YAML, its flags exist, and no input is pasted into a script, where it would be run.
func TestAction(t *testing.T) {
	b, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Description string }
		Runs   struct {
			Using string
			Steps []struct{ Run, Shell, Uses string }
		}
	}
	if err := yaml.Unmarshal(b, &action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || len(action.Inputs) == 0 {
		t.Errorf("%+v", action)
	}
	a := App{}
	flags := a.runCommand().Flags()
	scripts := 0
	for _, step := range action.Runs.Steps {
		if step.Run == "" {
			continue
		}
		scripts++
		if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			t.Errorf("script %q", step.Run)
		}
		for _, word := range strings.Fields(step.Run) {
			if name, ok := strings.CutPrefix(word, "--"); ok && flags.Lookup(name) == nil {
				t.Errorf("there is no flag %s", word)
			}
		}
	}
	if scripts < 2 {
		t.Errorf("%d scripts", scripts)
	}
}
