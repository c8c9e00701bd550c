package starlark_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/starlark"
)

// large is a state of about 6 MB: 20,000 records.
func large() tooleval.State {
	var b strings.Builder
	b.WriteString(`{"records":{`)
	for i := range 20_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"r%05d":{"id":%d,"name":"%s","tags":["a","b","c"],"at":{"x":%d.5,"y":2},"text":%q}`,
			i, i, strings.Repeat("n", 40), i, strings.Repeat("lorem ipsum ", 14))
	}
	b.WriteString(`}}`)
	return tooleval.Raw(b.String())
}

func largeFactory(tb testing.TB, changes bool) *starlark.Factory {
	f, err := starlark.New(starlark.Config{State: large(), Changes: changes, Source: []byte(`
def touch(state, args, ctx):
    r = state["records"][args["id"]]
    r["tags"].append("new")
    return r["id"]

def nothing(state, args, ctx):
    return None
`)})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

var largeTools = []tooleval.Tool{{Name: "touch"}, {Name: "nothing"}}

// A run over 6 MB of state: a fresh world, one change, and the state at the end.
func BenchmarkRunOverALargeState(b *testing.B) {
	for _, changes := range []bool{false, true} {
		b.Run(fmt.Sprintf("changes=%v", changes), func(b *testing.B) {
			f := largeFactory(b, changes)
			b.ReportAllocs()
			for b.Loop() {
				w, err := f.NewWorld(b.Context(), tooleval.WorldSpec{Tools: largeTools})
				if err != nil {
					b.Fatal(err)
				}
				ask(b, w, "touch", `{"id":"r01234"}`)
				if _, err := w.State(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEmptyCall(b *testing.B) {
	w, err := largeFactory(b, true).NewWorld(b.Context(), tooleval.WorldSpec{Tools: largeTools})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		ask(b, w, "nothing", `{"id":"r01234","n":1}`)
	}
}

// The initial state is neither copied nor written out for each run.
func TestALargeStateIsNotCopied(t *testing.T) {
	f := largeFactory(t, true)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w, err := f.NewWorld(b.Context(), tooleval.WorldSpec{Tools: largeTools})
			if err != nil {
				b.Fatal(err)
			}
			ask(b, w, "touch", `{"id":"r01234"}`)
			if s, err := w.State(); err != nil || len(s) > 300 {
				b.Fatal(len(s), err)
			}
		}
	}).AllocedBytesPerOp()
	// One copy of the 20,000 references of the object that was changed, and not the 6 MB behind them.
	if allocated > 1<<20 {
		t.Errorf("a run allocates %d bytes over a state of 6 MB", allocated)
	}
}
