package tooleval

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// decode is DecodeValue of a text that is known to be JSON.
func decode(t testing.TB, s string) any {
	t.Helper()
	v, err := DecodeValue([]byte(s))
	if err != nil {
		t.Fatalf("decode %s: %v", s, err)
	}
	return v
}

func TestDecodeValue(t *testing.T) {
	for _, c := range []struct {
		in   string
		want any
	}{
		{`null`, nil},
		{" \t\r\n true \n", true},
		{`false`, false},
		{`"a"`, "a"},
		{`""`, ""},
		{`-0`, json.Number("-0")},
		{`12345678901234567890.10`, json.Number("12345678901234567890.10")},
		{`1E+2`, json.Number("1E+2")},
		{`[]`, []any{}},
		{`{}`, map[string]any{}},
		{`[1, [] ,{"a":null}]`, []any{json.Number("1"), []any{}, map[string]any{"a": nil}}},
		{`{"a":1,"a":2}`, map[string]any{"a": json.Number("2")}},
		{`"\"\\\/\b\f\n\r\t\u0000é\u00e9\ud83d\ude00"`, "\"\\/\b\f\n\r\t\x00éé😀"},
		{`"\ud83d"`, "\xed\xa0\xbd"},
		{`"\ude00\ud83dx"`, "\xed\xb8\x80\xed\xa0\xbdx"},
		{`{"\u0061":1}`, map[string]any{"a": json.Number("1")}},
		{strings.Repeat("[", 1000) + strings.Repeat("]", 1000), nestedList(1000)},
	} {
		got, err := DecodeValue([]byte(c.in))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("DecodeValue(%.60s) = %#v, %v; want %#v", c.in, got, err, c.want)
		}
	}
}

func nestedList(depth int) any {
	var v any = []any{}
	for range depth - 1 {
		v = []any{v}
	}
	return v
}

func TestDecodeValueErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "ends after 0 bytes",
		"  ":                               "ends after 2 bytes",
		"{":                                "want a key in quotes",
		"{,}":                              "want a key in quotes",
		`{"a"}`:                            "want a colon",
		`{"a":1,}`:                         "want a key in quotes",
		`{"a":1 "b":2}`:                    "want a comma or '}'",
		`[1,]`:                             "want a value",
		`[1 2]`:                            "want a comma or ']'",
		`[`:                                "want a value",
		`01`:                               "more than one JSON value",
		`1.`:                               "want a digit",
		`.5`:                               "want a value",
		`-`:                                "want a digit",
		`+1`:                               "want a value",
		`1e`:                               "want a digit",
		`1e+`:                              "want a digit",
		`NaN`:                              "want a value",
		`nul`:                              "want a value",
		`truefalse`:                        "more than one JSON value: the second begins at byte 4",
		`{} {}`:                            "more than one JSON value",
		`'a'`:                              "want a value",
		`"a`:                               "want the end of a string",
		"\"a\nb\"":                         "want no control character",
		`"\x"`:                             "want an escape",
		`"\u12g4"`:                         "want four hexadecimal digits",
		`"\`:                               "want an escape",
		"\"\xff\"":                         "byte 1 is not valid UTF-8",
		"\xef\xbb\xbf{}":                   "want a value",
		strings.Repeat("[", 1001):          "nested more than 1000 deep",
		strings.Repeat(`{"a":`, 1_000_000): "nested more than 1000 deep",
		`{"q":"a "b""}`:                    "want a comma",
	} {
		if v, err := DecodeValue([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("DecodeValue(%.40q) = %v, %v; want an error with %q", in, v, err, want)
		}
	}
}

func TestM07IntegerAgainstFloat(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"amount": 12}`, `{"amount": 12.0}`, true},
		{`[12,15]`, `[12.0,15.0]`, true},
		{`1e2`, `100`, true},
		{`[{"a":[1.2e1]}]`, `[{"a":[12]}]`, true},
		{`1E-2`, `0.01`, true},
		{`-0`, `0`, true},
		{`0.0e99`, `0`, true},
		{`0.1`, `0.10000000000000000000000000001`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`9007199254740993.0`, `9007199254740993`, true},
		{`12`, `-12`, false},
		{`12`, `"12"`, false},
		{`true`, `1`, false},
		{`false`, `0`, false},
		{`null`, `0`, false},
		{`null`, `""`, false},
		{`{}`, `[]`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1,"c":2}`, `{"a":1,"b":2}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`1e999999999`, `10e999999998`, true},
		{`1e999999999`, `1e999999998`, false},
		{`1e99999999999999999999`, `10e99999999999999999998`, true},
		{`1e+99999999999999999999`, `1e099999999999999999999`, true},
		{`1e-10000000000000000000`, `0.1e-9999999999999999999`, true},
		{`1e10000000000000000000`, `10e9999999999999999999`, true},
		{`1e99999999999999999999`, `1e99999999999999999998`, false},
		{`100000000000000000000000`, `1e23`, true},
		{`123456789012345678901234`, `1.23456789012345678901234E23`, true},
		{`"\ud83d"`, `"\ud83e"`, false},
		{`"\ud83d"`, `"\ufffd"`, false},
		{`"é"`, `"e\u0301"`, false},
	} {
		a, b := decode(t, c.a), decode(t, c.b)
		if got := Equal(a, b); got != c.want || Equal(b, a) != got {
			t.Errorf("Equal(%s, %s) = %v and %v the other way, want %v", c.a, c.b, got, Equal(b, a), c.want)
		}
		x, y := CanonicalJSON(a), CanonicalJSON(b)
		if (string(x) == string(y)) != c.want {
			t.Errorf("CanonicalJSON of %s and %s is %s and %s, want equal: %v", c.a, c.b, x, y, c.want)
		}
		if !json.Valid(x) || !Equal(decode(t, string(x)), a) {
			t.Errorf("CanonicalJSON of %s is %s, which means something else", c.a, x)
		}
	}
}

