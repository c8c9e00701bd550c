package acpagent

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"

	"github.com/tooleval/tooleval"
)

// mostNotes is how many different warnings of a run are kept.
const mostNotes = 20

// notes gathers warnings; those that repeat are kept once. It may be used concurrently.
type notes struct {
	mu   sync.Mutex
	kept []tooleval.Text
	seen map[tooleval.Text]bool
	more int
	end  string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	note := tooleval.Text(fmt.Sprintf(format, args...))
	switch {
	case n.seen[note]:
	case len(n.kept) == mostNotes:
		n.more++
	default:
		if n.seen == nil {
			n.seen = map[tooleval.Text]bool{}
		}
		n.seen[note] = true
		n.kept = append(n.kept, note)
	}
}

func (n *notes) list() []tooleval.Text {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := append([]tooleval.Text(nil), n.kept...)
	if n.more > 0 {
		list = append(list, tooleval.Text(fmt.Sprintf("%d more warnings", n.more)))
	}
	return list
}

// Why the library gave a connection up, in its words.
const (
	overrun = "notification queue overflow"
	tooLong = "bufio.Scanner: token too long"
)

// closedBy is why the connection ended, in the library's words.
func (n *notes) closedBy() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.end
}

func (n *notes) setEnd(cause string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end = cause
}

// A logger turns what the protocol's library complains about into notes.
type logger struct{ notes *notes }

func (logger) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (l logger) WithAttrs([]slog.Attr) slog.Handler         { return l }
func (l logger) WithGroup(string) slog.Handler              { return l }

func (l logger) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "failed to parse incoming message") {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "raw" {
				l.notes.add("a line on its standard output is no message: %q", clip(a.Value.String()))
			}
			return true
		})
		return nil
	}
	if r.Message == "connection closed" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "cause" {
				l.notes.setEnd(a.Value.String())
			}
			return true
		})
	}
	if r.Level < slog.LevelWarn {
		return nil
	}
	var attrs []string
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, fmt.Sprintf("%s=%q", a.Key, clip(a.Value.String())))
		return true
	})
	l.notes.add("%s: %s", r.Message, strings.Join(attrs, " "))
	return nil
}

// providerFaults are texts that agents show when their model's server, not they, failed.
var providerFaults = regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests|quota.{0,20}(exceeded|exhausted)|resource.?exhausted|` +
	`\b401\b|\bunauthori[sz]ed\b|(invalid|incorrect|missing).{0,12}api.?key|\b(500|502|503|504|529)\b|overloaded|service unavailable|` +
	`internal server error|bad gateway|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|connection (refused|reset)|fetch failed`)

// providerFault is the line of a text that tells of such a failure.
func providerFault(text string) (string, bool) {
	for line := range strings.SplitSeq(text, "\n") {
		if providerFaults.MatchString(line) {
			return clip(strings.TrimSpace(line)), true
		}
	}
	return "", false
}

// clip shortens text from outside for a message.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
