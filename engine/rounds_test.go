package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
)

// twoTasks is a suite of the tasks t0 and t1.
func twoTasks(s *tooleval.Suite) {
	t := s.Tasks[0]
	t.ID = "t1"
	s.Tasks = append(s.Tasks, t)
}

// rounds executes a plan of at most 40 runs in rounds: t0 wants 12 runs, t1 wants more than there may be.
func rounds(ctx context.Context, t *testing.T, stored map[string]*tooleval.Run, stopAt int) (reported []string, done int, runs map[[2]string]int, err error) {
	p, r := prepare(t, suite(twoTasks), tooleval.AgentFunc(good), engine.Options{Runs: 40}, engine.RunnerOptions{})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	seen := map[string]int{}
	var mu sync.Mutex
	sink := engine.Sink{
		Reuse: func(job engine.Job) *tooleval.Run {
			mu.Lock()
			defer mu.Unlock()
			return stored[r.Identity(job)]
		},
		Keep: func(run *tooleval.Run) error {
			mu.Lock()
			defer mu.Unlock()
			if run.Ending != tooleval.Cancelled {
				stored[run.Identity] = run
			}
			return nil
		},
		Report: func(job engine.Job, run *tooleval.Run, reused bool) {
			if job.Baseline != "" || run.Ending == tooleval.Cancelled {
				return
			}
			seen[job.Task]++
			reported = append(reported, fmt.Sprint(job.Task, job.Index))
			if !reused {
				done++
			}
			if len(reported) == stopAt {
				cancel(errors.New("stop"))
			}
		},
	}
	runs, err = engine.ExecuteRounds(ctx, p, r.Do, engine.Pool{Concurrency: 1}, sink, func(_, task string) bool {
		return seen[task] < map[string]int{"t0": 12, "t1": 1000}[task]
	})
	return reported, done, runs, err
}

// TestRounds: runs go to the tasks that are open, and no task gets more than the plan's.
func TestRounds(t *testing.T) {
	reported, done, runs, err := rounds(t.Context(), t, map[string]*tooleval.Run{}, 0)
	want := map[[2]string]int{{"s", "t0"}: 12, {"s", "t1"}: 40}
	if err != nil || !maps.Equal(runs, want) || len(reported) != 52 || done != 52 {
		t.Fatalf("error %v, runs %v, %d reported, %d done", err, runs, len(reported), done)
	}
	seen := map[string]bool{}
	for _, r := range reported {
		if seen[r] {
			t.Errorf("%s twice", r)
		}
		seen[r] = true
	}
	if fmt.Sprint(reported[:12]) != "[t00 t01 t02 t03 t04 t10 t11 t12 t13 t14 t05 t15]" {
		t.Errorf("the order is %v", reported[:12])
	}
}

// TestE13RoundsResume: a stopped eval takes up its rounds again, does nothing twice, and ends as if it had not stopped.
func TestE13RoundsResume(t *testing.T) {
	whole, _, runs, _ := rounds(t.Context(), t, map[string]*tooleval.Run{}, 0)
	for _, at := range []int{1, 7, 13, 30} {
		stored := map[string]*tooleval.Run{}
		_, first, _, err := rounds(t.Context(), t, stored, at)
		if err == nil || first >= 52 {
			t.Fatalf("it was not stopped: %d done, %v", first, err)
		}
		reported, second, again, err := rounds(t.Context(), t, stored, 0)
		if err != nil || fmt.Sprint(reported) != fmt.Sprint(whole) || !maps.Equal(runs, again) || first+second != 52 {
			t.Errorf("stopped at %d: %v, %d and %d done, runs %v, order\n%v\n%v", at, err, first, second, again, reported, whole)
		}
	}
}
