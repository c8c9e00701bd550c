package baselines

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
)

// draw makes arguments for a schema and decodes them.
func draw(t *testing.T, seed uint64, schema string) map[string]any {
	t.Helper()
	raw := arguments(rand.New(rand.NewPCG(seed, 0)), tooleval.Raw(schema), pool{strings: []string{"seen before"}})
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		t.Fatalf("not JSON: %s: %v", raw, err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("not an object: %s", raw)
	}
	return m
}

func TestArgumentsKeepTheSchema(t *testing.T) {
	whole := tooleval.Match(tooleval.Matcher{"$subset": map[string]any{
		"id":   tooleval.Regex(`.{12,20}`),
		"when": tooleval.Regex(`202\d-0\d-1\d`),
		"who":  tooleval.Matcher{"$subset": map[string]any{"name": tooleval.Regex(`(?s).*`)}},
		"n":    tooleval.OneOf(3, 4),
	}})
	optional := map[string]tooleval.Pattern{
		"share":  tooleval.Match(tooleval.Near(0.5, 0.5)),
		"kind":   tooleval.Match(tooleval.OneOf("a", "b")),
		"fixed":  tooleval.Match(7),
		"tags":   tooleval.Match(tooleval.OneOf([]any{flag, flag}, []any{flag, flag, flag})),
		"either": tooleval.Match(tooleval.OneOf(nil, 1)),
		"even":   tooleval.Match(tooleval.OneOf(2, 4, 6, 8)),
	}
	seen := map[string]int{}
	values := map[string]map[string]bool{"n": {}, "even": {}, "kind": {}, "either": {}}
	for seed := range uint64(300) {
		m := draw(t, seed, bookingSchema)
		if !whole.Match(m) {
			t.Fatalf("seed %d: %v: %v", seed, m, whole.Compare(m).Diff)
		}
		for k, v := range m {
			seen[k]++
			if p, ok := optional[k]; ok && !p.Match(v) {
				t.Fatalf("seed %d: %s: %v", seed, k, p.Compare(v).Diff)
			}
			if values[k] != nil {
				values[k][string(tooleval.CanonicalJSON(v))] = true
			}
		}
	}
	for k := range optional {
		if seen[k] < 90 || seen[k] > 210 {
			t.Errorf("optional %s was there in %d of 300 draws", k, seen[k])
		}
	}
	if len(seen) != 10 {
		t.Errorf("properties drawn: %v", seen)
	}
	for k, want := range map[string]int{"n": 2, "even": 4, "kind": 2, "either": 2} {
		if len(values[k]) != want {
			t.Errorf("%s took the values %v, want %d of them", k, values[k], want)
		}
	}
}

var flag = tooleval.OneOf(true, false)

var hostile = []string{
	``, `null`, `true`, `[]`, `"object"`, `{`, `{"type":"object"} {}`, "\xff\xfe",
	`{"$ref":"#"}`, `{"$ref":"#/a/b"}`, `{"$ref":"https://example.com/x"}`, `{"$ref":"#anchor"}`, `{"$ref":7}`,
	`{"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}`, `{"anyOf":[{"$ref":"#"}]}`, `{"oneOf":[]}`, `{"anyOf":[1,null,"x"]}`,
	`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`,
	`{"type":"object","required":["a","b","c"],"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`,
	`{"type":"object","required":["l"],"properties":{"l":{"type":"array","minItems":1e300,"items":{"$ref":"#"}}}}`,
	`{"type":"object","required":["l"],"properties":{"l":{"type":"array","minItems":-5,"maxItems":-7}}}`,
	`{"type":"object","required":["n","m","o","p","q","r"],"properties":{"n":{"type":"integer","minimum":5,"maximum":1},
		"m":{"type":"number","minimum":1e308,"maximum":1e999},"o":{"type":"integer","multipleOf":1e-300},
		"p":{"type":"number","minimum":-1.7e308,"maximum":1.7e308},"q":{"type":"integer","minimum":1e30},
		"r":{"type":"number","multipleOf":-2}}}`,
	`{"type":"object","required":["s","u"],"properties":{"s":{"type":"string","minLength":1e18,"maxLength":-1},
		"u":{"type":"string","maxLength":0,"format":"date-time"}}}`,
	`{"type":["object"],"required":[1,null,"x"],"properties":[]}`, `{"type":[]}`, `{"type":[7]}`, `{"type":"wormhole"}`,
	`{"enum":[]}`, `{"enum":{}}`, `{"const":null}`, `{"properties":{"":{"type":"null"},"\ud800":{}}}`,
	`{"prefixItems":7,"items":false,"type":"array"}`,
}

func TestHostileSchemas(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","required":["a"],"properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000)
	for _, schema := range append(hostile, deep) {
		for seed := range uint64(20) {
			m := draw(t, seed, schema)
			if n := len(tooleval.CanonicalJSON(m)); n > 400_000 {
				t.Errorf("schema %.80s: %d bytes of arguments", schema, n)
			}
		}
	}
}

func FuzzArguments(f *testing.F) {
	for i, s := range append(hostile, bookingSchema) {
		f.Add(uint64(i), s)
	}
	f.Fuzz(func(t *testing.T, seed uint64, schema string) { draw(t, seed, schema) })
}
