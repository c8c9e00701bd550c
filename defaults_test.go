package tooleval

import "testing"

func TestPatternFillDefaults(t *testing.T) {
	schema, err := DecodeValue([]byte(`{"type":"object","properties":{
		"q":{"type":"string"},
		"unit":{"type":"string","default":"m"},
		"page":{"type":"object","properties":{"size":{"default":10},"at":{"default":0}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pattern, args string
		want                bool
	}{
		{"both leave it out", `{"q":"a"}`, `{"q":"a"}`, true},
		{"the call spells it out", `{"q":"a"}`, `{"q":"a","unit":"m"}`, true},
		{"the pattern spells it out", `{"q":"a","unit":"m"}`, `{"q":"a"}`, true},
		{"another value", `{"q":"a"}`, `{"q":"a","unit":"km"}`, false},
		{"another value is wanted", `{"q":"a","unit":"km"}`, `{"q":"a"}`, false},
		{"nested", `{"page":{"at":0}}`, `{"page":{"size":10}}`, true},
		{"nested, another value", `{"page":{"at":0}}`, `{"page":{"size":9}}`, false},
		{"absent stands for the default", `{"q":"a","unit":{"$absent":true}}`, `{"q":"a"}`, true},
		{"absent, but another value", `{"q":"a","unit":{"$absent":true}}`, `{"q":"a","unit":"km"}`, false},
		{"a subset stays open", `{"$subset":{"q":"a"}}`, `{"q":"a","unit":"km"}`, true},
		{"exact in a subset", `{"$subset":{"page":{"$exact":{"at":0}}}}`, `{"page":{"at":0,"size":9}}`, false},
		{"alternatives", `{"$one_of":[{"q":"a"},{"q":"b"}]}`, `{"q":"b","unit":"m"}`, true},
		{"a literal", `{"$literal":{"q":"a"}}`, `{"q":"a","unit":"m"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := ParsePattern([]byte(c.pattern))
			args, err := DecodeValue([]byte(c.args))
			if err != nil || p.Err() != nil {
				t.Fatal(err, p.Err())
			}
			filled := p.FillDefaults(schema)
			if got := filled.Match(FillDefaults(schema, args)); got != c.want {
				t.Errorf("%s against %s: got %v, want %v", c.pattern, c.args, got, c.want)
			}
			if got := filled.Compare(FillDefaults(schema, args)).OK(); got != c.want {
				t.Errorf("%s compared with %s: got %v, want %v", c.pattern, c.args, got, c.want)
			}
			if b, _ := filled.MarshalJSON(); string(b) != c.pattern {
				t.Errorf("its JSON form is %s, want it as given: %s", b, c.pattern)
			}
		})
	}
	if !(Pattern{}).FillDefaults(schema).IsZero() {
		t.Error("the zero pattern did not stay zero")
	}
}
