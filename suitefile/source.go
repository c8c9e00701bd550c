package suitefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// The bounds of what is read.
const (
	mostYAML  = 16 << 20
	mostData  = 64 << 20
	mostDepth = 200
)

// A source is one file of the folder.
type source struct {
	name  string // the path in the folder, with slashes
	shown string // the path in messages
}

func (s *source) at(n *yaml.Node) place {
	if n == nil {
		return place{file: s}
	}
	return place{s, n.Line, n.Column}
}

// A folder is a suite's folder; nothing outside of it is ever opened.
type folder struct {
	root *os.Root
	dir  string
}

func (f *folder) source(name string) *source {
	return &source{name: name, shown: filepath.Join(f.dir, filepath.FromSlash(name))}
}

// read reads a file of at most most bytes.
func (f *folder) read(name string, most int64) ([]byte, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsLocal(path) || strings.Contains(name, `\`) {
		return nil, errors.New("a path must stay inside the suite's folder and be written with slashes, as in fixtures/a.json")
	}
	// Not opened before it is known to be a plain file: opening a named pipe would wait for its other end.
	info, err := f.root.Stat(path)
	if err != nil {
		return nil, f.explain(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	file, err := f.root.Open(path)
	if err != nil {
		return nil, f.explain(name, err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, f.explain(name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("it has more than %d MiB", most>>20)
	}
	return b, nil
}

// explain turns an error of opening a file into words that name no machine's path.
func (f *folder) explain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no such file%s", f.nearest(name))
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if strings.Contains(err.Error(), "escapes from parent") {
		return errors.New("it leads out of the suite's folder, and what is outside is never read")
	}
	return err
}

// parse parses one YAML document. The error has its own place.
func (s *source) parse(b []byte) (*yaml.Node, place, error) {
	if !utf8.Valid(b) {
		at := s.offset(b, invalidAt(b))
		return nil, at, errors.New("this byte is not valid UTF-8")
	}
	if i := bytes.IndexFunc(b, forbidden); i >= 0 {
		r, _ := utf8.DecodeRune(b[i:])
		return nil, s.offset(b, i), fmt.Errorf("the character %U is not allowed here; in double quotes write it as an escape", r)
	}
	loader, err := yaml.NewLoader(bytes.NewReader(b), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(mostDepth))))
	if err != nil {
		return nil, place{file: s}, err
	}
	var doc, next yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		return nil, place{file: s}, errors.New("the file is empty")
	} else if err != nil {
		at, err := s.syntax(err)
		return nil, at, err
	}
	if err := loader.Load(&next); err == nil {
		return nil, s.at(&next), errors.New("a second document begins here; a file holds one")
	} else if !errors.Is(err, io.EOF) {
		at, err := s.syntax(err)
		return nil, at, err
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0], place{}, nil
	}
	return nil, place{file: s}, errors.New("the file is empty")
}

// syntax takes the place out of a YAML error.
func (s *source) syntax(err error) (place, error) {
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return place{file: s}, err
	}
	message := le.Message
	if le.ContextMsg != "" {
		message = le.ContextMsg + ": " + message
	}
	switch {
	case strings.Contains(message, "unknown anchor"):
		message += "; anchors and aliases are not part of the format: write the value out, or use ${name} and vars"
	case strings.Contains(message, "mapping values are not allowed"):
		message += "; text with a colon in it needs quotes"
	case strings.Contains(message, "max depth"):
		message = fmt.Sprintf("nested more than %d deep", mostDepth)
	}
	return place{s, le.Mark.Line, le.Mark.Column}, fmt.Errorf("not YAML: %s", message)
}

// offset is the place of a byte.
func (s *source) offset(b []byte, i int) place {
	start := bytes.LastIndexByte(b[:i], '\n') + 1
	return place{s, bytes.Count(b[:i], []byte("\n")) + 1, utf8.RuneCount(b[start:i]) + 1}
}

// forbidden are the control characters that YAML does not allow; left to itself, the parser says so without a place.
func forbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xFFFE || r == 0xFFFF
}

func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
