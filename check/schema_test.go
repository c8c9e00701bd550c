package check

import (
	"testing"

	"github.com/tooleval/tooleval"
)

func TestCallAgainstSchema(t *testing.T) {
	schema := tooleval.Raw(`{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer","minimum":1},
		"how":{"anyOf":[{"type":"object","properties":{"by":{"const":"air"}},"required":["by","seat"]},{"type":"null"}]}},
		"required":["to","n"],"additionalProperties":false}`)
	for _, c := range []struct {
		args any
		bad  bool
	}{
		{map[string]any{"to": "x", "n": 1}, false},
		{map[string]any{"to": "x"}, true},
		{map[string]any{"to": "x", "n": 0}, true},
		{map[string]any{"to": "x", "n": 1, "m": 1}, true},
		{map[string]any{"to": tooleval.Regex("x"), "n": 1}, false},
		{map[string]any{"to": tooleval.Regex("x"), "n": "1"}, true},
		{map[string]any{"to": tooleval.Absent(), "n": 1}, true},
		{tooleval.Subset(map[string]any{"n": 1}), false},
		{tooleval.Subset(map[string]any{"n": 1.5}), true},
		{tooleval.Subset(map[string]any{"m": 1}), true},
		{tooleval.Subset(map[string]any{"how": map[string]any{"by": "air"}}), false},
		{tooleval.Subset(map[string]any{"n": tooleval.OneOf(1, 2)}), false},
		{tooleval.Any(), false},
	} {
		p := tooleval.Match(c.args)
		raw, partial, _ := concrete(p, false)
		why := ""
		if raw != nil {
			why = newSchemas().check(schema, raw, partial)
		}
		if (why != "") != c.bad {
			t.Errorf("%s: %q, want trouble: %v", raw, why, c.bad)
		}
	}
	for _, broken := range []string{"", "{", `{"type":7}`, `{"$ref":"file:///etc/passwd"}`} {
		if why := newSchemas().check(tooleval.Raw(broken), tooleval.Raw(`{}`), false); why != "" {
			t.Errorf("schema %q says %q", broken, why)
		}
	}
}

func TestEdit(t *testing.T) {
	v, err := tooleval.DecodeValue([]byte(`{"a":[1,{"b c":true}],"d":{},"e":null}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range leaves(v) {
		got = append(got, p.String()+" "+string(tooleval.CanonicalJSON(edit(v, p, func(v any) any { return another(v, nil) }))))
	}
	for _, p := range containers(v) {
		got = append(got, p.String()+" "+string(tooleval.CanonicalJSON(edit(v, p, nil))))
	}
	want := []string{
		`$.a[0] {"a":[1019,{"b c":true}],"d":{},"e":null}`,
		`$.a[1]["b c"] {"a":[1,{"b c":false}],"d":{},"e":null}`,
		`$.d {"a":[1,{"b c":true}],"d":{"mutant":true},"e":null}`,
		`$.e {"a":[1,{"b c":true}],"d":{},"e":"mutant"}`,
		`$.a {"d":{},"e":null}`,
		`$.a[1] {"a":[1],"d":{},"e":null}`,
		`$.d {"a":[1,{"b c":true}],"e":null}`,
		`$.e {"a":[1,{"b c":true}],"d":{}}`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("got\n%q\nwant\n%q", got, want)
		}
	}
	if same := string(tooleval.CanonicalJSON(v)); same != `{"a":[1,{"b c":true}],"d":{},"e":null}` {
		t.Errorf("the original is now %s", same)
	}
	if n := len(some(leaves(v), 2)); n != 2 {
		t.Errorf("%d places, want 2", n)
	}
}
