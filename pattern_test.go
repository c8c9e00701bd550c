package tooleval

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// compared is the comparison of a value with a pattern, both as JSON; an empty value stands for a missing one. It fails
// the test unless Match and Compare agree.
func compared(t testing.TB, pattern, value string) Comparison {
	t.Helper()
	p := ParsePattern([]byte(pattern))
	if p.Err() != nil {
		t.Fatalf("pattern %s: %v", pattern, p.Err())
	}
	if value == "" {
		return p.CompareMissing()
	}
	v := decode(t, value)
	c := p.Compare(v)
	if c.OK() != p.Match(v) {
		t.Errorf("%s against %s: Match says %v, Compare %+v", pattern, value, p.Match(v), c)
	}
	return c
}

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		pattern, value string
		met, total     int
		diff           string // of each difference, joined by "; "
	}{
		{`"a"`, `"a"`, 1, 1, ``},
		{`"a"`, `"b"`, 0, 1, `$: want "a", got "b"`},
		{`12`, `"12"`, 0, 1, `$: want 12, got "12" (want a number, got a string)`},
		{`12`, `12.0`, 1, 1, ``},
		{`null`, `null`, 1, 1, ``},
		{`null`, ``, 0, 1, `$: missing, want null`},
		{`{"a":1,"b":2}`, `{"a":1,"b":2}`, 2, 2, ``},
		{`{"a":1,"b":2}`, `{"a":1}`, 1, 2, `$.b: missing, want 2`},
		{`{"a":null}`, `{}`, 0, 1, `$.a: missing, want null`},
		{`{"a":1}`, `{"a":1,"b c":2}`, 1, 2, `$["b c"]: unexpected 2 (no such key is expected; {"$subset": …} would allow it)`},
		{`{"a":{"b":1,"c":2}}`, `{"a":[]}`, 0, 2, `$.a: want {"b":1,"c":2}, got [] (want an object, got a list)`},
		{`{"a":{"b":1,"c":2}}`, `{}`, 0, 2, `$.a: missing, want {"b":1,"c":2}`},
		{`{}`, `{}`, 1, 1, ``},
		{`{}`, `[]`, 0, 1, `$: want {}, got []`},
		{`{}`, `{"a":1}`, 0, 1, `$.a: unexpected 1 (no such key is expected; {"$subset": …} would allow it)`},
		{`{}`, ``, 0, 1, `$: missing, want {}`},
		{`[]`, `[]`, 1, 1, ``},
		{`[]`, `{}`, 0, 1, `$: want [], got {}`},
		{`[]`, `[1]`, 0, 1, `$[0]: unexpected 1 (no such element is expected)`},
		{`[1,2]`, `[1]`, 1, 2, `$[1]: missing, want 2`},
		{`[1,2]`, `[2,1]`, 0, 2, `$[0]: want 1, got 2; $[1]: want 2, got 1`},
		{`[1]`, `[1,2]`, 1, 2, `$[1]: unexpected 2 (no such element is expected)`},
		{`[1,2]`, `5`, 0, 2, `$: want [1,2], got 5 (want a list, got a number)`},
		{`{"a":{"$any":true}}`, `{"a":null}`, 1, 1, ``},
		{`{"a":{"$any":true}}`, `{}`, 0, 1, `$.a: missing, want {"$any":true}`},
		{`{"a":{"$absent":true}}`, `{}`, 1, 1, ``},
		{`{"a":{"$absent":true}}`, `{"a":null}`, 0, 1, `$.a: unexpected null (the key must be absent)`},
		{`{"a":{"$one_of":[{"$absent":true},5]}}`, `{}`, 1, 1, ``},
		{`{"a":{"$one_of":[{"$absent":true},5]}}`, `{"a":5}`, 1, 1, ``},
		{`{"a":{"$one_of":[{"$absent":true},5]}}`, `{"a":6}`, 0, 1,
			`$.a: want {"$one_of":[{"$absent":true},5]}, got 6`},
		{`{"a":{"$exact":{"$absent":true}}}`, `{}`, 1, 1, ``},
		{`{"$regex":"order-[0-9]+"}`, `"order-12"`, 1, 1, ``},
		{`{"$regex":"order-[0-9]+"}`, `"my order-12"`, 0, 1, `$: want {"$regex":"order-[0-9]+"}, got "my order-12"`},
		{`{"$regex":"a|ab"}`, `"ab"`, 1, 1, ``},
		{`{"$regex":"a.b"}`, `"a\nb"`, 0, 1, `$: want {"$regex":"a.b"}, got "a\nb"`},
		{`{"$regex":"(?s)a.b"}`, `"a\nb"`, 1, 1, ``},
		{`{"$regex":"(?i)YES"}`, `"yes"`, 1, 1, ``},
		{`{"$regex":"a$"}`, `"a\n"`, 0, 1, `$: want {"$regex":"a$"}, got "a\n"`},
		{`{"$regex":"1"}`, `1`, 0, 1, `$: want {"$regex":"1"}, got 1`},
		{`{"$contains":"boot"}`, `"red boots"`, 1, 1, ``},
		{`{"$contains":"Boot"}`, `"red boots"`, 0, 1, `$: want {"$contains":"Boot"}, got "red boots"`},
		{`{"$contains":"BOOT","ignore_case":true}`, `"red boots"`, 1, 1, ``},
		{`{"$contains":"a"}`, `["a"]`, 0, 1, `$: want {"$contains":"a"}, got ["a"]`},
		{`{"$number":42}`, `42.0`, 1, 1, ``},
		{`{"$number":42}`, `42.1`, 0, 1, `$: want {"$number":42,"tolerance":0}, got 42.1`},
		{`{"$number":0.3,"tolerance":0.1}`, `0.4`, 1, 1, ``},
		{`{"$number":0.3,"tolerance":0.1}`, `0.2`, 1, 1, ``},
		{`{"$number":0.3,"tolerance":0.1}`, `0.40000000000000000000001`, 0, 1,
			`$: want {"$number":0.3,"tolerance":0.1}, got 0.40000000000000000000001`},
		{`{"$number":9007199254740993,"tolerance":1}`, `9007199254740995`, 0, 1,
			`$: want {"$number":9007199254740993,"tolerance":1}, got 9007199254740995`},
		{`{"$number":1,"tolerance":1e300}`, `1e999`, 0, 1, `$: want {"$number":1,"tolerance":1e300}, got 1e999`},
		{`{"$number":1,"tolerance":1}`, `"1"`, 0, 1, `$: want {"$number":1,"tolerance":1}, got "1"`},
		{`{"$number":1,"tolerance":1}`, `true`, 0, 1, `$: want {"$number":1,"tolerance":1}, got true`},
		{`{"$one_of":["a","b"]}`, `"b"`, 1, 1, ``},
		{`{"$one_of":["a","b"]}`, `"c"`, 0, 1, `$: want {"$one_of":["a","b"]}, got "c"`},
		{`{"$one_of":[{"a":1,"b":2},{"a":1,"b":3,"c":4}]}`, `{"a":1,"b":3,"c":5}`, 0, 1,
			`$: want {"$one_of":[{"a":1,"b":2},{"a":1,"b":3,"c":4}]}, got {"a":1,"b":3,"c":5} ` +
				`(alternative 2 comes closest: $.c: want 4, got 5)`},
		{`{"$subset":{"a":1}}`, `{"a":1,"b":2}`, 1, 1, ``},
		{`{"$subset":{"a":{"b":1}}}`, `{"a":{"b":1,"c":1},"d":1}`, 1, 1, ``},
		{`{"$subset":{"a":[{"b":1}]}}`, `{"a":[{"b":1,"c":1}]}`, 1, 1, ``},
		{`{"$subset":{"a":[{"b":1}]}}`, `{"a":[{"b":1},{"b":1}]}`, 1, 2, `$.a[1]: unexpected {"b":1} (no such element is expected)`},
		{`{"$subset":{"a":{"$exact":{"b":1}}}}`, `{"a":{"b":1,"c":1},"d":1}`, 1, 2,
			`$.a.c: unexpected 1 (no such key is expected; {"$subset": …} would allow it)`},
		{`{"$subset":{"a":{"$one_of":[{"b":1},5]}}}`, `{"a":{"b":1,"c":1}}`, 1, 1, ``},
		{`{"$subset":{"a":{"$literal":{"b":1}}}}`, `{"a":{"b":1,"c":1}}`, 0, 1, `$.a: want {"b":1}, got {"b":1,"c":1}`},
		{`{"$subset":{"a":{"$unordered":[{"b":1}]}}}`, `{"a":[{"b":1,"c":1}]}`, 1, 1, ``},
		{`{"$subset":{"a":{"$absent":true}}}`, `{"a":1}`, 0, 1, `$.a: unexpected 1 (the key must be absent)`},
		{`{"$subset":{}}`, `{"a":1}`, 1, 1, ``},
		{`{"$subset":{}}`, `1`, 0, 1, `$: want {}, got 1`},
		{`{"$unordered":[1,2]}`, `[2,1]`, 2, 2, ``},
		{`{"$unordered":[1,1]}`, `[1,2]`, 1, 3, `$: missing, want 1 (no element left that matches); $[1]: unexpected 2 (no such element is expected)`},
		{`{"$unordered":[1,2]}`, `[2]`, 1, 2, `$: missing, want 1 (no element left that matches)`},
		{`{"$unordered":[1]}`, `[2,1]`, 1, 2, `$[0]: unexpected 2 (no such element is expected)`},
		{`{"$unordered":[1]}`, `{}`, 0, 1, `$: want {"$unordered":[1]}, got {} (want a list, got an object)`},
		{`{"$unordered":[1]}`, ``, 0, 1, `$: missing, want {"$unordered":[1]}`},
		{`{"$unordered":[]}`, `[]`, 1, 1, ``},
		{`{"$unordered":[]}`, `[1]`, 0, 1, `$[0]: unexpected 1 (no such element is expected)`},
		// First fit would give [1] to the element that also takes [2].
		{`{"$unordered":[{"$any":true},1]}`, `[1,2]`, 2, 2, ``},
		// One wrong field of one element costs one field.
		{`{"$unordered":[{"id":1,"s":"a"},{"id":2,"s":"b"}]}`, `[{"id":2,"s":"b"},{"id":1,"s":"x"}]`, 3, 4, `$[1].s: want "a", got "x"`},
		{`{"$literal":{"$any":true}}`, `{"$any":true}`, 1, 1, ``},
		{`{"$literal":{"$any":true}}`, `5`, 0, 1, `$: want {"$literal":{"$any":true}}, got 5 (want an object, got a number)`},
	} {
		got := compared(t, c.pattern, c.value)
		var diff []string
		for _, d := range got.Diff {
			diff = append(diff, d.String())
		}
		if got.Met != c.met || got.Total != c.total || strings.Join(diff, "; ") != c.diff {
			t.Errorf("%s against %s:\n got %d/%d %s\nwant %d/%d %s", c.pattern, c.value,
				got.Met, got.Total, strings.Join(diff, "; "), c.met, c.total, c.diff)
		}
	}
}

