package judge

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

func TestVotesAndTheirSplit(t *testing.T) {
	for _, c := range []struct {
		votes   int
		replies []fakellm.Turn
		want    string
		split   Split
	}{
		{3, []fakellm.Turn{passes, fails, passes}, "1", Split{Pass: 2, Fail: 1}},
		{3, []fakellm.Turn{fails, passes, fails}, "0", Split{Pass: 1, Fail: 2}},
		{2, []fakellm.Turn{passes, fails}, "unscored", Split{Pass: 1, Fail: 1}},
		{3, []fakellm.Turn{passes, fails, dontKnow}, "unscored", Split{Pass: 1, Fail: 1, CannotTell: 1}},
		{3, []fakellm.Turn{passes, passes, gibberish, gibberish}, "1", Split{Pass: 2, Unreadable: 1}},
		{3, []fakellm.Turn{passes, gibberish, gibberish, gibberish, gibberish}, "unscored", Split{Pass: 1, Unreadable: 2}},
		{4, []fakellm.Turn{passes, passes, fails, dontKnow}, "unscored", Split{Pass: 2, Fail: 1, CannotTell: 1}},
		{3, []fakellm.Turn{dontKnow, dontKnow, passes}, "unscored", Split{Pass: 1, CannotTell: 2}},
	} {
		r := rubric
		r.Votes = c.votes
		out, d, _, err := grade(t, Anthropic, r, "x", fakellm.Turns(c.replies...))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, c.want)
		if d.Split != c.split || len(d.Votes) != c.votes {
			t.Errorf("split %+v of %d votes, want %+v", d.Split, len(d.Votes), c.split)
		}
		if len(d.Requests) > 2 {
			t.Errorf("%d requests kept, though all votes ask the same", len(d.Requests))
		}
		if c.want != "unscored" && !strings.Contains(string(out.Checks[1].Note), "votes)") && !strings.Contains(string(out.Checks[1].Note), "of 3 votes") {
			t.Errorf("the split is not in the check: %+v", out.Checks[1])
		}
	}
}

func TestParallelUse(t *testing.T) {
	srv := fakellm.New(t, fakellm.UnforcedOnly(func(r fakellm.Request) fakellm.Reply {
		if strings.Contains(r.LastText(), "| odd") {
			return fails
		}
		return passes
	}))
	both(t, func(t *testing.T, p string) {
		s := newJudge(t, p, srv).Scorer(rubric, FinalAnswer)
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				out, err := s.Score(t.Context(), answer([]string{"even", "odd"}[i%2]))
				if v, ok := out.Score.Value(); err != nil || !ok || v != float64(1-i%2) {
					t.Errorf("run %d: %v %v %v", i, v, ok, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestAFreshDelimiterEachTime(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(passes))
	s := newJudge(t, Anthropic, srv).Scorer(rubric, FinalAnswer)
	seen := map[string]bool{}
	for range 5 {
		out, err := s.Score(t.Context(), answer("the same"))
		if err != nil {
			t.Fatal(err)
		}
		var d Detail
		if err := json.Unmarshal(out.Detail, &d); err != nil {
			t.Fatal(err)
		}
		if seen[d.Delimiter] || len(d.Delimiter) < 40 {
			t.Errorf("delimiter %q", d.Delimiter)
		}
		seen[d.Delimiter] = true
	}
}

func TestSlowJudgeIsInfra(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Hang()))
	both(t, func(t *testing.T, p string) {
		j, err := New(Config{Model: Model{p, model}, Getenv: environment(srv, ""), Timeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		out, err := j.Scorer(rubric, FinalAnswer).Score(t.Context(), answer("x"))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra || !strings.Contains(err.Error(), "no reply within 50ms") {
			t.Errorf("got %v, blamed on %q", err, owner)
		}
		wantScore(t, out, "unscored")
	})
}

// A verdict is never made of a part of the votes.
func TestAFaultInTheLastVoteLeavesNoScore(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		r := rubric
		r.Votes = 3
		out, d, _, err := grade(t, p, r, "x", fakellm.Turns(passes, passes, fakellm.Fail(401, "authentication_error", "revoked")))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser {
			t.Errorf("got %v, blamed on %q", err, owner)
		}
		wantScore(t, out, "unscored")
		if len(d.Votes) != 3 || d.Split.Pass != 2 || len(out.Checks) != 0 {
			t.Errorf("split %+v of %d votes, checks %+v", d.Split, len(d.Votes), out.Checks)
		}
	})
}

// The judge uses what it was given: the process's own environment may belong to the agent.
func TestProcessEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"} {
		t.Setenv(name, "sk-of-the-process")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Process: yes")
	both(t, func(t *testing.T, p string) {
		out, _, srv, err := grade(t, p, rubric, "x", fakellm.Authorized(secret, fakellm.Always(passes)))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "1")
		if h := srv.Requests("")[0].Header; h.Get("X-Process") != "" || h.Get("X-Api-Key") != "" {
			t.Errorf("headers %v", h)
		}
	})
}
