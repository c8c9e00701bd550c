package process

import (
	"fmt"
	"sync"
)

// Limits bound how much of a program's output is kept, in bytes. Zero stands for 16 KiB of the head and 48 KiB of the
// tail.
type Limits struct{ Head, Tail int }

// A Capture is a Writer that keeps the head and the tail of what is written and never blocks or fails. The zero Capture
// is ready. It may be used concurrently.
type Capture struct {
	Limits Limits

	mu   sync.Mutex
	head []byte
	tail []byte // a ring once it is full
	next int    // where the ring is written next
	size int64
}

func (c *Capture) limits() (head, tail int) {
	if c.Limits == (Limits{}) {
		return 16 << 10, 48 << 10
	}
	return max(c.Limits.Head, 0), max(c.Limits.Tail, 0)
}

// Write keeps what fits.
func (c *Capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(b)
	c.size += int64(n)
	head, tail := c.limits()
	if room := head - len(c.head); room > 0 {
		k := min(room, len(b))
		c.head = append(c.head, b[:k]...)
		b = b[k:]
	}
	b = b[max(0, len(b)-tail):]
	if room := tail - len(c.tail); room > 0 {
		k := min(room, len(b))
		c.tail = append(c.tail, b[:k]...)
		b = b[k:]
	}
	for len(b) > 0 {
		k := copy(c.tail[c.next:], b)
		c.next = (c.next + k) % len(c.tail)
		b = b[k:]
	}
	return n, nil
}

// Size is the number of bytes that were written.
func (c *Capture) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// String is the output; a note stands where bytes are left out.
func (c *Capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := string(c.tail[c.next:]) + string(c.tail[:c.next])
	if left := c.size - int64(len(c.head)+len(c.tail)); left > 0 {
		return fmt.Sprintf("%s\n… %d bytes are left out …\n%s", c.head, left, tail)
	}
	return string(c.head) + tail
}

// Tail is at most n bytes of the end of the output.
func (c *Capture) Tail(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := string(c.tail[c.next:]) + string(c.tail[:c.next])
	if c.size == int64(len(c.head)+len(c.tail)) {
		end = string(c.head) + end
	}
	return end[max(0, len(end)-n):]
}
