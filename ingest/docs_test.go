package ingest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tooleval/tooleval/ingest"
)

func document(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNeutralDocument: its example is read, and its tables name keys that the reader knows.
func TestNeutralDocument(t *testing.T) {
	doc := document(t, "../docs/formats/neutral.md")
	_, example, _ := strings.Cut(doc, "```json\n")
	example, _, _ = strings.Cut(example, "```")
	r := one(t, example, "")
	if r.TaskID != "calc.arithmetic" || len(r.Trajectory.Calls) != 1 || string(r.Result.State) != `{"result":42}` || r.Result.Response != "It is 42." {
		t.Errorf("got %+v", r)
	}
	recordings, calls, ok := strings.Cut(doc, "## A call")
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")
	rows := row.FindAllStringSubmatch(recordings, -1)
	if !ok || len(rows) != 18 {
		t.Errorf("%d keys of a recording are documented, want 18", len(rows))
	}
	for _, m := range rows {
		if _, errs := readText(t, `{"recording":1,"`+m[1]+`":null}`, ingest.Options{Format: ingest.Neutral}); m[1] != "recording" && len(errs) > 0 {
			t.Errorf("%s: %v", m[1], errs)
		}
	}
	rows = row.FindAllStringSubmatch(calls, -1)
	if len(rows) != 11 {
		t.Errorf("%d keys of a call are documented, want 11", len(rows))
	}
	for _, m := range rows {
		text := `{"recording":1,"calls":[{"tool":"f","` + m[1] + `":null}]}`
		if _, errs := readText(t, text, ingest.Options{Format: ingest.Neutral}); m[1] != "tool" && len(errs) > 0 {
			t.Errorf("%s: %v", m[1], errs)
		}
	}
}

// TestHowToListsTheFormats: every format has its row, in order.
func TestHowToListsTheFormats(t *testing.T) {
	doc := document(t, "../docs/how-to/score-recorded-trajectories.md")
	var rows []ingest.Format
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(doc, -1) {
		rows = append(rows, ingest.Format(m[1]))
	}
	formats := ingest.Formats()
	if len(rows) != len(formats) {
		t.Fatalf("%d rows, %d formats", len(rows), len(formats))
	}
	for i := range rows {
		if rows[i] != formats[i] {
			t.Errorf("row %d is %s, want %s", i, rows[i], formats[i])
		}
	}
}
