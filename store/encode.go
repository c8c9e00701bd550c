package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

// An encoder writes a record as indented JSON. It gives what encoding/json gives, with these differences, for which it
// exists:
//
//   - It never fails: what has no JSON form (NaN, a year beyond 9999, bytes in a plain string that are not UTF-8) is
//     replaced and noted, because a lost run is worse than a lost number.
//   - Secrets are replaced in the strings themselves and in foreign JSON, but never in the record's own keys, so that
//     the result is always a readable record.
//   - Foreign JSON is indented only where that is of use to a person: indenting 20 kB of "[[[[…" takes 200 MB.
//   - It takes a fifth of the time, which shows when thousands of small runs are stored.
type encoder struct {
	out   []byte
	depth int // of the record's own objects and lists
	red   *Redactor
	path  []string // the keys that lead to the current value
	notes []tooleval.Text
}

const (
	maxIndentedSize  = 64 << 10 // foreign JSON above this many bytes is written on one line
	maxIndentedDepth = 20       // and so is what is nested deeper than this
)

// encodeRun is the file of a run. The notes of what could not be encoded are among its warnings.
func encodeRun(out []byte, run *tooleval.Run, red *Redactor) []byte {
	e := encoder{out: out, red: red}
	e.record(reflect.ValueOf(run))
	if len(e.notes) == 0 {
		return e.out
	}
	noted := *run
	noted.Warnings = append(noted.Warnings[:len(noted.Warnings):len(noted.Warnings)], e.notes...)
	again := encoder{out: e.out[:len(out)], red: red}
	again.record(reflect.ValueOf(&noted))
	return again.out
}

// encodeEval is the file of a header.
func encodeEval(eval *tooleval.Eval, red *Redactor) []byte {
	e := encoder{red: red}
	e.record(reflect.ValueOf(eval))
	return e.out
}

func (e *encoder) record(pointer reflect.Value) {
	planOf(pointer.Type().Elem())(e, pointer.Elem())
	e.out = append(e.out, '\n')
}

// note says in the record that the current value is not what it was.
func (e *encoder) note(format string, args ...any) {
	where := strings.Join(e.path, ".")
	e.notes = append(e.notes, tooleval.Text("store: "+where+": "+fmt.Sprintf(format, args...)))
}

func (e *encoder) newline() {
	e.out = append(e.out, '\n')
	for range e.depth {
		e.out = append(e.out, ' ', ' ')
	}
}

// word writes a string of the harness's own, which is never redacted.
func (e *encoder) word(s string) {
	if !utf8.ValidString(s) {
		const most = 200
		shown := strconv.QuoteToASCII(s[:min(len(s), most)])
		if len(s) > most {
			shown += "…"
		}
		e.note("it was %s; bytes that are not UTF-8 were replaced", shown)
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	e.out = appendLiteral(e.out, s)
}

func (e *encoder) text(t tooleval.Text) {
	s := e.red.Text(string(t))
	if utf8.ValidString(s) {
		e.out = appendLiteral(e.out, s)
		return
	}
	b, err := tooleval.Text(s).MarshalJSON()
	e.ours(b, err)
}

func (e *encoder) raw(r tooleval.Raw) {
	if r == nil {
		e.null()
		return
	}
	b, err := tooleval.Raw(e.red.json(r)).MarshalJSON()
	e.ours(b, err)
}

// foreign writes what some MarshalJSON returned, which need not be JSON.
func (e *encoder) foreign(b []byte, err error) {
	if err == nil && !json.Valid(b) {
		err = errors.New("its encoding is not JSON")
	}
	if err == nil {
		b = e.red.json(b)
	}
	e.ours(b, err)
}

// ours writes b, which is JSON unless there is an error.
func (e *encoder) ours(b []byte, err error) {
	if err != nil {
		e.note("it has no JSON form: %v", err)
		e.null()
		return
	}
	if len(b) > maxIndentedSize {
		e.out = appendJSON(e.out, b, 0, 0)
		return
	}
	e.out = appendJSON(e.out, b, e.depth, maxIndentedDepth)
}

func (e *encoder) null() { e.out = append(e.out, "null"...) }

func (e *encoder) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.note("it was %v, which is no number in JSON", f)
		e.out = append(e.out, '0')
		return
	}
	e.out = appendFloat(e.out, f)
}

func (e *encoder) score(s tooleval.Score) {
	e.out = append(e.out, '{')
	e.depth++
	e.newline()
	e.out = append(e.out, `"value": `...)
	if v, ok := s.Value(); ok {
		e.out = appendFloat(e.out, v)
	} else {
		e.null()
	}
	if s.Why != "" {
		e.out = append(e.out, ',')
		e.newline()
		e.out = append(e.out, `"why": `...)
		e.text(s.Why)
	}
	e.depth--
	e.newline()
	e.out = append(e.out, '}')
}

func (e *encoder) time(t time.Time) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		e.note("its year was %d, which no timestamp can hold", y)
		t = time.Time{}
	}
	e.out = append(e.out, '"')
	e.out = t.AppendFormat(e.out, time.RFC3339Nano)
	e.out = append(e.out, '"')
}

// other writes a value of a kind that no record holds today, by way of encoding/json.
func (e *encoder) other(v reflect.Value) {
	if v.CanAddr() {
		v = v.Addr()
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v.Interface())
	e.foreign(buf.Bytes(), err)
}
