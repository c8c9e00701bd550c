package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tooleval/tooleval/agents/profile"
)

const minimal = "name: mine\ncommand: [prog, \"${prompt}\"]\n"

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "m.yaml: "},
		{"command: [a, \"${prompt}\"]", "m.yaml:1:8: name is missing"},
		{"name: Mine\ncommand: [a, \"${prompt}\"]", `m.yaml:1:7: a name is made of`},
		{"name: cmd\ncommand: [a, \"${prompt}\"]", `means something else to --agent`},
		{"name: mine", "command is missing"},
		{minimal + "outputs: {format: text}", `m.yaml:3:1: unknown key "outputs" (did you mean "output"?)`},
		{minimal + "output:\n  formt: text", `m.yaml:4:3: unknown key "formt" (did you mean "format"?)`},
		{minimal + "output: {format: jason}", `m.yaml:3:18: format is text or json or jsonl, not "jason" (did you mean "json"?)`},
		{minimal + "output: {format: json}", "needs answer.path"},
		{minimal + "output: {answer: {path: a}}", "do nothing with format text"},
		{minimal + "output: {format: json, answer: {path: a, where: {a: b}}}", "where and sum are for format jsonl"},
		{minimal + "output: {file: /etc/passwd}", "m.yaml:3:16: output.file begins with ${home}/"},
		{minimal + "files:\n  - path: ${home}/a\n    content: x\n  - path: /etc/passwd\n    content: x", "m.yaml:6:11: path begins with"},
		{"name: mine\ncommand: [prog, \"${promt}\"]", `m.yaml:2:17: unknown variable ${promt} (did you mean "prompt"?)`},
		{"name: mine\ncommand: [prog, \"${prompt\"]", "no closing brace"},
		{"name: mine\ncommand: [prog]", "no argument holds ${prompt}"},
		{minimal + "prompt: {by: stdin}", "${prompt} is an argument, but prompt.by is stdin"},
		{"name: mine\ncommand: [prog]\nprompt: {by: file}", "needs prompt.file"},
		{minimal + "prompt: {file: \"${work}/x\"}", "does nothing without"},
		{minimal + "prompt: {template: hello}", "neither ${task} nor ${description}"},
		{minimal + "prompt: {template: \"${prompt} ${task}\"}", "can't hold itself"},
		{minimal + "env: {set: {A: \"${env.HOME}\"}}", `needs "HOME" in env.pass`},
		{minimal + "env: {set: {A: \"${mcp_shim}\"}}", "mcp.transport: stdio alone"},
		{minimal + "env: {pass: [\"A=b\"]}", "is no name of an environment variable"},
		{minimal + "variables: {home: {default: x}}", "given by the harness"},
		{minimal + "faults: [{text: \"(\"}]", "no regular expression"},
		{minimal + "faults: [{text: \"x*\"}]", "fits everything"},
		{minimal + "faults: [{text: x, owner: agnt}]", `did you mean "agent"?`},
		{minimal + "limits: {timeout: -1s}", "timeout is negative"},
		{minimal + "exit: {ok: [0], limit: [0]}", "listed twice"},
		{minimal + "exit: {ok: [300]}", "300 is no exit code"},
		{minimal + "limits: {start: soon}", "m.yaml:3:"},
		{minimal + "name: twice", "m.yaml:3:1"},
		{minimal + "---\nname: other", "more than one document"},
		{minimal + "notes: &a x\ndescription: *a", "m.yaml:3:8: anchors and aliases"},
		{"name: [", "m.yaml:"},
		{"- a", "m.yaml:1:"},
		{strings.Repeat("#", 2<<20), "more than"},
		{"name: mine\ncommand: [\"${propmt}\", \"${nope}\"]\nmcp: {transport: smoke}", "transport is http or stdio"},
	} {
		_, err := profile.Load("m.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	// Everything that is wrong is said at once.
	_, err := profile.Load("m.yaml", []byte("name: mine\ncommand: [\"${propmt}\", \"${nope}\"]\nmcp: {transport: smoke}"))
	if n := strings.Count(err.Error(), "m.yaml:"); n != 4 {
		t.Errorf("%d errors: %v", n, err)
	}
}

func TestBuiltIn(t *testing.T) {
	list, err := profile.List(nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range list {
		if l.Err != nil {
			t.Errorf("%s: %v", l.Name, l.Err)
			continue
		}
		names = append(names, l.Name)
		if l.Profile.Description == "" || l.Profile.Source != "built in" || len(l.Profile.Version) == 0 || len(l.Profile.Sandbox.Network) == 0 {
			t.Errorf("%+v", l.Profile)
		}
	}
	if got := strings.Join(names, " "); got != "claude-code codex gemini opencode pi qwen" {
		t.Errorf("got %s", got)
	}
}

func TestLookup(t *testing.T) {
	project, user := t.TempDir(), t.TempDir()
	write := func(folder, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(project, "mine.yaml", minimal)
	write(project, "notes.txt", "no profile")
	write(project, "other.yaml", minimal)
	write(user, "mine.yaml", minimal+"description: hidden")
	write(user, "codex.yaml", strings.Replace(minimal, "mine", "codex", 1))
	folders := []string{project, user, filepath.Join(user, "none")}
	p, err := profile.Find("mine", folders)
	if err != nil || p.Source != filepath.Join(project, "mine.yaml") || p.Description != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = profile.Find("codex", folders); err != nil || p.Source != filepath.Join(user, "codex.yaml") {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err = profile.Find("other", folders); err == nil || !strings.Contains(err.Error(), "must be the same") {
		t.Errorf("got %v", err)
	}
	if _, err = profile.Find("codx", nil); !errors.Is(err, profile.ErrUnknown) || !strings.Contains(err.Error(), `did you mean "codex"?`) {
		t.Errorf("got %v", err)
	}
	list, err := profile.List(folders)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if l.Name == "codex" && l.Hides != "built in" || l.Name == "mine" && l.Hides != filepath.Join(user, "mine.yaml") {
			t.Errorf("%s hides %q", l.Name, l.Hides)
		}
	}
	dirs := profile.Folders(func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return user
		}
		return ""
	})
	if len(dirs) != 2 || dirs[0] != "agents" || dirs[1] != filepath.Join(user, "tooleval", "agents") {
		t.Errorf("got %q", dirs)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(minimal))
	for _, name := range []string{"codex", "opencode"} {
		p, err := profile.Find(name, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(p.Text()))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := profile.Load("f.yaml", text); (p == nil) == (err == nil) {
			t.Errorf("%v, %v", p, err)
		}
	})
}

// TestDocumentedProfile: the example of the how-to is a profile.
func TestDocumentedProfile(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/evaluate-a-command-line-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "```yaml\n")
	if !ok {
		t.Fatal("the page has no example")
	}
	text, _, _ = strings.Cut(text, "```")
	if p, err := profile.Load("example.yaml", []byte(text)); err != nil || p.Name != "mine" || len(p.Files) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestEveryKeyIsDocumented: docs/agents.md names every key of the format.
func TestEveryKeyIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			key := f.Tag.Get("yaml")
			if key == "" || key == "-" {
				continue
			}
			if !regexp.MustCompile("`[a-zA-Z_., :]*\\b" + key + "\\b").Match(page) {
				t.Errorf("docs/agents.md does not name %q", key)
			}
			inner := f.Type
			for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map || inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				walk(inner)
			}
		}
	}
	walk(reflect.TypeFor[profile.Profile]())
}
