package engine

import (
	"context"
	"runtime"
	"sync"

	"github.com/tooleval/tooleval"
)

// A Sink takes finished runs.
type Sink struct {
	// Reuse returns the stored run of a job that need not be done again, or nil. It is called in plan order.
	Reuse func(job Job) *tooleval.Run
	// Keep makes a finished run durable. It is called concurrently, in the order in which runs finish. An error ends the
	// eval. Nil keeps nothing.
	Keep func(run *tooleval.Run) error
	// Report gets every run, kept or reused, in plan order, one at a time. Nil reports nothing.
	Report func(job Job, run *tooleval.Run, reused bool)
}

// A Pool says how many things happen at a time. The zero value works.
type Pool struct {
	// Concurrency is the number of jobs at a time. 0 means the number of processors.
	Concurrency int
	// Writers is the number of Keep calls at a time: waiting for a disk must not keep a processor idle. 0 means 16.
	Writers int
	// Ahead is how many jobs may be finished before the oldest unfinished one is reported; it bounds memory. 0 means 1024
	// or 16 jobs a worker, whichever is more.
	Ahead int
}

// Execute does the jobs of a plan on a local pool. It returns when all runs that were started are reported. When ctx is
// done no job is started any more, those in flight end as cancelled and are kept, and the cause is returned.
func Execute(ctx context.Context, plan *Plan, do func(context.Context, Job) *tooleval.Run, pool Pool, sink Sink) error {
	if pool.Concurrency <= 0 {
		pool.Concurrency = runtime.NumCPU()
	}
	if pool.Writers <= 0 {
		pool.Writers = 16
	}
	if pool.Ahead <= 0 {
		pool.Ahead = max(1024, 16*pool.Concurrency)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	e := &execution{sink: sink, ring: make([]done, pool.Ahead), room: make(chan struct{}, pool.Ahead)}
	jobs := make(chan int)
	writers := make(chan struct{}, pool.Writers)
	var workers, keeping sync.WaitGroup
	for range min(pool.Concurrency, plan.Len()) {
		workers.Go(func() {
			for i := range jobs {
				job := plan.Job(i)
				run := do(ctx, job)
				writers <- struct{}{}
				keeping.Go(func() {
					defer func() { <-writers }()
					if sink.Keep != nil {
						if err := sink.Keep(run); err != nil {
							cancel(err)
							return
						}
					}
					e.deliver(i, done{job: job, run: run})
				})
			}
		})
	}
	for i := 0; i < plan.Len() && ctx.Err() == nil; i++ {
		select {
		case e.room <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		if sink.Reuse != nil {
			job := plan.Job(i)
			if run := sink.Reuse(job); run != nil {
				e.deliver(i, done{job: job, run: run, reused: true})
				continue
			}
		}
		select {
		case jobs <- i:
		case <-ctx.Done():
		}
	}
	close(jobs)
	workers.Wait()
	keeping.Wait()
	e.drain()
	return context.Cause(ctx)
}

type done struct {
	job    Job
	run    *tooleval.Run
	reused bool
}

// An execution puts finished runs back into plan order. The ring holds those that wait for an earlier one.
type execution struct {
	sink Sink
	room chan struct{}

	mu   sync.Mutex
	ring []done
	next int
}

func (e *execution) deliver(i int, d done) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ring[i%len(e.ring)] = d
	for e.ring[e.next%len(e.ring)].run != nil {
		e.report(e.next)
		e.next++
	}
}

func (e *execution) report(i int) {
	slot := &e.ring[i%len(e.ring)]
	if e.sink.Report != nil {
		e.sink.Report(slot.job, slot.run, slot.reused)
	}
	*slot = done{}
	<-e.room
}

// drain reports what still waits behind a job that was never done.
func (e *execution) drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := e.next; i < e.next+len(e.ring); i++ {
		if e.ring[i%len(e.ring)].run != nil {
			e.report(i)
		}
	}
}