// TestM10MatchModeByPath: an author who cares about one nested key can say so, and only there.
func TestM10MatchModeByPath(t *testing.T) {
	value := `{"catalog":{"query":"shoes","page":1},"user":{"id":7}}`
	for pattern, want := range map[string]bool{
		`{"catalog":{"query":"shoes"},"user":{"id":7}}`:                                           false,
		`{"catalog":{"$subset":{"query":"shoes"}},"user":{"id":7}}`:                               true,
		`{"catalog":{"$subset":{"query":"shoes"}},"user":{}}`:                                     false,
		`{"$subset":{"catalog":{"query":"shoes"}}}`:                                               true,
		`{"$subset":{"catalog":{"$exact":{"query":"shoes"}}}}`:                                    false,
		`{"$subset":{"catalog":{"query":{"$regex":"sho.*"},"page":{"$number":2,"tolerance":1}}}}`: true,
	} {
		if got := compared(t, pattern, value).OK(); got != want {
			t.Errorf("%s: got %v, want %v", pattern, got, want)
		}
	}
}

// TestM12AnyChangedLeafFlipsTheVerdict changes each leaf of a passing value in turn.
func TestM12AnyChangedLeafFlipsTheVerdict(t *testing.T) {
	const value = `{"base":10,"name":"x","ok":true,"none":null,"list":[1,[2.5,{"deep":false}],[]],"empty":{},"big":9007199254740993}`
	for _, pattern := range []string{
		value,
		`{"$subset":` + value + `}`,
		`{"$one_of":[5,` + value + `]}`,
		`{"$literal":` + value + `}`,
		`{"base":{"$number":10},"name":{"$regex":"x"},"ok":true,"none":null,"list":{"$unordered":[[],1,[2.5,{"deep":false}]]},
			"empty":{"$exact":{}},"big":9007199254740993}`,
	} {
		p := ParsePattern([]byte(pattern))
		if !p.Match(decode(t, value)) {
			t.Fatalf("%s doesn't match to begin with", pattern)
		}
		n := 0
		mutate(decode(t, value), func(mutant any, what string) {
			n++
			if p.Match(mutant) || p.Compare(mutant).OK() {
				t.Errorf("%s still matches after %s: %s", pattern, what, encode(mutant))
			}
		})
		if n < 30 {
			t.Errorf("only %d mutants were tried", n)
		}
	}
}

