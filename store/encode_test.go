package store

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

var (
	someStrings = []string{"", "plain", "<a href=\"x\">&</a>", "tab\tnew\nline\r\b\f\x00\x1f\x7f", "snowman ☃ 🙈",
		"a\u2028b\u2029c", `back\slash`, "\u2027\u202a", "�"}
	someRaws = []string{`null`, `{}`, `[]`, `[[],{}]`, `{"a":[1,2.50,-1e+3],"b":{"c":"d,e:{}[]\"\\"}}`, `"s"`, `true`,
		`{"$text":"x"}`, `{"$any":true}`, `12345678901234567890`}
	brokenRaws = []string{`{"a":`, "", "\xff\xfe", "{} {}", `"\ud83d"`, "{\"a\":\"\xff\"}"}
	someFloats = []float64{0, 1, -1.5, 1e-7, 1e21, 123456.789, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Copysign(0, -1)}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// fill sets every field of a record at random.
func fill(r *rand.Rand, v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *tooleval.Text:
		*p = tooleval.Text(pick(r, append(someStrings, "\xff\xfe", "\xed\xa0\xbd lone")))
		return
	case *tooleval.Raw:
		if *p = nil; r.IntN(4) > 0 {
			*p = tooleval.Raw(pick(r, append(someRaws, brokenRaws...)))
		}
		return
	case *tooleval.Pattern:
		if *p = (tooleval.Pattern{}); r.IntN(3) > 0 {
			*p = tooleval.ParsePattern([]byte(pick(r, someRaws[:7])))
		}
		return
	case *tooleval.Score:
		if *p = tooleval.Unscoredf("%s", pick(r, someStrings)); r.IntN(2) > 0 {
			*p = tooleval.Scored(r.Float64())
		}
		return
	case *time.Time:
		if *p = (time.Time{}); r.IntN(4) > 0 {
			*p = time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(5) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fill(r, v.Index(i))
			}
		}
	case reflect.Map:
		if r.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for _, k := range someStrings[:r.IntN(len(someStrings))] {
				value := reflect.New(v.Type().Elem()).Elem()
				fill(r, value)
				v.SetMapIndex(reflect.ValueOf(k), value)
			}
		}
	case reflect.String:
		v.SetString(pick(r, someStrings))
	case reflect.Bool:
		v.SetBool(r.IntN(2) > 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(pick(r, []int64{0, 1, -5, math.MaxInt64}))
	case reflect.Uint64:
		v.SetUint(pick(r, []uint64{0, 1, math.MaxUint64}))
	case reflect.Float64:
		v.SetFloat(pick(r, someFloats))
	default:
		panic("the test can't fill " + v.Type().String())
	}
}

// viaEncodingJSON is a record as encoding/json writes it, indented.
func viaEncodingJSON(t *testing.T, record any) string {
	t.Helper()
	var compact, out bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		t.Fatal(err)
	}
	// MarshalJSON methods that call json.Marshal escape these all the same.
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(compact.String())
	if err := json.Indent(&out, []byte(plain), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEncodingIsThatOfEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var run tooleval.Run
		fill(r, reflect.ValueOf(&run).Elem())
		if diff := cmp.Diff(viaEncodingJSON(t, &run), string(encodeRun(nil, &run, nil))); diff != "" {
			t.Fatal(diff)
		}
		var eval tooleval.Eval
		fill(r, reflect.ValueOf(&eval).Elem())
		if diff := cmp.Diff(viaEncodingJSON(t, &eval), string(encodeEval(&eval, nil))); diff != "" {
			t.Fatal(diff)
		}
	}
}

