package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/report"
)

const (
	mostAnnotations = 10      // GitHub shows no more of a kind for a step
	mostSummary     = 1 << 19 // bytes; GitHub takes 1 MiB for a step, in which others may write too
	mostAnnotation  = 1000    // bytes
	actions         = "GITHUB_ACTIONS"
)

// annotate tells GitHub what the gate said, by workflow commands. They go to standard error, which the runner reads too,
// so that the results on standard output stay what they are.
func (a *App) annotate(r *compare.Result) {
	if r == nil {
		return
	}
	left := mostAnnotations
	say := func(kind, title, text string) {
		if left > 0 {
			left--
			fmt.Fprint(a.commands(), command(kind, title, text))
		}
	}
	kinds := map[compare.Answer]string{compare.Pass: "notice", compare.Fail: "error", compare.NotEnough: "warning"}
	if r.Answer == compare.Pass {
		say("notice", "tooleval: gate passed", strings.Join(r.Explain(), "\n"))
		return
	}
	for _, want := range []compare.Answer{compare.Fail, compare.NotEnough} {
		for _, c := range r.Conditions {
			if c.Answer != want {
				continue
			}
			lines := []string{c.Why + " (" + c.Bar + ")"}
			for _, t := range c.Tasks {
				name := t.TaskID
				if t.Check != "" {
					name += ", check " + t.Check
				}
				lines = append(lines, name+": "+t.Why)
			}
			for i := range lines {
				lines[i] = plain.Text(lines[i])
			}
			say(kinds[want], fmt.Sprintf("tooleval: %s %s (%s)", c.Words(), strings.ReplaceAll(string(want), "_", " "), c.Mind), strings.Join(lines, "\n"))
		}
	}
}

// command is a workflow command in one line. Nothing in title or text can end it or begin another one: the characters that
// mean something to the runner are escaped as its own toolkit does.
func command(kind, title, text string) string {
	text = plain.Clip(plain.Block(text), mostAnnotation)
	title = plain.Text(plain.Clip(title, 200))
	return "::" + kind + " title=" + escapeProperty.Replace(title) + "::" + escapeData.Replace(text) + "\n"
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// stepSummary appends the report to the summary of the step, where there is one.
func (a *App) stepSummary(r report.Report) error {
	path := a.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := report.Markdown(&b, r); err != nil {
		return err
	}
	text := b.Bytes()
	if len(text) > mostSummary {
		text = text[:bytes.LastIndexByte(text[:mostSummary], '\n')+1]
		text = append(text, "\nThe rest is too long for a summary.\n"...)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// commands is where workflow commands of our own may be written.
func (a *App) commands() io.Writer {
	if q, ok := a.Stderr.(*quiet); ok {
		_ = q.flush()
		return q.w
	}
	return a.Stderr
}

// A quiet writer takes the meaning out of workflow commands in what goes through it: in GitHub Actions whatever a program
// prints can set outputs and forge annotations, and a report prints what an agent said. A line that begins with :: gets a
// space between the colons, and ##[, which is looked for anywhere, one before the bracket; in JSON it becomes an escape,
// so that the document means the same.
type quiet struct {
	w       io.Writer
	mu      sync.Mutex // the progress bar and a command write at the same time
	line    []byte
	started bool
	json    bool
}

// Write keeps an unfinished line until the rest of it comes.
func (q *quiet) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n') + 1
		if i == 0 {
			q.line = append(q.line, b...)
			const longest = 1 << 20
			if len(q.line) < longest {
				break
			}
			i = 0
		} else {
			q.line = append(q.line, b[:i]...)
		}
		if err := q.put(); err != nil {
			return 0, err
		}
		if i == 0 {
			break
		}
		b = b[i:]
	}
	return n, nil
}

// flush writes a line that is not finished.
func (q *quiet) flush() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.put()
}

func (q *quiet) put() error {
	if len(q.line) == 0 {
		return nil
	}
	line := q.line
	if trimmed := bytes.TrimSpace(line); !q.started && len(trimmed) > 0 {
		q.started, q.json = true, trimmed[0] == '{' || trimmed[0] == '['
	}
	if q.json {
		line = bytes.ReplaceAll(line, []byte("##["), []byte(`##\u005b`))
	} else {
		line = bytes.ReplaceAll(line, []byte("##["), []byte("## ["))
		if rest := bytes.TrimSpace(line); bytes.HasPrefix(rest, []byte("::")) {
			line = bytes.Replace(line, []byte("::"), []byte(": :"), 1)
		}
	}
	_, err := q.w.Write(line)
	q.line = q.line[:0]
	return err
}

// guard makes the streams quiet in GitHub Actions. The returned function ends that.
func (a *App) guard() func() {
	if a.getenv(actions) != "true" {
		return func() {}
	}
	out, err := &quiet{w: a.Stdout}, &quiet{w: a.Stderr, started: true}
	a.Stdout, a.Stderr = out, err
	return func() {
		_, _ = out.flush(), err.flush()
		a.Stdout, a.Stderr = out.w, err.w
	}
}