func TestEqualTakesGoNumbers(t *testing.T) {
	for _, n := range []any{12, int8(12), int16(12), int32(12), int64(12), uint(12), uint8(12), uint16(12), uint32(12),
		uint64(12), float32(12), 12.0, json.Number("12.0")} {
		if !Equal(n, json.Number("12")) || !Equal(json.Number("1.2e1"), n) || string(CanonicalJSON(n)) != "12" {
			t.Errorf("%T(%v) is not 12", n, n)
		}
	}
	if !Equal(0.1, json.Number("0.1")) || !Equal(float32(0.1), json.Number("0.1")) || !Equal(uint64(math.MaxUint64), json.Number("18446744073709551615")) {
		t.Error("a Go number differs from its own spelling")
	}
	for _, v := range []any{math.NaN(), math.Inf(1), struct{}{}, []string{"a"}} {
		if Equal(v, v) || Equal(v, nil) || Equal(nil, v) {
			t.Errorf("%v, which is no JSON, equals something", v)
		}
	}
	if !Equal(json.Number(""), 0) {
		t.Error("the empty json.Number is not 0, as which encoding/json writes it")
	}
}

func TestCanonicalJSON(t *testing.T) {
	got := string(CanonicalJSON(decode(t, ` {"b" : [1.0, -0.50, 1e-7, true, null], "a\n<\u2028": "\ud83d\u0001\"\\", "": {}} `)))
	want := `{"":{},"a\n<\u2028":"\ud83d\u0001\"\\","b":[1,-5e-1,1e-7,true,null]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHugeNumbersAreCheap(t *testing.T) {
	exponent := strings.Repeat("9", 1<<20)
	a := json.Number("1e" + exponent)
	b := json.Number("0.001e1" + strings.Repeat("0", 1<<20-1) + "2")
	if !Equal(a, b) {
		t.Error("1e999…9 is not 0.001e1000…2")
	}
	if Equal(a, json.Number("1e-"+exponent)) {
		t.Error("1e999…9 equals 1e-999…9")
	}
	digits := json.Number(strings.Repeat("7", 1<<20) + ".0")
	if !Equal(digits, digits[:1<<20]) {
		t.Error("a long integer doesn't equal itself with .0")
	}
}

func FuzzCanonicalNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1", "1.0", "10e-1", "123.456e2", "1e20", "1e21", "100000000000000000000", "0.00010"} {
		f.Add(s, "1e0")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 200 || len(b) > 200 {
			return
		}
		va, errA := DecodeValue([]byte(a))
		vb, errB := DecodeValue([]byte(b))
		na, okA := va.(json.Number)
		nb, okB := vb.(json.Number)
		if errA != nil || errB != nil || !okA || !okB {
			return
		}
		x, okX := exact(string(na))
		y, okY := exact(string(nb))
		if !okX || !okY {
			return
		}
		if want := x.Cmp(y) == 0; Equal(na, nb) != want {
			t.Errorf("Equal(%s, %s) = %v, as fractions %v", na, nb, !want, want)
		}
		c := canonicalNumber(string(na))
		if z, ok := exact(c); ok && z.Cmp(x) != 0 || canonicalNumber(c) != c {
			t.Errorf("canonical form of %s is %s and of that %s", na, c, canonicalNumber(c))
		}
	})
}

func TestNumbersAgainstFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	spell := func() string {
		s := fmt.Sprint(r.IntN(20) * 5)
		if r.IntN(2) == 0 {
			s += "." + fmt.Sprintf("%03d", r.IntN(4)*250)
		}
		if r.IntN(2) == 0 {
			s += fmt.Sprintf("e%+d", r.IntN(7)-3)
		}
		return strings.Repeat("-", r.IntN(2)) + s
	}
	equal := 0
	for range 20_000 {
		a, b := spell(), spell()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		want := x.Cmp(y) == 0
		if want {
			equal++
		}
		if got := Equal(json.Number(a), json.Number(b)); got != want {
			t.Fatalf("Equal(%s, %s) = %v, want %v", a, b, got, want)
		}
	}
	if equal < 50 {
		t.Errorf("only %d pairs were equal; the test shows little", equal)
	}
}

// FuzzDecodeValue holds the decoder against encoding/json.
func FuzzDecodeValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9\ud83d"],"b":{"c":null}}`, `[true,false]`, `"\ud83d\ude00"`, "\"\xff\"", `{"a":1,"a":2}`, `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeValue(b)
		if (err == nil) != Raw(b).Valid() {
			t.Fatalf("DecodeValue(%q): %v, but Valid is %v", b, err, Raw(b).Valid())
		}
		if err != nil {
			return
		}
		for _, again := range [][]byte{encode(v), CanonicalJSON(v)} {
			w, err := DecodeValue(again)
			if err != nil || !Equal(v, w) || string(CanonicalJSON(v)) != string(CanonicalJSON(w)) {
				t.Fatalf("%q became %q: %v", b, again, err)
			}
		}
		if strings.Contains(string(CanonicalJSON(v)), `\ud`) {
			return // encoding/json turns lone surrogates into U+FFFD
		}
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		var std any
		if err := d.Decode(&std); err != nil || !reflect.DeepEqual(v, std) {
			t.Fatalf("DecodeValue(%q) = %#v, encoding/json: %#v, %v", b, v, std, err)
		}
	})
}

func TestFillDefaults(t *testing.T) {
	schema := decode(t, `{"type":"object","properties":{
		"unit":{"default":"C"},
		"opts":{"type":"object","default":{},"properties":{"page":{"default":1}}},
		"list":{"type":"array","items":{"properties":{"n":{"default":null}}}},
		"city":{"type":"string"},
		"odd": true}}`)
	for in, want := range map[string]string{
		`{}`:                                     `{"unit":"C","opts":{"page":1}}`,
		`{"unit":"F","opts":{"page":2}}`:         `{"unit":"F","opts":{"page":2}}`,
		`{"unit":null,"opts":5}`:                 `{"unit":null,"opts":5}`,
		`{"opts":{"x":1},"list":[{},{"n":1},3]}`: `{"unit":"C","opts":{"x":1,"page":1},"list":[{"n":null},{"n":1},3]}`,
		`{"odd":{}}`:                             `{"odd":{},"unit":"C","opts":{"page":1}}`,
		`[]`:                                     `[]`,
		`null`:                                   `null`,
	} {
		args := decode(t, in)
		got := FillDefaults(schema, args)
		if !Equal(got, decode(t, want)) {
			t.Errorf("FillDefaults(%s) = %s, want %s", in, encode(got), want)
		}
		if !Equal(args, decode(t, in)) {
			t.Errorf("FillDefaults changed %s to %s", in, encode(args))
		}
	}
	for _, s := range []any{nil, true, []any{}, map[string]any{}, map[string]any{"properties": 5}} {
		if got := FillDefaults(s, map[string]any{"a": "b"}); !Equal(got, map[string]any{"a": "b"}) {
			t.Errorf("schema %v filled in %v", s, got)
		}
	}
	if got := FillDefaults(schema, map[string]any(nil)); !Equal(got, decode(t, `{"unit":"C","opts":{"page":1}}`)) {
		t.Errorf("a nil object was filled to %s", encode(got))
	}
}

func BenchmarkDecodeValue(b *testing.B) {
	in := []byte(`{"city":"Amsterdam","unit":"C","days":[1,2,3],"nested":{"a":"text \n with escape","b":12.5}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeValue(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEqual(b *testing.B) {
	x := decode(b, `{"city":"Amsterdam","unit":"C","days":[1,2,3],"nested":{"a":"text","b":12.5}}`)
	y := decode(b, `{"nested":{"b":12.50,"a":"text"},"city":"Amsterdam","unit":"C","days":[1,2,3]}`)
	b.ReportAllocs()
	for b.Loop() {
		if !Equal(x, y) {
			b.Fatal("not equal")
		}
	}
}
