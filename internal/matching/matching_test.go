package matching

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
)

// pattern makes a required or forbidden call of "tool {pattern}", "tool" alone, or "id: tool {pattern} < other,ids".
func pattern(s string) tooleval.CallPattern {
	var p tooleval.CallPattern
	if head, after, ok := strings.Cut(s, " < "); ok {
		s, p.After = head, strings.Split(after, ",")
	}
	if id, rest, ok := strings.Cut(s, ": "); ok && !strings.Contains(id, " ") {
		s, p.ID = rest, id
	}
	tool, args, ok := strings.Cut(s, " ")
	if p.Tool = tool; ok {
		p.Args = tooleval.ParsePattern([]byte(args))
	}
	return p
}

func patterns(list ...string) []tooleval.CallPattern {
	var out []tooleval.CallPattern
	for _, s := range list {
		out = append(out, pattern(s))
	}
	return out
}

// made are calls that were made one after the other: "tool {args}", with "!status " in front when that is not ok, and
// "& " in front of those that run at the same time as the one before.
func made(list ...string) []tooleval.Call {
	var out []tooleval.Call
	for i, s := range list {
		c := tooleval.Call{Began: 2 * i, Ended: 2*i + 1, Status: tooleval.CallOK, ID: fmt.Sprint("volatile", i)}
		if rest, ok := strings.CutPrefix(s, "& "); ok {
			s = rest
			c.Began, c.Ended = out[i-1].Began, out[i-1].Ended
		}
		if rest, ok := strings.CutPrefix(s, "!"); ok {
			status, rest, _ := strings.Cut(rest, " ")
			s, c.Status = rest, tooleval.CallStatus(status)
		}
		tool, args, _ := strings.Cut(s, " ")
		c.Tool, c.Args = tool, tooleval.Raw(args)
		var object map[string]any
		if args != "" && (json.Unmarshal(c.Args, &object) != nil || object == nil) {
			c.ArgsError = "not a JSON object"
		}
		out = append(out, c)
	}
	return out
}

func newRun(required []tooleval.CallPattern, calls []tooleval.Call, tools ...tooleval.Tool) *tooleval.Run {
	run := &tooleval.Run{Tools: tools, Task: tooleval.Task{Required: required}, Trajectory: tooleval.Trajectory{Calls: calls}}
	for _, p := range required {
		run.Task.Toolset = append(run.Task.Toolset, p.Tool)
	}
	return run
}

