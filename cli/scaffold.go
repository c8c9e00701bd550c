package cli

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"text/template"

	"github.com/tooleval/tooleval/suitefile"
)

// scaffolds are the files that tooleval init writes, as templates.
//
//go:embed all:scaffold
var scaffolds embed.FS

// templates are the kinds of folders that tooleval init makes.
func templates() []string { return []string{"mock", "starlark"} }

// write writes the files of a scaffold and returns their names. It makes the folder, or takes an empty one, and never
// overwrites a file.
func (f *initFlags) write() ([]string, error) {
	files, err := f.files()
	if err != nil {
		return nil, err
	}
	switch old, err := os.ReadDir(f.dir); {
	case err == nil && len(old) > 0:
		return nil, fmt.Errorf("%s: the folder is not empty, and nothing is overwritten; choose another", f.dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is no folder; choose another", f.dir)
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var names []string
	for _, file := range files {
		path := filepath.FromSlash(file.name)
		if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		out, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, err
		}
		_, err = out.Write(file.text)
		if err := errors.Join(err, out.Close()); err != nil {
			return nil, err
		}
		names = append(names, file.name)
	}
	return names, nil
}

type scaffoldFile struct {
	name string
	text []byte
}

// files are the files of a scaffold with their values filled in.
func (f *initFlags) files() ([]scaffoldFile, error) {
	kind := f.template
	if f.golang {
		kind = "go"
	}
	values := map[string]string{
		"Name": f.name, "Quoted": strconv.Quote(f.name), "Description": quote(f.description, f.golang), "Module": f.module,
		"GoVersion": goVersion, "Version": released(),
	}
	var out []scaffoldFile
	base := "scaffold/" + kind
	err := fs.WalkDir(scaffolds, base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scaffolds.ReadFile(path)
		if err != nil {
			return err
		}
		// << >> instead of braces, which YAML and Go are full of.
		t, err := template.New(path).Delims("<<", ">>").Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, values); err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, base+"/"), ".tmpl")
		out = append(out, scaffoldFile{name, b.Bytes()})
		return nil
	})
	if err == nil && !f.golang {
		out = append(out, scaffoldFile{"suite.schema.json", suitefile.JSONSchema()})
	}
	return out, err
}

// quote is a text in double quotes, for Go or for YAML, where it also must not be taken for a template.
func quote(s string, golang bool) string {
	if golang {
		return strconv.Quote(s)
	}
	b, err := json.Marshal(s)
	if err != nil { // a text always has an encoding
		return `""`
	}
	return strings.ReplaceAll(string(b), "${", "$${")
}

// goVersion is the oldest version of Go that the module of a suite needs: that of ToolEval itself.
const goVersion = "1.26.8"

// released is the version of ToolEval that this binary was built from, when it is a released one; empty otherwise.
func released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	const module = "github.com/tooleval/tooleval"
	version := ""
	if info.Main.Path == module {
		version = info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module && d.Replace == nil {
			version = d.Version
		}
	}
	if !strings.HasPrefix(version, "v") || strings.ContainsAny(version, "+-") {
		return ""
	}
	return version
}
