package report

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// A Bar shows how far a long piece of work is. It is for standard error, so that it stays out of the report. All methods
// may be called concurrently, and on a nil Bar, which shows nothing.
type Bar struct {
	w     io.Writer
	total int

	progress *mpb.Progress // nil off a terminal
	bar      *mpb.Bar

	mu            sync.Mutex
	done          int
	started, last time.Time
	ended         bool
}

const (
	redraw  = 100 * time.Millisecond // of the bar on a terminal
	between = 30 * time.Second       // lines off a terminal
)

// Progress starts a Bar over total steps. On a terminal it is redrawn at most 10 times a second and shows an estimate of
// the time left; elsewhere it writes a line every 30 seconds, and nothing when the work is shorter. Call Done at the end,
// also when the work was cut short: it takes the bar off the terminal. Without a writer the Bar is nil, and without steps
// it shows nothing.
func Progress(w io.Writer, isTerminal bool, total int) *Bar {
	if w == nil {
		return nil
	}
	now := time.Now()
	b := &Bar{w: w, total: total, started: now, last: now}
	if !isTerminal || total <= 0 {
		return b
	}
	b.progress = mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(redraw), mpb.WithAutoRefresh(), mpb.ForceTTY())
	b.bar = b.progress.New(int64(total), mpb.BarStyle().Lbound("").Filler("━").Tip("━").Padding("─").Rbound(""),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d runs ")),
		mpb.AppendDecorators(decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), ""), decor.Name(" left")))
	return b
}

// Add counts n more steps.
func (b *Bar) Add(n int) {
	if b == nil || n <= 0 || b.total <= 0 {
		return
	}
	if b.bar != nil {
		b.bar.IncrBy(n)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	now := time.Now()
	if b.ended || now.Sub(b.last) < between {
		return
	}
	b.last = now
	line := fmt.Sprintf("%d of %d runs", b.done, b.total)
	if b.done < b.total {
		left := time.Duration(float64(now.Sub(b.started)) / float64(b.done) * float64(b.total-b.done))
		line += ", about " + left.Round(time.Second).String() + " left"
	}
	_, _ = fmt.Fprintln(b.w, line) // a lost line about progress is no reason to stop the work
}

// Write prints whole lines above the bar, without garbling it. What comes from outside must be clean already.
func (b *Bar) Write(p []byte) (int, error) {
	if b == nil {
		return len(p), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.progress != nil && !b.ended {
		return b.progress.Write(p)
	}
	return b.w.Write(p)
}

// Done ends the Bar, whether or not all steps were counted, and returns when nothing of it will be written any more. More
// calls of it do nothing.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	b.ended = true
	if b.bar != nil {
		b.bar.Abort(true)
		b.progress.Wait()
	}
}