// What is read back and stored again gives the same bytes, so nothing was lost in between.
func TestReadingBackChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var run tooleval.Run
		fill(r, reflect.ValueOf(&run).Elem())
		run.SchemaVersion = tooleval.SchemaVersion
		first := encodeRun(nil, &run, nil)
		back, err := decodeRun(first)
		if err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		if diff := cmp.Diff(string(first), string(encodeRun(nil, back, nil))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestL07OddBytesKeepTheirValue(t *testing.T) {
	run := sampleRun("odd", 0)
	odd := []string{"\xff", "nul\x00", "\xed\xa0\xbd", "ok ☃", "\x1b[2K\rALL PASSED", strings.Repeat("A", 20<<20)}
	var args = []string{`{"a":"\ud83d"}`, "not json \xff", `{"n":12345678901234567890.10}`, `{"a":1}{"b":2}`}
	run.Trajectory.Calls = nil
	for i, s := range odd {
		run.Trajectory.Calls = append(run.Trajectory.Calls, tooleval.Call{Tool: "t",
			Result: tooleval.ToolResult{Text: tooleval.Text(s)},
			Args:   tooleval.Raw(args[i%len(args)]), ArgsText: tooleval.Text(s), Error: tooleval.Text(s)})
	}
	e := create(t, header("odd"), Options{Secrets: []Secret{{"KEY", "a-secret-that-is-not-there"}}})
	back, err := ReadRun(put(t, e, run))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range odd {
		c := back.Trajectory.Calls[i]
		if string(c.Result.Text) != s || string(c.ArgsText) != s || string(c.Error) != s {
			t.Errorf("%.20q came back as %.20q, %.20q, %.20q", s, c.Result.Text, c.ArgsText, c.Error)
		}
		if string(c.Args) != args[i%len(args)] {
			t.Errorf("args %q came back as %q", args[i%len(args)], c.Args)
		}
	}
}

// A run is never lost to a value that JSON doesn't have; the record says what happened to it.
func TestL07WhatHasNoJSONFormIsNoted(t *testing.T) {
	cost := math.NaN()
	run := sampleRun("task\xff", 0)
	run.Result.Usage = &tooleval.Usage{CostUSD: &cost, Model: "m\xfe"}
	run.WallMS = math.Inf(1)
	run.Started = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	run.Warnings = []tooleval.Text{"first"}
	run.Trajectory.Calls[0].Tool = "add\xed\xa0\xbd"
	e := create(t, header("task\xff"), Options{})
	back, err := ReadRun(put(t, e, run))
	if err != nil {
		t.Fatal(err)
	}
	if back.Result.Usage.CostUSD != nil || back.WallMS != 0 || !back.Started.IsZero() || back.TaskID != "task�" {
		t.Errorf("got %v %v %v %q", back.Result.Usage.CostUSD, back.WallMS, back.Started, back.TaskID)
	}
	all := ""
	for _, w := range back.Warnings {
		all += string(w) + "\n"
	}
	for _, part := range []string{"first", "result.usage.cost_usd: it was NaN", "wall_ms: it was +Inf", "year was 12026",
		`"task\xff"`, `"m\xfe"`,
		`trajectory.calls.tool: it was "add\xed\xa0\xbd"`} {
		if !strings.Contains(all, part) {
			t.Errorf("the warnings lack %q:\n%s", part, all)
		}
	}
	if len(run.Warnings) != 1 || run.SchemaVersion != 1 || run.Eval != "" {
		t.Error("the caller's run was changed")
	}
}

func TestNestingDoesNotBlowUpTheFile(t *testing.T) {
	for name, raw := range map[string]string{
		"brackets":  strings.Repeat("[", 999) + strings.Repeat("]", 999),
		"too deep":  strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999),
		"not JSON":  strings.Repeat("[", 100_000),
		"objects":   strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900),
		"long list": "[" + strings.Repeat("0,", 1_000_000) + "0]",
	} {
		run := sampleRun("deep", 0)
		run.State = tooleval.Raw(raw)
		b := encodeRun(nil, run, nil)
		if len(b) > 2*len(raw)+10_000 {
			t.Errorf("%s: %d bytes became %d", name, len(raw), len(b))
		}
		back, err := decodeRun(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(back.State) != raw {
			t.Errorf("%s: it came back as another value", name)
		}
	}
}

func TestJSONLayout(t *testing.T) {
	e := encoder{depth: 1}
	e.ours([]byte(" { \"a\" : [ 1 , { } , [ ] ] , \"b\" : { \"c, :\" : null } } "), nil)
	want := "{\n    \"a\": [\n      1,\n      {},\n      []\n    ],\n    \"b\": {\n      \"c, :\": null\n    }\n  }"
	if diff := cmp.Diff(want, string(e.out)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"1 2", "tr ue", `"a" "b`, "[1 2]", "}}]]", `"\`, "{", "- 1", "1 .5"} {
		if out := appendJSON(nil, []byte(bad), 0, 0); json.Valid(out) {
			t.Errorf("%q became the JSON %s", bad, out)
		}
	}
}

// A word that is kept must be the name of a field that exists.
func TestKeptWordsExist(t *testing.T) {
	found := map[string]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			visit(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				if name := t.Name() + "." + t.Field(i).Name; !found[name] {
					found[name] = true
					visit(t.Field(i).Type)
				}
			}
		}
	}
	visit(reflect.TypeFor[tooleval.Run]())
	visit(reflect.TypeFor[tooleval.Eval]())
	for name := range keptWords {
		if !found[name] {
			t.Errorf("no record has a field %s", name)
		}
	}
}

func TestFilesAreForPeople(t *testing.T) {
	e := create(t, header("calc.add"), Options{})
	data := read(t, put(t, e, sampleRun("calc.add", 3)))
	if !strings.HasPrefix(data,
		"{\n  \"schema_version\": 1,\n  \"eval\": \"20261201T111836Z-calc-3f9a1c\",\n  \"suite\": \"calc\",\n  \"task_id\": \"calc.add\",\n") ||
		!strings.HasSuffix(data, "\n}\n") || !strings.Contains(data, "The total is 13 <&>.") {
		t.Error(data)
	}
	if lines := slices.Collect(strings.Lines(data)); len(lines) < 100 {
		t.Errorf("only %d lines", len(lines))
	}
}