// mutate calls try with copies of v in which one leaf is changed or removed.
func mutate(v any, try func(mutant any, what string)) {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			mutate(e, func(m any, what string) {
				y := map[string]any{}
				for k, e := range x {
					y[k] = e
				}
				y[k] = m
				try(y, what+" at "+k)
			})
			y := map[string]any{}
			for l, e := range x {
				if l != k {
					y[l] = e
				}
			}
			try(y, "removing "+k)
		}
		if len(x) > 0 {
			return
		}
	case []any:
		for i, e := range x {
			mutate(e, func(m any, what string) {
				y := append([]any{}, x...)
				y[i] = m
				try(y, fmt.Sprintf("%s at %d", what, i))
			})
		}
		try(append([]any{"more"}, x...), "adding an element")
		if len(x) > 0 {
			return
		}
	}
	for _, other := range []any{nil, true, false, "x", "other", json.Number("999"), json.Number("9007199254740992"), []any{}, map[string]any{}} {
		if !Equal(v, other) {
			try(other, fmt.Sprintf("changing %v to %v", v, other))
		}
	}
}

// TestM14LooseArguments: arguments of free text can be left open one by one.
func TestM14LooseArguments(t *testing.T) {
	p := Match(map[string]any{"sql": Any(), "db": "main", "limit": OneOf(Absent(), Near(10, 5)), "tags": Unordered("a", ContainsFold("B"))})
	for value, want := range map[string]bool{
		`{"sql":"SELECT 1","db":"main","tags":["xb","a"]}`:             true,
		`{"sql":"SELECT 1","db":"main","tags":["a","b"],"limit":15.0}`: true,
		`{"sql":"SELECT 1","db":"main","tags":["a","b"],"limit":16}`:   false,
		`{"sql":"SELECT 1","db":"other","tags":["a","b"]}`:             false,
		`{"db":"main","tags":["a","b"]}`:                               false,
	} {
		if got := p.Match(decode(t, value)); got != want || p.Err() != nil {
			t.Errorf("%s: got %v, want %v (%v)", value, got, want, p.Err())
		}
	}
	if p := Match(map[string]any{"a": Subset(map[string]any{"b": Regex("x+")}), "c": Literal(Any())}); !p.Match(decode(t, `{"a":{"b":"xx","z":1},"c":{"$any":true}}`)) {
		t.Error("Subset, Regex and Literal in Go form don't match")
	}
}

func TestPatternErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		``:                                       "not JSON: it ends after 0 bytes",
		`{`:                                      "not JSON",
		`{"a":1,"a":2}`:                          `key "a" is written twice, the second time at byte 7`,
		`{"a":{"$regexp":"x"}}`:                  `$.a: unknown matcher "$regexp" (did you mean "$regex"?); a key that begins with $ is written`,
		`{"$any":false}`:                         `$: $any takes true`,
		`{"a":{"$absent":1}}`:                    `$.a: $absent takes true`,
		`[{"$absent":true}]`:                     `$[0]: $absent is for the keys of an object`,
		`{"$unordered":[{"$absent":true}]}`:      `$[0]: $absent is for the keys`,
		`{"a":[{"$one_of":[{"$absent":true}]}]}`: `$.a[0][0]: $absent is for the keys`,
		`{"$regex":5}`:                           `$: $regex takes a string`,
		`{"$regex":"("}`:                         `$: $regex: error parsing regexp: missing closing )`,
		`{"$regex":"a)|(b"}`:                     `$: $regex: error parsing regexp: unexpected )`,
		`{"$contains":""}`:                       `$: $contains takes a string that is not empty`,
		`{"$contains":"a","ignore_case":1}`:      `$: ignore_case takes true or false`,
		`{"$contains":"a","ignorecase":true}`:    `$: unknown key "ignorecase" beside $contains (did you mean "ignore_case"?)`,
		`{"$number":"4"}`:                        `$: $number takes a number`,
		`{"$number":4,"tolerance":-1}`:           `$: tolerance takes a number that is not negative`,
		`{"$number":4,"tolerance":"1"}`:          `$: tolerance takes a number that is not negative`,
		`{"$number":4,"tolerance":1e999}`:        `$: tolerance takes a number that is not negative`,
		`{"$number":1e999}`:                      `$: $number 1e999 is out of range`,
		`{"$one_of":[]}`:                         `$: $one_of takes a list that is not empty`,
		`{"$one_of":5}`:                          `$: $one_of takes a list that is not empty`,
		`{"$subset":[]}`:                         `$: $subset takes an object`,
		`{"$unordered":{}}`:                      `$: $unordered takes a list`,
		`{"$any":true,"$regex":"a"}`:             `$: two matchers in one object: $any and $regex`,
		`{"$any":true,"city":"X"}`:               `$: unknown key "city" beside $any`,
	} {
		p := ParsePattern([]byte(pattern))
		if p.Err() == nil || !strings.Contains(p.Err().Error(), want) {
			t.Errorf("%s: got error %v, want %q", pattern, p.Err(), want)
		}
		if p.IsZero() || p.Match(nil) || p.Compare(nil).OK() || p.CompareMissing().OK() {
			t.Errorf("%s is not sound but is met by something", pattern)
		}
	}
	all := ParsePattern([]byte(`{"a":{"$anny":true},"b":[{"$regex":"["}],"c":1}`)).Err().Error()
	if !strings.Contains(all, "$.a: ") || !strings.Contains(all, "$.b[0]: ") {
		t.Errorf("not all errors at once: %s", all)
	}
	if p := Match(map[string]any{"f": func() {}}); p.Err() == nil || p.Match(decode(t, `{}`)) {
		t.Error("a pattern without a JSON form is sound")
	}
	if p := Match([]any{Match(func() {})}); p.Err() == nil {
		t.Error("a pattern around one without a JSON form is sound")
	}
}

