package judge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

func TestJ01UnreadableIsNotWrong(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		for _, c := range []struct {
			name  string
			reply fakellm.Reply
			asked int
			why   string
			kept  string
		}{
			{"a text", fakellm.Text("ANSWER: C"), 2, "does not call", "ANSWER: C"},
			{"a verdict in words", fakellm.Text(verdict("pass", "pass", "pass")), 2, "does not call", "because"},
			{"nothing", fakellm.Text(""), 2, "does not call", ""},
			{"another tool", fakellm.CallTool("approve", verdict("pass", "pass", "pass")), 2, "does not call", "approve"},
			{"two verdicts", fakellm.CallTools(passes.Calls[0], fails.Calls[0]), 2, "2 times", ""},
			{"a refusal", fakellm.Refusal("I can't grade this."), 1, "refused", "I can't grade this."},
			{"a page of status 200", fakellm.Reply{Body: "<html>Sign in</html>", ContentType: "text/html"}, 2, "no message of the API", "Sign in"},
			{"garbage", fakellm.Garbage(), 2, "no message of the API", ""},
			{"cut off by its limit", fakellm.MaxTokens(passes), 2, "cut off", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				out, d, srv, err := grade(t, p, rubric, "x", fakellm.Always(c.reply))
				if err != nil {
					t.Fatalf("a judge that misbehaves is no error: %v", err)
				}
				wantScore(t, out, "unscored")
				if n := len(srv.Requests("")); n != c.asked {
					t.Errorf("asked %d times, want %d", n, c.asked)
				}
				if !strings.Contains(string(out.Score.Why), c.why) || d.Split != (Split{Unreadable: 1}) {
					t.Errorf("why %q, split %+v", out.Score.Why, d.Split)
				}
				if last := d.Votes[0].Exchanges[c.asked-1]; len(last.Reply) == 0 || !bytes.Contains(last.Reply, []byte(c.kept)) {
					t.Errorf("kept reply %s, want %q in it", last.Reply, c.kept)
				}
				for _, check := range out.Checks {
					if check.Verdict != tooleval.Unscored {
						t.Errorf("check %+v", check)
					}
				}
			})
		}
	})
}

// Values of the deciding field, each as a model may write it.
var spellings = map[string]Verdict{
	`true`: Pass, `false`: Fail, `1`: Pass, `0`: Fail, `1.0`: Pass, `0.0`: Fail, `1e0`: Pass,
	`"true"`: Pass, `"false"`: Fail, `"yes"`: Pass, `"no"`: Fail, `"1"`: Pass, `"0"`: Fail,
	`"pass"`: Pass, `" PASS\n"`: Pass, `"Failed"`: Fail, `"cannot_tell"`: CannotTell,
	`null`: "", ``: "", `""`: "", `{}`: "", `{"pass":true}`: "", `[true]`: "", `"maybe"`: "", `"not pass"`: "", `"pass/fail"`: "",
	`"1.0"`: "", `"4/5"`: "", `7`: "", `-1`: "", `4.5`: "", `0.5`: "", `1e400`: "", `"N/A"`: "", `"pass\u0000"`: "",
}

func TestJ03VerdictsAreReadByTable(t *testing.T) {
	plain := Rubric{Name: "plain", Instructions: "Good?"}
	for raw, want := range spellings {
		args := `{"reason":"r","overall":` + raw + `}`
		if raw == "" {
			args = `{"reason":"r"}`
		}
		got, no := read(&plain, reply{calls: []string{args}}, "")
		switch {
		case want == "" && (got.Verdict != nil || no.why == ""):
			t.Errorf("overall %s was read as %v", raw, *got.Verdict)
		case want != "" && (got.Verdict == nil || *got.Verdict != want):
			t.Errorf("overall %s: got %v (%s), want %s", raw, got.Verdict, no.why, want)
		}
		in := `{"criteria":{"admits":{"verdict":` + raw + `},"invents_nothing":{"verdict":"pass"}},"overall":"pass"}`
		if got, no := read(&Rubric{Criteria: rubric.Criteria, Decides: ByCriteria}, reply{calls: []string{in}}, ""); want == "" &&
			(got.Verdict != nil || no.why == "") {
			t.Errorf("criterion %s was read as %v", raw, *got.Verdict)
		}
	}
}

