package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/suites"
)

var update = flag.Bool("update", false, "write the output of the commands into README.md")

var (
	command = regexp.MustCompile("(?s)```console\n\\$ go run ./cmd/tooleval ([^\n]+)\n(.*?)```")
	snippet = regexp.MustCompile("(?s)<!-- from ([^ ]+) -->\n```go\n(.*?)```")
	ids     = regexp.MustCompile(`\d{8}T\d{6}Z-([a-z-]+)-[0-9a-f]{6}`)
	files   = regexp.MustCompile(`\.(\d+)\.\d{8}T\d{9}Z\.json`)
	times   = regexp.MustCompile(`\d+(\.\d+)? (ms|s)\b`)
)

// stable replaces what differs from run to run.
func stable(s string) string {
	s = files.ReplaceAllString(s, ".$1.20260101T120000000Z.json")
	return times.ReplaceAllString(ids.ReplaceAllString(s, "20260101T120000Z-$1-abcdef"), "0.1 ms")
}

// TestReadmeCommands: the commands that the README shows print what it says they do.
func TestReadmeCommands(t *testing.T) {
	path, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	text, seen := string(readme), 0
	text = command.ReplaceAllStringFunc(text, func(block string) string {
		seen++
		m := command.FindStringSubmatch(block)
		var out, errs bytes.Buffer
		app := cli.App{Suites: suites.All, Args: strings.Fields(m[1]), Stdout: &out, Stderr: &errs}
		if code := app.Run(t.Context()); code != 0 {
			t.Errorf("%s: exit code %d: %s", m[1], code, errs.String())
		}
		return "```console\n$ go run ./cmd/tooleval " + m[1] + "\n" + stable(out.String()) + "```"
	})
	if seen == 0 {
		t.Fatal("the README shows no command with its output")
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(readme), text); diff != "" {
		t.Errorf("the README differs from what the commands print (-readme +printed); run go test ./cmd/tooleval -update:\n%s", diff)
	}
}

// TestReadmeSnippets: the code that the README shows stands in the file that it names.
func TestReadmeSnippets(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := snippet.FindAllStringSubmatch(string(readme), -1)
	if len(found) == 0 {
		t.Fatal("the README shows no code")
	}
	for _, m := range found {
		source, err := os.ReadFile(filepath.Join("../..", m[1]))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(source), m[2]) {
			t.Errorf("this code is not in %s:\n%s", m[1], m[2])
		}
	}
}
