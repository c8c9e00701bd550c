package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/ingest"
	"github.com/tooleval/tooleval/report"
	"github.com/tooleval/tooleval/store"
)

// command runs the command in a folder of its own as a user would and returns its exit code and streams.
func command(t testing.TB, results string, suites []*tooleval.Suite, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	app := cli.App{Suites: suites, Args: append(args, "--results", results), Stdout: &out, Stderr: &errs}
	code = app.Run(t.Context())
	return code, out.String(), errs.String()
}

// counter is a world with a number that the tool add raises; it refuses to go beyond 10.
type counter struct{ n int }

func (c *counter) CallTool(_ context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	var args struct{ By int }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tooleval.ErrorResult("%v", err), nil
	}
	if c.n+args.By > 10 {
		return tooleval.ErrorResult("too much"), nil
	}
	c.n += args.By
	return tooleval.TextResult(strconv.Itoa(c.n)), nil
}
func (c *counter) Tools() []tooleval.Tool { return nil }
func (c *counter) State() (tooleval.State, error) {
	return tooleval.Raw(fmt.Sprintf(`{"n":%d}`, c.n)), nil
}
func (c *counter) Close() error { return nil }

func countingSuite(want int) *tooleval.Suite {
	return &tooleval.Suite{
		Name:        "count",
		Tools:       []tooleval.Tool{{Name: "add", Schema: tooleval.Raw(`{"type":"object"}`)}},
		EntryPoints: []tooleval.EntryPoint{{Name: "count.run"}},
		Tasks: []tooleval.Task{{ID: "count.up", EntryPoint: "count.run", Toolset: []string{"add"}, Description: "count up",
			ExpectedState: tooleval.Match(map[string]any{"n": want})}},
		MockWorld: tooleval.WorldFunc(func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { return &counter{}, nil }),
		Minds:     []tooleval.Mind{mind("scripted", good)},
	}
}

