package suitefile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tooleval/tooleval"
)

// csvTable reads rows from CSV. A cell is text unless types says otherwise.
func (l *loader) csvTable(c *checker, f, types *entry) *table {
	b, ok := l.dataFile(f)
	if !ok {
		return nil
	}
	src := c.folder.source(f.words)
	if i := invalidAt(b); i < len(b) {
		c.fail(src.offset(b, i), "this byte is not valid UTF-8")
		return nil
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	t := &table{}
	head, err := r.Read()
	if err != nil {
		c.fail(place{file: src}, "want a first line that names the columns: %v", csvCause(err))
		return nil
	}
	for i, k := range head {
		if slices.Contains(head[:i], k) {
			line, column := r.FieldPos(i)
			c.fail(place{src, line, column}, "column %q is named twice", clip(k))
			return nil
		}
	}
	for _, k := range types.names() {
		if !slices.Contains(head, k) {
			c.fail(types.fields[k].key, "types: no such column %q%s", clip(k), tooleval.DidYouMean(k, head))
		}
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			at := place{file: src}
			if pe, ok := errors.AsType[*csv.ParseError](err); ok {
				at = place{src, pe.Line, pe.Column}
			}
			c.fail(at, "%v", csvCause(err))
			return nil
		}
		values := map[string]any{}
		for i, cell := range record {
			v, err := typed(cell, types.get(head[i]).text())
			if err != nil {
				line, column := r.FieldPos(i)
				c.fail(place{src, line, column}, "column %q: %v", clip(head[i]), err)
				continue
			}
			values[head[i]] = v
		}
		if len(values) == len(head) {
			line, column := r.FieldPos(0)
			t.add(c, place{src, line, column}, values, head)
		}
		if len(t.rows) > mostTasks {
			c.fail(place{file: src}, "it has more than %d rows", mostTasks)
			return nil
		}
	}
	if len(t.rows) == 0 {
		c.fail(place{file: src}, "it has no rows below the names of the columns")
	}
	return t
}

func csvCause(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return pe.Err
	}
	return err
}

// typed is the JSON value of a cell.
func typed(cell, kind string) (any, error) {
	switch kind {
	case "number":
		if !jsonNumber.MatchString(cell) {
			return nil, fmt.Errorf("want a number, got %q", clip(cell))
		}
		return json.Number(cell), nil
	case "boolean":
		if cell != "true" && cell != "false" {
			return nil, fmt.Errorf("want true or false, got %q", clip(cell))
		}
		return cell == "true", nil
	case "json":
		if _, err := tooleval.DecodeValue([]byte(cell)); err != nil {
			return nil, err
		}
		return scalarOrRaw([]byte(cell)), nil
	}
	return cell, nil
}

// jsonTable reads rows from JSON Lines.
func (l *loader) jsonTable(c *checker, f *entry) *table {
	b, ok := l.dataFile(f)
	if !ok {
		return nil
	}
	src := c.folder.source(f.words)
	t := &table{}
	line := 0
	for text := range bytes.Lines(b) {
		line++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		at := place{src, line, 1}
		v, err := tooleval.DecodeValue(text)
		_, isObject := v.(map[string]any)
		switch i, key := repeated(text, err); {
		case err != nil:
			c.fail(at, "%v", err)
		case !isObject:
			c.fail(at, "want one JSON object a line")
		case i >= 0:
			c.fail(at, "key %q is written twice", clip(key))
		default:
			row := members(text)
			t.add(c, at, row.values, row.keys)
		}
		if len(t.rows) > mostTasks {
			c.fail(place{file: src}, "it has more than %d rows", mostTasks)
			return nil
		}
	}
	if line == 0 {
		c.fail(place{file: src}, "the file is empty")
	}
	return t
}

func repeated(text []byte, err error) (int, string) {
	if err != nil {
		return -1, ""
	}
	return repeatedKey(text)
}