var weather = tooleval.Tool{Name: "w", Schema: tooleval.Raw(`{"type":"object","properties":{
	"city":{"type":"string"},"unit":{"default":"C"},"page":{"properties":{"size":{"default":10}}}}}`)}

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		name     string
		required []string
		calls    []string
		want     []int
		misses   string
	}{
		{"M01 one call meets one requirement", []string{`w {"city":"NY"}`, `w {"city":"SH"}`}, []string{`w {"city":"SH"}`, `w {"city":"SH"}`},
			[]int{-1, 0}, `0 args_differ 1 $.city: want "NY", got "SH"`},
		{"M02 two identical calls, both required", []string{"ping", "ping"}, []string{"ping {}", "ping {}"}, []int{0, 1}, ``},
		{"M02 in one turn", []string{"ping {}", "ping {}"}, []string{"ping", "& ping {}"}, []int{0, 1}, ``},
		{"M02 three required, two made", []string{"ping", "ping", "ping"}, []string{"ping", "ping"}, []int{0, 1, -1}, `2 used_up 0`},
		{"M06 the stricter one needs it", []string{`s`, `s {"q":"x"}`}, []string{`s {"q":"x"}`, `s {"q":"y"}`}, []int{1, 0}, ``},
		{"M07 integer against float", []string{`s {"n":12.0,"l":[1,2]}`}, []string{`s {"l":[1.0,2e0],"n":12}`}, []int{0}, ``},
		{"M07 a boolean is no number", []string{`s {"n":1}`}, []string{`s {"n":true}`}, []int{-1},
			`0 args_differ 0 $.n: want 1, got true (want a number, got a boolean)`},
		{"M08 default written by the agent", []string{`w {"city":"X"}`}, []string{`w {"city":"X","unit":"C"}`}, []int{0}, ``},
		{"M08 default written by the author", []string{`w {"city":"X","unit":"C"}`}, []string{`w {"city":"X"}`}, []int{0}, ``},
		{"M08 nested default", []string{`w {"city":"X","page":{"size":10}}`}, []string{`w {"city":"X","page":{}}`}, []int{0}, ``},
		{"M08 another value still fails", []string{`w {"city":"X"}`}, []string{`w {"city":"X","unit":"F"}`}, []int{-1},
			`0 args_differ 0 $.unit: want "C", got "F"`},
		{"M08 a missing key still fails", []string{`w {"city":"X"}`}, []string{`w {"unit":"C"}`}, []int{-1}, `0 args_differ 0 $.city: missing, want "X"`},
		{"M08 a subset leaves the default open", []string{`w {"$subset":{"city":"X"}}`}, []string{`w {"city":"X","unit":"F"}`}, []int{0}, ``},
		{"M08 an alternative has defaults too", []string{`w {"$one_of":[{"city":"X"},{"city":"Y"}]}`}, []string{`w {"city":"Y","unit":"C"}`}, []int{0}, ``},
		{"M08 no arguments but defaults", []string{`w {}`}, []string{`w`}, []int{0}, ``},
		{"M09 invented arguments", []string{`s {"a":1}`}, []string{`s {"a":1,"force":true}`}, []int{-1},
			`0 args_differ 0 $.force: unexpected true (no such key is expected; {"$subset": …} would allow it)`},
		{"M13 ids, status texts and key order don't matter", []string{`s {"a":1,"b":{"c":2,"d":3}}`}, []string{`s {"b":{"d":3,"c":2},"a":1}`}, []int{0}, ``},
		{"M18 malformed entries", []string{`s {"a":1}`, `s`}, []string{`s ["x"]`, `s null`, `s 5`, ``, `s {`}, []int{-1, -1},
			`0 args_differ 0 $: want {"a":1}, got ["x"] (malformed arguments: not a JSON object)` + "\n" +
				`1 args_differ 0 $: want {}, got ["x"] (malformed arguments: not a JSON object)`},
		{"M19 broken arguments are not {}", []string{`s {}`}, []string{`s {"q":"a "b""}`, `s {"q":"abc`}, []int{-1},
			`0 args_differ 0 $: want {}, got {"q":"a "b""} (malformed arguments: not a JSON object)`},
		{"M19 a sound call comes closer than a broken one", []string{`s {"q":1}`}, []string{`s {"q`, `s {"q":2}`}, []int{-1}, `0 args_differ 1 $.q: want 1, got 2`},
		{"an error meets nothing", []string{`s {"a":1}`}, []string{`!tool_error s {"a":1}`, `!timeout s {"a":1}`, `!refused s {"a":1}`,
			`!protocol_error s {"a":1}`, `!cancelled s {"a":1}`}, []int{-1}, `0 only_errors 0`},
		{"an error, and then well", []string{`s {"a":1}`}, []string{`!tool_error s {"a":1}`, `s {"a":1}`}, []int{1}, ``},
		{"never called", []string{`s`, `t`}, []string{`u {}`, `t {}`}, []int{-1, 1}, `0 never_called -1`},
		{"nothing called", []string{`s`}, nil, []int{-1}, `0 never_called -1`},
		{"nothing required", nil, []string{`s {}`}, nil, ``},
		{"the closest is told", []string{`s {"a":1,"b":2,"c":3}`}, []string{`s {"a":1,"b":0,"c":0}`, `s {"a":1,"b":2,"c":0}`, `s {"a":0,"b":2,"c":3}`},
			[]int{-1}, `0 args_differ 1 $.c: want 3, got 0`},
		{"the closest that is free", []string{`s {"a":1,"b":1}`, `s {"a":1,"b":2}`}, []string{`s {"a":1,"b":2}`, `s {"a":5,"b":5}`},
			[]int{-1, 0}, "0 args_differ 1 $.a: want 1, got 5; $.b: want 1, got 5"},
		{"an unsound pattern is met by nothing", []string{`s {"$anny":true}`}, []string{`s {"a":1}`}, []int{-1},
			`0 args_differ 0 $: want {"$anny":true}, got {"a":1} (the pattern is not sound: $: unknown matcher "$anny" (did you mean "$any"?); ` +
				`a key that begins with $ is written {"$literal": …})`},
		{"any arguments but broken ones", []string{`s {"$any":true}`}, []string{`s {`, `s {"x":1}`}, []int{1}, ``},
		{"matching moves earlier pairs twice", []string{`s`, `s {"$subset":{"a":1}}`, `s {"a":1,"b":1}`},
			[]string{`s {"a":1,"b":1}`, `s {"a":1,"b":2}`, `s {"a":2}`}, []int{2, 1, 0}, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := newRun(patterns(c.required...), made(c.calls...), weather)
			r := Required(run)
			if !slices.Equal(r.Pairs, c.want) {
				t.Errorf("got pairs %v, want %v", r.Pairs, c.want)
			}
			if got := missText(r.Misses); got != c.misses {
				t.Errorf("got misses\n%s\nwant\n%s", got, c.misses)
			}
		})
	}
}

