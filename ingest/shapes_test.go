package ingest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/ingest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// readAll reads a file that has to be sound.
func readAll(t *testing.T, path string, o ingest.Options) []*ingest.Recording {
	t.Helper()
	var list []*ingest.Recording
	for r, err := range ingest.Read(path, o) {
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list = append(list, r)
	}
	return list
}

func readText(t *testing.T, text string, o ingest.Options) ([]*ingest.Recording, []error) {
	t.Helper()
	var list []*ingest.Recording
	var errs []error
	for r, err := range ingest.ReadInput("test", strings.NewReader(text), o) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, r)
	}
	return list, errs
}

// one is the only recording of a text that has to be sound.
func one(t *testing.T, text string, format ingest.Format) *ingest.Recording {
	t.Helper()
	list, errs := readText(t, text, ingest.Options{Format: format})
	if len(errs) > 0 || len(list) != 1 {
		t.Fatalf("got %d recordings and errors %v, want 1 and none\n%s", len(list), errs, text)
	}
	return list[0]
}

// shapes are the files that hold one and the same conversation, and the format that each is.
var shapes = map[string]ingest.Format{
	"openai-chat.json": ingest.OpenAIChat, "openai-chat-objects.json": ingest.OpenAIChat, "openai-chat-lines.jsonl": ingest.OpenAIChat,
	"openai-chat-spaced.json": ingest.OpenAIChat, "openai-chat-one-line.jsonl": ingest.OpenAIChat,
	"openai-responses.json": ingest.OpenAIResponses, "openai-responses-object.json": ingest.OpenAIResponses,
	"anthropic.json": ingest.Anthropic, "gemini.json": ingest.Gemini, "mcp.jsonl": ingest.MCP,
	"otlp.json": ingest.OTLP, "otlp-messages.jsonl": ingest.OTLP, "inspect.json": ingest.Inspect, "inspect.eval": ingest.Inspect,
	"tau-bench.json": ingest.TauBench, "tau2-bench.json": ingest.Tau2Bench, "neutral.jsonl": ingest.Neutral,
}

// TestM16EveryShapeIsTheSameTrajectory: arguments as object and as text, with and without space, results in another order,
// one message a line: the canonical bytes are those of one golden file.
func TestM16EveryShapeIsTheSameTrajectory(t *testing.T) {
	golden := filepath.Join("testdata", "canonical.json")
	if *update {
		r := readAll(t, "testdata/shapes/openai-chat.json", ingest.Options{})[0]
		if err := os.WriteFile(golden, indented(t, r.Trajectory), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("testdata/shapes")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			format, known := shapes[f.Name()]
			if !known {
				t.Fatal("the table of shapes lacks this file")
			}
			path := filepath.Join("testdata", "shapes", f.Name())
			if got, err := ingest.Detect(path); got != format {
				t.Errorf("detected %q (%v), want %q", got, err, format)
			}
			o := ingest.Options{}
			if f.Name() == "otlp-messages.jsonl" { // messages have no mark of errors there
				o.ErrorPrefix = "Error"
			}
			list := readAll(t, path, o)
			for _, r := range list {
				if d := cmp.Diff(string(want), string(indented(t, r.Trajectory))); d != "" {
					t.Errorf("trajectory (-want +got):\n%s", d)
				}
				if format == ingest.MCP { // holds calls alone
					continue
				}
				if d := cmp.Diff([]tooleval.Text{"It is done."}, r.Said); d != "" {
					t.Errorf("said: %s", d)
				}
				if len(r.Aside) != 1 || r.Aside[0].Text != "let me look" {
					t.Errorf("aside: got %+v", r.Aside)
				}
				if r.Result.Response != "It is done." || r.Ending != tooleval.Completed {
					t.Errorf("response %q, ending %q", r.Result.Response, r.Ending)
				}
			}
			if want := 1 + strings.Count(f.Name(), "one-line"); len(list) != want {
				t.Errorf("got %d recordings, want %d", len(list), want)
			}
		})
	}
	if len(files) != len(shapes) {
		t.Errorf("%d files, %d in the table", len(files), len(shapes))
	}
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// TestShapesSayMore: what single formats say beside the calls.
func TestShapesSayMore(t *testing.T) {
	tests := []struct {
		file, task, agent string
		index             int
		reward            float64 // -1: none
		in, cached, out   int64   // 0: unknown
		turns             int64
	}{
		{"openai-chat.json", "t", "", 2, -1, 0, 0, 0, 0},
		{"openai-chat-lines.jsonl", "", "", ingest.NoIndex, -1, 0, 0, 0, 0},
		{"openai-responses-object.json", "t", "m", ingest.NoIndex, -1, 10, 6, 4, 1},
		{"anthropic.json", "", "", ingest.NoIndex, -1, 10, 6, 2, 1},
		{"otlp.json", "t", "m", ingest.NoIndex, -1, 10, 0, 4, 1},
		{"inspect.eval", "t", "m", 2, 1, 10, 6, 4, 0},
		{"inspect.json", "t", "m", 2, 1, 10, 6, 4, 0},
		{"tau-bench.json", "7", "", 2, 1, 0, 0, 0, 0},
		{"tau2-bench.json", "t", "m", 2, 1, 10, 0, 4, 1},
		{"neutral.jsonl", "t", "m", 2, -1, 0, 0, 0, 0},
	}
	count := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			r := readAll(t, "testdata/shapes/"+tt.file, ingest.Options{})[0]
			if r.TaskID != tt.task || r.Index != tt.index || r.Source.Agent != tt.agent {
				t.Errorf("task %q index %d agent %q, want %q %d %q", r.TaskID, r.Index, r.Source.Agent, tt.task, tt.index, tt.agent)
			}
			if got := r.Given.Reward; (got == nil) != (tt.reward < 0) || got != nil && *got != tt.reward {
				t.Errorf("reward %v, want %v", got, tt.reward)
			}
			u := r.Result.Usage
			if u == nil {
				u = &tooleval.Usage{}
			}
			got := [4]int64{count(u.InputTokens), count(u.CachedTokens), count(u.OutputTokens), count(u.Turns)}
			if want := [4]int64{tt.in, tt.cached, tt.out, tt.turns}; got != want {
				t.Errorf("usage (input, cached, output, turns) %v, want %v", got, want)
			}
			if tt.file == "tau2-bench.json" && (u.CostUSD == nil || *u.CostUSD != 0.25) || tt.file != "tau2-bench.json" && u.CostUSD != nil {
				t.Errorf("cost %v", u.CostUSD)
			}
			if tt.file == "tau2-bench.json" != slices.ContainsFunc(r.Warnings, func(w tooleval.Text) bool { return strings.Contains(string(w), "simulated user") }) {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}
