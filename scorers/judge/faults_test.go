package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

// quickly is a rate limit that is over at once.
var quickly = fakellm.RateLimited(time.Millisecond)

func TestFaultsOfTheService(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		for _, c := range []struct {
			name  string
			reply fakellm.Reply
			owner tooleval.Owner
			tries int
			want  string
		}{
			{"rate limited", quickly, tooleval.OwnerInfra, 3, "429"},
			{"overloaded", fakellm.Overloaded(), tooleval.OwnerInfra, 3, "529"},
			{"server error", fakellm.ServerError(), tooleval.OwnerInfra, 3, "500"},
			{"a proxy's page", fakellm.BadGateway(), tooleval.OwnerInfra, 3, "502"},
			{"key refused and echoed", fakellm.Fail(401, "authentication_error", "no such key: "+secret), tooleval.OwnerUser, 1, "no such key: [key]"},
			{"no such model", fakellm.Fail(404, "not_found_error", "model: judge-model"), tooleval.OwnerUser, 1, "404"},
			{"a bad request", fakellm.Fail(400, "invalid_request_error", "something else"), tooleval.OwnerInfra, 1, "something else"},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := rubric
				r.Votes = 3
				out, d, srv, err := grade(t, p, r, "x", fakellm.Always(c.reply))
				if err == nil {
					t.Fatal("no error")
				}
				owner, _ := tooleval.BlamedOn(err)
				if owner != c.owner || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "judge "+p+":"+model+": ") {
					t.Errorf("got %v, blamed on %q; want %q, blamed on %q", err, owner, c.want, c.owner)
				}
				wantScore(t, out, "unscored")
				if n := len(srv.Requests("")); n != c.tries {
					t.Errorf("%d requests, want %d: one vote that can't be asked for ends the scoring", n, c.tries)
				}
				if len(d.Votes) != 1 || d.Votes[0].Exchanges[0].Tries != c.tries || d.Votes[0].Exchanges[0].Error == "" {
					t.Errorf("detail %+v", d.Votes)
				}
			})
		}
	})
}

func TestFaultsThatPass(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		for name, first := range map[string]fakellm.Reply{
			"rate limited": quickly, "overloaded": fakellm.Overloaded(), "a dropped connection": fakellm.Truncated(passes),
		} {
			out, d, srv, err := grade(t, p, rubric, "x", fakellm.Turns(first, passes))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wantScore(t, out, "1")
			if x := d.Votes[0].Exchanges; len(x) != 1 || x[0].Tries != 2 || len(srv.Requests("")) != 2 {
				t.Errorf("%s: exchanges %+v", name, x)
			}
		}
	})
}

func TestTruncatedForEverIsInfra(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		out, _, srv, err := grade(t, p, rubric, "x", fakellm.Always(fakellm.Truncated(passes)))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra {
			t.Errorf("got %v, blamed on %q", err, owner)
		}
		wantScore(t, out, "unscored")
		if n := len(srv.Requests("")); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
}

// The newest models of Claude refuse a forced tool choice. The judge asks without it, and remembers.
func TestUnforcedWhereForcingIsRefused(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		srv := fakellm.New(t, fakellm.UnforcedOnly(fakellm.Always(passes)))
		s := newJudge(t, p, srv).Scorer(rubric, FinalAnswer)
		for range 2 {
			out, err := s.Score(t.Context(), answer("x"))
			if err != nil {
				t.Fatal(err)
			}
			wantScore(t, out, "1")
		}
		var modes []string
		for _, r := range srv.Requests("") {
			modes = append(modes, r.Choice.Mode)
			if tool, _ := r.Tool(verdictTool); !tool.Strict {
				t.Error("the schema is not strict")
			}
		}
		if got := strings.Join(modes, " "); got != "tool auto auto" {
			t.Errorf("asked with %q, want forced once and never again", got)
		}
	})
}

func TestLaxWhereStrictIsRefused(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		out, _, srv, err := grade(t, p, rubric, "x", func(r fakellm.Request) fakellm.Reply {
			if tool, _ := r.Tool(verdictTool); tool.Strict {
				return fakellm.Fail(400, "invalid_request_error", "The compiled grammar is too large")
			}
			return passes
		})
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "1")
		if n := len(srv.Requests("")); n != 2 {
			t.Errorf("%d requests", n)
		}
		// A server that refuses whatever it is asked is not asked for ever.
		_, _, srv, err = grade(t, p, rubric, "x", fakellm.Always(fakellm.Fail(400, "x", "tool_choice and strict schema are unknown")))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra || len(srv.Requests("")) != 3 {
			t.Errorf("%d requests, %v blamed on %q", len(srv.Requests("")), err, owner)
		}
	})
}