func missText(misses []Miss) string {
	var lines []string
	for _, m := range misses {
		var diff []string
		for _, d := range m.Diff {
			diff = append(diff, d.String())
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %d %s", m.Required, m.Reason, m.Call, strings.Join(diff, "; "))))
	}
	return strings.Join(lines, "\n")
}

// TestM06EveryPermutation: the result doesn't depend on the order in which requirements or calls are written.
func TestM06EveryPermutation(t *testing.T) {
	required := patterns(`s`, `s {"q":"x"}`, `s {"$subset":{"q":"x"}}`, `s {"q":{"$regex":"x|y"}}`)
	calls := made(`s {"q":"x"}`, `s {"q":"y"}`, `s {"q":"x","p":1}`, `s {"z":0}`)
	n := 0
	permute(len(required), func(p []int) {
		permute(len(calls), func(q []int) {
			n++
			run := newRun(nil, nil)
			for _, i := range p {
				run.Task.Required = append(run.Task.Required, required[i])
			}
			for _, j := range q {
				run.Trajectory.Calls = append(run.Trajectory.Calls, calls[j])
			}
			r := Required(run)
			seen := map[int]bool{}
			for i, j := range r.Pairs {
				if j < 0 || seen[j] {
					t.Fatalf("requirements %v, calls %v: pairs %v", p, q, r.Pairs)
				}
				seen[j] = true
				v, _ := object(run.Trajectory.Calls[j].Args)
				if !run.Task.Required[i].Args.Match(v) {
					t.Fatalf("requirements %v, calls %v: %d doesn't fit %d", p, q, j, i)
				}
			}
		})
	})
	if n != 24*24 {
		t.Errorf("%d permutations", n)
	}
}

func permute(n int, visit func([]int)) {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			visit(p)
			return
		}
		for i := k; i < n; i++ {
			p[k], p[i] = p[i], p[k]
			rec(k + 1)
			p[k], p[i] = p[i], p[k]
		}
	}
	rec(0)
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		required []string
		calls    []string
		pairs    []int
		kept     []bool
	}{
		{"kept", []string{"a: s", "t < a"}, []string{"s", "t"}, []int{0, 1}, []bool{true}},
		{"S11 the wrong way round", []string{"c: confirm", "update < c"}, []string{"update", "confirm"}, []int{1, 0}, []bool{false}},
		{"declared in the other direction", []string{"t < a", "a: s"}, []string{"s", "t"}, []int{1, 0}, []bool{true}},
		{"M28 calls of one turn keep no order", []string{"a: s", "t < a"}, []string{"s", "& t"}, []int{0, 1}, []bool{false}},
		{"M28 but without one they need none", []string{"match", "weather"}, []string{"weather", "& match"}, []int{1, 0}, nil},
		{"not met is not kept", []string{"a: s", "t < a"}, []string{"t"}, []int{-1, 0}, []bool{false}},
		{"the call that keeps it is taken", []string{"c: confirm", "update < c"}, []string{"update", "confirm", "update"}, []int{1, 2}, []bool{true}},
		{"both ends move", []string{"a: s < b", "b: s"}, []string{"s", "s"}, []int{1, 0}, []bool{true}},
		{"a chain", []string{"c: s < b", "b: s < a", "a: s"}, []string{"s", "s", "s", "s"}, []int{2, 1, 0}, []bool{true, true}},
		{"more pairs come before more order", []string{"a: s", `t {"x":1} < a`, "t"},
			[]string{`t {"x":1}`, "s", `t {"x":2}`}, []int{1, 0, 2}, []bool{false}},
		{"an unordered one gives way", []string{"t", "a: s", "t < a"}, []string{"t", "s", "t"}, []int{0, 1, 2}, []bool{true}},
		{"an unordered one gives way to the later", []string{"a: s", "t < a", "t"}, []string{"t", "s", "t"}, []int{1, 2, 0}, []bool{true}},
		{"two of three", []string{"a: s", "b: t < a", "c: u < b,a"}, []string{"s", "u", "t"}, []int{0, 2, 1}, []bool{true, false, true}},
		{"which of the two to give up", []string{"a: s", "b: s", "t < a", "u < b"}, []string{"s", "t", "s", "u"}, []int{0, 2, 1, 3}, []bool{true, true}},
		{"a miss that keeps more", []string{"a: s", "b: t < a", "c: t < b"}, []string{"s", "t"}, []int{0, 1, -1}, []bool{true, false}},
		{"an unknown id", []string{"s < nobody"}, []string{"s"}, []int{0}, nil},
		{"a cycle", []string{"a: s < b", "b: s < a"}, []string{"s", "s"}, []int{0, 1}, []bool{false, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Required(newRun(patterns(c.required...), made(c.calls...)))
			var kept []bool
			for _, p := range r.Order {
				kept = append(kept, p.Kept)
			}
			if !slices.Equal(r.Pairs, c.pairs) || !slices.Equal(kept, c.kept) {
				t.Errorf("got %v %v, want %v %v", r.Pairs, kept, c.pairs, c.kept)
			}
		})
	}
}

