package jobsearch

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitetest"
	"github.com/tooleval/tooleval/worlds"
)

func TestSuite(t *testing.T) { suitetest.Run(t, Suite) }

func TestEdge(t *testing.T) { suitetest.Run(t, Edge) }

// attempt is a run of the scripted mind as far as a scorer sees it.
func attempt(t *testing.T, s *tooleval.Suite, id string) *tooleval.Run {
	t.Helper()
	i := slices.IndexFunc(s.Tasks, func(task tooleval.Task) bool { return task.ID == id })
	task := s.Tasks[i]
	world, err := s.MockWorld.NewWorld(t.Context(), tooleval.WorldSpec{Task: task, Tools: s.Toolset(&task)})
	if err != nil {
		t.Fatal(err)
	}
	recorder := worlds.Record(worlds.Guard(world, s.Toolset(&task)), worlds.RecordOptions{})
	result, err := scripted(t.Context(), s.Assignment(&task, nil), recorder)
	if err != nil {
		t.Fatal(err)
	}
	recorder.Close()
	run := &tooleval.Run{Task: task, Trajectory: recorder.Trajectory(), Result: result, State: result.State, StateFrom: "agent"}
	state, err := world.State()
	if err != nil {
		t.Fatal(err)
	}
	if state != nil {
		run.State, run.StateFrom = state, "world"
	}
	return run
}

