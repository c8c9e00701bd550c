package tooleval

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// oddTexts are what models and tools have been seen to send.
var oddTexts = []string{"", "plain", "\xff", "a\x00b", "\xed\xa0\xbd", "\xed\xa0", "\ufffd", "<b>&\u2028\u2029", "\"\\\n\t\x1b[2K", "😀", "{}",
	`{"$bytes":"eA=="}`, `{"$text":"x"}`, `null`, strings.Repeat("\x80", 300), "\xc3\x28", "\xf0\x9f\x98"}

func TestL07TextKeepsItsBytes(t *testing.T) {
	type record struct {
		T Text `json:"t"`
	}
	for _, s := range oddTexts {
		b, err := json.Marshal(record{Text(s)})
		if err != nil || !utf8.Valid(b) {
			t.Errorf("%q: written as %q, %v", s, b, err)
			continue
		}
		var back record
		if err := json.Unmarshal(b, &back); err != nil || string(back.T) != s {
			t.Errorf("%q: read back as %q from %s: %v", s, back.T, b, err)
		}
		if utf8.ValidString(s) == bytes.Contains(b, []byte(`$bytes":"`)) && !strings.Contains(s, "$bytes") {
			t.Errorf("%q: written as %s; only what is not UTF-8 needs base64", s, b)
		}
	}
}

func TestTextReadsAnyString(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d"`:             "\xed\xa0\xbd",
		`"\ud83d\ude00"`:       "😀",
		`"\ud83d\ud83d\ude00"`: "\xed\xa0\xbd😀",
		`"\ude00\ud83d"`:       "\xed\xb8\x80\xed\xa0\xbd",
		`"\ud83dx\u0041\/"`:    "\xed\xa0\xbdxA/",
		`"\ud83d\n"`:           "\xed\xa0\xbd\n",
		`"\u0000"`:             "\x00",
		"\"\xff\"":             "\xff",
		`null`:                 "",
		`{"$bytes":"/w=="}`:    "\xff",
	} {
		x := Text("before")
		if err := x.UnmarshalJSON([]byte(in)); err != nil || string(x) != want {
			t.Errorf("%s: got %q, %v, want %q", in, x, err, want)
		}
	}
	for _, in := range []string{`5`, `{}`, `{"$bytes":5}`, `{"$bytes":"!"}`, `[]`, `true`, ``, `"a`, `"\ud8"`} {
		if err := new(Text).UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s was read as a text", in)
		}
	}
}

// TestM19ArgumentsStayRaw: broken argument JSON is kept as it came and never becomes {}.
func TestM19ArgumentsStayRaw(t *testing.T) {
	for _, args := range []string{`{"q":"a "b""}`, `{"q":"abc`, ``, ` `, `{} {}`, "{\"q\":\"\xff\"}", `{"q":NaN}`, `nul`, strings.Repeat("[", 5000),
		`{"$text":"x"}`, `{"$bytes":"eA=="}`, `{"$bytes":"!"}`, ` {"$text":"x"} `, `{"$text":5}`, `{"$text":"a","$bytes":"b"}`,
		`{"\u0024text":"x"}`, `{"$text":"a","$text":"b"}`, strings.Repeat("[", 1001) + strings.Repeat("]", 1001)} {
		for name, write := range map[string]func(any) ([]byte, error){"plain": json.Marshal, "indented": indented} {
			b, err := write(Call{Tool: "x", Args: Raw(args)})
			if err != nil {
				t.Errorf("%s: %q: %v", name, args, err)
				continue
			}
			var back Call
			if err := json.Unmarshal(b, &back); err != nil {
				t.Errorf("%s: %q: written as %s, which can't be read: %v", name, args, b, err)
				continue
			}
			same := string(back.Args) == args
			if Raw(args).Valid() { // the same meaning is enough
				v, err := DecodeValue(back.Args)
				same = err == nil && Equal(v, decode(t, args))
			}
			if !same {
				t.Errorf("%s: %q: read back as %q from %s", name, args, back.Args, b)
			}
		}
	}
}

func indented(v any) ([]byte, error) { return json.MarshalIndent(v, "", "\t") }

