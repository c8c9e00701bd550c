package statepatch_test

import (
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/statepatch"
)

const before = `{"a":{"b":[1,[2],{"c":3}],"d":4},"e":5,"x/y~":6}`

func op(op, path, value string) statepatch.Op {
	o := statepatch.Op{Op: op, Path: path}
	if value != "" {
		o.Value = tooleval.Raw(value)
	}
	return o
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		want string
		ops  []statepatch.Op
	}{
		{before, nil},
		{`{"a":{"b":[1,[2],{"c":3}],"d":4,"n":null},"e":5,"x/y~":6}`, []statepatch.Op{op("add", "/a/n", "null")}},
		{`{"a":{"b":[1,[2],{"c":7}],"d":8},"e":5,"x/y~":6}`, []statepatch.Op{op("replace", "/a/b/2/c", "7"), op("replace", "/a/d", "8")}},
		{`{"a":{"b":[[2],{"c":3},9],"d":4},"e":5}`,
			[]statepatch.Op{op("remove", "/a/b/0", ""), op("add", "/a/b/2", "9"), op("remove", "/x~1y~0", "")}},
		{`{"a":{"b":[1,[2,8],{"c":3}],"d":4},"e":5,"x/y~":6}`, []statepatch.Op{op("add", "/a/b/1/1", "8")}},
		{`{"a":{"q":[1]},"e":5,"x/y~":6}`, []statepatch.Op{op("replace", "/a", `{}`), op("add", "/a/q", `[]`), op("add", "/a/q/0", "1")}},
		{`7`, []statepatch.Op{op("replace", "", "7")}},
	} {
		initial, _ := tooleval.DecodeValue([]byte(before))
		got, err := statepatch.Apply(initial, c.ops)
		if err != nil || string(tooleval.CanonicalJSON(got)) != c.want {
			t.Errorf("%+v: got %s, %v; want %s", c.ops, tooleval.CanonicalJSON(got), err, c.want)
		}
		if again := string(tooleval.CanonicalJSON(initial)); again != before {
			t.Errorf("%+v: the input became %s", c.ops, again)
		}
	}
	for _, bad := range []statepatch.Op{
		op("replace", "/q", "1"), op("remove", "/q", ""), op("add", "/q/r", "1"), op("add", "/a/b/9", "1"), op("replace", "/a/b/3", "1"),
		op("remove", "/a/b/-1", ""), op("replace", "/e/x", "1"), op("add", "/a/b/x", "1"), op("replace", "/e", "nope"),
	} {
		initial, _ := tooleval.DecodeValue([]byte(before))
		if v, err := statepatch.Apply(initial, []statepatch.Op{bad}); err == nil {
			t.Errorf("%+v gave %s", bad, tooleval.CanonicalJSON(v))
		}
	}
}