func TestJ05ContradictionsAreFlagged(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		for _, c := range []struct {
			decides Decider
			reply   fakellm.Reply
			want    string
			flagged bool
		}{
			{"", vote("pass", "pass", "fail"), "unscored", true},
			{"", vote("fail", "pass", "pass"), "unscored", true},
			{"", vote("pass", "cannot_tell", "pass"), "unscored", true},
			{ByOverall, vote("pass", "pass", "fail"), "1", true},
			{ByOverall, vote("fail", "pass", "pass"), "0", true},
			{ByCriteria, vote("pass", "pass", "fail"), "0", true},
			{ByCriteria, vote("fail", "pass", "pass"), "1", true},
			{ByCriteria, vote("pass", "cannot_tell", "pass"), "unscored", true},
			{ByCriteria, vote("pass", "pass", "pass"), "1", false},
			{ByCriteria, fakellm.CallTool(verdictTool, `{}`), "unscored", false},
			{ByOverall, fakellm.CallTool(verdictTool, `{"overall":null}`), "unscored", false},
			{ByOverall, fakellm.CallTool(verdictTool, `{"overall":"pass"}`), "unscored", false},
		} {
			r := rubric
			r.Decides = c.decides
			out, d, srv, err := grade(t, p, r, "it could not be read", fakellm.Always(c.reply))
			if err != nil {
				t.Fatal(err)
			}
			wantScore(t, out, c.want)
			flags := strings.Join(d.Votes[0].Flags, "; ")
			if strings.Contains(flags, "contradicts itself") != c.flagged {
				t.Errorf("decides %q, %s: flags %q", c.decides, c.reply.Calls[0].Args, flags)
			}
			if c.flagged && len(srv.Requests("")) != 1 {
				t.Error("a judge that contradicts itself was asked again until it did not")
			}
			if d.Votes[0].Verdict != nil {
				info := map[Decider]string{ByOverall: "admits", ByCriteria: "overall"}[c.decides]
				for _, check := range out.Checks {
					if check.Name == info && !check.Info {
						t.Errorf("decides %q: %s should be information: %+v", c.decides, info, out.Checks)
					}
				}
			}
		}
	})
}

func TestJ06ToleratesOneObject(t *testing.T) {
	good := verdict("pass", "pass", "pass")
	asString, _ := json.Marshal(good)
	for _, c := range []struct {
		name, args string
		readable   bool
	}{
		{"plain", good, true},
		{"fenced", "```json\n" + good + "\n```", true},
		{"in prose", "Here is my verdict:\n" + good + "\nThank you.", true},
		{"as a string", string(asString), true},
		{"cut off", `{"criteria":{"admits":{"evidence":"","verdict":"pass"},"rea`, false},
		{"cut off after a whole inner object", `{"rea": ` + good, false},
		{"inner object of a broken one", `{'criteria': ` + good + `}`, false},
		{"single quotes", `{'overall': 'pass'}`, false},
		{"two objects", good + verdict("fail", "pass", "fail"), false},
		{"the same twice", good + good, false},
		{"a key twice", `{"overall":"fail",` + good[1:], false},
		{"a key twice inside", strings.Replace(good, `"verdict":"pass"`, `"verdict":"fail","verdict":"pass"`, 1), false},
		{"a list", `[` + good + `,` + good + `]`, false},
		{"an array of objects for criteria", `{"criteria":[{"id":"admits","verdict":"pass"}],"overall":"pass"}`, false},
		{"a criterion is missing", `{"criteria":{"admits":{"verdict":"pass"}},"overall":"pass"}`, false},
		{"wrong case", strings.ToUpper(good), false},
		{"empty", "", false},
		{"null", "null", false},
		{"deep", strings.Repeat(`{"a":`, 50_000), false},
		{"huge", `{"overall":"pass","reason":"` + strings.Repeat("x", 2<<20) + `"}`, false},
	} {
		got, no := read(&rubric, reply{calls: []string{c.args}}, "| could not be read")
		if (got.Verdict != nil) != c.readable || (no.why == "") != c.readable {
			t.Errorf("%s: verdict %v, why %q; want readable %t", c.name, got.Verdict, no.why, c.readable)
		}
	}
}

func TestJ06AsksOnceMore(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		out, d, srv, err := grade(t, p, rubric, "x", fakellm.Turns(fakellm.CallTool(verdictTool, `{"overall": "pa`), passes))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "1")
		reqs := srv.Requests("")
		if len(reqs) != 2 || !strings.Contains(reqs[1].LastText(), "An earlier reply to this could not be used") {
			t.Fatalf("%d requests, the last %q", len(reqs), reqs[len(reqs)-1].LastText())
		}
		if x := d.Votes[0].Exchanges; len(x) != 2 || x[0].Unreadable == "" || x[1].Unreadable != "" || len(d.Requests) != 2 {
			t.Errorf("exchanges %+v", x)
		}

		out, _, srv, err = grade(t, p, rubric, "x", fakellm.Turns(fakellm.MaxTokens(fakellm.CallTool(verdictTool, `{"ov`)), passes))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "1")
		if reqs := srv.Requests(""); reqs[1].MaxTokens != 2*reqs[0].MaxTokens {
			t.Errorf("limits of tokens: %d, then %d", reqs[0].MaxTokens, reqs[1].MaxTokens)
		}
	})
}

func TestJ07AndJ09NoNumberIsMadeUp(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		for _, args := range []string{
			`{"reason":"good work"}`, `{"SCORE":"True"}`, `{"score":5}`, `{"overall":7,"criteria":{}}`,
			verdict("3", "pass", "pass"), verdict("4/5", "pass", "pass"), verdict("-1", "pass", "pass"), verdict("pass", "4.5", "pass"),
		} {
			out, _, _, err := grade(t, p, rubric, "x", fakellm.Always(fakellm.CallTool(verdictTool, args)))
			if err != nil {
				t.Fatal(err)
			}
			wantScore(t, out, "unscored")
		}
	})
}
