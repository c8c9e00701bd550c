package agents_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/tooleval/tooleval"
)

// BenchmarkRun is one run over stdio with one call, the start and the end of the process included.
func BenchmarkRun(b *testing.B) {
	p := agent(b, "echo")
	for b.Loop() {
		if _, err := p.Run(b.Context(), assignment, &recorder{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall is one tools/call, there and back between two processes.
func BenchmarkCall(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var left atomic.Int64
	left.Store(int64(b.N) + 100)
	tools := tooleval.ToolHandlerFunc(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		switch left.Add(-1) {
		case int64(b.N):
			b.ResetTimer()
		case 0:
			b.StopTimer()
			cancel()
		}
		return tooleval.TextResult(`{"result":"42"}`), nil
	})
	if _, err := agent(b, "many").Run(ctx, assignment, tools); !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
}