func score(t *testing.T, s *tooleval.Suite, id string, run *tooleval.Run) (float64, tooleval.Outcome) {
	t.Helper()
	out, err := s.Scorers[id].Score(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := out.Score.Value()
	if !ok {
		t.Fatalf("unscored: %s", out.Score.Why)
	}
	return v, out
}

// put is JSON with the value at a path of keys replaced; the value "remove" takes the key out.
func put(t *testing.T, raw tooleval.Raw, path string, value any) tooleval.Raw {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	at, keys := root, strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		at = at[k].(map[string]any)
	}
	last := keys[len(keys)-1]
	if at[last] == nil && value == "remove" {
		t.Fatalf("there is no %s to remove", path)
	}
	if at[last] = value; value == "remove" {
		delete(at, last)
	}
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mutants are damages to the final state and the checks that must notice each of them, in order.
var mutants = map[string][]struct {
	path  string
	value any
	fails []string
}{
	extractStep: {
		{"title", "remove", []string{"title is populated"}},
		{"title", "N/A", []string{"title is populated"}},
		{"title", 7, []string{"title is populated"}},
		{"company", nil, []string{"company is populated", "the company is named on the fetched page"}},
		{"company", "Globex", []string{"the company is named on the fetched page"}},
		{"location", " ", []string{"location is populated"}},
		{"responsibilities", []string{}, []string{"responsibilities has an entry"}},
		{"responsibilities", "many", []string{"responsibilities has an entry"}},
		{"requirements", []any{"", nil, "unknown"}, []string{"requirements has an entry"}},
	},
	researchStep: {
		{"company", "Globex", []string{"company is the one that was asked for"}},
		{"summary", "remove", []string{"summary is populated"}},
		{"sources", "remove", []string{"sources are addresses that the search returned"}},
		{"sources", []string{"https://tidewell.example/about", "https://invented.example/"}, []string{"sources are addresses that the search returned"}},
		{"sources", []string{"Wikipedia"}, []string{"sources are addresses that the search returned"}},
		{"recent_news", []string{}, []string{"recent_news has an entry"}},
	},
	analyzeStep: {
		{"match_score", 1.5, []string{"match_score is in 0..1"}},
		{"match_score", "0.5", []string{"match_score is in 0..1"}},
		{"match_score", nil, []string{"match_score is in 0..1"}},
		{"strengths", []string{}, []string{"strengths has an entry", "the strengths rest on the résumé"}},
		{"strengths", []string{"Welding"}, []string{"the strengths rest on the résumé"}},
		{"gaps", "remove", []string{"gaps is a list"}},
		{"recommendation", "", []string{"recommendation is populated"}},
	},
	pipelineStep: {
		{"job_details.title", "remove", []string{"job_details: title is populated"}},
		{"job_details.company", "remove", []string{"job_details: company is populated"}},
		{"job_details.location", "remove", []string{"job_details: location is populated"}},
		{"job_details.responsibilities", "remove", []string{"job_details: responsibilities has an entry"}},
		{"job_details.requirements", "remove", []string{"job_details: requirements has an entry"}},
		{"company_briefing.company", "remove", []string{"company_briefing: company is populated"}},
		{"company_briefing.summary", "remove", []string{"company_briefing: summary is populated"}},
		{"fit_analysis.match_score", "remove", []string{"fit_analysis: match_score is in 0..1"}},
		{"fit_analysis.strengths", "remove", []string{"fit_analysis: strengths has an entry"}},
		{"fit_analysis.gaps", "remove", []string{"fit_analysis: gaps is a list"}},
		{"fit_analysis.recommendation", "remove", []string{"fit_analysis: recommendation is populated"}},
	},
	"job_search.edge.no_company_news": {
		{"recent_news", []string{"raised a billion"}, []string{"recent_news is an empty list"}},
		{"recent_news", "remove", []string{"recent_news is an empty list"}},
		{"sources", []string{"https://invented.example/"}, []string{"sources are addresses that the search returned"}},
	},
	"job_search.edge.empty_resume": {
		{"strengths", []string{"Go"}, []string{"strengths is an empty list"}},
		{"match_score", 0.7, []string{"match_score is null or 0"}},
		{"recommendation", "Hire.", []string{"recommendation says that the résumé is empty"}},
	},
	"job_search.edge.contradictory_posting": {
		{"conflicts", []string{}, []string{"conflicts names both places of work", "conflicts names both salaries"}},
		{"conflicts", []string{"fully remote, but five days in the Arnhem office"}, []string{"conflicts names both salaries"}},
		{"conflicts", []string{"€55k–65k against €80k–95k"}, []string{"conflicts names both places of work"}},
	},
}

// TestS04EveryInvariantFlips damages one part of a passing state at a time: the checks that watch it fail, no other does,
// and the outcome drops by their share.
func TestS04EveryInvariantFlips(t *testing.T) {
	for _, s := range []*tooleval.Suite{Suite, Edge} {
		for _, task := range s.Tasks {
			if task.ID == gracefulStep {
				continue // graded by a judge
			}
			flipped := map[string]bool{}
			var all []tooleval.Check
			for _, m := range mutants[task.ID] {
				run := attempt(t, s, task.ID)
				v, out := score(t, s, task.ID, run)
				if v != 1 {
					t.Fatalf("%s: the undamaged outcome is %v: %+v", task.ID, v, out.Checks)
				}
				all = out.Checks
				if run.Result.State = put(t, run.Result.State, m.path, m.value); run.StateFrom == "agent" {
					run.State = run.Result.State
				}
				v, out = score(t, s, task.ID, run)
				failed := failures(out)
				if !slices.Equal(failed, m.fails) {
					t.Errorf("%s: %s = %v: failed checks %q, want %q", task.ID, m.path, m.value, failed, m.fails)
				}
				if want := float64(len(all)-len(m.fails)) / float64(len(all)); v != want {
					t.Errorf("%s: %s = %v: outcome %v, want %v", task.ID, m.path, m.value, v, want)
				}
				for _, f := range failed {
					flipped[f] = true
				}
			}
			for _, c := range all {
				known := strings.HasPrefix(c.Name, "the report has") || c.Name == "a report is saved" // TestReport
				if !flipped[c.Name] && !known && !strings.HasPrefix(task.ID, "job_search.edge.") {
					t.Errorf("%s: nothing flips %q", task.ID, c.Name)
				}
			}
		}
	}
}

func failures(out tooleval.Outcome) []string {
	var failed []string
	for _, c := range out.Checks {
		if c.Verdict == tooleval.Failed {
			failed = append(failed, c.Name)
		}
	}
	return failed
}

// TestReport: the report is what the world says was saved, and each section counts.
func TestReport(t *testing.T) {
	section := func(s string) string { return "the report has the section " + s }
	good := "# X\n## 1. The Role\n- a\n### More\n- b\n## Company overview\nc\n**Fit**\nd\n## Recommendation\ne\n"
	for _, c := range []struct {
		name  string
		saved []map[string]any
		fails []string
	}{
		{"good", []map[string]any{{"filename": "r.md", "content": good}}, nil},
		{"with a note beside it", []map[string]any{{"filename": "r.md", "content": good}, {"filename": "n.txt", "content": "note"}}, nil},
		{"CRLF", []map[string]any{{"filename": "r.md", "content": strings.ReplaceAll(good, "\n", "\r\n")}}, nil},
		{"no fit", []map[string]any{{"filename": "r.md", "content": strings.Replace(good, "**Fit**", "", 1)}}, []string{section("Fit")}},
		{"an empty section", []map[string]any{{"filename": "r.md", "content": strings.Replace(good, "\ne\n", "\n \n", 1)}}, []string{section("Recommendation")}},
		{"no role", []map[string]any{{"filename": "r.md", "content": strings.Replace(good, "The Role", "Rollercoaster", 1)}}, []string{section("Role")}},
		{"no company", []map[string]any{{"filename": "r.md", "content": strings.Replace(good, "Company", "Accompany", 1)}}, []string{section("Company")}},
		{"overwritten", []map[string]any{{"filename": "r.md", "content": good}, {"filename": "r.md", "content": "lost"}},
			[]string{section("Role"), section("Company"), section("Fit"), section("Recommendation")}},
		{"nothing", nil, []string{"a report is saved", section("Role"), section("Company"), section("Fit"), section("Recommendation")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := attempt(t, Suite, pipelineStep)
			b, err := json.Marshal(map[string]any{"saved": c.saved})
			if err != nil {
				t.Fatal(err)
			}
			run.State = b
			if _, out := score(t, Suite, pipelineStep, run); !slices.Equal(failures(out), c.fails) {
				t.Errorf("failed checks %q, want %q", failures(out), c.fails)
			}
		})
	}
	run := attempt(t, Suite, pipelineStep) // a world without state: what counts is what was called
	run.State, run.StateFrom = run.Result.State, "agent"
	if v, out := score(t, Suite, pipelineStep, run); v != 1 {
		t.Errorf("without a world's state: %v, %q", v, failures(out))
	}
}

// TestHostileStates: whatever an agent returns, a scorer gives a number below 1.
func TestHostileStates(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, state := range []string{"", "null", "[]", "7", `"x"`, "{", "\xff", `{"title":{"a":[1]},"company":[]}`, `{"sources":[[["x"]],7,null,{}]}`,
		`{"match_score":1e999,"strengths":{}}`, `{"job_details":7,"fit_analysis":[],"saved":{}}`, `{"saved":[7,null,{"filename":7,"content":[]}]}`, deep} {
		for _, s := range []*tooleval.Suite{Suite, Edge} {
			for _, task := range s.Tasks {
				if task.ID == gracefulStep {
					continue
				}
				run := &tooleval.Run{Task: task, State: tooleval.Raw(state), StateFrom: "world", Result: tooleval.AgentResult{State: tooleval.Raw(state)}}
				if v, out := score(t, s, task.ID, run); v == 1 {
					t.Errorf("%s: %.40q scores 1: %+v", task.ID, state, out.Checks)
				}
			}
		}
	}
}

// TestM24UnseenCallsProveNothing: where calls may be missing, what only calls could show is left out.
func TestM24UnseenCallsProveNothing(t *testing.T) {
	for _, id := range []string{extractStep, researchStep, analyzeStep} {
		run := attempt(t, Suite, id)
		run.Trajectory = tooleval.Trajectory{Incomplete: "the agent reports its calls itself"}
		if v, out := score(t, Suite, id, run); v != 1 {
			t.Errorf("%s: %v, %q", id, v, failures(out))
		}
	}
}

// TestM14LoosePhrasing: a live mind's own words are answered.
func TestM14LoosePhrasing(t *testing.T) {
	all, err := Suite.MockWorld.NewWorld(t.Context(), tooleval.WorldSpec{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, argument, value, want string }{
		{"fetch_webpage", "url", postingURL, "## Requirements"},
		{"fetch_webpage", "url", " HTTPS://Careers.Tidewell.example/jobs/4417?utm=x#apply\n", "## Requirements"},
		{"fetch_webpage", "url", "careers.tidewell.example/jobs/4417-senior-backend-engineer/", "## Requirements"},
		{"fetch_webpage", "url", paywalledURL + "?ref=1", "members only"},
		{"fetch_webpage", "url", "https://tidewell.example/about/", "founded in Rotterdam"},
		{"fetch_webpage", "url", "https://tidewell.example/ceo", "404"},
		{"fetch_webpage", "url", "not an address", "only http and https"},
		{"web_search", "query", "Tidewell Robotics news", "series B"},
		{"web_search", "query", "latest announcements 2026\nTIDEWELL", "series B"},
		{"web_search", "query", "what has tidewell robotics raised so far?", "series B"},
		{"web_search", "query", "what does Tidewell Robotics do", "180 people"},
		{"web_search", "query", `"Tidewell Robotics" culture glassdoor`, "180 people"},
		{"web_search", "query", "quietwater ledger press", "22 people"},
		{"web_search", "query", "marine robots", `{"results":[]}`},
		{"web_search", "query", "  ", "empty"},
		{"save_output", "filename", "../report.md", "without folders"},
		{"save_output", "filename", "report.md", "content"},
	} {
		args, _ := json.Marshal(map[string]string{c.argument: c.value})
		r, err := all.CallTool(t.Context(), tooleval.ToolCall{Tool: c.tool, Args: args})
		if err != nil || !strings.Contains(string(r.Text), c.want) {
			t.Errorf("%s(%q): %v: %.100q, want in it %q", c.tool, c.value, err, r.Text, c.want)
		}
	}
	for _, call := range []tooleval.ToolCall{
		{Tool: "read_resume"}, {Tool: "read_resume", Args: tooleval.Raw(`{"path":"cv"}`)}, {Tool: "fetch_webpage", Args: tooleval.Raw(`{}`)},
		{Tool: "web_search", Args: tooleval.Raw(`{"query":7}`)}, {Tool: "save_output", Args: tooleval.Raw(`{}`)},
	} {
		if _, err := all.CallTool(t.Context(), call); err != nil {
			t.Errorf("%s(%s): %v, want an answer", call.Tool, call.Args, err)
		}
	}
}

// TestPagesLookReal: what an agent reads of the posting is its text and nothing of the page around it.
func TestPagesLookReal(t *testing.T) {
	text := string(page("posting.html", postingURL).Text)
	for _, clutter := range []string{"dataLayer", "Skip to content", "All jobs", "cookies", "Imprint", "<", "csrf", "Embedded Engineer"} {
		if strings.Contains(text, clutter) {
			t.Errorf("the posting's text holds %q", clutter)
		}
	}
	if text := string(page("paywalled.html", paywalledURL).Text); strings.Contains(text, "Responsibilities") || !strings.Contains(text, "Sign in") {
		t.Errorf("the wall: %q", text)
	}
}

// TestLadder holds the shape that the tasks promise.
func TestLadder(t *testing.T) {
	if len(Suite.Tasks) != 5 || *Suite.Tasks[3].MinimalCalls != 5 || len(Suite.Tasks[3].Required) != 5 || len(Suite.Tasks[3].Toolset) != 4 {
		t.Errorf("%+v", Suite.Tasks)
	}
	for _, task := range Edge.Tasks {
		if !slices.Contains(task.Tags, "edge") {
			t.Errorf("%s has no tag edge", task.ID)
		}
	}
	real, _ := Suite.Mind("real")
	for _, task := range Suite.Tasks {
		a := Suite.Assignment(&task, &real)
		if a.EntryPoint == gracefulStep {
			t.Error("the real agent has no entry point for graceful degradation")
		}
		b, err := json.Marshal(a)
		if err != nil || strings.Contains(string(b), "minimal") || strings.Contains(string(b), "required_calls") {
			t.Errorf("%s: %s, %v", task.ID, b, err)
		}
	}
}

// TestScriptedIsHonest: the twin says that it could not read a wall, and gives no details.
func TestScriptedIsHonest(t *testing.T) {
	run := attempt(t, Suite, gracefulStep)
	job := objectOf(run.State)
	if !strings.Contains(string(run.Result.Response), "could not read") || job.text("title") != "" || job.text("company") != "" {
		t.Errorf("%s %s", run.Result.Response, run.State)
	}
	if _, err := scripted(context.Background(), tooleval.Assignment{EntryPoint: "job_search.dance", Input: tooleval.Raw("{}")}, nil); err == nil {
		t.Error("an unknown entry point was served")
	}
}
