package suitefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"

	"github.com/tooleval/tooleval"
)

// rawOrFile is the JSON under key, or in the file under key_file, and where it stands; ok is false when there is neither,
// or it is not sound.
func (l *loader) rawOrFile(e *entry, key string) (raw tooleval.Raw, at place, ok bool) {
	if v := e.get(key); v != nil {
		return v.raw(), v.at, true
	}
	f := e.get(key + "_file")
	if f == nil {
		return nil, place{}, false
	}
	raw, ok = l.jsonFile(f)
	return raw, place{file: l.folder.source(f.words), line: 1, column: 1}, ok
}

// jsonFile reads a JSON file. Templates are not replaced in it. A file that many tasks name is read once.
func (l *loader) jsonFile(f *entry) (raw tooleval.Raw, ok bool) {
	if known, done := l.files[f.words]; done {
		return known, known != nil
	}
	l.files[f.words] = nil
	src := l.folder.source(f.words)
	b, ok := l.dataFile(f)
	if !ok {
		return nil, false
	}
	if _, err := tooleval.DecodeValue(b); err != nil {
		at := place{file: src}
		if m := byteOffset.FindStringSubmatch(err.Error()); m != nil {
			if i, convErr := strconv.Atoi(m[1]); convErr == nil {
				at = src.offset(b, min(i, len(b)))
			}
		}
		l.fail(at, "%v", err)
		return nil, false
	}
	if at, key := repeatedKey(b); at >= 0 {
		l.fail(src.offset(b, at), "key %q is written twice", clip(key))
		return nil, false
	}
	var compact bytes.Buffer
	compact.Grow(len(b))
	if err := json.Compact(&compact, b); err != nil {
		l.fail(place{file: src}, "not JSON: %v", err)
		return nil, false
	}
	l.files[f.words] = compact.Bytes()
	return compact.Bytes(), true
}

// byteOffset finds the place in an error of tooleval.DecodeValue.
var byteOffset = regexp.MustCompile(`\bbyte (\d+)`)

// dataFile reads a data file.
func (l *loader) dataFile(f *entry) ([]byte, bool) {
	b, err := l.folder.read(f.words, mostData)
	if err != nil {
		f.fail(l, "%s: %v", clip(f.words), err)
		return nil, false
	}
	*l.budget -= int64(len(b))
	if *l.budget < 0 {
		f.fail(l, "the files of the suite are larger than %d MiB together", budget>>20)
		return nil, false
	}
	return b, true
}

// repeatedKey is the place of the first key of an object that the same object has had before; -1 when there is none. The
// input is known to be JSON.
func repeatedKey(b []byte) (int, string) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // a key comes next
	}
	var levels []level
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return -1, ""
		}
		top := len(levels) - 1
		if key, isText := t.(string); isText && top >= 0 && levels[top].key {
			if levels[top].keys[key] {
				return int(d.InputOffset()) - 1, key
			}
			levels[top].keys[key], levels[top].key = true, false
			continue
		}
		switch t {
		case json.Delim('{'):
			levels = append(levels, level{map[string]bool{}, true})
			continue
		case json.Delim('['):
			levels = append(levels, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:top]
		}
		if top = len(levels) - 1; top >= 0 && levels[top].keys != nil {
			levels[top].key = true
		}
	}
}

// textFile reads a text file.
func (l *loader) textFile(f *entry) (string, bool) {
	b, ok := l.dataFile(f)
	if !ok {
		return "", false
	}
	if i := invalidAt(b); i < len(b) {
		src := l.folder.source(f.words)
		l.fail(src.offset(b, i), "this byte is not valid UTF-8")
		return "", false
	}
	return string(b), true
}

// patternOrFile is the pattern under key, or in the file under key_file; the zero Pattern when there is neither.
func (l *loader) patternOrFile(e *entry, key string) tooleval.Pattern {
	f := e.get(key + "_file")
	if f == nil {
		return e.get(key).pattern()
	}
	raw, ok := l.jsonFile(f)
	if !ok {
		return tooleval.Pattern{}
	}
	p := tooleval.ParsePattern(raw)
	if p.Err() != nil {
		for _, err := range joined(p.Err()) {
			l.fail(place{file: l.folder.source(f.words)}, "%v", err)
		}
	}
	return p
}
