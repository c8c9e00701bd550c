package starlark

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/statepatch"
)

const sample = `{"b":{"x":[1,2,{"deep":"v"}],"e":[]},"a":{"n":1,"f":2.5,"t":true,"z":null},"list":[3,1,2],
	"rows":[{"id":1},{"id":2}],"many":{"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":[9]}}`

// both runs a function body over a state of Starlark's own values and over one of ours, and returns what each gave: the
// value or error, and the state afterwards.
func both(t *testing.T, body string) (own, ours string) {
	t.Helper()
	source := "def f(s):\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n"
	p, err := Load("t.star", []byte(source))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	b, err := newBase([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	native, err := parseJSON([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	over := &dict{over: b.root.(*baseDict)}
	f, err := p.function("f", 1)
	if err != nil {
		t.Fatal(err)
	}
	show := func(state starlark.Value) string {
		v, err := p.call(context.Background(), f, state)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			v = starlark.String("error: " + first)
		}
		after, err := dumps(state, 1<<20)
		return fmt.Sprintf("%s | %s | %v", v, after, err)
	}
	own, ours = show(native), show(over)
	if _, err := canonical(over, 1<<20); err != nil { // it contains itself
		if err := (&differ{max: 1 << 20}).diff("", b.root, over, maxDepth); err == nil {
			t.Errorf("%s: the state has no JSON, but its changes have", body)
		}
		return own, ours
	}

	// The patch must lead from the base to what the script made of it.
	d := differ{max: 1 << 20}
	if err := d.diff("", b.root, over, maxDepth); err != nil {
		t.Fatalf("%s: diff: %v", body, err)
	}
	initial, _ := tooleval.DecodeValue(b.json)
	patched, err := statepatch.Apply(initial, d.ops)
	if err != nil {
		t.Fatalf("%s: apply %+v: %v", body, d.ops, err)
	}
	whole, _ := canonical(over, 1<<20)
	want, _ := tooleval.DecodeValue(whole)
	if !tooleval.Equal(patched, want) {
		t.Errorf("%s: the patch %+v gives\n%s, want\n%s", body, d.ops, tooleval.CanonicalJSON(patched), whole)
	}
	if again, _ := newBase([]byte(sample)); string(again.json) != string(b.json) {
		t.Errorf("%s: the base changed", body)
	}
	if untouchedAgain, _ := tooleval.DecodeValue(b.json); !tooleval.Equal(initial, untouchedAgain) {
		t.Errorf("%s: applying the patch changed its input", body)
	}
	return own, ours
}

// A script must not be able to tell the state from Starlark's own values.
func TestTheStateBehavesLikeStarlarksOwnValues(t *testing.T) {
	for _, body := range []string{
		`return s`, `return str(s)`, `return len(s), len(s["list"]), bool(s["b"]["e"]), bool(s["b"])`,
		`s["a"]["n"] += 1`, `s["new"] = 1; s["a2"] = {"k": [1]}; s["a2"]["k"].append(2)`,
		`x = s["b"]["x"]; x.append(4); x[0] = "first"; return s["b"]["x"][-1], x[2]["deep"]`,
		`x = s["b"]["x"][2]; x["deep"] = "w"; s["c"] = x; x["more"] = 1; return s["b"]["x"][2]["more"]`, // aliasing
		`s["b"].pop("x"); s["b"]["x"] = 1; return s["b"].keys()`,                                        // to the end
		`s.pop("nope")`, `return s.pop("nope", 5)`, `return s.pop("a")`, `return s.popitem(), s.popitem()`,
		`return s.get("a"), s.get("q"), s.get("q", 3)`, `return s["q"]`, `return s["list"][5]`, `return s["list"][-1]`,
		`return s.setdefault("a", 1), s.setdefault("q", [1])`, `s.update({"a": 2, "q": 3}); s.update([("r", 1)], w = 2)`,
		`return s.items()`, `return s.values()`, `return [k for k in s]`, `return [v for v in s["list"]]`,
		`s.clear(); s["a"] = 1; return s`, `s["many"].clear(); return s["many"]`,
		`for k in s:
    s[k] = 1`,
		`for k in s:
    s[k + "!"] = 1`,
		`for k in s:
    s.pop(k)`,
		`for v in s["list"]:
    s["list"].append(v)`,
		`for k in s: pass
for v in s["list"]: pass
s["new"] = 1; s.pop("a"); s["list"].append(9); return s`,
		`l = s["list"]; l.insert(0, 9); l.insert(-1, 8); l.insert(99, 7); return l`,
		`l = s["list"]; return l.pop(), l.pop(0), l`, `return s["list"].pop(9)`,
		`s["list"].remove(1); return s["list"]`, `s["list"].remove(77)`, `return s["list"].index(2), s["list"].index(2, -1)`,
		`s["list"].extend(s["list"]); return s["list"]`, `l = s["list"]; l += [5]; return l, s["list"]`,
		`l = s["list"]; l += l; return s["list"]`, `l = [0]; l += s["list"]; return l`, `l = s["list"] + [1]; l.append(2); return l, s`,
		`return [1] + s["list"], s["list"] * 2, 2 * s["list"], s["list"] + s["rows"]`, `return s["list"] + (1,)`,
		`d = s["a"]; d |= {"n": 2, "q": 1}; return d, s["a"]`, `return s["a"] | {"n": 9}`, `return {"n": 9} | s["a"]`, `return s["a"] | s["b"]`,
		`return s["list"][1:], s["list"][::-1], s["list"][:0]`, `return sorted(s["list"]), max(s["list"]), reversed(s["list"])`,
		`return s["list"] == [3, 1, 2], [3, 1, 2] == s["list"], s["list"] != [3], s["list"] == (3, 1, 2)`,
		`return s["rows"] == [{"id": 1}, {"id": 2.0}], {"id": 1} == s["rows"][0], s["b"]["e"] == [], {} == s["b"]["e"]`,
		`return s["a"] == s["a"], s["a"] == s["b"], s["a"] == 1, None == s["a"], s["a"] == None`,
		`return {"id": 1} in s["rows"], s["rows"][0] in [{"id": 1}], s["rows"][0] in ({"id": 2},), [9] in s["rows"]`,
		`return "a" in s, "q" in s, "a" not in s, 3 in s["list"], 7 in s["list"], "x" in "xyz"`,
		`x = [s["rows"][0]]; y = [{"id": 1}]; return x == y, y == x`,
		`return dict(s["a"]), list(s["list"]), tuple(s["list"]), dict([("a", s["list"])])`, `return type(s), type(s["list"])`,
		`a, b, c = s["list"]; return a + b + c`, `return "%s %s" % (s["list"], s["a"])`, `return "%(n)d" % s["a"]`,
		`return json.encode(s["b"]), json.dumps(s["b"])`, `return hash("a"), dir(s["list"]), dir(s["a"])`,
		`return {s["list"]: 1}`, `return s["list"] < [1]`, `return s.nope`, `s["list"] = s["list"][0:1]; return s["list"]`,
		`s["many"]["k9"].append(s["many"].pop("k3")); return s["many"]`, `return zip(s["list"], s["rows"]), enumerate(s["rows"])`,
		`return any([1 for r in s["rows"] if r == {"id": 2}])`, `n = 1; n += 2; n += s["a"]["n"]; t = "a"; t += "b"; return n, t`,
		`s["rows"][0]["id"] = 7; s["rows"].append(dict(s["rows"][0])); s["rows"][0]["id"] = 8; return s["rows"]`,
		`return sum(s["list"]), sum([]), round(2.5), round(2.675, 2), round(7, 1)`, `def f(*a, **k): return a, k
return f(*s["list"], **s["a"])`,
	} {
		own, ours := both(t, body)
		// Only the words that name the kind of value in an error may differ.
		own = strings.NewReplacer("hash table", "dict").Replace(own)
		if own != ours && !(strings.Contains(own, "error: ") && strings.Contains(ours, "error: ") &&
			own[strings.Index(own, "|"):] == ours[strings.Index(ours, "|"):]) {
			t.Errorf("%s\n own: %s\nours: %s", body, own, ours)
		}
	}
}

// Random programs of statements that change, alias and read the state.
func TestRandomProgramsCannotTellTheStateFromOwnValues(t *testing.T) {
	places := []string{`s`, `s["a"]`, `s["b"]`, `s["many"]`, `s["b"]["x"][2]`, `s["rows"][0]`, `s["rows"][1]`, `v`}
	lists := []string{`s["list"]`, `s["rows"]`, `s["b"]["x"]`, `s["b"]["e"]`, `s["many"]["k9"]`}
	values := []string{`1`, `"t"`, `[]`, `{"q": [1]}`, `None`, `v`, `s["rows"][0]`, `list(s["list"])`, `2.5`}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(l []string) string { return l[r.IntN(len(l))] }
		body := "v = {\"own\": 1}\n"
		for range 12 {
			switch r.IntN(9) {
			case 0:
				body += fmt.Sprintf("%s[\"k%d\"] = %s\n", pick(places[1:]), r.IntN(4), pick(values[:5]))
			case 1:
				body += fmt.Sprintf("%s.append(%s)\n", pick(lists), pick(values))
			case 2:
				body += fmt.Sprintf("%s.pop(\"k%d\", None)\n", pick(places), r.IntN(4))
			case 3:
				body += fmt.Sprintf("v = %s\n", pick(places[:7]))
			case 4:
				body += fmt.Sprintf("%s.insert(%d, %s)\n", pick(lists), r.IntN(3), pick(values[:5]))
			case 5:
				body += fmt.Sprintf("s[\"eq%d\"] = %s == %s\n", r.IntN(2), pick(places), pick(places))
			case 6:
				l := pick(lists)
				body += fmt.Sprintf("if len(%s) > 1: %s.pop(0)\n", l, l)
			case 7:
				body += fmt.Sprintf("s[\"in%d\"] = %s in %s\n", r.IntN(2), pick(values[:5]), pick(lists))
			case 8:
				body += fmt.Sprintf("x = %s\nx += [%s]\n", pick(lists), pick(values[:5]))
			}
		}
		own, ours := both(t, body+"return v")
		if own[strings.Index(own, "|"):] != ours[strings.Index(ours, "|"):] {
			t.Fatalf("seed %d:\n%s\n own: %s\nours: %s", seed, body, own, ours)
		}
	}
}

// What was changed and changed back is no change, and numbers are compared by value.
func TestThePatchHoldsOnlyWhatDiffers(t *testing.T) {
	for body, want := range map[string]string{
		`pass`: ``, `s["a"]["n"] = 2; s["a"]["n"] = 1.0`: ``, `s["rows"] = [{"id": 1}, {"id": 2}]`: ``,
		`x = s.pop("a"); s["a"] = dict(x)`: ``, `[r for r in s["rows"] if r["id"] == 9]`: ``,
		`s["a"]["n"] = True`:                     `replace /a/n true`,
		`s["rows"].append({"b": 1, "a": 2})`:     `add /rows/2 {"a":2,"b":1}`,
		`s["list"].pop(0)`:                       `replace /list [1,2]`,
		`s["b"]["x"][2]["a/b~"] = None`:          `add /b/x/2/a~1b~0 null`,
		`s.pop("a"); s["z"] = 1; s["b"] = []`:    `remove /a ;replace /b [];add /z 1`,
		`s["a"]["t"] = 1; s["a"]["f"] = 2.50001`: `replace /a/f 2.50001;replace /a/t 1`,
	} {
		p, err := Load("t.star", []byte("def f(s):\n    "+body+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := newBase([]byte(sample))
		s := &dict{over: b.root.(*baseDict)}
		f, _ := p.function("f", 1)
		if _, err := p.call(t.Context(), f, s); err != nil {
			t.Fatal(err)
		}
		d := differ{max: 1 << 20}
		err = d.diff("", b.root, s, maxDepth)
		var got []string
		for _, op := range d.ops {
			got = append(got, op.Op+" "+op.Path+" "+string(op.Value))
		}
		if err != nil || strings.Join(got, ";") != want {
			t.Errorf("%s: got %q, %v; want %q", body, strings.Join(got, ";"), err, want)
		}
	}
}

// A value that contains itself, and one that is too large, are errors and never hang.
func TestStatesThatHaveNoJSON(t *testing.T) {
	for body, want := range map[string]string{
		`s["a"]["self"] = s`: "contains itself", `s["a"]["f"] = float("nan")`: "no JSON form", `s["a"][1] = 2`: "must be a string",
		`s["x"] = {1: 2}`: "no string", `s["x"] = len`: "no JSON form",
		`x = []
for i in range(60):
    x = [x, x]
s["x"] = x`: "more than",
	} {
		p, err := Load("t.star", []byte("def f(s):\n    "+strings.ReplaceAll(body, "\n", "\n    ")+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := newBase([]byte(sample))
		s := &dict{over: b.root.(*baseDict)}
		f, _ := p.function("f", 1)
		_, err = p.call(t.Context(), f, s)
		if err == nil {
			_, err = canonical(s, 1<<16)
			d := differ{max: 1 << 16}
			if patchErr := d.diff("", b.root, s, maxDepth); (patchErr == nil) != (err == nil) {
				t.Errorf("%s: the state gives %v, its changes %v", body, err, patchErr)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

// Whatever JSON an agent sends comes out of dumps with the same meaning.
func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, `[]`, ` "a\u00e9\ud83d" `, `-0.0`, `1e-7`, `{"a":1,"a":2}`, `123456789012345678901234567890`, `[1,[2,[3]],{}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parseJSON([]byte(s))
		if err != nil {
			return
		}
		want, err := tooleval.DecodeValue([]byte(s))
		if err != nil {
			t.Fatalf("%q: parsed, but %v", s, err)
		}
		for _, write := range []func(starlark.Value, int) ([]byte, error){dumps, canonical} {
			out, err := write(v, 1<<24)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			got, err := tooleval.DecodeValue(out)
			if err != nil || !tooleval.Equal(roundTrip(got), roundTrip(want)) {
				t.Errorf("%q: became %s, %v", s, out, err)
			}
		}
	})
}

// roundTrip is a value with its fractions as float64, which is what a script sees of them.
func roundTrip(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = roundTrip(e)
		}
	case []any:
		for i, e := range x {
			x[i] = roundTrip(e)
		}
	case json.Number:
		if strings.ContainsAny(string(x), ".eE") {
			f, _ := x.Float64()
			return f
		}
	}
	return v
}