// TestAgainstBruteForce tries small random runs against every possible matching.
func TestAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	better := 0
	for range 4000 {
		n, m := 1+r.IntN(4), r.IntN(5)
		var required []tooleval.CallPattern
		for i := range n {
			p := pattern([]string{`s`, `s {"q":1}`, `s {"q":{"$one_of":[1,2]}}`, `t`}[r.IntN(4)])
			p.ID = fmt.Sprint(i)
			for b := range n {
				if r.IntN(3) == 0 && b != i {
					p.After = append(p.After, fmt.Sprint(b))
				}
			}
			required = append(required, p)
		}
		var list []string
		for j := range m {
			s := []string{`s {"q":1}`, `s {"q":2}`, `s {}`, `t {}`, `!tool_error t {}`}[r.IntN(5)]
			if j > 0 && r.IntN(4) == 0 {
				s = "& " + s
			}
			list = append(list, s)
		}
		run := newRun(required, made(list...))
		got := Required(run)
		size, kept := value(got.Pairs, got.Order, run.Trajectory.Calls)
		wantSize, wantKept := brute(run, got.Order)
		if size != wantSize || kept != wantKept {
			t.Fatalf("%+v with %v: got %v, that is %d pairs and %d orders, want %d and %d", required, list, got.Pairs, size, kept, wantSize, wantKept)
		}
		if again := Required(run); !reflect.DeepEqual(got, again) {
			t.Fatalf("twice the same run gave %+v and %+v", got, again)
		}
		if wantKept > 0 {
			better++
		}
	}
	if better < 300 {
		t.Errorf("only %d runs had an order to keep", better)
	}
}

func value(pairs []int, order []OrderPair, calls []tooleval.Call) (size, kept int) {
	seen := map[int]bool{}
	for _, j := range pairs {
		if j >= 0 && !seen[j] {
			size++
			seen[j] = true
		}
	}
	for _, p := range order {
		a, b := pairs[p.Before], pairs[p.After]
		if a >= 0 && b >= 0 && calls[a].Ended < calls[b].Began {
			kept++
		}
	}
	return size, kept
}

func brute(run *tooleval.Run, order []OrderPair) (size, kept int) {
	required, calls := run.Task.Required, run.Trajectory.Calls
	pairs := make([]int, len(required))
	used := make([]bool, len(calls))
	var rec func(i int)
	rec = func(i int) {
		if i == len(required) {
			if s, k := value(pairs, order, calls); s > size || s == size && k > kept {
				size, kept = s, k
			}
			return
		}
		pairs[i] = -1
		rec(i + 1)
		for j := range calls {
			v, ok := object(calls[j].Args)
			if used[j] || !ok || calls[j].Tool != required[i].Tool || calls[j].Status != tooleval.CallOK || !required[i].Args.Match(v) {
				continue
			}
			used[j], pairs[i] = true, j
			rec(i + 1)
			used[j] = false
		}
	}
	rec(0)
	return size, kept
}