func TestVacuous(t *testing.T) {
	for pattern, want := range map[string]bool{
		`{"$any":true}`:                   true,
		`{"$exact":{"$any":true}}`:        true,
		`{"$one_of":["a",{"$any":true}]}`: true,
		`{"$subset":{}}`:                  true,
		`{}`:                              false,
		`[]`:                              false,
		`null`:                            false,
		`{"a":{"$any":true}}`:             false,
		`{"$subset":{"a":{"$any":true}}}`: false,
		`{"$unordered":[]}`:               false,
		`{"$one_of":["a"]}`:               false,
		`{"$regex":".*"}`:                 false,
		`{"$number":1,"tolerance":1e300}`: false,
	} {
		if got := ParsePattern([]byte(pattern)).Vacuous(); got != want {
			t.Errorf("%s: vacuous %v, want %v", pattern, got, want)
		}
	}
	var zero Pattern
	if !zero.Vacuous() || !zero.IsZero() || !zero.Match(nil) || !zero.Compare("x").OK() || !zero.CompareMissing().OK() || zero.Err() != nil {
		t.Error("the zero pattern constrains something")
	}
}

func TestPatternRoundTrip(t *testing.T) {
	for _, in := range []string{`{"a":{"$regex":"<x>&"},"b":[1.0,"é"]}`, `null`, `5`, `{"$literal":null}`, `{`, `{"$text":"x"}`, `{"$text":"{"}`,
		`{"$bytes":"eA=="}`, `{"a":1,"a":2}`, `{"a":"` + "\xff" + `"}`, `{"$unknown":1}`, ``} {
		type holder struct {
			P Pattern `json:"p,omitzero"`
		}
		p := ParsePattern([]byte(in))
		var sizes []int
		q := p
		for range 4 {
			b, err := json.Marshal(holder{q})
			if err != nil {
				t.Fatalf("%q: %v", in, err)
			}
			var h holder
			if err := json.Unmarshal(b, &h); err != nil {
				t.Fatalf("%q: %s: %v", in, b, err)
			}
			q = h.P
			sizes = append(sizes, len(b))
			if (q.Err() == nil) != (p.Err() == nil) || q.IsZero() {
				t.Errorf("%q: after %s the error is %v, was %v", in, b, q.Err(), p.Err())
			}
			for _, v := range []string{`null`, `5`, `"x"`, `{"a":"<x>&","b":[1,"é"]}`} {
				if p.Match(decode(t, v)) != q.Match(decode(t, v)) {
					t.Errorf("%q: after a round trip %s is another matter", in, v)
				}
			}
		}
		if sizes[1] != sizes[3] {
			t.Errorf("%q grows on its way: %v", in, sizes)
		}
	}
	var p Pattern
	if err := json.Unmarshal([]byte(`null`), &p); err != nil || !p.IsZero() {
		t.Errorf("null is not the zero pattern: %v", err)
	}
	if b, _ := json.Marshal(Pattern{}); string(b) != `null` {
		t.Errorf("the zero pattern is written as %s", b)
	}
	in := []byte(`{"a":1}`)
	p = ParsePattern(in)
	in[2] = 'b'
	if b, _ := p.MarshalJSON(); string(b) != `{"a":1}` {
		t.Errorf("the pattern changed with the bytes it was parsed from: %s", b)
	}
}

