package taxonomy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

const (
	mostEvidence = 12  // pointers of one failure; the rest is in the record
	mostNote     = 300 // bytes of a note
	mostOfAKind  = 5   // pointers of one kind: differences, calls made instead, gaps
)

// pointAt is evidence about call i.
func pointAt(run *tooleval.Run, i int, path, format string, args ...any) tooleval.Pointer {
	p := note(path, format, args...)
	began := run.Trajectory.Calls[i].Began
	p.Call = &began
	return p
}

// note is evidence that is no call.
func note(path, format string, args ...any) tooleval.Pointer {
	return tooleval.Pointer{Path: path, Note: tooleval.Text(clip(fmt.Sprintf(format, args...), mostNote))}
}

// bounded cuts evidence at its bound and says so.
func bounded(list []tooleval.Pointer) []tooleval.Pointer {
	if len(list) <= mostEvidence {
		return list
	}
	rest := len(list) - mostEvidence + 1
	return append(list[:mostEvidence-1:mostEvidence-1], note("", "and %d more", rest))
}

// clip shortens s to at most n bytes, at a letter's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// differences are the first places that are not as expected.
func differences(list []tooleval.Difference) []tooleval.Pointer {
	var out []tooleval.Pointer
	for _, d := range list[:min(len(list), mostOfAKind)] {
		out = append(out, note(d.Path, "%s", withoutPath(d)))
	}
	if n := len(list) - mostOfAKind; n > 0 {
		out = append(out, note("", "and %d more differences in the state", n))
	}
	return out
}

// withoutPath is a difference in words, for a pointer that has the path already.
func withoutPath(d tooleval.Difference) string { return strings.TrimPrefix(d.String(), d.Path+": ") }

// gapNotes name the calls for which the mock world had no fixture.
func gapNotes(run *tooleval.Run) []tooleval.Pointer {
	var out []tooleval.Pointer
	for i := range run.Trajectory.Calls {
		c := &run.Trajectory.Calls[i]
		if c.FixtureGap != "" && len(out) < mostOfAKind {
			out = append(out, pointAt(run, i, "", "the mock world has no fixture for this call of %s; nearest: %s",
				clip(c.Tool, 100), c.FixtureGap))
		}
	}
	return out
}

// faultNotes name the injected fault in the last call, after which the agent ended.
func faultNotes(run *tooleval.Run) []tooleval.Pointer {
	i := len(run.Trajectory.Calls) - 1
	if i < 0 || run.Trajectory.Calls[i].Fault == "" {
		return nil
	}
	c := &run.Trajectory.Calls[i]
	return []tooleval.Pointer{pointAt(run, i, "", "fault %q was injected into the last call, of %s", c.Fault, c.Tool)}
}
