package agents

import (
	"fmt"
	"sync"

	"github.com/tooleval/tooleval"
)

const (
	mostNotes = 20 // that are kept; the others are counted
	mostNoise = 3  // lines of noise that are shown
)

// notes gathers warnings, however many there are. The zero value is ready; it may be used concurrently.
type notes struct {
	mu     sync.Mutex
	kept   []tooleval.Text
	times  map[tooleval.Text]int
	more   int
	noises int
	shown  []tooleval.Text
}

// add adds a warning; one that was added before is counted.
func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	note := tooleval.Text(fmt.Sprintf(format, args...))
	if n.times == nil {
		n.times = map[tooleval.Text]int{}
	}
	switch {
	case n.times[note] > 0:
		n.times[note]++
	case len(n.kept) == mostNotes:
		n.more++
	default:
		n.times[note] = 1
		n.kept = append(n.kept, note)
	}
}

// noise counts a line that is not part of the protocol.
func (n *notes) noise(what string, line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.noises++; len(n.shown) < mostNoise {
		n.shown = append(n.shown, tooleval.Text(fmt.Sprintf("%s: %q", what, clip(string(line)))))
	}
}

// list is the warnings in the order in which they were first added.
func (n *notes) list() []tooleval.Text {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []tooleval.Text
	if n.noises > 0 {
		line := tooleval.Text(fmt.Sprintf("%d lines on its standard output were ignored: ", n.noises))
		for i, s := range n.shown {
			if i > 0 {
				line += ", "
			}
			line += s
		}
		if n.noises > len(n.shown) {
			line += ", …"
		}
		out = append(out, line)
	}
	for _, k := range n.kept {
		if times := n.times[k]; times > 1 {
			k += tooleval.Text(fmt.Sprintf(" (%d times)", times))
		}
		out = append(out, k)
	}
	if n.more > 0 {
		out = append(out, tooleval.Text(fmt.Sprintf("%d more warnings", n.more)))
	}
	return out
}
