package airline_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/examples/airline"
	"github.com/tooleval/tooleval/worlds"
)

// data is the folder with the reference data; without it the test is skipped.
func data(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TAUBENCH_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "taubench")
	}
	if _, err := os.Stat(filepath.Join(dir, "expected.json")); err != nil {
		t.Skipf("the τ-bench reference data are not there (%v); set TAUBENCH_DIR to their folder", err)
	}
	return dir
}

func decode[T any](t testing.TB, path string) T {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func load(t testing.TB, o airline.Options) *tooleval.Suite {
	t.Helper()
	s, err := airline.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type groundTruth struct {
	Task   int    `json:"task"`
	SHA256 string `json:"json_sha256"`
}

type replay struct {
	Task    int             `json:"task"`
	Trial   int             `json:"trial"`
	Reward  float64         `json:"recorded_reward"`
	Ended   string          `json:"ended"`
	SHA256  string          `json:"json_sha256_trajectories_db"`
	Changes [][]interface{} `json:"state_changes"`
}

type expected struct {
	Initial map[string]struct {
		SHA256 string `json:"json_sha256"`
	} `json:"initial_state"`
	Trivial map[string]map[string]struct {
		TaskIDs []int `json:"task_ids"`
	} `json:"trivial_agents"`
	GroundTruth map[string][]groundTruth `json:"ground_truth"`
	Replay      []replay                 `json:"replay"`
}

// eval runs an agent over a suite, once a task, without the baselines, or only the baseline of that name.
func eval(t testing.TB, s *tooleval.Suite, agent tooleval.Agent, baseline string) []*tooleval.Run {
	t.Helper()
	suites := []*tooleval.Suite{s}
	backends := []engine.Backend{{Name: "m", Agent: agent}}
	plan, err := engine.NewPlan(suites, backends, engine.Options{Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.NewRunner(suites, backends, plan, engine.RunnerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var runs []*tooleval.Run
	for i := range plan.Len() {
		if job := plan.Job(i); job.Baseline == baseline {
			runs = append(runs, runner.Do(context.Background(), job))
		}
	}
	return runs
}

// digests remembers the digests of states, which take long and are mostly the same.
var digests = map[string]string{}

// digest is the SHA-256 of the whole final state.
func digest(t testing.TB, s *tooleval.Suite, run *tooleval.Run) string {
	t.Helper()
	if d, ok := digests[string(run.State)]; ok {
		return d
	}
	v, err := s.MockWorld.(tooleval.StateExpander).ExpandState(run.State)
	if err != nil {
		t.Fatalf("task %s: %v", run.TaskID, err)
	}
	sum := sha256.Sum256(tooleval.CanonicalJSON(v))
	d := hex.EncodeToString(sum[:])
	digests[string(run.State)] = d
	return d
}

// The ground truth of every task passes, and leaves the very state that the original leaves.
func TestTheGroundTruthPasses(t *testing.T) {
	dir := data(t)
	s := load(t, airline.Options{Dir: dir})
	want := decode[expected](t, filepath.Join(dir, "expected.json"))
	agent, err := s.Minds[0].New(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	runs := eval(t, s, agent, "")
	if len(runs) != 50 || len(want.GroundTruth["airline"]) != 50 {
		t.Fatalf("got %d runs and %d rows, want 50", len(runs), len(want.GroundTruth["airline"]))
	}
	for i, run := range runs {
		if run.Score.Verdict != tooleval.Passed {
			t.Errorf("task %s: %s: %s", run.TaskID, run.Score.Verdict, run.Score.Why)
		}
		if got := digest(t, s, run); got != want.GroundTruth["airline"][i].SHA256 {
			t.Errorf("task %s: the final state has digest %s, want %s", run.TaskID, got, want.GroundTruth["airline"][i].SHA256)
		}
	}
}

// An agent that does nothing passes exactly the 19 tasks that a published audit found.
func TestDoingNothingPassesTheKnownTasks(t *testing.T) {
	dir := data(t)
	s := load(t, airline.Options{Dir: dir})
	want := decode[expected](t, filepath.Join(dir, "expected.json"))
	var got []int
	for _, run := range eval(t, s, tooleval.AgentFunc(nil), "do-nothing") {
		if run.Score.Verdict == tooleval.Passed {
			n, _ := strconv.Atoi(run.TaskID)
			got = append(got, n)
		}
		if d := digest(t, s, run); d != want.Initial["airline"].SHA256 {
			t.Errorf("task %s: the initial state has digest %s", run.TaskID, d)
		}
	}
	ids := want.Trivial["airline"]["empty_reply_then_user_stops"].TaskIDs
	if len(ids) != 19 || !slices.Equal(got, ids) {
		t.Errorf("got %v\nwant %v", got, ids)
	}
}

// A recorded is one recorded run of GPT-4o.
type recorded struct {
	Task  int     `json:"task_id"`
	Trial int     `json:"trial"`
	Rew   float64 `json:"reward"`
	Traj  []struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		Calls   []struct {
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"traj"`
}

// replies is the customer of a recorded run. What they said first was said before the agent began.
func (r *recorded) replies() []worlds.Reply {
	var out []worlds.Reply
	for _, m := range r.Traj {
		if m.Role == "user" && m.Content != nil {
			out = append(out, worlds.Reply{Say: *m.Content, Times: 1, Ends: strings.Contains(*m.Content, "###STOP###")})
		}
	}
	return out[1:]
}

// play does what the recorded agent did, and then would go on.
func (r *recorded) play(ctx context.Context, tools tooleval.ToolHandler) error {
	for _, m := range append(r.Traj, r.Traj[1]) { // the last one is never an agent's
		call := tooleval.ToolCall{Tool: "ask_user"}
		switch {
		case m.Role == "assistant" && len(m.Calls) > 0:
			call.Tool, call.Args = m.Calls[0].Function.Name, tooleval.Raw(m.Calls[0].Function.Arguments)
		case m.Role == "assistant":
			args, err := json.Marshal(map[string]*string{"message": m.Content})
			if err != nil {
				return err
			}
			call.Args = args
		default:
			continue
		}
		if _, err := tools.CallTool(ctx, call); err != nil {
			return err
		}
	}
	_, err := tools.CallTool(ctx, tooleval.ToolCall{Tool: "think", Args: tooleval.Raw(`{"thought":"one step more"}`)})
	return err
}

// trial is a suite whose customers are those of one trial, and an agent that does what was recorded.
func trial(t testing.TB, dir string, all []recorded, n int) (*tooleval.Suite, tooleval.Agent, map[string]*recorded) {
	byTask := map[string]*recorded{}
	scripts := map[string][]worlds.Reply{}
	for i := range all {
		if r := &all[i]; r.Trial == n {
			id := strconv.Itoa(r.Task)
			byTask[id], scripts[id] = r, r.replies()
			if len(scripts[id]) == 0 { // the run ended before the customer said more
				scripts[id] = []worlds.Reply{{Say: "…"}}
			}
		}
	}
	s := load(t, airline.Options{Dir: dir, Users: "users.trajectories.json", Replies: scripts})
	return s, tooleval.AgentFunc(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
		return tooleval.AgentResult{}, byTask[a.TaskID].play(ctx, tools)
	}), byTask
}

// Replaying the 200 recorded runs gives every recorded tool result, final state and reward.
func TestTheRecordedRunsAreReproduced(t *testing.T) {
	dir := data(t)
	want := decode[expected](t, filepath.Join(dir, "expected.json"))
	all := decode[[]recorded](t, filepath.Join(dir, "airline", "gpt-4o-airline.json"))
	rows := map[[2]int]replay{}
	for _, r := range want.Replay {
		rows[[2]int{r.Task, r.Trial}] = r
	}
	results, rewards := 0, 0
	for n := range 4 {
		s, agent, byTask := trial(t, dir, all, n)
		for _, run := range eval(t, s, agent, "") {
			r := byTask[run.TaskID]
			row := rows[[2]int{r.Task, n}]
			name := fmt.Sprintf("task %d, trial %d", r.Task, n)
			results += compareResults(t, name, r, run)
			passed := run.Score.Verdict == tooleval.Passed
			if passed == (r.Rew == 1) && passed == (row.Reward == 1) {
				rewards++
			} else {
				t.Errorf("%s: got %s (%s), recorded reward %v", name, run.Score.Verdict, run.Score.Why, r.Rew)
			}
			ending := tooleval.Completed
			if row.Ended == "max_steps" {
				ending = tooleval.LimitReached
			}
			if run.Ending != ending {
				t.Errorf("%s: the run is %s, want %s", name, run.Ending, ending)
			}
			if n == 0 { // the digest of 3 MB takes long, and the changes say the same
				if got := digest(t, s, run); got != row.SHA256 {
					t.Errorf("%s: the final state has digest %s, want %s", name, got, row.SHA256)
				}
			}
			compareChanges(t, name, run.State, row.Changes)
		}
	}
	if results != 1164 || rewards != 200 {
		t.Errorf("got %d of 1164 tool results and %d of 200 rewards", results, rewards)
	}
}

// compareResults counts the tool results that equal the recorded ones, as JSON where they are JSON.
func compareResults(t *testing.T, name string, r *recorded, run *tooleval.Run) (equal int) {
	t.Helper()
	var recorded []string
	for i, m := range r.Traj {
		if m.Role == "tool" && len(r.Traj[i-1].Calls) == 1 {
			recorded = append(recorded, *m.Content)
		}
	}
	i := 0
	for _, c := range run.Trajectory.Calls {
		if c.Tool == "ask_user" || c.Status == tooleval.CallRefused {
			continue
		}
		if i >= len(recorded) {
			break
		}
		want := recorded[i]
		i++
		got := string(c.Result.Text)
		a, errA := tooleval.DecodeValue([]byte(got))
		b, errB := tooleval.DecodeValue([]byte(want))
		if got == want || errA == nil && errB == nil && tooleval.Equal(a, b) {
			equal++
		} else {
			t.Errorf("%s: call %d: %s(%s)\n got %.600s\nwant %.600s", name, i, c.Tool, c.Args, got, want)
		}
	}
	if i != len(recorded) {
		t.Errorf("%s: %d tool calls were made, %d recorded", name, i, len(recorded))
	}
	return equal
}

// compareChanges holds the changes that the state says to the recorded ones.
func compareChanges(t *testing.T, name string, state tooleval.State, want [][]any) {
	t.Helper()
	var s struct {
		Changes []struct {
			Op, Path string
			Value    any
		} `json:"changes"`
	}
	if err := json.Unmarshal(state, &s); err != nil {
		t.Fatal(err)
	}
	ops := map[string]string{"add": "add", "replace": "set", "remove": "del"}
	show := func(path string, op any, value any) string {
		b, _ := json.Marshal(value)
		return fmt.Sprint(path, " ", op, " ", string(b))
	}
	var a, b []string
	for _, c := range s.Changes {
		a = append(a, show(strings.TrimPrefix(c.Path, "/"), ops[c.Op], c.Value))
	}
	for _, c := range want {
		var value any
		if len(c) > 2 {
			value = c[2]
		}
		b = append(b, show(c[0].(string), c[1], value))
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("%s: the changes are\n%s\nwant\n%s", name, strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}
