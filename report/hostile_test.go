package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tooleval/tooleval"
)

const evil = "\x1b[2K\rALL PASSED\x1b]52;c;aGk=\a\x9b31m\u009b\u202e\u2066\u200b\x00\xff\n`|\\|<img src=x onerror=alert(1)>" +
	"[a](javascript:b) ![i](http://e.example/i) @everyone a@b.example https://evil.example www.evil.example </code> #1 :smile: &lt; **b**"

// hostileRun has evil text in every field that comes from outside.
func hostileRun(index int) *tooleval.Run {
	r := failedRun(evil, index)
	r.Suite, r.Mind, r.World, r.Eval, r.EntryPoint, r.Identity = evil, evil, evil, evil, evil, evil
	r.Score.Why, r.Error, r.ErrorOwner, r.Stack, r.Ending = evil, evil, evil, evil, evil
	r.Score.Outcome.Score.Why, r.Score.Process.Score.Why = evil, evil
	r.Score.Outcome.Detail = tooleval.Raw(evil)
	r.Score.Outcome.Checks = []tooleval.Check{{Name: evil, Verdict: evil, Note: evil}}
	r.Score.Outcome.Diff = []tooleval.Difference{{Path: evil, Want: tooleval.Raw(evil), Got: tooleval.Raw(`"` + "\u202e" + `"`), Why: evil}}
	r.Score.Process.Components = []tooleval.Component{{Name: evil, Score: tooleval.Unscoredf("%s", evil), Notes: []tooleval.Pointer{{Path: evil, Note: evil}}}}
	r.Failure = &tooleval.Failure{Category: evil, Owner: evil, Why: evil, Evidence: []tooleval.Pointer{{Path: evil, Note: evil}}}
	r.Trajectory = tooleval.Trajectory{Channel: evil, Incomplete: evil, Calls: []tooleval.Call{{Tool: evil, Args: tooleval.Raw(evil), ArgsText: evil,
		ArgsError: evil, Status: evil, Result: tooleval.ToolResult{Text: evil}, Error: evil, FixtureGap: evil, Fault: evil},
		{Tool: evil, Status: tooleval.CallToolError}}}
	in := int64(1)
	r.Result = tooleval.AgentResult{Response: evil, State: tooleval.Raw(evil), Usage: &tooleval.Usage{Model: evil, InputTokens: &in}}
	r.State, r.StateFrom = tooleval.Raw(evil), evil
	r.Warnings = []tooleval.Text{evil}
	r.Task.Description = evil
	r.Provenance = tooleval.Provenance{Tool: evil, Go: evil, Commit: evil, SuiteDigest: evil}
	return r
}

func hostileReport() Report {
	e := header(2, evil)
	e.ID, e.Suite, e.Minds, e.World = evil, evil, []string{evil}, evil
	base := baselineRun(evil, DoNothing, tooleval.Passed, evil)
	other := baselineRun(evil, evil, tooleval.Unscored, "")
	base.Suite, other.Suite, other.Score.Why = evil, evil, evil
	unscored := hostileRun(1)
	unscored.Score.Verdict = evil
	stray := hostileRun(7)
	return build(e, Options{Combine: true, File: func(*tooleval.Run) string { return evil }}, base, other, hostileRun(0), unscored, stray)
}

// checkPlain fails on anything that could move a cursor, reorder text or hide it. Colour allows the sequences of colour.
func checkPlain(t *testing.T, what, out string, color bool) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%s: not UTF-8", what)
	}
	if color {
		for _, piece := range strings.Split(out, "\x1b[")[1:] {
			end := strings.IndexFunc(piece, func(r rune) bool { return r != ';' && !unicode.IsDigit(r) })
			if end < 0 || piece[end] != 'm' {
				t.Errorf("%s: an escape sequence that is no colour: %q", what, piece[:min(20, len(piece))])
			}
		}
		out = strings.ReplaceAll(out, "\x1b[", "")
	}
	for _, r := range out {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("%s: holds %U", what, r)
			return
		}
	}
}

