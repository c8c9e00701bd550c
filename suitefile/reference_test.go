package suitefile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tooleval/tooleval/suitefile"
)

// TestReference: the list of keys in docs/formats/suite.md is the current one, and its examples are sound.
func TestReference(t *testing.T) {
	const path, mark = "../docs/formats/suite.md", "suitefile/format.go -->\n\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, got, found := strings.Cut(string(page), mark)
	if !found {
		t.Fatal("the page has no list of keys")
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+mark+suitefile.Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(suitefile.Reference(), got); diff != "" {
		t.Errorf("run go test ./suitefile -update (-want +page)\n%s", diff)
	}
	for _, example := range []string{"tools", "fixtures", "tasks"} {
		_, after, found := strings.Cut(got, "### "+example+"[]")
		_, after, inBlock := strings.Cut(after, "```yaml\n")
		block, _, closed := strings.Cut(after, "```")
		if !found || !inBlock || !closed {
			t.Errorf("no example of %s", example)
			continue
		}
		parts := map[string]string{
			"tools": "- name: look_up\n", "fixtures": "- {tool: look_up, text: fraank}\n",
			"tasks": "- {id: a, description: x, expected_state: {call: fraank}}\n",
		}
		parts[example] = block
		text := "name: birds\ntools:\n" + parts["tools"] + "world:\n  mock:\n    fixtures:\n      - file: fixtures.yaml\ntasks:\n" + parts["tasks"]
		dir := unpack(t, &txtar.Archive{Files: []txtar.File{
			{Name: "suite.yaml", Data: []byte(text)}, {Name: "fixtures.yaml", Data: []byte(parts["fixtures"])},
		}})
		if _, err := suitefile.Load(dir, suitefile.Options{}); err != nil {
			t.Errorf("the example of %s: %v", example, err)
		}
	}
}
