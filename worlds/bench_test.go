package worlds_test

import (
	"context"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

func benchMock() worlds.Mock {
	return mock(
		worlds.Fixture{Tool: "calculate", Args: args(obj{"expression": "1 + 1"}), Results: says("2")},
		worlds.Fixture{Tool: "calculate", Args: args(obj{"expression": "6 * 7"}), Results: says("42")},
		worlds.Fixture{Tool: "convert", Args: args(obj{"value": 30, "from": "mi"}), Results: says("48.28")},
		worlds.Fixture{Tool: "save_output", Results: says("ok"), Keep: "saved"},
	)
}

func BenchmarkNewWorld(b *testing.B) {
	m, spec := benchMock(), tooleval.WorldSpec{Tools: calcTools}
	b.ReportAllocs()
	var factory tooleval.WorldFactory = m // as the engine calls it
	ctx := b.Context()
	for b.Loop() {
		w, err := factory.NewWorld(ctx, spec)
		if err != nil {
			b.Fatal(err)
		}
		sink = w
	}
}

var sink tooleval.World

// One run as the harness makes it: a fresh world, three recorded calls, the record and the state.
func BenchmarkRunOfThreeCalls(b *testing.B) {
	for _, c := range []struct {
		name  string
		tools []tooleval.Tool
	}{
		{"defaults", calcTools},
		{"plain", []tooleval.Tool{{Name: "calculate"}, {Name: "convert"}, {Name: "save_output"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, spec, ctx := benchMock(), tooleval.WorldSpec{Tools: c.tools}, b.Context()
			calls := []tooleval.ToolCall{
				{Tool: "calculate", Args: tooleval.Raw(`{"expression":"6 * 7"}`)},
				{Tool: "convert", Args: tooleval.Raw(`{"value":30,"from":"mi"}`)},
				{Tool: "save_output", Args: tooleval.Raw(`{"path":"out.json"}`)},
			}
			b.ReportAllocs()
			for b.Loop() {
				w, err := m.NewWorld(ctx, spec)
				if err != nil {
					b.Fatal(err)
				}
				r := worlds.Record(worlds.Guard(w, c.tools), worlds.RecordOptions{})
				for _, call := range calls {
					if res, err := r.CallTool(ctx, call); err != nil || res.IsError {
						b.Fatal(res, err)
					}
				}
				r.Close()
				if got := len(r.Trajectory().Calls); got != 3 {
					b.Fatal(got)
				}
				if _, err := w.State(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A recorded call alone, of a handler that does nothing.
func BenchmarkRecord(b *testing.B) {
	res := tooleval.TextResult("ok")
	inner := handler(func(_ context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) { return res, nil })
	call := tooleval.ToolCall{Tool: "t", Args: tooleval.Raw(`{"expression":"6 * 7"}`)}
	b.ReportAllocs()
	r := worlds.Record(inner, worlds.RecordOptions{MaxCalls: 1 << 40, MaxBytes: 1 << 60})
	n, ctx := 0, b.Context()
	for b.Loop() {
		if n++; n%1000 == 0 { // a run's worth
			r = worlds.Record(inner, worlds.RecordOptions{})
		}
		if _, err := r.CallTool(ctx, call); err != nil {
			b.Fatal(err)
		}
	}
}
