package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/scorers/judge"
	"github.com/tooleval/tooleval/worlds"
)

// judged is a suite of 21 tasks; the agent answers each by what the fake judge is to say of it: 9 times pass, 11 times fail,
// and once what it can't tell.
func judged() *tooleval.Suite {
	s := &tooleval.Suite{
		Name: "pages", Tools: []tooleval.Tool{{Name: "read"}}, EntryPoints: []tooleval.EntryPoint{{Name: "pages.run"}},
		MockWorld: &worlds.Mock{Fixtures: []worlds.Fixture{{Tool: "read", Results: []worlds.Answer{{Result: tooleval.TextResult("x")}}}}},
		Scorers:   map[string]tooleval.Scorer{},
	}
	for i := range 21 {
		id := fmt.Sprintf("page.%02d", i)
		s.Tasks = append(s.Tasks, tooleval.Task{ID: id, EntryPoint: "pages.run", Toolset: []string{"read"}, Description: "read it"})
		s.Scorers[id] = judge.Graded{Rubric: judge.Rubric{Name: "honest", Instructions: "Is it honest?"}, View: judge.FinalAnswer}
	}
	s.Minds = []tooleval.Mind{mind("scripted", func(_ context.Context, a tooleval.Assignment, _ tooleval.ToolHandler) (tooleval.AgentResult, error) {
		i := 0
		_, err := fmt.Sscanf(a.TaskID, "page.%d", &i)
		answer := "SAY-fail"
		switch {
		case i < 9:
			answer = "SAY-pass"
		case i == 20:
			answer = "SAY-cannot_tell"
		case i == 10:
			answer = "SAY-fail FLAKY"
		}
		return tooleval.AgentResult{Response: tooleval.Text(answer), Usage: &tooleval.Usage{Model: "claude-haiku-5-5"}}, err
	})}
	return s
}

// audits is a folder with an eval of judged, and a way to call the command there.
func audits(t *testing.T) (call func(args ...string) (code int, out, errs string), srv *fakellm.Server) {
	t.Helper()
	var asked atomic.Int32
	srv = fakellm.New(t, fakellm.Always(fakellm.Func(func(r fakellm.Request) fakellm.Reply {
		verdict := "unclear"
		for _, v := range []string{"pass", "fail", "cannot_tell"} {
			if strings.Contains(r.LastText(), "SAY-"+v) {
				verdict = v
			}
		}
		if strings.Contains(r.LastText(), "FLAKY") && asked.Add(1) > 1 {
			verdict = "pass"
		}
		return fakellm.CallTool("submit_verdict", fmt.Sprintf(`{"reason":"because","overall":%q}`, verdict))
	})))
	t.Chdir(t.TempDir())
	call = func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		app := cli.App{Suites: []*tooleval.Suite{judged()}, Args: args, Stdout: &out, Stderr: &errs,
			Env: []string{"ANTHROPIC_API_KEY=k-123456", "ANTHROPIC_BASE_URL=" + srv.URL("")}}
		code := app.Run(t.Context())
		return code, out.String(), errs.String()
	}
	if code, _, errs := call("run", "--suite", "pages", "--runs", "1", "--judge", "anthropic:claude-test"); code != 0 {
		t.Fatalf("run: %d: %s", code, errs)
	}
	return call, srv
}