// TestMatchAgreesWithCompare tries generated patterns on generated values, most of them near misses.
func TestMatchAgreesWithCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	matches := 0
	for range 8_000 {
		pattern := randomPattern(r, 3, false)
		p := Match(pattern)
		if p.Err() != nil {
			t.Fatalf("%v: %v", pattern, p.Err())
		}
		v := randomValue(r, 3)
		c := p.Compare(v)
		if c.OK() {
			matches++
		}
		if c.OK() != p.Match(v) || c.Met > c.Total || c.Total < 1 || (c.Met < c.Total) != (len(c.Diff) > 0) {
			t.Fatalf("%s against %s: match %v, compare %+v", p.raw, encode(v), p.Match(v), c)
		}
		m := p.CompareMissing()
		if m.OK() != p.root.missing() || m.Met > m.Total {
			t.Fatalf("%s against nothing: %+v", p.raw, m)
		}
	}
	if matches < 250 {
		t.Errorf("only %d matches; the test shows little", matches)
	}
}

func randomPattern(r *rand.Rand, depth int, inList bool) any {
	sub := func() any { return randomPattern(r, depth-1, true) }
	field := func() any { return randomPattern(r, depth-1, false) }
	n := 14
	if depth == 0 {
		n = 6
	}
	switch r.IntN(n) {
	case 0:
		return Any()
	case 1:
		if inList {
			return Regex("a|b")
		}
		return Absent()
	case 2:
		return Near(1, 0.5)
	case 3:
		return Contains("a")
	case 4, 5:
		return randomValue(r, 0)
	case 6:
		return OneOf(randomPattern(r, depth-1, inList), randomPattern(r, depth-1, inList))
	case 7:
		return Subset(map[string]any{"a": field(), "b": field()})
	case 8:
		return Matcher{"$exact": randomPattern(r, depth-1, inList)}
	case 9:
		return Unordered(sub(), sub())
	case 10:
		return Literal(randomValue(r, depth))
	case 11:
		return []any{sub(), sub()}[:r.IntN(3)]
	}
	m := map[string]any{}
	for _, k := range []string{"a", "b"} {
		if r.IntN(2) == 0 {
			m[k] = field()
		}
	}
	return m
}

