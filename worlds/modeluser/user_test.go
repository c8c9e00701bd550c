package modeluser_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/worlds"
	"github.com/tooleval/tooleval/worlds/modeluser"
)

const secret = "You are Mia Li and want seat 4A."

var talk = []tooleval.Tool{
	{Name: "ask_user", Schema: tooleval.Raw(`{"type":"object"}`)}, {Name: "look", Schema: tooleval.Raw(`{"type":"object"}`)},
}

var mia = modeluser.User{
	World: worlds.Mock{InitialState: tooleval.Raw(`{"n":1}`), Fixtures: []worlds.Fixture{
		{Tool: "look", Results: []worlds.Answer{{Result: tooleval.TextResult("seen")}}}}},
	Model: "openai:m", Instruction: "Be brief.", Tasks: map[string]string{"t": secret},
}

func env(srv *fakellm.Server, run string) func(string) string {
	return func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": srv.URL(run) + "/v1", "OPENAI_API_KEY": "sk-secret"}[name]
	}
}

func open(t *testing.T, u modeluser.User, getenv func(string) string) tooleval.World {
	t.Helper()
	w, err := u.NewWorld(t.Context(), tooleval.WorldSpec{Task: tooleval.Task{ID: "t"}, Tools: talk, Seed: 1<<40 + 7, Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func say(w tooleval.ToolHandler, message string) (tooleval.ToolResult, error) {
	args, _ := json.Marshal(map[string]string{"message": message})
	return w.CallTool(context.Background(), tooleval.ToolCall{Tool: "ask_user", Args: args})
}

func TestAConversationEndsByTheStop(t *testing.T) {
	srv := fakellm.New(t, fakellm.Authorized("sk-secret", fakellm.Turns(
		fakellm.Text("Seat 4A, please."), fakellm.Text("Thanks! ###STOP### and more"))))
	w := open(t, mia, env(srv, "a"))
	if r, err := say(w, "How can I help?"); err != nil || r.Text != "Seat 4A, please." || r.EndsRun || r.IsError {
		t.Fatalf("got %+v, %v", r, err)
	}
	if r, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: "look", Args: tooleval.Raw(`{}`)}); err != nil || r.Text != "seen" {
		t.Errorf("the other world: got %+v, %v", r, err)
	}
	if r, err := say(w, "Done."); err != nil || r.Text != "Thanks!" || !r.EndsRun {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := say(w, "Still there?"); err != nil || !r.IsError || r.EndsRun {
		t.Errorf("after the end: got %+v, %v", r, err)
	}
	if state, err := w.State(); err != nil || string(state) != `{"n":1}` {
		t.Errorf("got %s, %v", state, err)
	}
	sent := srv.Requests("a")
	if len(sent) != 2 {
		t.Fatalf("%d requests", len(sent))
	}
	var roles []string
	for _, m := range sent[1].Messages {
		roles = append(roles, m.Role+": "+m.Text)
	}
	if got := strings.Join(roles, "|"); got != "user: How can I help?|assistant: Seat 4A, please.|user: Done." {
		t.Errorf("the second request says %s", got)
	}
	for _, want := range []string{"Be brief.\n\n" + secret, "###STOP###"} {
		if !strings.Contains(sent[0].System, want) {
			t.Errorf("the model is not told %q: %s", want, sent[0].System)
		}
	}
	if body := string(sent[0].Raw); sent[0].Model != "m" || !strings.Contains(body, `"temperature":0`) || !strings.Contains(body, `"seed":7`) {
		t.Errorf("sent %s", body)
	}
}

func TestTheLastReplyEndsTheRun(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text("Bye? <end>")))
	u := mia
	u.MaxReplies, u.Stop, u.Instruction = 2, "[over]", ""
	w := open(t, u, env(srv, ""))
	for i := range 2 {
		if r, err := say(w, "x"); err != nil || r.EndsRun != (i == 1) || r.Text != "Bye? <end>" {
			t.Errorf("reply %d: got %+v, %v", i, r, err)
		}
	}
}