// labelFile writes labels of which people disagree with the judge on pages 8 (judge: pass), 9 and 10 (judge: fail).
func labelFile(t *testing.T, name string) {
	t.Helper()
	var b strings.Builder
	if strings.HasSuffix(name, ".csv") {
		b.WriteString("eval,task,index,verdict,note\n")
	}
	for i := range 21 {
		human := "fail"
		if i < 8 || i == 9 || i == 10 {
			human = "pass"
		}
		if strings.HasSuffix(name, ".csv") {
			fmt.Fprintf(&b, "latest,page.%02d,0,%s,\"a, b\"\n", i, human)
		} else {
			fmt.Fprintf(&b, `{"eval":"latest","task":"page.%02d","index":0,"verdict":%q}`+"\n", i, human)
		}
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

type number struct{ Value *float64 }

// auditJSON is what the tests look at.
type auditJSON struct {
	Judges   []string
	Labelled int
	Judged   int
	Unscored []struct {
		Why  string
		Runs int
	}
	Agreement struct {
		Observed, Kappa struct{ Value number }
	}
	Sensitivity, Specificity struct {
		Value    number
		Interval struct{ Low, High *float64 }
	}
	SelfConsistency *struct {
		Asked int
		Same  struct{ Value number }
		Pairs number
	} `json:"self_consistency"`
	Observed      struct{ Value number } `json:"observed_pass_rate"`
	Corrected     struct{ Value number } `json:"corrected_pass_rate"`
	Disagreements []struct{ Line int }
	Warnings      []string
}

func want(t *testing.T, what string, got number, want float64) {
	t.Helper()
	if got.Value == nil || math.Abs(*got.Value-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", what, got.Value, want)
	}
}

// TestJudgeAuditWorkedByHand: of 20 judged runs people pass 10; the judge passes 8 of these and 1 of the others.
func TestJudgeAuditWorkedByHand(t *testing.T) {
	call, srv := audits(t)
	labelFile(t, "labels.csv")
	labelFile(t, "labels.jsonl")
	before := len(srv.Requests(""))
	for _, args := range [][]string{
		{"labels.csv", "--stored"}, {"labels.jsonl", "--stored"}, {"labels.jsonl", "--judge", "anthropic:claude-test"},
	} {
		code, out, errs := call(append([]string{"judge", "audit", "--format", "json"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: %d: %s", args, code, errs)
		}
		if asked := len(srv.Requests("")) - before; (args[1] == "--stored") != (asked == 0) {
			t.Errorf("%v: the judge was asked %d times", args, asked)
		}
		var got auditJSON
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		confusion := [3]float64{0.85, 0.7, 0.8} // (8+9)/20; (0.85−0.5)/0.5
		if args[1] != "--stored" {              // asked again, the flaky page 10 passes: 9 of 10, and κ = (0.9−0.5)/0.5
			confusion = [3]float64{0.9, 0.8, 0.9}
		}
		want(t, "agreement", got.Agreement.Observed.Value, confusion[0])
		want(t, "kappa", got.Agreement.Kappa.Value, confusion[1])
		want(t, "sensitivity", got.Sensitivity.Value, confusion[2])
		want(t, "specificity", got.Specificity.Value, 0.9)
		want(t, "observed", got.Observed.Value, 0.45)                                                                      // 9/20, page 20 is unscored
		want(t, "corrected", got.Corrected.Value, (0.45+0.9-1)/(confusion[2]+0.9-1))                                       // 0.5 for the stored ones
		if low := got.Sensitivity.Interval.Low; args[1] == "--stored" && (low == nil || math.Abs(*low-0.4901625) > 1e-6) { // Wilson, 8 of 10
			t.Errorf("the interval begins at %v", low)
		}
		if got.Labelled != 21 || got.Judged != 20 || len(got.Unscored) != 1 || got.Unscored[0].Runs != 1 || !strings.Contains(got.Unscored[0].Why, "can't tell") {
			t.Errorf("%v: %+v", args, got)
		}
		if got.SelfConsistency != nil {
			t.Errorf("%v: a judge that was asked once has a consistency", args)
		}
		if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, "anthropic:claude-test and agent claude-haiku-5-5 are both of the family Claude (Anthropic)") {
			t.Errorf("%v: the warnings are %s", args, all)
		}
		if args[0] == "labels.csv" && (len(got.Disagreements) != 3 || got.Disagreements[0].Line != 10) {
			t.Errorf("disagreements: %+v", got.Disagreements)
		}
	}
}

func TestJudgeAuditSelfConsistency(t *testing.T) {
	call, _ := audits(t)
	labels := `{"eval":"latest","task":"page.00","index":0,"verdict":"pass"}
{"eval":"latest","task":"page.10","index":0,"verdict":"fail"}
`
	if err := os.WriteFile("l.jsonl", []byte(labels), 0o644); err != nil {
		t.Fatal(err)
	}
	// The run was judged once; a fresh fake would begin anew, so page 10 is asked three more times and always passes.
	code, out, errs := call("judge", "audit", "l.jsonl", "--judge", "anthropic:claude-test", "--repeats", "3", "--format", "json")
	var got auditJSON
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%d: %s %v", code, errs, err)
	}
	if c := got.SelfConsistency; c == nil || c.Asked != 3 {
		t.Fatalf("consistency: %+v", c)
	}
	want(t, "same", got.SelfConsistency.Same.Value, 1)
	// Another judge tells nothing about the stored pass rate.
	code, out, _ = call("judge", "audit", "l.jsonl", "--judge", "anthropic:other", "--format", "json")
	got = auditJSON{}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	if got.Corrected.Value.Value != nil || !strings.Contains(strings.Join(got.Warnings, "\n"), "another judge") {
		t.Errorf("corrected by another judge: %+v", got)
	}
	if strings.Contains(strings.Join(got.Warnings, "\n"), "family") {
		t.Errorf("an unknown judge is of no family: %v", got.Warnings)
	}
}

// TestJudgeAuditInconsistent: a judge that changes its mind on one of two runs.
func TestJudgeAuditInconsistent(t *testing.T) {
	var asked atomic.Int32
	srv := fakellm.New(t, fakellm.Always(fakellm.Func(func(fakellm.Request) fakellm.Reply {
		return fakellm.CallTool("submit_verdict", fmt.Sprintf(`{"reason":"r","overall":%q}`, []string{"pass", "fail", "pass", "pass"}[asked.Add(1)%4]))
	})))
	audits(t)
	if err := os.WriteFile("l.jsonl", []byte(`{"eval":"latest","task":"page.00","index":0,"verdict":"pass"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	app := cli.App{Suites: []*tooleval.Suite{judged()}, Stdout: &out, Stderr: &errs, Env: []string{"ANTHROPIC_API_KEY=k-123456", "ANTHROPIC_BASE_URL=" + srv.URL("")},
		Args: []string{"judge", "audit", "l.jsonl", "--judge", "anthropic:x", "--repeats", "4", "--format", "json"}}
	var got auditJSON
	if code := app.Run(t.Context()); code != 0 {
		t.Fatal(errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want(t, "same", got.SelfConsistency.Same.Value, 0)
	want(t, "pairs", got.SelfConsistency.Pairs, 0.5) // 3 pass and 1 fail: 3 of 6 pairs
}

func TestJudgeAuditFormats(t *testing.T) {
	call, _ := audits(t)
	labelFile(t, "labels.csv")
	for format, parts := range map[string][]string{
		"table": {"Judge anthropic:claude-test, as stored, held against 21 labels", "Cohen's κ", "0.700", "0.490–0.943",
			"unscored, 1 of 21: the judge can't tell", "line 10: page.08 run 1 · scripted: people say fail, the judge says pass", "warning: judge anthropic:claude-test"},
		"markdown": {"## Judge anthropic:claude-test", "| Cohen's κ | 0.700 |", "|---|---|---|", "- warning: "},
	} {
		code, out, errs := call("judge", "audit", "labels.csv", "--stored", "--format", format)
		if code != 0 {
			t.Fatal(errs)
		}
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("%s lacks %q:\n%s", format, part, out)
			}
		}
	}
}

// TestJudgeAuditPage: the how-to names every flag and shows what is printed.
func TestJudgeAuditPage(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/audit-a-judge.md")
	if err != nil {
		t.Fatal(err)
	}
	call, _ := audits(t)
	labelFile(t, "labels.csv")
	_, help, _ := call("judge", "audit", "--help")
	named := 0
	for _, word := range strings.Fields(help[strings.Index(help, "\nFlags:"):]) {
		if flag := strings.TrimRight(word, ","); strings.HasPrefix(flag, "--") && flag != "--help" {
			if named++; !strings.Contains(string(page), "`"+flag+"`") {
				t.Errorf("the page does not name %s", flag)
			}
		}
	}
	if named < 8 {
		t.Errorf("the help names %d flags:\n%s", named, help)
	}
	_, out, _ := call("judge", "audit", "labels.csv", "--stored")
	for _, line := range strings.Split(out, "\n")[2:13] {
		if shown, _, _ := strings.Cut(line, " of 2"); !strings.Contains(string(page), shown) {
			t.Errorf("the page does not show %q", shown)
		}
	}
}

func TestJudgeAuditByFile(t *testing.T) {
	call, _ := audits(t)
	files, err := filepath.Glob("results/*/runs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no runs", err)
	}
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "{\"run\":%q,\"verdict\":\"pass\"}\n", filepath.ToSlash(f))
	}
	if err := os.WriteFile("l.jsonl", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call("judge", "audit", "l.jsonl", "--stored", "--format", "json")
	var got auditJSON
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%d: %s %v", code, errs, err)
	}
	want(t, "agreement", got.Agreement.Observed.Value, 0.45)
	if got.Specificity.Value.Value != nil || got.Corrected.Value.Value != nil {
		t.Errorf("people failed nothing, so specificity and the corrected rate are undefined: %+v", got)
	}
}

func TestJudgeAuditMistakes(t *testing.T) {
	call, _ := audits(t)
	good := `{"eval":"latest","task":"page.00","index":0,"verdict":"pass"}` + "\n"
	for _, c := range []struct {
		file, labels string
		args         []string
		want         string
	}{
		{"l.jsonl", `{"evl":"latest"}`, nil, `l.jsonl:1: unknown key "evl" (did you mean "eval"?)`},
		{"l.jsonl", "[1]", nil, "l.jsonl:1: want a JSON object"},
		{"l.jsonl", good + "\n" + good, nil, "l.jsonl:3: the run of line 1 is labelled again"},
		{"l.jsonl", `{"eval":"latest","task":"page.00","index":0,"verdict":"good"}`, nil, `verdict "good": it is pass or fail`},
		{"l.jsonl", `{"eval":"latest","task":"page.00","verdict":"pass"}`, nil, "name the run"},
		{"l.jsonl", `{"run":"x.json","eval":"latest","verdict":"pass"}`, nil, "not by both"},
		{"l.jsonl", `{"eval":"latest","task":"page.77","index":0,"verdict":"pass"}`, nil, `has no run 0 (from 0) of task "page.77"`},
		{"l.jsonl", `{"run":"no.json","verdict":"pass"}`, nil, "label of line 1"},
		{"l.jsonl", "", nil, "has none"},
		{"l.csv", "", nil, "no line with the names"},
		{"l.csv", "run,verdct\nx,pass\n", nil, `unknown column "verdct" (did you mean "verdict"?)`},
		{"l.csv", "eval,task,index,verdict\nlatest,page.00,zero,pass\n", nil, `l.csv:2: index "zero"`},
		{"l.csv", "eval,task\n\"x\n", nil, "l.csv:"},
		{"l.jsonl", good, []string{"--stored", "--repeats", "2"}, "--stored asks nobody"},
		{"l.jsonl", good, []string{"--judge", "none"}, "no verdicts to audit"},
		{"l.jsonl", good, []string{"--repeats", "0"}, "--repeats 0"},
		{"l.jsonl", good, []string{"--format", "xml"}, "table, json or markdown"},
		{"l.jsonl", good, []string{"--judge", "openai:gpt-x"}, "OPENAI_API_KEY"},
		{"l.jsonl", `{"eval":"latest","task":"page.20","index":0,"verdict":"pass"}`, []string{"--stored"}, "none of the 1 labelled runs has a verdict"},
	} {
		if err := os.WriteFile(c.file, []byte(c.labels), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := call(append([]string{"judge", "audit", c.file}, c.args...)...)
		if code != 2 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s %v: code %d, %q, want %s", c.labels, c.args, code, errs, c.want)
		}
	}
}