// recorded is a neutral recording that adds by the given numbers and says what each call returned.
func recorded(more string, byAndResult ...string) string {
	var calls []string
	for i := 0; i < len(byAndResult); i += 2 {
		calls = append(calls, fmt.Sprintf(`{"tool":"add","args":{"by":%s},"result":%q}`, byAndResult[i], byAndResult[i+1]))
	}
	return `{"recording":1,"task_id":"up","ending":"completed","agent":"m","calls":[` + strings.Join(calls, ",") + `]` + more + "}\n"
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// latest reads the runs of the newest eval.
func latest(t testing.TB, results string) (tooleval.Eval, []*tooleval.Run) {
	t.Helper()
	dir, err := store.Find(results, "latest")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var runs []*tooleval.Run
	for run, err := range reader.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return reader.Header(), runs
}

func TestScoreReplaysForTheState(t *testing.T) {
	results := t.TempDir()
	file := write(t, "log.jsonl", recorded("", "2", "2", "3", "5")+ // as it should be
		recorded("", "2", "2", "3", "4")+ // the world answers otherwise
		recorded(`,"state":{"n":5}`)+ // a recorded state outweighs the calls
		recorded(`,"state":{"n":5.0}`, "20", "Error")+
		recorded("", "1", "1"))
	code, out, errs := command(t, results, []*tooleval.Suite{countingSuite(5)}, "score", "--suite", "count", file)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if !strings.Contains(errs, "replayed 3 recordings with 5 calls") || !strings.Contains(errs, `1 results were not as recorded: add 1`) ||
		!strings.Contains(errs, `recorded "4", replayed "5"`) {
		t.Errorf("stderr: %s", errs)
	}
	header, runs := latest(t, results)
	if header.World != "recorded" || header.Runs != 5 || len(header.Minds) != 1 || header.Minds[0] != "m" {
		t.Errorf("header: %+v", header)
	}
	want := []tooleval.Verdict{tooleval.Passed, tooleval.Passed, tooleval.Passed, tooleval.Passed, tooleval.Failed}
	for i, r := range runs {
		if r.Score.Verdict != want[i] || r.StateFrom != "world" || r.World != "recorded" || r.Trajectory.Channel != tooleval.SelfReported || r.Index != i || r.Identity == "" {
			t.Errorf("run %d: %s (%s), state %s of %s", i, r.Score.Verdict, r.Score.Why, r.State, r.StateFrom)
		}
		if warned := strings.Contains(fmt.Sprint(r.Warnings), "replay: add answered otherwise"); warned != (i == 1) {
			t.Errorf("run %d: warnings %q", i, r.Warnings)
		}
	}
	if runs[4].Failure == nil {
		t.Error("a failed run has no failure")
	}
	if !strings.Contains(out, "4/5 80 %") {
		t.Errorf("stdout: %s", out)
	}
	// Without replay, what has no state is unscored and says so.
	if code, _, errs = command(t, results, []*tooleval.Suite{countingSuite(5)}, "score", "--suite", "count", "--state", "recorded", file); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	_, runs = latest(t, results)
	if v := runs[0].Score; v.Verdict != tooleval.Unscored || !strings.Contains(string(v.Why), "no final state") {
		t.Errorf("got %+v", v)
	}
	if runs[2].Score.Verdict != tooleval.Passed {
		t.Errorf("got %+v", runs[2].Score)
	}
}

func TestScoreSaysAllThatIsWrong(t *testing.T) {
	suite := []*tooleval.Suite{countingSuite(5)}
	same := strings.Replace(recorded(""), `"task_id"`, `"trial":0,"task_id"`, 1)
	tests := []struct {
		name, text string
		args, want []string
	}{
		{"unknown tasks", strings.ReplaceAll(recorded("")+recorded(""), `"up"`, `"upp"`) + strings.Replace(recorded(""), `"up"`, `"x"`, 1), nil,
			[]string{`suite "count" has no task "upp"`, "2 recordings, the first in", `has no task "x"`, "--skip-bad"}},
		{"one run twice", same + same, nil, []string{"run 0 of task \"count.up\" under \"m\" is also in", "recording 1", "--renumber"}},
		{"bad lines", recorded("") + "{\"recording\":1,\n" + recorded(""), nil, []string{"recording 2: not JSON"}},
		{"no task", strings.Replace(recorded(""), `"task_id":"up",`, "", 1), nil, []string{"name it with --as-task"}},
		{"flags", recorded(""), []string{"--format", "openai", "--report", "xml", "--state", "maybe", "--alias", "x", "--ending", "fine"},
			[]string{"--format: unknown format", "--report", "--state", "--alias", "--ending"}},
		{"no such task", recorded(""), []string{"--as-task", "count.upp", "--task", "y*"}, []string{`--as-task "count.upp"`, `did you mean "count.up"`, `--task "y*"`}},
		{"ambiguous", `[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]`, nil, []string{"it may be any of: openai-chat, anthropic"}},
		{"bad schema", "{}", nil, []string{"it is of no format that is known"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			results := filepath.Join(t.TempDir(), "results")
			code, _, errs := command(t, results, suite, append([]string{"score", "--suite", "count", write(t, "log.jsonl", tt.text)}, tt.args...)...)
			if code != 2 {
				t.Errorf("exit %d, want 2", code)
			}
			for _, want := range tt.want {
				if !strings.Contains(errs, want) {
					t.Errorf("stderr lacks %q:\n%s", want, errs)
				}
			}
			if _, err := os.Stat(results); err == nil {
				t.Error("an eval was begun although nothing can be scored")
			}
		})
	}
	results := t.TempDir()
	if code, _, errs := command(t, results, suite, "score", "--suite", "count", "--skip-bad", write(t, "log.jsonl", recorded("")+"{\n"+recorded(""))); code != 0 || !strings.Contains(errs, "left out: ") {
		t.Errorf("--skip-bad: exit %d: %s", code, errs)
	}
	if code, _, errs := command(t, results, suite, "score", "--suite", "count", "--renumber", write(t, "log.jsonl", same+same)); code != 0 {
		t.Errorf("--renumber: exit %d: %s", code, errs)
	}
}

// TestM21ScoreHintsAtAnAlias: a prefixed name is not taken for the tool; the warning says what to do.
func TestM21ScoreHintsAtAnAlias(t *testing.T) {
	results := t.TempDir()
	file := write(t, "log.jsonl", strings.ReplaceAll(recorded("", "5", "5"), `"add"`, `"mcp__n__add"`))
	suite := []*tooleval.Suite{countingSuite(5)}
	if code, _, errs := command(t, results, suite, "score", "--suite", "count", file); code != 0 {
		t.Fatal(errs)
	}
	_, runs := latest(t, results)
	if runs[0].Score.Verdict != tooleval.Failed || !strings.Contains(fmt.Sprint(runs[0].Warnings), "--alias 'mcp__n__add=add'") {
		t.Errorf("got %s, warnings %q", runs[0].Score.Verdict, runs[0].Warnings)
	}
	if code, _, errs := command(t, results, suite, "score", "--suite", "count", "--alias", "mcp__n__*=*", file); code != 0 {
		t.Fatal(errs)
	}
	if _, runs = latest(t, results); runs[0].Score.Verdict != tooleval.Passed {
		t.Errorf("with the alias: %+v", runs[0].Score)
	}
}

func TestRescoreSaysWhatFlipped(t *testing.T) {
	results := t.TempDir()
	file := write(t, "log.jsonl", recorded("", "2", "2", "3", "5")+recorded("", "7", "7"))
	if code, _, errs := command(t, results, []*tooleval.Suite{countingSuite(5)}, "score", "--suite", "count", file); code != 0 {
		t.Fatal(errs)
	}
	old, before := latest(t, results)
	oldFiles := contents(t, filepath.Join(results, old.ID))
	code, out, errs := command(t, results, []*tooleval.Suite{countingSuite(7)}, "rescore", old.ID)
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{"rescored 2 runs of " + old.ID + ": 2 verdicts changed", "task count.up changed: expected_state",
		"count.up run 1 · m: passed → failed (expected_state of the task changed)", "is:  outcome 0 is below", "count.up run 2 · m: failed → passed"} {
		if !strings.Contains(out, want) {
			t.Errorf("stdout lacks %q:\n%s", want, out)
		}
	}
	now, after := latest(t, results)
	if now.ID == old.ID || now.Options["rescored"] != old.ID || now.Tasks[0].Digest == old.Tasks[0].Digest {
		t.Errorf("header: %+v", now)
	}
	if after[0].Score.Verdict != tooleval.Failed || after[1].Score.Verdict != tooleval.Passed || string(after[0].State) != string(before[0].State) {
		t.Errorf("got %s and %s", after[0].Score.Verdict, after[1].Score.Verdict)
	}
	if got := contents(t, filepath.Join(results, old.ID)); got != oldFiles {
		t.Error("the old records were changed")
	}
	// Nothing changed: nothing flips. And a changed description is said to make it another question.
	if code, out, errs = command(t, results, []*tooleval.Suite{countingSuite(5)}, "rescore", old.ID, "--format", "json"); code != 0 {
		t.Fatal(errs)
	}
	var r struct{ Flips, Changed_tasks []any }
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Flips) != 0 || len(r.Changed_tasks) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	other := countingSuite(5)
	other.Tasks[0].Description = "count"
	if code, out, errs = command(t, results, []*tooleval.Suite{other}, "rescore", old.ID); code != 0 || !strings.Contains(out, "agents saw another task then") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	gone := countingSuite(5)
	gone.Tasks[0].ID = "count.down"
	if code, _, errs = command(t, results, []*tooleval.Suite{gone}, "rescore", old.ID); code != 2 || !strings.Contains(errs, "none of the tasks") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", path, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// tauBench is the folder of the reference data, and the file with the recorded runs.
func tauBench(t testing.TB) (dir, file string) {
	dir = os.Getenv("TAUBENCH_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "taubench")
	}
	file = filepath.Join(dir, "airline", "gpt-4o-airline.json")
	if _, err := os.Stat(file); err != nil {
		t.Skip("the τ-bench reference data is not here; name its folder in TAUBENCH_DIR")
	}
	return dir, file
}

func runName(task string, index int) string { return fmt.Sprint(task, "/", index) }

// rewardSuite judges τ-bench's airline tasks by the rewards that were recorded.
func rewardSuite(t testing.TB) (*tooleval.Suite, string) {
	_, file := tauBench(t)
	rewards := map[string]float64{}
	for r, err := range ingest.Read(file, ingest.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		rewards[runName(r.TaskID, r.Index)] = *r.Given.Reward
	}
	s := &tooleval.Suite{Name: "airline", EntryPoints: []tooleval.EntryPoint{{Name: "airline.agent"}}, Scorers: map[string]tooleval.Scorer{},
		MockWorld: tooleval.WorldFunc(func(context.Context, tooleval.WorldSpec) (tooleval.World, error) { return &stateless{}, nil })}
	for i := range 50 {
		id := fmt.Sprint("airline.", i)
		s.Tasks = append(s.Tasks, tooleval.Task{ID: id, EntryPoint: "airline.agent", Description: "see τ-bench"})
		s.Scorers[id] = tooleval.ScorerFunc(func(_ context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
			return tooleval.Outcome{Score: tooleval.Scored(rewards[runName(strings.TrimPrefix(run.TaskID, "airline."), run.Index)])}, nil
		})
	}
	return s, file
}

type stateless struct{ counter }

func (stateless) State() (tooleval.State, error) { return nil, nil }

// publishedTable is what the 200 runs come to: the published pass^k, and what follows from the same runs.
var publishedTable = []string{
	"│ 1 │ 0.420 ± 0.052              │ 0.420 ± 0.052                │ 50    │",
	"│ 2 │ 0.273 ± 0.055              │ 0.567 ± 0.057                │ 50    │",
	"│ 3 │ 0.220 ± 0.057              │ 0.660 ± 0.061                │ 50    │",
	"│ 4 │ 0.200 ± 0.057              │ 0.720 ± 0.064                │ 50    │",
	"84 of 200, standard error 0.0349 and 95 % interval 35.4–48.9 %",
	"1164 calls of 14 tools, 73 errors",
}

// TestScoreTauBench prints the published table from the 200 recorded runs.
func TestScoreTauBench(t *testing.T) {
	s, file := rewardSuite(t)
	results := t.TempDir()
	code, out, errs := command(t, results, []*tooleval.Suite{s}, "score", "--format", "tau-bench", "--suite", "airline", file)
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range publishedTable {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	code, out, errs = command(t, results, []*tooleval.Suite{s}, "show", "latest", "--format", "json")
	if code != 0 {
		t.Fatal(errs)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if sum := r.Sections[0].Summary; sum.Scored != 200 || sum.Passed != 84 || r.Sections[0].Mind != "gpt-4o-airline" {
		t.Errorf("got %d of %d by %s", sum.Passed, sum.Scored, r.Sections[0].Mind)
	}
}

// BenchmarkScoreTauBench imports, scores and stores 200 runs (4.1 MB).
func BenchmarkScoreTauBench(b *testing.B) {
	s, file := rewardSuite(b)
	for b.Loop() {
		if code, _, errs := command(b, b.TempDir(), []*tooleval.Suite{s}, "score", "--suite", "airline", file); code != 0 {
			b.Fatal(errs)
		}
	}
}