func TestWrongArgumentsAskNobody(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Text("x")))
	w := open(t, mia, env(srv, ""))
	for _, args := range []string{`{}`, `{"message":3}`, `{"message":null}`, `[]`, ``} {
		if r, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: "ask_user", Args: tooleval.Raw(args)}); err != nil || !r.IsError {
			t.Errorf("%s: got %+v, %v", args, r, err)
		}
	}
	if n := len(srv.Requests("")); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestFaultsAreNeverTheAgents(t *testing.T) {
	for name, c := range map[string]struct {
		reply fakellm.Reply
		owner tooleval.Owner
	}{
		"rate limit":   {fakellm.RateLimited(time.Millisecond), tooleval.OwnerInfra},
		"server error": {fakellm.ServerError(), tooleval.OwnerInfra},
		"garbage":      {fakellm.Garbage(), tooleval.OwnerInfra},
		"silence":      {fakellm.Text(""), tooleval.OwnerInfra},
		"refusal":      {fakellm.Refusal("I can't."), tooleval.OwnerInfra},
		"key":          {fakellm.Fail(401, "invalid_api_key", "no sk-secret; you sent "+secret), tooleval.OwnerUser},
		"model":        {fakellm.Fail(404, "model_not_found", "no model m"), tooleval.OwnerUser},
	} {
		srv := fakellm.New(t, fakellm.Always(c.reply))
		w := open(t, mia, env(srv, ""))
		r, err := say(w, "hello")
		if owner, ok := tooleval.BlamedOn(err); !ok || owner != c.owner || r.EndsRun {
			t.Errorf("%s: got %+v, %v, owner %q", name, r, err, owner)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "sk-secret")) {
			t.Errorf("%s: the agent gets to read %v", name, err)
		}
		if _, err := w.State(); err == nil {
			t.Errorf("%s: the state of a run whose user was not there", name)
		} else if owner, _ := tooleval.BlamedOn(err); owner != c.owner {
			t.Errorf("%s: the state's error blames %q", name, owner)
		}
	}
}

// A message that was not answered is not in the conversation, and one that is answered later makes good for it.
func TestAnAnswerMakesGoodForAFault(t *testing.T) {
	srv := fakellm.New(t, fakellm.Turns(fakellm.Garbage(), fakellm.Text("Here.")))
	w := open(t, mia, env(srv, ""))
	if _, err := say(w, "first"); err == nil {
		t.Fatal("garbage was taken for an answer")
	}
	if r, err := say(w, "second"); err != nil || r.Text != "Here." {
		t.Fatalf("got %+v, %v", r, err)
	}
	if _, err := w.State(); err != nil {
		t.Error(err)
	}
	if m := srv.Requests("")[1].Messages; len(m) != 1 || m[0].Text != "second" {
		t.Errorf("sent %+v", m)
	}
}

