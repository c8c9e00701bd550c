package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
)

func plan(t *testing.T, runs int) *engine.Plan {
	t.Helper()
	p, _ := prepare(t, suite(), tooleval.AgentFunc(good), engine.Options{Runs: runs}, engine.RunnerOptions{})
	return p
}

// TestPlanOrder: runs are reported in plan order whatever order they finish in, also when the window is small.
func TestPlanOrder(t *testing.T) {
	p := plan(t, 200)
	var want, got []string
	for i := range p.Len() {
		want = append(want, fmt.Sprint(p.Job(i)))
	}
	slow := func(_ context.Context, job engine.Job) *tooleval.Run {
		time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
		return &tooleval.Run{Index: job.Index}
	}
	err := engine.Execute(t.Context(), p, slow, engine.Pool{Concurrency: 8, Ahead: 3}, engine.Sink{
		Keep:   func(*tooleval.Run) error { time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond); return nil },
		Report: func(job engine.Job, _ *tooleval.Run, _ bool) { got = append(got, fmt.Sprint(job)) },
	})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("error %v, order\n got %v\nwant %v", err, got, want)
	}
}

// TestE16Cancel: no job is started after the cancellation, those in flight are kept, and the cause comes back.
func TestE16Cancel(t *testing.T) {
	p := plan(t, 1000)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user said so")
	var started, kept, reported atomic.Int32
	do := func(ctx context.Context, job engine.Job) *tooleval.Run {
		if started.Add(1) == 20 {
			cancel(stop)
		}
		if ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return &tooleval.Run{Index: job.Index}
	}
	err := engine.Execute(ctx, p, do, engine.Pool{Concurrency: 4}, engine.Sink{
		Keep:   func(*tooleval.Run) error { kept.Add(1); return nil },
		Report: func(engine.Job, *tooleval.Run, bool) { reported.Add(1) },
	})
	if !errors.Is(err, stop) {
		t.Errorf("got error %v, want the cause", err)
	}
	if s := started.Load(); s < 20 || s > 40 || kept.Load() != s || reported.Load() != s {
		t.Errorf("started %d, kept %d, reported %d", s, kept.Load(), reported.Load())
	}
}

// TestKeepFails: a full disk ends the eval with its error, and nothing that could not be kept is reported.
func TestKeepFails(t *testing.T) {
	p := plan(t, 1000)
	full := errors.New("no space left")
	var kept, reported atomic.Int32
	err := engine.Execute(t.Context(), p, func(context.Context, engine.Job) *tooleval.Run { return &tooleval.Run{} },
		engine.Pool{}, engine.Sink{
			Keep: func(*tooleval.Run) error {
				if kept.Add(1) > 50 {
					return full
				}
				return nil
			},
			Report: func(engine.Job, *tooleval.Run, bool) { reported.Add(1) },
		})
	if !errors.Is(err, full) || reported.Load() != 50 {
		t.Errorf("got error %v and %d reported runs, want 50", err, reported.Load())
	}
}

// TestE13Reuse: a stored run is reported in its place and not done again.
func TestE13Reuse(t *testing.T) {
	p := plan(t, 10)
	var mu sync.Mutex
	done := 0
	var reused []int
	err := engine.Execute(t.Context(), p, func(_ context.Context, job engine.Job) *tooleval.Run {
		mu.Lock()
		defer mu.Unlock()
		done++
		return &tooleval.Run{Index: job.Index}
	}, engine.Pool{}, engine.Sink{
		Reuse: func(job engine.Job) *tooleval.Run {
			if job.Baseline == "" && job.Index%2 == 0 {
				return &tooleval.Run{Index: job.Index}
			}
			return nil
		},
		Report: func(_ engine.Job, run *tooleval.Run, old bool) {
			if old {
				reused = append(reused, run.Index)
			}
		},
	})
	if err != nil || fmt.Sprint(reused) != "[0 2 4 6 8]" || done != 5+p.Baselines() {
		t.Errorf("error %v, reused %v, done %d", err, reused, done)
	}
}
