package worlds

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// gap is the error for a call that no fixture covers. The nearest fixture is the one of the same tool of which the
// largest share of expectations is met; among equals the one that is spelt most alike, then the first.
// raw are the arguments as sent, args the same with defaults filled in.
func (w *mockWorld) gap(tool string, raw tooleval.Raw, args any) *tooleval.Gap {
	if len(raw) == 0 {
		raw = tooleval.Raw("{}")
	}
	call := fmt.Sprintf("%.100s(%.200s)", tool, []byte(raw))
	best, at := -1.0, []int(nil)
	for i := range w.mock.Fixtures {
		if w.mock.Fixtures[i].Tool != tool {
			continue
		}
		c := w.pattern(i).Compare(args)
		share := float64(c.Met) / float64(max(c.Total, 1))
		if share > best {
			best, at = share, nil
		}
		if share == best {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		none := fmt.Sprintf("no fixture answers %.100q", tool)
		return &tooleval.Gap{
			Message: fmt.Sprintf("no fixture for %s; %s%s", call, none, didYouMean(tool, w.mock.fixtureTools())),
			Nearest: none,
		}
	}
	i := w.mostAlike(call, at)
	f := &w.mock.Fixtures[i]
	nearest := f.call() + ": " + differences(w.pattern(i).Compare(args).Diff)
	return &tooleval.Gap{
		// What the fixture expects may be the answer key, so the agent only learns which one it is.
		Message: fmt.Sprintf("no fixture for %s; the nearest is fixture %d of this world", call, i+1),
		Nearest: fmt.Sprintf("fixture %d: %s", i+1, nearest),
	}
}

// mostAlike is the fixture whose call is spelt most like this one; the first when none is like it.
func (w *mockWorld) mostAlike(call string, at []int) int {
	if len(at) == 1 {
		return at[0]
	}
	calls := make([]string, len(at))
	for i, j := range at {
		calls[i] = w.mock.Fixtures[j].call()
	}
	nearest := tooleval.Nearest(call, calls)
	for i, c := range calls {
		if c == nearest {
			return at[i]
		}
	}
	return at[0]
}

// differences are the first few differences in one line.
func differences(diff []tooleval.Difference) string {
	const most = 3
	var parts []string
	for _, d := range diff[:min(len(diff), most)] {
		parts = append(parts, fmt.Sprintf("%.300s", d))
	}
	if more := len(diff) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}