func TestSettingsThatAServerRefusesAreLeftOut(t *testing.T) {
	srv := fakellm.New(t, func(r fakellm.Request) fakellm.Reply {
		for _, key := range []string{"temperature", "seed"} {
			if strings.Contains(string(r.Raw), `"`+key+`":`) {
				return fakellm.Fail(400, "unsupported_value", "Unsupported value: '"+key+"'")
			}
		}
		return fakellm.Text("Yes.")
	})
	w := open(t, mia, env(srv, ""))
	for range 2 {
		if r, err := say(w, "sure?"); err != nil || r.Text != "Yes." {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	if n := len(srv.Requests("")); n != 4 { // the second message knows already
		t.Errorf("%d requests, want 4", n)
	}
}

func TestAMissingKeyIsSaidBeforeAnyRun(t *testing.T) {
	specs := []tooleval.WorldSpec{{Tools: talk[1:]}, {Tools: talk}, {Tools: talk}}
	err := mia.PreflightWorlds(t.Context(), specs)
	if owner, _ := tooleval.BlamedOn(err); err == nil || owner != tooleval.OwnerUser || strings.Count(err.Error(), "set OPENAI_API_KEY") != 1 {
		t.Errorf("got %v, owner %q", err, owner)
	}
	if err := mia.PreflightWorlds(t.Context(), specs[:1]); err != nil {
		t.Errorf("tasks without the user need no key: %v", err)
	}
	_, err = say(open(t, mia, nil), "hello")
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser || !strings.Contains(fmt.Sprint(err), "set OPENAI_API_KEY") {
		t.Errorf("got %v, owner %q", err, owner)
	}
}

// Runs share one User and one server, and nothing else: each model is told what its own agent said.
func TestRunsShareNothing(t *testing.T) {
	srv := fakellm.New(t, func(r fakellm.Request) fakellm.Reply {
		var heard []string
		for _, m := range r.Messages {
			if m.Role == "user" {
				heard = append(heard, m.Text)
			}
		}
		return fakellm.Text(strings.Join(heard, ","))
	})
	var wg sync.WaitGroup
	for i := range 8 {
		w := open(t, mia, env(srv, ""))
		wg.Go(func() {
			for turn, want := range []string{fmt.Sprint(i), fmt.Sprintf("%d,%d", i, i)} {
				if r, err := say(w, fmt.Sprint(i)); err != nil || string(r.Text) != want {
					t.Errorf("run %d, turn %d: got %q, %v", i, turn, r.Text, err)
				}
			}
		})
	}
	// Calls of one run at the same time come one after the other.
	w := open(t, mia, env(srv, ""))
	for range 4 {
		wg.Go(func() {
			if _, err := say(w, "p"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r, err := say(w, "p"); err != nil || r.Text != "p,p,p,p,p" {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

func TestTheEndOfARunIsNoFault(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Hang()))
	w := open(t, mia, env(srv, ""))
	why := errors.New("over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, why)
	defer cancel()
	if _, err := w.CallTool(ctx, tooleval.ToolCall{Tool: "ask_user", Args: tooleval.Raw(`{"message":"x"}`)}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, err := w.State(); err != nil {
		t.Error(err)
	}
}

func TestCheckReportsWhatIsWrongWithAUser(t *testing.T) {
	u := modeluser.User{Tool: "ask", Model: "gpt", MaxReplies: -1, Tasks: map[string]string{"booking": "x"}, World: worlds.Mock{
		Fixtures: []worlds.Fixture{{Tool: "nope"}}}}
	err := u.Check(&tooleval.Suite{Tools: talk, Tasks: []tooleval.Task{{ID: "bookings", Toolset: []string{"ask"}}}})
	for _, want := range []string{`no tool "ask"`, `want openai:MODEL`, `unknown task "booking" (did you mean "bookings"?)`,
		"nothing says who the user is", "is negative", `"nope"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %q", err, want)
		}
	}
	if err := mia.Check(&tooleval.Suite{Tools: talk, Tasks: []tooleval.Task{{ID: "t", Toolset: []string{"ask_user"}}}}); err != nil {
		t.Error(err)
	}
	a, _ := json.Marshal(mia.Fingerprint())
	for _, change := range []func(*modeluser.User){
		func(u *modeluser.User) { u.Model = "openai:n" }, func(u *modeluser.User) { u.Instruction = "Be rude." },
		func(u *modeluser.User) { u.Tasks = nil }, func(u *modeluser.User) { u.World = nil },
	} {
		other := mia
		change(&other)
		if b, _ := json.Marshal(other.Fingerprint()); string(a) == string(b) {
			t.Errorf("two users, one fingerprint: %s", b)
		}
	}
}

// In a whole eval: the replies are in the trajectory, the stop completes the run, and a user who can't be asked leaves it
// unscored, even when the agent makes nothing of the error.
func TestAnEvalWithAUser(t *testing.T) {
	for name, c := range map[string]struct {
		script  fakellm.Script
		verdict tooleval.Verdict
		owner   tooleval.Owner
	}{
		"talks":        {fakellm.Turns(fakellm.Text("4A."), fakellm.Text("###STOP###")), tooleval.Passed, ""},
		"rate limited": {fakellm.Always(fakellm.RateLimited(time.Millisecond)), tooleval.Unscored, tooleval.OwnerInfra},
	} {
		srv := fakellm.New(t, c.script)
		s := &tooleval.Suite{
			Name: "s", Tools: talk, EntryPoints: []tooleval.EntryPoint{{Name: "e"}}, MockWorld: mia,
			Tasks: []tooleval.Task{{ID: "t", Description: "Help.", EntryPoint: "e", Toolset: []string{"ask_user"},
				ExpectedState: tooleval.Match(map[string]any{"n": 1}), DoNothingMayPass: "it is a test"}},
		}
		agent := tooleval.AgentFunc(func(ctx context.Context, a tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
			if b, _ := json.Marshal(a); strings.Contains(string(b), secret) {
				t.Errorf("the agent reads %s", b)
			}
			_, _ = say(tools, "Which seat?")
			_, _ = say(tools, "Done.")
			return tooleval.AgentResult{Response: "done"}, nil
		})
		backends := []engine.Backend{{Name: "m", Agent: agent}}
		plan, err := engine.NewPlan([]*tooleval.Suite{s}, backends, engine.Options{Runs: 1, Getenv: env(srv, "")})
		if err != nil {
			t.Fatal(err)
		}
		runner, err := engine.NewRunner([]*tooleval.Suite{s}, backends, plan, engine.RunnerOptions{Getenv: env(srv, "")})
		if err != nil {
			t.Fatal(err)
		}
		var run *tooleval.Run
		if err := engine.Execute(t.Context(), plan, runner.Do, engine.Pool{Concurrency: 1}, engine.Sink{
			Report: func(job engine.Job, r *tooleval.Run, _ bool) {
				if job.Baseline == "" {
					run = r
				}
			},
		}); err != nil {
			t.Fatal(err)
		}
		if run.Score.Verdict != c.verdict || run.ErrorOwner != c.owner || len(run.Trajectory.Calls) != 2 {
			t.Errorf("%s: got %s, %q (%s), %d calls", name, run.Score.Verdict, run.Error, run.ErrorOwner, len(run.Trajectory.Calls))
		}
		if calls := run.Trajectory.Calls; name == "talks" && (calls[0].Result.Text != "4A." || !calls[1].Result.EndsRun) {
			t.Errorf("the record says %+v", calls)
		}
	}
}
