package profile

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/tooleval/tooleval"
)

const maxFile = 1 << 20 // bytes of a profile

// Load reads a profile. The errors say everything that is wrong, each as source:line:column: message.
func Load(source string, text []byte) (*Profile, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: a profile of more than %d bytes", source, maxFile)
	}
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Type == token.AnchorType || t.Type == token.AliasType { // nothing bounds what they expand to
			return nil, fmt.Errorf("%s: anchors and aliases are not taken here; write the text out", at(source, t))
		}
	}
	p := &Profile{Source: source, text: text}
	d := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := d.Decode(p); err != nil {
		return nil, decodeError(source, err)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, decodeError(source, err)
	}
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("%s: more than one document; give each profile a file", source)
	}
	c := checker{p: p, source: source, file: file}
	c.check()
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	return p, nil
}

func at(source string, t *token.Token) string {
	if t == nil || t.Position == nil {
		return source
	}
	return fmt.Sprintf("%s:%d:%d", source, t.Position.Line, t.Position.Column)
}

var unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)

// decodeError is an error of the YAML library as one line, with the nearest key for an unknown one.
func decodeError(source string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", source, err)
	}
	message := e.GetMessage()
	if m := unknownField.FindStringSubmatch(message); m != nil {
		message = fmt.Sprintf("unknown key %q%s", m[1], tooleval.DidYouMean(m[1], keys(reflect.TypeFor[Profile]())))
	}
	return fmt.Errorf("%s: %s", at(source, e.GetToken()), message)
}

// keys are all keys of a type and what is in it.
func keys(t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || !strings.HasSuffix(t.PkgPath(), "/profile") {
		return nil
	}
	var list []string
	for i := range t.NumField() {
		f := t.Field(i)
		if key := f.Tag.Get("yaml"); key != "" && key != "-" {
			list = append(append(list, key), keys(f.Type)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
