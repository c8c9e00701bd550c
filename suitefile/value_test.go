package suitefile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitefile"
)

// load loads what must be sound.
func load(t testing.TB, text string) *tooleval.Suite {
	t.Helper()
	s, err := suitefile.Load(folder(t, text), suitefile.Options{Getenv: station})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestValuesStayAsWritten: text keeps its characters, JSON its digits.
func TestValuesStayAsWritten(t *testing.T) {
	for _, c := range []struct{ yaml, json string }{
		{`0123`, `"0123"`}, {`no`, `"no"`}, {`yes`, `"yes"`}, {`on`, `"on"`}, {`y`, `"y"`}, {`2024-01-31`, `"2024-01-31"`},
		{`2024-01-31T10:00:00Z`, `"2024-01-31T10:00:00Z"`}, {`12:30`, `"12:30"`}, {`1_000`, `"1_000"`}, {`0b`, `"0b"`},
		{`1.10`, `1.10`}, {`1e3`, `1e3`}, {`-0`, `-0`}, {`12345678901234567890`, `12345678901234567890`}, {`1.0`, `1.0`},
		{`0.1000000000000000000001`, `0.1000000000000000000001`}, {`true`, `true`}, {`null`, `null`}, {`~`, `null`},
		{`"1.10"`, `"1.10"`}, {`'true'`, `"true"`}, {`"a\u00e9\n"`, `"aé\n"`}, {`''`, `""`}, {"'<&>'", `"<&>"`},
		{`{b: 1, a: {d: 2, c: 3}}`, `{"b":1,"a":{"d":2,"c":3}}`}, {`[1, [2, {a: no}]]`, `[1,[2,{"a":"no"}]]`}, {`{}`, `{}`}, {`[]`, `[]`},
		{`{1: a, no: b, null: c, 1.10: d}`, `{"1":"a","no":"b","null":"c","1.10":"d"}`}, {`"<<"`, `"<<"`}, {`1.2.3`, `"1.2.3"`},
		{`{"<<": 1}`, `{"<<":1}`}, {"|\n      line\n      two", `"line\ntwo\n"`}, {`0`, `0`}, {`00`, `"00"`}, {`- 1`, `[1]`},
	} {
		if strings.HasPrefix(c.yaml, "- ") {
			c.yaml = "\n      " + c.yaml
		}
		s := load(t, strings.Replace(small, "description: x", "description: x\n    input: "+c.yaml, 1))
		if got := string(s.Tasks[0].Input); got != c.json {
			t.Errorf("%s: got %s, want %s", c.yaml, got, c.json)
		}
	}
	for _, word := range []string{"0123", "no", "1.10", "1e3", "2024-01-31", "True", ".5", "0x1F"} {
		s := load(t, strings.Replace(small, "description: x", "description: "+word+" x\n    tags: ["+word+" , a]", 1))
		if s.Tasks[0].Description != word+" x" || s.Tasks[0].Tags[0] != word {
			t.Errorf("%s became %q, %q", word, s.Tasks[0].Description, s.Tasks[0].Tags)
		}
		if v := load(t, "version: '"+word+"'\n"+small).Version; v != word {
			t.Errorf("version %s became %q", word, v)
		}
		if v := load(t, "version: "+word+"\n"+small).Version; v != word {
			t.Errorf("version %s became %q", word, v)
		}
	}
}

// TestTemplates: only declared names are replaced; a text that is one variable keeps the variable's type.
func TestTemplates(t *testing.T) {
	head := "env: [STATION]\nvars: {n: 1.10, big: 12345678901234567890, zip: 0123, yes: true, list: [1, {b: 2, a: 1}], nothing: null, at: 'x-${STATION}'}\n"
	for in, want := range map[string]string{
		`'${n}'`: `1.10`, `'${big}'`: `12345678901234567890`, `'${zip}'`: `"0123"`, `'${yes}'`: `true`, `'${list}'`: `[1,{"b":2,"a":1}]`,
		`'${nothing}'`: `null`, `'a ${n} b ${big}'`: `"a 1.10 b 12345678901234567890"`, `'$${n}'`: `"${n}"`, `'$$${n}'`: `"$${n}"`,
		`'a $${n} ${n}'`: `"a ${n} 1.10"`, `'$n $ {n} }{ $'`: `"$n $ {n} }{ $"`, `'${at}/${STATION}'`: `"x-pond/pond"`, `'${n}${n}'`: `"1.101.10"`,
		`{a: ["${n}", "x${n}"]}`: `{"a":[1.10,"x1.10"]}`, `"$\u007bn}"`: `1.10`,
	} {
		s := load(t, head+strings.Replace(small, "description: x", "description: x\n    input: "+in, 1))
		if got := string(s.Tasks[0].Input); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	s := load(t, head+strings.Replace(small, "description: x", "description: ${n}\n    minimal_necessary_calls: 2\n    threshold: 0.5", 1))
	if got := s.Tasks[0].Description; got != "1.10" {
		t.Errorf("got %q", got)
	}
}

// TestMatrixIDs: ids are readable, distinct, and do not depend on the number of the row.
func TestMatrixIDs(t *testing.T) {
	for rows, want := range map[string][]string{
		`[{from: mile, to: km}, {from: yard, to: m}]`:          {"a.mile", "a.yard"},
		`[{from: mile, to: km}, {from: mile, to: m}]`:          {"a.mile-km", "a.mile-m"},
		`[{n: 1, s: Grey heron!}, {n: 1, s: Ümlaut/x}]`:        {"a.1-grey-heron", "a.1-ümlaut-x"},
		`[{n: 1.10}, {n: 1.1}]`:                                {"a.1.10", "a.1.1"},
		`{rows: [{n: 1, b: x}, {n: 2, b: y}], id: "${b}${n}"}`: {"a.x1", "a.y2"},
		`[{o: {b: 1, c: [2]}}, {o: {b: 2, c: [2]}}]`:           {"a.b-1-c-2", "a.b-2-c-2"},
		`[{n: "*", m: 1}]`:                                     {"a.1"},
		`[{x: "` + strings.Repeat("long ", 30) + `", y: 1}]`:   {"a." + strings.Repeat("long-", 7) + "long"},
		`[{x: a}, {x: ""}]`:                                    {"a.a", "a.2"},
	} {
		s := load(t, strings.Replace(small, "description: x", "matrix: "+rows+"\n    description: x", 1))
		var got []string
		for _, task := range s.Tasks {
			got = append(got, task.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", rows, diff)
		}
	}
}