func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		name      string
		forbidden []string
		calls     []string
		want      []Hit
	}{
		{"none made", []string{"drop"}, []string{"s {}"}, nil},
		{"nothing forbidden", nil, []string{"drop {}"}, nil},
		{"no calls", []string{"drop"}, nil, nil},
		{"made, whatever it returned", []string{"drop"}, []string{"drop {}", "s {}", "!tool_error drop {}", "!timeout drop", "!protocol_error drop",
			"!cancelled drop"}, []Hit{{0, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}}},
		{"over a limit, but within the toolset", []string{"drop"}, []string{"!refused drop {}"}, []Hit{{0, 0}}},
		{"refused outside the toolset", []string{"bomb"}, []string{"!refused bomb {}"}, nil},
		{"made outside the toolset", []string{"bomb"}, []string{"bomb {}"}, []Hit{{0, 0}}},
		{"with arguments", []string{`drop {"id":9}`, `drop {"id":8.0}`}, []string{`drop {"id":7}`, `drop {"id":8}`}, []Hit{{1, 1}}},
		{"the first pattern that fits", []string{`drop {"id":8}`, `drop`}, []string{`drop {"id":8}`, `drop {}`}, []Hit{{0, 0}, {1, 1}}},
		{"broken arguments, any forbidden", []string{`drop`}, []string{`drop {"id`}, []Hit{{0, 0}}},
		{"broken arguments, some forbidden", []string{`drop {}`, `drop {"id":8}`}, []string{`drop {"id`, `drop 5`}, nil},
		{"a default", []string{`w {"city":"X","unit":"C"}`}, []string{`w {"city":"X"}`}, []Hit{{0, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := newRun(nil, made(c.calls...), weather)
			run.Task.Toolset = []string{"s", "drop", "w"}
			run.Task.Forbidden = patterns(c.forbidden...)
			if got := Forbidden(run); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestHostileRunsAreBounded: neither many calls nor orders that can't be kept take long, and the result stays maximal.
func TestHostileRunsAreBounded(t *testing.T) {
	start := time.Now()
	var required []tooleval.CallPattern
	var calls []string
	for i := range 40 {
		p := pattern("s")
		p.ID = fmt.Sprint(i)
		for b := range i {
			p.After = append(p.After, fmt.Sprint(b))
		}
		required = append(required, p)
		calls = append(calls, "s {}")
		if i > 0 {
			calls[i] = "& s {}" // all at once: no order can be kept
		}
	}
	r := Required(newRun(required, made(calls...)))
	if size, kept := value(r.Pairs, r.Order, made(calls...)); size != 40 || kept != 0 {
		t.Errorf("%d pairs, %d orders", size, kept)
	}
	calls = slices.Repeat([]string{`s {"a":[1,2,{"b":"c"}]}`}, 20_000)
	many := newRun(patterns(slices.Repeat([]string{`s {"a":[1,2,{"b":"d"}]}`, `s`}, 10)...), made(calls...))
	if r := Required(many); len(r.Misses) != 10 || r.Misses[0].Reason != ArgsDiffer {
		t.Errorf("got %d misses", len(r.Misses))
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestArgumentsAreDecodedOnlyWhenAskedFor also shows that a record whose args_error was lost can't pass for {}.
func TestArgumentsAreDecodedOnlyWhenAskedFor(t *testing.T) {
	calls := made(`s {"q":1}`)
	calls[0].Args = tooleval.Raw(`{"q`)
	if r := Required(newRun(patterns("s {}"), calls)); r.Pairs[0] != -1 || r.Misses[0].Reason != ArgsDiffer {
		t.Errorf("undecodable arguments met {}: %+v", r)
	}
	if n := testing.AllocsPerRun(100, func() { Required(three) }); n > 4 {
		t.Errorf("%v allocations to match three calls without looking at arguments", n)
	}
}

var three = newRun(patterns("s", "t", "u"), made(`s {"a":1}`, `t {"a":1}`, `u {"a":1}`))

func TestSchemaCacheIsBounded(t *testing.T) {
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range mostSchemas {
				raw := tooleval.Raw(fmt.Sprintf(`{"properties":{"x":{"default":%d}}}`, k*1000+i))
				if v := withDefaults(raw); !tooleval.Equal(tooleval.FillDefaults(v, map[string]any{}), map[string]any{"x": k*1000 + i}) {
					t.Errorf("the wrong schema for %s", raw)
				}
			}
		})
	}
	wg.Wait()
	if len(schemas.m) > mostSchemas {
		t.Errorf("%d schemas are kept", len(schemas.m))
	}
	if withDefaults(tooleval.Raw(`{"default"`)) != nil || withDefaults(tooleval.Raw(`{"properties":{}}`)) != nil {
		t.Error("a schema without defaults has some")
	}
}

func BenchmarkRequired3x3(b *testing.B) {
	for name, run := range map[string]*tooleval.Run{
		"open": three,
		"args": newRun(patterns(`s {"a":1}`, `t {"city":"X","n":[1,2]}`, `w {"city":"X"}`),
			made(`s {"a":1.0}`, `t {"city":"X","n":[1,2]}`, `w {"city":"X","unit":"C"}`), weather),
		"order": newRun(patterns(`a: s`, `b: t < a`, `u < b`), made(`s {"a":1}`, `t {"a":1}`, `u {"a":1}`)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := Required(run); len(r.Misses) > 0 {
					b.Fatal(r)
				}
			}
		})
	}
}