func randomValue(r *rand.Rand, depth int) any {
	n := 7
	if depth == 0 {
		n = 5
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return []string{"a", "b"}[r.IntN(2)]
	case 3:
		return json.Number([]string{"1", "1.0", "2"}[r.IntN(3)])
	case 5:
		return []any{randomValue(r, depth-1), randomValue(r, depth-1)}[:r.IntN(3)]
	}
	m := map[string]any{}
	for _, k := range []string{"a", "b", "c"} {
		if r.IntN(3) == 0 {
			m[k] = randomValue(r, max(depth-1, 0))
		}
	}
	return m
}

// TestHostilePatternsAreCheap: what doubles at each level of nesting would never return.
func TestHostilePatternsAreCheap(t *testing.T) {
	deep := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, pattern := range []string{
		deep(`{"$one_of":[`, `{"a":1,"b":1}`, `,{"a":1,"b":3}]}`, 60),
		deep(`{"$one_of":[1,`, `{"a":1,"b":1}`, `]}`, 60),
		deep(`{"$exact":`, `5`, `}`, 900),
		deep(`{"$unordered":[`, `1`, `,2]}`, 60),
		deep(`[`, ``, `]`, 1000),
		deep(`{"a":`, `1`, `}`, 1000),
	} {
		p := ParsePattern([]byte(pattern))
		if p.Err() != nil {
			t.Fatal(p.Err())
		}
		for _, v := range []string{`{"a":1,"b":2}`, deep(`[`, `3`, `,2]`, 60), deep(`[`, `[]`, `]`, 998), deep(`{"a":`, `2`, `}`, 1000)} {
			compared(t, pattern, v)
		}
	}
	long := `[` + strings.Repeat(`{"id":1,"x":[1,2,3]},`, 400) + `0]`
	compared(t, `{"$unordered":`+long+`}`, strings.ReplaceAll(long, "3]}", "4]}"))
}

func TestPatternsShareNothing(t *testing.T) {
	p := Match(map[string]any{"a": 1, "b": Subset(map[string]any{"c": 2})})
	schema := decode(t, `{"properties":{"d":{"default":4},"b":{"properties":{"e":{"default":5}}}}}`)
	q := p.FillDefaults(schema)
	if v := decode(t, `{"a":1,"b":{"c":2}}`); !p.Match(v) || q.Match(v) {
		t.Error("filling in defaults changed the pattern it was filled into")
	}
	if v := decode(t, `{"a":1,"b":{"c":2},"d":4}`); p.Match(v) || !q.Match(v) {
		t.Error("the filled pattern doesn't ask for the default")
	}
}