// TestDeepValuesCanBeReadBack: encoding/json reads 10000 levels; a value just below that could be written inside a record
// which could then never be read.
func TestDeepValuesCanBeReadBack(t *testing.T) {
	for _, depth := range []int{999, 1000, 1001, 9998, 10000, 20000} {
		args := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
		run := Run{Trajectory: Trajectory{Calls: []Call{{Args: Raw(args)}}}, State: Raw(args)}
		b, err := json.Marshal(run)
		if err != nil {
			t.Fatalf("%d: %v", depth, err)
		}
		var back Run
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%d: %v", depth, err)
		}
		if string(back.Trajectory.Calls[0].Args) != args || string(back.State) != args {
			t.Errorf("%d: the value changed", depth)
		}
		if want := depth <= 1000; Raw(args).Valid() != want {
			t.Errorf("%d: valid %v, want %v", depth, !want, want)
		}
	}
	if quoted := Raw(`"` + strings.Repeat(`\"[`, 3000) + `"`); !quoted.Valid() {
		t.Error("brackets in a string were counted")
	}
}

func TestRawValues(t *testing.T) {
	if b, _ := json.Marshal(Raw(nil)); string(b) != "null" {
		t.Errorf("nil is written as %s", b)
	}
	if b, _ := json.Marshal(Raw(` {"a" : "<x>&",  "b":1.0} `)); !Equal(decode(t, string(b)), decode(t, `{"a":"<x>&","b":1.0}`)) || bytes.Contains(b, []byte(" ")) {
		t.Errorf("a value is written as %s", b)
	}
	b := []byte(`{"a":1}`)
	var r Raw
	if err := r.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	b[2] = 'x'
	if r.String() != `{"a":1}` {
		t.Errorf("the value changed with the buffer it was read from: %s", r)
	}
}

func FuzzTextRoundTrip(f *testing.F) {
	for _, s := range oddTexts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := json.Marshal(struct{ T Text }{Text(in)})
		if err != nil {
			t.Fatal(err)
		}
		var back struct{ T Text }
		if err := json.Unmarshal(b, &back); err != nil || string(back.T) != string(in) {
			t.Fatalf("%q became %q by %s: %v", in, back.T, b, err)
		}
	})
}

func FuzzRawRoundTrip(f *testing.F) {
	for _, s := range oddTexts {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"$bytes":"!"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := json.Marshal([]Raw{in})
		if err != nil {
			t.Fatal(err)
		}
		var back []Raw
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%q: %s: %v", in, b, err)
		}
		if !Raw(in).Valid() {
			if in != nil && !bytes.Equal(back[0], in) {
				t.Fatalf("%q became %q by %s", in, back[0], b)
			}
			return
		}
		v, _ := DecodeValue(in)
		w, err := DecodeValue(back[0])
		if err != nil || !Equal(v, w) {
			t.Fatalf("%q became %q by %s: %v", in, back[0], b, err)
		}
	})
}

func TestClip(t *testing.T) {
	for _, s := range []string{strings.Repeat("é", 100), "x" + strings.Repeat("é", 100), strings.Repeat("\x80", 300), strings.Repeat("a", 81)} {
		got := clip(s)
		if len(got) < 70 || len(got) > 90 || !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) || utf8.ValidString(s) != utf8.ValidString(got) {
			t.Errorf("clip(%q) = %q", s, got)
		}
	}
	if s := strings.Repeat("a", 80); clip(s) != s {
		t.Error("a short text was clipped")
	}
}

func TestJSONResult(t *testing.T) {
	r := JSONResult(map[string]any{"html": "<b>&", "n": json.Number("1.0"), "raw": Raw(`{`)})
	if want := `{"html":"<b>&","n":1.0,"raw":{"$text":"{"}}`; string(r.Text) != want || string(r.Structured) != want || r.IsError {
		t.Errorf("got %+v, want %s", r, want)
	}
	if r := JSONResult(func() {}); !r.IsError || r.Structured != nil || !strings.Contains(string(r.Text), "no JSON form") {
		t.Errorf("a func gave %+v", r)
	}
	if r := ErrorResult("no %s", "way"); !r.IsError || r.Text != "no way" {
		t.Errorf("got %+v", r)
	}
}
