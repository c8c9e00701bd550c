package ingest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/ingest"
)

// fuzz feeds a decoder with anything: it may refuse, but never panics, and what it gives is a sound record that survives
// being written and read.
func fuzz(f *testing.F, format ingest.Format) {
	files, err := os.ReadDir("testdata/shapes")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join("testdata", "shapes", file.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	for _, s := range []string{``, `null`, `[]`, `{}`, `[[]]`, `[{"role":"assistant","tool_calls":[{}]}]`, `{"messages":{"role":1}}`, "\xef\xbb\xbf[]", `"`, `{"a":`,
		`[{"parts":[null]}]`, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"gen_ai.x","value":{"intValue":"x"}}]}]}]}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for r, err := range ingest.ReadInput("fuzz", strings.NewReader(text), ingest.Options{Format: format, MaxRecord: 1 << 20}) {
			if err != nil {
				if r != nil {
					t.Fatal("a recording beside an error")
				}
				continue
			}
			sound(t, r)
		}
	})
}

func sound(t *testing.T, r *ingest.Recording) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("no JSON: %v", err)
	}
	var again ingest.Recording
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatalf("not read back: %v", err)
	}
	if r.Run != nil { // kept as it was
		return
	}
	began := 0
	for i, c := range r.Trajectory.Calls {
		if c.Began <= began || c.Ended <= c.Began {
			t.Fatalf("call %d: began %d (after %d), ended %d", i, c.Began, began, c.Ended)
		}
		began = c.Began
		if c.Status == "" || c.ArgsError == "" && (len(c.Args) == 0 || c.Args[0] != '{') {
			t.Fatalf("call %d: %+v", i, c)
		}
		if c.ArgsError != "" && c.Status == tooleval.CallOK {
			t.Fatalf("call %d has broken arguments and is ok: %+v", i, c)
		}
	}
}

func FuzzDetect(f *testing.F)    { fuzz(f, "") }
func FuzzChat(f *testing.F)      { fuzz(f, ingest.OpenAIChat) }
func FuzzResponses(f *testing.F) { fuzz(f, ingest.OpenAIResponses) }
func FuzzAnthropic(f *testing.F) { fuzz(f, ingest.Anthropic) }
func FuzzGemini(f *testing.F)    { fuzz(f, ingest.Gemini) }
func FuzzMCP(f *testing.F)       { fuzz(f, ingest.MCP) }
func FuzzOTLP(f *testing.F)      { fuzz(f, ingest.OTLP) }
func FuzzInspect(f *testing.F)   { fuzz(f, ingest.Inspect) }
func FuzzTauBench(f *testing.F)  { fuzz(f, ingest.TauBench) }
func FuzzTau2Bench(f *testing.F) { fuzz(f, ingest.Tau2Bench) }
func FuzzRuns(f *testing.F)      { fuzz(f, ingest.Runs) }
func FuzzNeutral(f *testing.F)   { fuzz(f, ingest.Neutral) }
