package suitefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
)

// A row is one row of a task's matrix.
type row struct {
	values map[string]any // JSON values by column; nil for a task without a matrix
	suffix string         // of the task's id
	note   string         // for messages
}

// A table is a matrix.
type table struct {
	columns []string // in the order of the file
	rows    []map[string]any
	at      []place
}

// rows are the rows of a task. None are left when its matrix is wrong, which has been reported then.
func (l *loader) rows(p part) []row {
	c := p.checker
	node := matrixNode(p.node)
	if node == nil {
		return []row{{}}
	}
	field, _ := taskShape.field("matrix")
	before := c.problems.count()
	e := c.check(node, field.shape)
	if e == nil {
		return l.without(c, p)
	}
	t := l.table(c, e)
	if t == nil || c.problems.count() > before {
		return l.without(c, p)
	}
	for _, name := range t.columns {
		if _, taken := c.scope.values[name]; taken {
			c.fail(e.at, "column %q has the name of a variable; rename one of them", clip(name))
			return l.without(c, p)
		}
		if !variableName.MatchString(name) {
			c.fail(e.at, "column %q can't be used in a template: want a name of letters, digits, _ and -", clip(name))
			return l.without(c, p)
		}
	}
	return l.named(c, e, t)
}

// without checks a task whose matrix is wrong, as far as that goes. It has no rows.
func (l *loader) without(c *checker, p part) []row {
	inner := *c
	inner.scope = &scope{loose: true}
	inner.check(p.node, taskShape)
	return nil
}

// matrixNode is the matrix of a task's node; nil when there is none.
func matrixNode(n *yaml.Node) *yaml.Node {
	return valueOf(n, "matrix")
}

// table reads the rows of a matrix.
func (l *loader) table(c *checker, e *entry) *table {
	rows := e // the short form
	if e.fields != nil {
		rows = e.get("rows")
	}
	if types := e.get("types"); types != nil && e.get("csv") == nil {
		c.fail(types.key, "types are for the cells of a CSV file; other rows say themselves what they are")
	}
	switch {
	case rows != nil:
		t := &table{}
		for _, r := range rows.list {
			o, ok := r.value.(*object)
			if !ok {
				c.fail(r.at, "want keys with values, written out, got %s", describe(r.node))
				return nil
			}
			t.add(c, r.at, o.values, o.keys)
		}
		return t
	case e.get("csv") != nil:
		return l.csvTable(c, e.get("csv"), e.get("types"))
	case e.get("jsonl") != nil:
		return l.jsonTable(c, e.get("jsonl"))
	}
	return nil
}

// add adds a row, which must have the keys of the first one.
func (t *table) add(c *checker, at place, values map[string]any, keys []string) {
	if len(t.rows) == 0 {
		t.columns = keys
		if len(keys) == 0 {
			c.fail(at, "the row is empty")
			return
		}
	}
	for _, k := range t.columns {
		if _, ok := values[k]; !ok {
			c.fail(at, "the row has no %q, which the first row has", clip(k))
			return
		}
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(t.columns, k) {
			c.fail(at, "the row has a %q, which the first row has not%s", clip(k), tooleval.DidYouMean(k, t.columns))
			return
		}
	}
	t.rows = append(t.rows, values)
	t.at = append(t.at, at)
}

// named gives every row the suffix of its task's id.
func (l *loader) named(c *checker, e *entry, t *table) []row {
	suffixes := t.suffixes()
	idNode := e.get("id")
	rows := make([]row, 0, len(t.rows))
	first := map[string]place{}
	for i, values := range t.rows {
		r := row{values: values, note: fmt.Sprintf(" (in the task of row %d)", i+1)}
		if idNode != nil {
			inner := *c
			inner.scope, inner.note = c.scope.with(values), r.note
			id := inner.check(idNode.node, aText)
			if id == nil {
				return nil
			}
			r.suffix = id.words
		} else {
			r.suffix = suffixes[i]
		}
		if at, taken := first[r.suffix]; taken {
			c.fail(t.at[i], "this row and the one at %s give the same id %q; remove one, or tell them apart with the matrix's id", at, clip(r.suffix))
			return nil
		}
		first[r.suffix] = t.at[i]
		r.suffix = "." + r.suffix
		rows = append(rows, r)
	}
	return rows
}

// suffixes are made of the fewest of the first columns that tell all rows apart.
func (t *table) suffixes() []string {
	out := make([]string, len(t.rows))
	for _, name := range t.columns {
		seen := map[string]bool{}
		for i, values := range t.rows {
			word, ok := spelling(values[name])
			if !ok {
				word = string(encode(values[name]))
			}
			if part := slug(word); part != "" {
				out[i] = strings.TrimPrefix(out[i]+"-"+part, "-")
			}
			seen[out[i]] = true
		}
		if len(seen) == len(t.rows) && !seen[""] {
			break
		}
	}
	for i := range out {
		if out[i] == "" {
			out[i] = fmt.Sprint(i + 1)
		}
	}
	return out
}

// slug is a word for an id: letters and digits of the text, everything else a single dash.
func slug(s string) string {
	const most = 40
	var out []rune
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '_':
			out = append(out, unicode.ToLower(r))
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
		if len(out) == most {
			break
		}
	}
	return strings.Trim(string(out), "-.")
}
