package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tooleval/tooleval/suitefile"
	"github.com/tooleval/tooleval/suitetest"
)

// part is a file or a console of the page.
var part = regexp.MustCompile("(?s)<!-- file (\\S+) is (\\S+) -->\n```\\w+\n(.*?)```|(<!-- fails -->\n)?```console\n(.*?)```")

// TestWalkThrough: the script that the tests run does what docs/how-to/suite-in-ten-minutes.md says, file by file and
// command by command.
func TestWalkThrough(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/suite-in-ten-minutes.md")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("testdata/script/init.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	var want []string
	for _, m := range part.FindAllStringSubmatch(string(page), -1) {
		if m[1] != "" {
			want = append(want, "cp "+m[2]+" "+m[1])
			if diff := cmp.Diff(m[3], files[m[2]]); diff != "" {
				t.Errorf("%s (-page +script)\n%s", m[2], diff)
			}
			continue
		}
		var output strings.Builder
		for line := range strings.Lines(m[5]) {
			command, isCommand := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
			switch {
			case !isCommand:
				output.WriteString(line)
			case m[4] != "":
				want = append(want, "! exec "+command)
			default:
				want = append(want, "exec "+command)
			}
		}
		if output.Len() > 0 {
			want = append(want, "cmp stderr output.txt")
			if diff := cmp.Diff(output.String(), files["output.txt"]); diff != "" {
				t.Errorf("what is printed (-page +script)\n%s", diff)
			}
		}
	}
	var got []string
	for line := range strings.Lines(string(archive.Comment)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.HasPrefix(line, "mkdir") && !strings.HasPrefix(line, "stdout") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the commands (-page +script)\n%s", diff)
	}
}

// TestExample: the suite that the page leads to is sound, passes with its scripted mind, and its schema is the current one.
func TestExample(t *testing.T) {
	const dir = "../examples/custom-suite"
	s, err := suitefile.Load(dir, suitefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	suitetest.Run(t, s)
	schema, err := os.ReadFile(filepath.Join(dir, "suite.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(schema, suitefile.JSONSchema()) {
		t.Error("suite.schema.json is not what tooleval schema prints; write it again")
	}
}