func TestTooLongIsUnscored(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		out, d, srv, err := grade(t, p, rubric, "x", fakellm.Always(fakellm.Fail(400, "context_length_exceeded",
			"prompt is too long: 300000 tokens > 200000 maximum")))
		if err != nil || len(srv.Requests("")) != 1 {
			t.Fatalf("%d requests, %v", len(srv.Requests("")), err)
		}
		wantScore(t, out, "unscored")
		if !strings.Contains(string(out.Score.Why), "too long for the judge") || d.Split.Unreadable != 1 {
			t.Errorf("why %q", out.Score.Why)
		}
		out, _, srv, err = grade(t, p, rubric, strings.Repeat("x", MaxGraded+1), fakellm.Always(passes))
		if err != nil || len(srv.Requests("")) != 0 {
			t.Fatalf("%d requests, %v", len(srv.Requests("")), err)
		}
		wantScore(t, out, "unscored")
	})
}

func TestNoKey(t *testing.T) {
	for spec, want := range map[string]string{
		"":             "the judge needs ANTHROPIC_API_KEY: set it, or choose another judge with --judge openai:MODEL or --judge none",
		"openai:gpt-x": "the judge needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs no key: set one, or choose another judge with --judge anthropic:MODEL or --judge none",
	} {
		t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-process") // never looked at
		t.Setenv("OPENAI_API_KEY", "sk-of-the-process")
		s, err := Graded{Rubric: rubric}.Bind(tooleval.Resources{Judge: spec})
		if err != nil {
			t.Fatalf("a missing key stops the whole eval: %v", err)
		}
		out, err := s.Score(t.Context(), answer("x"))
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerInfra || err.Error() != want {
			t.Errorf("got %v, blamed on %q", err, owner)
		}
		wantScore(t, out, "unscored")
	}
}

func TestChoosingAJudge(t *testing.T) {
	for spec, want := range map[string]string{
		"":                            DefaultModel.String(),
		"none":                        "none",
		"anthropic":                   DefaultModel.String(),
		"anthropic:claude-x":          "anthropic:claude-x",
		"openai:llama3:8b":            "openai:llama3:8b",
		"antropic:claude-x":           `unknown provider "antropic" (did you mean "anthropic"?)`,
		"non":                         `(did you mean "none"?)`,
		"claude-x":                    "anthropic:claude-x",
		"openai":                      "name a model, as in openai:MODEL",
		"openai:\t":                   "name a model",
		"anthropic:":                  "name a model",
		"none:x":                      "none takes no model",
		"\x1b[2Kzzzzzzzzzzzzzzzzzzzz": "want none, anthropic:MODEL or openai:MODEL",
	} {
		m, err := Parse(spec)
		got := m.String()
		if err != nil {
			got = err.Error()
			if strings.Contains(got, "\x1b") {
				t.Errorf("%q: an escape sequence is in the error", spec)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", spec, got, want)
		}
		if _, bindErr := (Graded{Rubric: rubric}).Bind(tooleval.Resources{Judge: spec}); (bindErr == nil) != (err == nil) {
			t.Errorf("%q: bind says %v", spec, bindErr)
		}
	}
}

func TestNoneAbstains(t *testing.T) {
	s, err := Graded{Rubric: NoFabrication}.Bind(tooleval.Resources{Judge: "none"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Score(t.Context(), answer("x"))
	if err != nil || out.Score.Why != "no judge was chosen (--judge none)" {
		t.Errorf("got %+v, %v", out, err)
	}
	wantScore(t, out, "unscored")
}

func TestUnboundIsTheHarnessesFault(t *testing.T) {
	_, err := Graded{Rubric: rubric}.Score(t.Context(), answer("x"))
	if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerHarness {
		t.Errorf("got %v, blamed on %q", err, owner)
	}
}

func TestRubricsAreChecked(t *testing.T) {
	many := make([]Criterion, 51)
	for i := range many {
		many[i] = Criterion{ID: "c" + strings.Repeat("x", i), Text: "t"}
	}
	for want, r := range map[string]Rubric{
		"needs a name":           {Instructions: "x"},
		"nothing to judge by":    {Name: "n"},
		"must match":             {Name: "n", Criteria: []Criterion{{"Has Space", "t"}}},
		"used twice":             {Name: "n", Criteria: []Criterion{{"a", "t"}, {"a", "t"}}},
		"taken by the overall":   {Name: "n", Criteria: []Criterion{{"overall", "t"}}},
		"checks nothing":         {Name: "n", Criteria: []Criterion{{"a", " "}}},
		"there are no criteria":  {Name: "n", Instructions: "x", Decides: ByCriteria},
		`did you mean "overall"`: {Name: "n", Instructions: "x", Decides: "overal"},
		"want 1 to 15":           {Name: "n", Instructions: "x", Votes: 16},
		"at most 50":             {Name: "n", Criteria: many},
	} {
		err := Graded{Rubric: r}.Check(nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := (Graded{Rubric: r}).Bind(tooleval.Resources{}); err == nil {
			t.Errorf("%q was bound", want)
		}
	}
	if err := NoFabrication.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := tooleval.DecodeValue(NoFabrication.schema()); err != nil {
		t.Errorf("the schema is no JSON: %v", err)
	}
}
