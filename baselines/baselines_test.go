package baselines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

const bookingSchema = `{"type":"object","required":["id","when","who","n"],"additionalProperties":false,"properties":{
	"id":{"type":"string","minLength":12,"maxLength":20},
	"when":{"type":"string","format":"date"},
	"who":{"$ref":"#/$defs/person"},
	"n":{"type":"integer","minimum":3,"exclusiveMaximum":5},
	"share":{"type":"number","minimum":0,"maximum":1},
	"kind":{"enum":["a","b"]},
	"fixed":{"const":7},
	"tags":{"type":"array","minItems":2,"maxItems":3,"items":{"type":"boolean"}},
	"either":{"anyOf":[{"type":"null"},{"type":"integer","minimum":1,"maximum":1}]},
	"even":{"type":"integer","multipleOf":2,"minimum":1,"maximum":9}},
	"$defs":{"person":{"allOf":[{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},
		{"properties":{"friend":{"$ref":"#/$defs/person"}}}]}}}`

// world answers every call with its arguments and keeps what it was asked.
type world struct {
	mu    sync.Mutex
	calls []string
	fail  error
}

func (w *world) CallTool(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c.Tool+" "+string(c.Args))
	return tooleval.ToolResult{Text: "order-4711 is ready", Structured: c.Args}, w.fail
}

func assignment(id string, schemas ...string) tooleval.Assignment {
	a := tooleval.Assignment{TaskID: id, Input: tooleval.Raw(`{"city":"Łódź"}`)}
	for i, s := range schemas {
		a.Tools = append(a.Tools, tooleval.Tool{Name: fmt.Sprintf("tool%d", i), Schema: tooleval.Raw(s)})
	}
	return a
}

// play runs one baseline and returns all that could be seen of it, as text.
func play(t *testing.T, name string, seed uint64, a tooleval.Assignment) (string, []string) {
	t.Helper()
	b, ok := Named(name)
	if !ok {
		t.Fatalf("no baseline %q", name)
	}
	w := &world{}
	res, err := b.New(seed).Run(t.Context(), a, w)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n" + strings.Join(w.calls, "\n"), w.calls
}

func TestS05DoNothing(t *testing.T) {
	got, calls := play(t, "do-nothing", 1, assignment("t", bookingSchema))
	if got != "{}\n" || len(calls) != 0 {
		t.Errorf("got %q, want an empty result and no call", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, _ := Named("do-nothing")
	if _, err := b.New(0).Run(ctx, assignment("t"), &world{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: got %v", err)
	}
}

func TestNamesAreDistinctAndOnlyTheHarmlessMayGoLive(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range All {
		if b.Name == "" || b.Description == "" || b.New == nil || seen[b.Name] {
			t.Errorf("baseline %q lacks something or is there twice", b.Name)
		}
		seen[b.Name] = true
		if live := b.Name == "do-nothing"; live == b.MockOnly {
			t.Errorf("baseline %q: MockOnly is %v", b.Name, b.MockOnly)
		}
	}
	if _, ok := Named("oracel"); ok {
		t.Error("a baseline that does not exist was found")
	}
}

func TestSeedDecidesEverything(t *testing.T) {
	a := assignment("t", bookingSchema, `{"type":"object"}`)
	distinct := map[string]bool{}
	for seed := range uint64(30) {
		first, calls := play(t, "random", seed, a)
		again, _ := play(t, "random", seed, a)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("seed %d: two runs differ:\n%s", seed, diff)
		}
		if len(calls) < 1 || len(calls) > mostCalls {
			t.Errorf("seed %d: %d calls", seed, len(calls))
		}
		distinct[first] = true
	}
	if len(distinct) < 25 {
		t.Errorf("30 seeds gave only %d different runs", len(distinct))
	}
	other := a
	other.TaskID = "u"
	one, _ := play(t, "random", 1, a)
	two, _ := play(t, "random", 1, other)
	if one == two {
		t.Error("the same seed does the same on another task")
	}
}

func TestOneAgentServesRunsAtTheSameTime(t *testing.T) {
	a := assignment("t", bookingSchema)
	want, _ := play(t, "random", 5, a)
	agent := random{5}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			w := &world{}
			res, err := agent.Run(context.Background(), a, w)
			out, _ := json.Marshal(res)
			if got := string(out) + "\n" + strings.Join(w.calls, "\n"); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
	wg.Wait()
}

func TestRandomUsesWhatItSaw(t *testing.T) {
	reused, answered := false, false
	for seed := range uint64(200) {
		schema := `{"type":"object","required":["q"],"properties":{"q":{"type":"string"}}}`
		all, calls := play(t, "random", seed, assignment("t", schema))
		for _, c := range calls[1:] {
			reused = reused || strings.Contains(c, "order-4711 is ready") || strings.Contains(c, "Łódź")
		}
		answered = answered || strings.HasPrefix(all, `{"response":"order-4711 is ready"`)
	}
	if !reused || !answered {
		t.Errorf("in 200 runs no argument (%v) or no answer (%v) came from a result", reused, answered)
	}
}

func TestRandomStopsWhenTheWorldBreaks(t *testing.T) {
	broken := errors.New("the server is gone")
	w := &world{fail: broken}
	_, err := random{1}.Run(t.Context(), assignment("t", `{}`), w)
	if owner, _ := tooleval.BlamedOn(err); !errors.Is(err, broken) || owner != tooleval.OwnerWorld || len(w.calls) != 1 {
		t.Errorf("got error %v of %q after %d calls, want the world's after 1", err, owner, len(w.calls))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if _, err := (random{1}).Run(ctx, assignment("t", `{}`), &world{}); !errors.Is(err, broken) {
		t.Errorf("cancelled: got %v, want the cause", err)
	}
	if _, calls := play(t, "random", 1, assignment("t")); len(calls) != 0 {
		t.Errorf("without tools: %d calls", len(calls))
	}
}
