package engine_test

import (
	"runtime"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
)

// BenchmarkDo is the harness's own cost of one mock run with three tool calls, scored and classified, without the file.
// Target: under 25 µs and 150 allocations.
func BenchmarkDo(b *testing.B) {
	p, runner := prepare(b, suite(), tooleval.AgentFunc(good), engine.Options{Runs: 1}, engine.RunnerOptions{})
	job := p.Job(p.Baselines())
	b.ReportAllocs()
	for b.Loop() {
		if run := runner.Do(b.Context(), job); run.Score.Verdict != tooleval.Passed {
			b.Fatal(run.Score.Why)
		}
	}
}

// BenchmarkMillionRuns does 1,000,000 runs a loop without files. Target: constant memory, under 100 MiB of live heap.
func BenchmarkMillionRuns(b *testing.B) {
	const runs = 1_000_000
	p, runner := prepare(b, suite(), tooleval.AgentFunc(good), engine.Options{Runs: runs}, engine.RunnerOptions{})
	var most uint64
	for b.Loop() {
		n := 0
		err := engine.Execute(b.Context(), p, runner.Do, engine.Pool{}, engine.Sink{
			Report: func(engine.Job, *tooleval.Run, bool) {
				if n++; n%50_000 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapInuse)
				}
			},
		})
		if err != nil || n != p.Len() {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(most)/(1<<20), "heap-MiB")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*runs), "µs/run")
}
