package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/tooleval/tooleval"
)

func TestGoldenTerminal(t *testing.T) {
	combined := Options{Combine: true, File: func(r *tooleval.Run) string { return fmt.Sprintf("runs/%s-%d.json", r.TaskID, r.Index) }}
	for _, c := range []struct {
		name   string
		report Report
		o      TermOptions
	}{
		{"calc-80", calc(Options{}), TermOptions{}},
		{"calc-120", calc(Options{}), TermOptions{Width: 120}},
		{"calc-40", calc(Options{}), TermOptions{Width: 40}},
		{"calc-combined-100", calc(combined), TermOptions{Width: 100, Verbose: true}},
		{"calc-color-100", calc(Options{}), TermOptions{Width: 100, Color: true}},
		{"troubled-80", troubled(Options{}), TermOptions{}},
		{"troubled-140", troubled(Options{}), TermOptions{Width: 140}},
		{"one-run-80", build(header(1, "calc.arithmetic"), Options{}, passedRun("calc.arithmetic", 0)), TermOptions{}},
		{"nothing-80", build(header(3, "calc.arithmetic"), Options{}), TermOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name+".txt", show(t, c.report, c.o)) })
	}
}

func TestGoldenMarkdown(t *testing.T) {
	for name, r := range map[string]Report{"calc": calc(Options{Combine: true}), "troubled": troubled(Options{}), "hostile": hostileReport()} {
		var buf bytes.Buffer
		if err := Markdown(&buf, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".md", buf.Bytes())
	}
}

func TestGoldenJSON(t *testing.T) {
	for name, r := range map[string]Report{"calc": calc(Options{Combine: true}), "troubled": troubled(Options{MaxRuns: 2})} {
		var buf bytes.Buffer
		if err := JSON(&buf, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", buf.Bytes())
	}
}

func fullRun() *tooleval.Run {
	r := failedRun("calc.convert", 1)
	in := int64(1234)
	r.Task.Description = "Convert 30 EUR and add 12."
	r.Trajectory.Channel, r.Trajectory.Incomplete = tooleval.OverStdio, "the agent said that it made calls of its own"
	r.Trajectory.Calls = []tooleval.Call{
		call("convert", `{"amount": 30, "from": "EUR", "to": "USD"}`, "33", tooleval.CallOK, 0, 3),
		call("add", `{"a":1,"b":2}`, "3", tooleval.CallOK, 1, 2),
		call("divide", `{"a":1,"b":0}`, "division by zero", tooleval.CallToolError, 4, 5),
		{Began: 6, Ended: 7, Tool: "delete_all", Status: tooleval.CallRefused, Error: "not in the toolset"},
		{Began: 8, Ended: 9, Tool: "add", ArgsText: `{"a":1`, ArgsError: "unexpected end of JSON input", Status: tooleval.CallToolError},
		{Began: 10, Ended: 11, Tool: "rate", Args: tooleval.Raw(`{"day":"` + strings.Repeat("x", 300) + `"}`), Status: tooleval.CallToolError,
			FixtureGap: "rate {day: 2024-01-01}", Fault: "slow", TookMS: 1500},
	}
	r.Result = tooleval.AgentResult{Response: "The total is 41.\nAnything else?", State: tooleval.Raw(`{"total":41}`), Usage: &tooleval.Usage{Model: "m-1", InputTokens: &in}}
	r.State, r.StateFrom = tooleval.Raw(`{"total":41, "currency":"USD"}`), "world"
	r.Warnings = []tooleval.Text{"the agent wrote to standard error"}
	r.Provenance = tooleval.Provenance{Tool: "v0.1.0", Go: "go1.26", Commit: "abc", SuiteDigest: "sha256:1", Attempts: 1}
	r.Identity, r.Started = "sha256:2", time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	return r
}

func TestGoldenRunCard(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *tooleval.Run
		o    TermOptions
	}{
		{"card-failed-100", fullRun(), TermOptions{Width: 100}},
		{"card-failed-40", fullRun(), TermOptions{Width: 40}},
		{"card-passed-80", passedRun("calc.arithmetic", 0), TermOptions{}},
		{"card-empty-80", &tooleval.Run{}, TermOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := RunCard(&buf, c.run, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", buf.Bytes())
		})
	}
}

// No line is wider than the terminal, whatever its width.
func TestEveryLineFits(t *testing.T) {
	for width := 40; width <= 200; width += 4 {
		var card bytes.Buffer
		if err := RunCard(&card, fullRun(), TermOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, out := range [][]byte{show(t, calc(Options{Combine: true}), TermOptions{Width: width}), show(t, troubled(Options{}), TermOptions{Width: width}),
			show(t, hostileReport(), TermOptions{Width: width}), card.Bytes()} {
			for l := range strings.Lines(string(out)) {
				if w := lipgloss.Width(strings.TrimSuffix(l, "\n")); w > width {
					t.Errorf("width %d: a line of %d columns: %s", width, w, l)
				}
			}
		}
	}
}
