package airline_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/examples/airline"
	"github.com/tooleval/tooleval/worlds"
)

// BenchmarkReplay replays all 200 recorded runs, on two workers, and judges them.
func BenchmarkReplay(b *testing.B) {
	dir := data(b)
	all := decode[[]recorded](b, filepath.Join(dir, "airline", "gpt-4o-airline.json"))
	type part struct {
		runner *engine.Runner
		jobs   []engine.Job
	}
	var parts []part
	for n := range 4 {
		s, agent, _ := trial(b, dir, all, n)
		suites, backends := []*tooleval.Suite{s}, []engine.Backend{{Name: "m", Agent: agent}}
		plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 1})
		if err != nil {
			b.Fatal(err)
		}
		runner, err := engine.NewRunner(suites, backends, plan, engine.RunnerOptions{})
		if err != nil {
			b.Fatal(err)
		}
		p := part{runner: runner}
		for i := range plan.Len() {
			if job := plan.Job(i); job.Baseline == "" {
				p.jobs = append(p.jobs, job)
			}
		}
		parts = append(parts, p)
	}
	for b.Loop() {
		work := make(chan func())
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for f := range work {
					f()
				}
			})
		}
		for _, p := range parts {
			for _, job := range p.jobs {
				work <- func() { p.runner.Do(context.Background(), job) }
			}
		}
		close(work)
		wg.Wait()
	}
}

// BenchmarkFreshState makes a world over 3 MB of state, books nothing, and takes its state.
func BenchmarkFreshState(b *testing.B) {
	s := load(b, airline.Options{Dir: data(b)})
	spec := tooleval.WorldSpec{Task: s.Tasks[0], Tools: s.Tools}
	for b.Loop() {
		w, err := s.MockWorld.NewWorld(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.State(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall makes one call in a world that has been used before, by tool.
func BenchmarkCall(b *testing.B) {
	s := load(b, airline.Options{Dir: data(b)})
	for _, c := range []struct{ tool, args string }{
		{"think", `{"thought":"hm"}`},
		{"get_reservation_details", `{"reservation_id":"4WQ150"}`},
		{"calculate", `{"expression":"(12.5 + 3) * 4"}`},
		{"search_direct_flight", `{"origin":"JFK","destination":"SEA","date":"2024-05-20"}`},
		{"search_onestop_flight", `{"origin":"JFK","destination":"SEA","date":"2024-05-20"}`},
	} {
		b.Run(c.tool, func(b *testing.B) {
			w, err := s.MockWorld.NewWorld(b.Context(), tooleval.WorldSpec{Task: s.Tasks[0], Tools: s.Tools})
			if err != nil {
				b.Fatal(err)
			}
			h := worlds.Guard(w, s.Tools)
			b.ReportAllocs()
			for b.Loop() {
				if r, err := h.CallTool(b.Context(), tooleval.ToolCall{Tool: c.tool, Args: tooleval.Raw(c.args)}); err != nil || r.IsError {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkLoad reads the suite.
func BenchmarkLoad(b *testing.B) {
	dir := data(b)
	for b.Loop() {
		if _, err := airline.Suite(dir); err != nil {
			b.Fatal(err)
		}
	}
}

// The ids of the tasks are their numbers, which the results of others are given by.
func TestTaskIDs(t *testing.T) {
	s := load(t, airline.Options{Dir: data(t)})
	for i, task := range s.Tasks {
		if task.ID != strconv.Itoa(i) {
			t.Errorf("task %d has id %q", i, task.ID)
		}
	}
	if err := s.Validate(os.Getenv); err != nil {
		t.Error(err)
	}
}
