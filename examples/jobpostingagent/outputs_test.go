package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseSubmission(t *testing.T) {
	for in, want := range map[string]string{
		`{"output":{"a":1},"answer":"x"}`:                    `{"a":1} x`,
		`{"a":1}`:                                            `{"a":1} `,
		`"{\"output\":{\"a\":1},\"answer\":\"x\"}"`:          `{"a":1} x`,
		`{"output":"{\"a\":1}","answer":["x"]}`:              `{"a":1} `,
		"Sure:\n```json\n{\"output\":{\"a\":1}}\n```\nBye.":  `{"a":1} `,
		`{"output":{"n":12345678901234567890},"answer":"x"}`: `{"n":12345678901234567890} x`,
		``:                           "error",
		`All done.`:                  "error",
		`{"output":`:                 "error",
		`{"output":[1]}`:             "error",
		`{"output":null}`:            "error",
		`{"output":"done"}`:          "error",
		`[{"output":{}]`:             "error",
		strings.Repeat("{", 100_000): "error",
		`"{\"output\":null}"`:        "error",
		"\xff{\"output\":{\"a\":1}}": `{"a":1} `,
	} {
		got, err := parseSubmission(in)
		text := string(got.output) + " " + got.answer
		if err != nil {
			text = "error"
		}
		if text != want {
			t.Errorf("%.60q: got %q (%v), want %q", in, text, err, want)
		}
	}
}

func TestTexts(t *testing.T) {
	for in, want := range map[string]string{
		`null`: `[]`, `[]`: `[]`, `""`: `[]`, `"one"`: `["one"]`, `["a","b"]`: `["a","b"]`, `[1]`: "error", `{}`: "error", `true`: "error",
	} {
		var v struct{ L texts }
		err := json.Unmarshal([]byte(`{"L":`+in+`}`), &v)
		b, _ := json.Marshal(v.L)
		if got := string(b); err == nil && got != want || (err != nil) != (want == "error") {
			t.Errorf("%s: got %s (%v), want %s", in, got, err, want)
		}
	}
}

func TestChecks(t *testing.T) {
	score := func(f float64) *float64 { return &f }
	for name, c := range map[string]struct {
		err error
		ok  bool
	}{
		"a fit":               {(&FitAnalysis{MatchScore: score(1), Recommendation: "x"}).check(), true},
		"a fit without score": {(&FitAnalysis{Recommendation: "x"}).check(), true},
		"a score in percent":  {(&FitAnalysis{MatchScore: score(85), Recommendation: "x"}).check(), false},
		"a negative score":    {(&FitAnalysis{MatchScore: score(-0.1), Recommendation: "x"}).check(), false},
		"no recommendation":   {(&FitAnalysis{MatchScore: score(1)}).check(), false},
		"a briefing":          {(&CompanyBriefing{Company: "c", Summary: "s"}).check(), true},
		"an empty briefing":   {(&CompanyBriefing{Company: "c", Summary: " "}).check(), false},
		"no report":           {(&Report{}).check(), false},
	} {
		if (c.err == nil) != c.ok {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

// The schemas are JSON, and the zero value of each output has exactly their properties.
func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		schema string
		zero   any
	}{{jobSchema, JobDetails{}}, {briefingSchema, CompanyBriefing{}}, {fitSchema, FitAnalysis{}}, {reportSchema, Report{}}} {
		var s struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal([]byte(submitSchema(c.schema)), &struct{}{}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.schema), &s); err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		b, _ := json.Marshal(c.zero)
		_ = json.Unmarshal(b, &fields)
		if len(fields) != len(s.Properties) || len(fields) != len(s.Required) {
			t.Errorf("%T has %d fields; its schema has %d properties, %d of them required", c.zero, len(fields), len(s.Properties), len(s.Required))
		}
		for name := range fields {
			if s.Properties[name] == nil {
				t.Errorf("%T: the schema lacks %s", c.zero, name)
			}
		}
	}
}