func TestX02NoOutputForPeopleHoldsAnEscapeSequence(t *testing.T) {
	r := hostileReport()
	for _, o := range []TermOptions{{}, {Width: 40}, {Width: 200, Verbose: true}, {Width: 120, Color: true}, {Width: 120, Color: true, Verbose: true}} {
		checkPlain(t, "terminal", string(show(t, r, o)), o.Color)
		var card bytes.Buffer
		if err := RunCard(&card, hostileRun(0), o); err != nil {
			t.Fatal(err)
		}
		checkPlain(t, "run card", card.String(), o.Color)
	}
	var md bytes.Buffer
	if err := Markdown(&md, r); err != nil {
		t.Fatal(err)
	}
	checkPlain(t, "markdown", md.String(), false)
}

func TestX02TheJSONFormKeepsText(t *testing.T) {
	var buf bytes.Buffer
	if err := JSON(&buf, hostileReport()); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(buf.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Sections[0].Runs[0].Failure.Why; got != short(evil) {
		t.Errorf("got %q, want %q", got, short(evil))
	}
}

func TestX01MarkdownEscapes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"wrong_tool", "wrong_tool"},
		{"calc.add", "`calc.add`"},
		{"<b>@team</b> www.evil.example", "`<b>@team</b> www.evil.example`"},
		{"a|b", "<code>a&#124;b</code>"},
		{"`x` @y", "<code>&#96;x&#96; &#64;<!-- -->y</code>"},
		{`a\`, `<code>a&#92;</code>`},
		{"", ""}, {"  ", ""}, {"\n", "`␤`"},
	} {
		if got := escape(c.in); got != c.want {
			t.Errorf("escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// FuzzMarkdown: whatever the text, a cell stays one cell, of one code span or of one element without markup inside.
func FuzzMarkdown(f *testing.F) {
	f.Add(evil)
	f.Add("``a``")
	f.Fuzz(func(t *testing.T, s string) {
		out := escape(s)
		checkPlain(t, "cell", strings.ReplaceAll(out, "\u200d", ""), false)
		switch inner, isCode := strings.CutPrefix(out, "<code>"); {
		case out == "" || simpleWord.MatchString(out):
		case isCode:
			inner = strings.ReplaceAll(strings.TrimSuffix(inner, "</code>"), "&#64;<!-- -->", "")
			if strings.ContainsAny(inner, "`|\\<>@[]*_\n") {
				t.Errorf("escape(%q) = %q", s, out)
			}
		case len(out) < 3 || out[0] != '`' || out[len(out)-1] != '`' || strings.ContainsAny(out[1:len(out)-1], "`|\\\n"):
			t.Errorf("escape(%q) = %q", s, out)
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestABrokenWriterIsReported(t *testing.T) {
	r := calc(Options{})
	for name, err := range map[string]error{"terminal": Terminal(brokenWriter{}, r, TermOptions{}), "markdown": Markdown(brokenWriter{}, r),
		"json": JSON(brokenWriter{}, r), "card": RunCard(brokenWriter{}, passedRun("a", 0), TermOptions{})} {
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: got %v, want the writer's error", name, err)
		}
	}
}

func TestHugeTextsStayCheap(t *testing.T) {
	huge := strings.Repeat("\x1b", 20<<20)
	r := failedRun("a", 0)
	r.Suite = "calc"
	r.Failure.Why, r.Result.Response, r.State = tooleval.Text(huge), tooleval.Text(huge), tooleval.Raw(huge)
	r.Trajectory.Calls[0].Result.Text, r.Trajectory.Calls[0].Args, r.Trajectory.Calls[0].Tool = tooleval.Text(huge), tooleval.Raw(huge), huge
	var buf bytes.Buffer
	if err := RunCard(&buf, r, TermOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Terminal(&buf, build(header(1, "a"), Options{}, r), TermOptions{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if buf.Len() > 100_000 {
		t.Errorf("a run with huge texts prints %d bytes", buf.Len())
	}
}
