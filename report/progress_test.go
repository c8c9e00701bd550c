package report

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A lockedBuffer may be written while it is read.
type lockedBuffer struct {
	mu     sync.Mutex
	b      bytes.Buffer
	writes int
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProgressOffATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		b := Progress(&out, false, 1000)
		for range 50 {
			time.Sleep(time.Second)
			b.Add(1)
		}
		b.Done()
		b.Add(1000)
		if got, want := out.String(), "30 of 1000 runs, about 16m10s left\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	var short lockedBuffer
	b := Progress(&short, false, 3)
	b.Add(3)
	b.Done()
	if short.String() != "" {
		t.Errorf("short work off a terminal prints %q", short.String())
	}
}

func TestProgressOnATerminalLeavesNothingBehind(t *testing.T) {
	for _, steps := range []int{3, 10} { // cut short, and complete
		var out lockedBuffer
		b := Progress(&out, true, 10)
		for range steps {
			b.Add(1)
		}
		deadline := time.Now().Add(5 * time.Second)
		for steps < 10 && !strings.Contains(out.String(), "3 of 10 runs") && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if steps < 10 {
			if !strings.Contains(out.String(), "3 of 10 runs") || !strings.Contains(out.String(), "left") {
				t.Errorf("the bar shows %q", out.String())
			}
			if _, err := b.Write([]byte("warning: one\n")); err != nil {
				t.Error(err)
			}
		}
		b.Done()
		b.Done()
		b.Add(1)
		after := out.String()
		time.Sleep(3 * redraw)
		if out.String() != after {
			t.Error("the bar is drawn after Done")
		}
		if left := screen(after); strings.Contains(left, "runs") {
			t.Errorf("%d steps: the screen still shows %q", steps, left)
		} else if steps < 10 && !strings.Contains(left, "warning: one") {
			t.Errorf("the warning is lost: %q", after)
		}
	}
}

func TestProgressIsCheap(t *testing.T) {
	var out lockedBuffer
	b := Progress(&out, true, 1_000_000)
	start := time.Now()
	for time.Since(start) < 500*time.Millisecond {
		b.Add(1)
	}
	b.Done()
	if most := int(time.Since(start)/redraw) + 3; out.writes > 2*most {
		t.Errorf("%d writes in half a second", out.writes)
	}
}

func TestProgressOfNothing(t *testing.T) {
	var none *Bar
	none.Add(1)
	none.Done()
	if n, err := none.Write([]byte("x")); n != 1 || err != nil {
		t.Error(n, err)
	}
	if Progress(nil, true, 3) != nil {
		t.Error("a bar without a writer is not nil")
	}
	var out lockedBuffer
	b := Progress(&out, true, 0)
	b.Add(1)
	_, _ = b.Write([]byte("kept\n"))
	b.Done()
	if out.String() != "kept\n" {
		t.Errorf("got %q", out.String())
	}
}

var upAndErase = regexp.MustCompile(`^\x1b\[(\d*)([AJK])`)

// screen is what a terminal shows after out: it knows the sequences that the bar is drawn with.
func screen(out string) string {
	var lines = []string{""}
	row := 0
	for i := 0; i < len(out); {
		if m := upAndErase.FindStringSubmatch(out[i:]); m != nil {
			switch m[2] {
			case "A":
				up := 1
				if m[1] != "" {
					up = int(m[1][0] - '0')
				}
				row = max(0, row-up)
			case "J":
				lines = append(lines[:row], "")
			case "K":
				lines[row] = ""
			}
			i += len(m[0])
			continue
		}
		switch out[i] {
		case '\n':
			row++
			if row == len(lines) {
				lines = append(lines, "")
			}
		case '\r':
		default:
			lines[row] += string(out[i])
		}
		i++
	}
	return strings.Join(lines, "\n")
}
