package suitefile_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitefile"
	"github.com/tooleval/tooleval/suitetest"
)

var update = flag.Bool("update", false, "write what is found into the archives and documents")

// unpack writes the files of an archive into a folder named suite.
func unpack(t testing.TB, a *txtar.Archive) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "suite")
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// folder writes one suite.yaml.
func folder(t testing.TB, text string) string {
	t.Helper()
	return unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "suite.yaml", Data: []byte(text)}}})
}

func station(name string) string {
	if name == "STATION" {
		return "pond"
	}
	return ""
}

// archives calls f with every archive, without the expectation in it.
func archives(t *testing.T, kind string, f func(t *testing.T, a *txtar.Archive, want string)) {
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" }); i >= 0 {
				want = string(a.Files[i].Data)
				a.Files = slices.Delete(a.Files, i, i+1)
			}
			f(t, a, want)
		})
	}
}

// hold compares with the expectation of an archive, or rewrites it.
func hold(t *testing.T, kind string, a *txtar.Archive, want, got string) {
	t.Helper()
	if *update {
		a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
		path := filepath.Join("testdata", kind, filepath.Base(t.Name())+".txtar")
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got; -update rewrites it)\n%s", diff)
	}
}

func TestValid(t *testing.T) {
	archives(t, "valid", func(t *testing.T, a *txtar.Archive, want string) {
		dir := unpack(t, a)
		s, err := suitefile.Load(dir, suitefile.Options{Getenv: station})
		if err != nil {
			t.Fatal(err)
		}
		hold(t, "valid", a, want, describe(t, s))
	})
}

// describe is everything of a suite that has a JSON form.
func describe(t *testing.T, s *tooleval.Suite) string {
	t.Helper()
	scorers := map[string]any{}
	for id, sc := range s.Scorers {
		scorers[id] = sc.(tooleval.Fingerprinter).Fingerprint()
	}
	minds := map[string]any{}
	for _, m := range s.Minds {
		agent, err := m.New(t.Context(), station)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m.Name, "mine") { // its command holds an absolute path
			minds[m.Name] = "a command"
			continue
		}
		minds[m.Name] = agent.(tooleval.Fingerprinter).Fingerprint()
	}
	b, err := json.MarshalIndent(map[string]any{
		"name": s.Name, "description": s.Description, "version": s.Version, "tools": s.Tools, "entry_points": s.EntryPoints,
		"tasks": s.Tasks, "world": s.MockWorld.(tooleval.Fingerprinter).Fingerprint(), "scorers": scorers, "minds": minds,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// TestInvalid covers R02, M24, S04, L05 and V08: everything that is wrong, at its place, with what was expected.
func TestInvalid(t *testing.T) {
	archives(t, "invalid", func(t *testing.T, a *txtar.Archive, want string) {
		dir := unpack(t, a)
		s, err := suitefile.Load(dir, suitefile.Options{})
		if err == nil || s != nil {
			t.Fatal("it was accepted")
		}
		if _, ok := errors.AsType[*suitefile.Error](err); !ok {
			t.Errorf("not an Error: %T", err)
		}
		got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
		hold(t, "invalid", a, want, got+"\n")
	})
}

// TestJSONSchema: the schema accepts every valid suite, and rejects the invalid ones unless only Load can tell.
func TestJSONSchema(t *testing.T) {
	schema := compile(t)
	for _, kind := range []string{"valid", "invalid"} {
		archives(t, kind, func(t *testing.T, a *txtar.Archive, _ string) {
			verdict, _, _ := strings.Cut(string(a.Comment), "\n")
			i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "suite.yaml" })
			var value any
			err := yaml.Load(a.Files[i].Data, &value) // as an editor reads it
			if err == nil {
				err = schema.Validate(jsonValue(value))
			}
			switch {
			case kind == "valid" || verdict == "schema: accepts":
				if err != nil {
					t.Errorf("rejected: %v", err)
				}
			case verdict != "schema: rejects":
				t.Errorf("the archive does not say what the schema does")
			case err == nil:
				t.Error("accepted")
			}
		})
	}
}

// compile compiles the schema as an editor does.
func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(suitefile.JSONSchema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("mem:///suite", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mem:///suite")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestJSONSchemaTakesExamples: so do the example and what tooleval init writes.
func TestJSONSchemaTakesExamples(t *testing.T) {
	schema := compile(t)
	for _, path := range []string{
		"../examples/custom-suite/suite.yaml", "../cli/scaffold/mock/suite.yaml.tmpl", "../cli/scaffold/starlark/suite.yaml.tmpl",
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := yaml.Load([]byte(strings.NewReplacer("<<", "", ">>", "").Replace(string(b))), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(jsonValue(value)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// jsonValue is a YAML value as JSON has it.
func jsonValue(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = jsonValue(e)
		}
	case map[any]any:
		m := map[string]any{}
		for k, e := range x {
			s, _ := k.(string)
			m[s] = jsonValue(e)
		}
		return m
	case []any:
		for i, e := range x {
			x[i] = jsonValue(e)
		}
	case nil, bool, string, float64:
	case int, int64, uint64:
		b, _ := json.Marshal(x)
		return json.Number(b)
	default: // a date
		return "date"
	}
	return v
}

// TestRuns: what was loaded runs: the scripted mind passes every task, and doing nothing passes none but those that say so.
func TestRuns(t *testing.T) {
	for _, name := range []string{"stateful", "matrix"} {
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(filepath.Join("testdata", "valid", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := suitefile.Load(unpack(t, a), suitefile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			suitetest.Run(t, s)
		})
	}
}