func TestM08DefaultsInListsAndMatchers(t *testing.T) {
	schema := decode(t, `{"properties":{"at":{"items":{"properties":{"unit":{"default":"C"},"n":{"default":1}}}},"mode":{"default":"fast"}}}`)
	for _, c := range []struct {
		pattern, args string
		want          bool
	}{
		{`{"at":[{"n":2}]}`, `{"at":[{"n":2,"unit":"C"}],"mode":"fast"}`, true},
		{`{"at":[{"n":2,"unit":"C"}],"mode":"fast"}`, `{"at":[{"n":2}]}`, true},
		{`{"at":[{"n":2}]}`, `{"at":[{"n":2,"unit":"F"}]}`, false},
		{`{"at":{"$unordered":[{"n":2},{"n":3}]}}`, `{"at":[{"n":3,"unit":"C"},{"n":2}]}`, true},
		{`{"$subset":{"at":[{"n":2}]}}`, `{"at":[{"n":2,"unit":"F"}]}`, true},
		{`{"$subset":{"at":[{"$literal":{"n":2}}]}}`, `{"at":[{"n":2,"unit":"C"}]}`, true},
		{`{"$subset":{"at":[{"$literal":{"n":2}}]}}`, `{"at":[{"n":2,"unit":"F"}]}`, false},
		{`{"at":{"$any":true},"mode":{"$regex":"f.*"}}`, `{"at":[]}`, true},
		{`{"at":[],"mode":{"$contains":"a"}}`, `{"at":[],"mode":"slow"}`, false},
		{`{"at":[],"mode":{"$one_of":[{"$absent":true},"slow"]}}`, `{"at":[],"mode":"fast"}`, true},
		{`{"at":[],"mode":{"$one_of":[{"$absent":true},"slow"]}}`, `{"at":[],"mode":"other"}`, false},
		{`{"at":[{"n":{"$number":1}}],"other":{"$absent":true}}`, `{"at":[{}]}`, true},
	} {
		p := ParsePattern([]byte(c.pattern)).FillDefaults(schema)
		v := FillDefaults(schema, decode(t, c.args))
		if got := p.Match(v); got != c.want || p.Compare(v).OK() != got {
			t.Errorf("%s against %s: got %v, want %v; %+v", c.pattern, c.args, got, c.want, p.Compare(v))
		}
	}
	if broken := ParsePattern([]byte(`{`)).FillDefaults(schema); broken.Err() == nil || broken.Match(nil) {
		t.Error("filling in defaults mended a broken pattern")
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{`{"a":{"$regex":"x"}}`, `{"$one_of":[1,{"$any":true}]}`, `{"$subset":{"a":[{"$number":1,"tolerance":2}]}}`,
		`{"$unordered":[{"$contains":"a","ignore_case":true}]}`, `{"a":{"$absent":true},"b":{"$exact":{"$literal":{}}}}`, `{"$text":"{"}`} {
		f.Add([]byte(s), []byte(`{"a":[1,"x"]}`))
	}
	f.Fuzz(func(t *testing.T, pattern, value []byte) {
		p := ParsePattern(pattern)
		v, err := DecodeValue(value)
		if err != nil {
			return
		}
		c := p.Compare(v)
		if c.OK() != p.Match(v) {
			t.Fatalf("%q against %q: match %v, compare %+v", pattern, value, p.Match(v), c)
		}
		for _, d := range c.Diff {
			if _, err := json.Marshal(d); err != nil {
				t.Fatalf("%+v: %v", d, err)
			}
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q Pattern
		if err := json.Unmarshal(b, &q); err != nil {
			t.Fatal(err)
		}
		if q.Match(v) != p.Match(v) || (q.Err() == nil) != (p.Err() == nil) {
			t.Fatalf("%q became %q", pattern, b)
		}
	})
}

func BenchmarkPatternMatch(b *testing.B) {
	p := Match(map[string]any{"city": "Amsterdam", "unit": "C", "days": []any{1, 2, 3}})
	v := decode(b, `{"city":"Amsterdam","unit":"C","days":[1,2,3]}`)
	b.ReportAllocs()
	for b.Loop() {
		if !p.Match(v) {
			b.Fatal("no match")
		}
	}
}

func BenchmarkPatternCompare(b *testing.B) {
	p := Match(map[string]any{"city": "Amsterdam", "unit": "C", "days": []any{1, 2, 3}})
	v := decode(b, `{"city":"Amsterdam","unit":"C","days":[1,2,3]}`)
	b.ReportAllocs()
	for b.Loop() {
		if !p.Compare(v).OK() {
			b.Fatal("no match")
		}
	}
}
