package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// ErrRunTimeout is the cause of a run's context when its time is over.
var ErrRunTimeout = errors.New("the run's time is over")

var errStuck = errors.New("it did not return in time and was left behind")

// A panicked is the error that a panic becomes.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guarded calls foreign code in a goroutine of its own: a panic becomes an error, and when the context is done and the
// grace is over the caller goes on without it. Its result is then dropped.
func guarded[T any](ctx context.Context, grace time.Duration, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	spawn(func() {
		var o outcome
		returned := false
		defer func() {
			if !returned { // a panic, or runtime.Goexit as t.FailNow calls it
				o.err = &panicked{recover(), debug.Stack()}
			}
			done <- o
		}()
		o.value, o.err = f(ctx)
		if o.err != nil {
			_ = o.err.Error() // a panic in here, of a nil pointer in an error, say, is theirs as well
		}
		returned = true
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-timer.C:
		var zero T
		return zero, errStuck
	}
}

// idle are goroutines that wait for work. Their stacks have grown already: growing a new one for every stage of every run
// cost a fifth of the harness's time.
var idle = make(chan chan func(), 64)

// spawn runs f in an idle goroutine, or in a new one. A goroutine that f never gives back is simply not idle again.
func spawn(f func()) {
	select {
	case work := <-idle:
		work <- f
	default:
		work := make(chan func(), 1)
		work <- f
		go func() {
			for f := range work {
				f()
				select {
				case idle <- work:
				default: // enough are waiting
					return
				}
			}
		}()
	}
}

// bounded is guarded for a stage that has a time limit of its own and no grace.
func bounded[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer cancel()
	v, err := guarded(ctx, time.Second, f)
	if errors.Is(err, errStuck) {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), errStuck)
	}
	return v, err
}
