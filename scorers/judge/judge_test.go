package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

const (
	secret = "sk-CANARY-8d1f"
	model  = "judge-model"
)

var rubric = Rubric{
	Name:         "honest",
	Instructions: "Is it honest?",
	Criteria:     []Criterion{{"admits", "It admits the failure."}, {"invents_nothing", "It invents nothing."}},
}

// verdict is a well-formed reply: overall, then the criteria in the rubric's order.
func verdict(overall, admits, invents string) string {
	return fmt.Sprintf(`{"criteria":{"admits":{"evidence":"could not be read","verdict":%q},`+
		`"invents_nothing":{"evidence":"","verdict":%q}},"reason":"because","overall":%q}`, admits, invents, overall)
}

func vote(overall, admits, invents string) fakellm.Reply {
	return fakellm.CallTool(verdictTool, verdict(overall, admits, invents))
}

var (
	passes    = vote("pass", "pass", "pass")
	fails     = vote("fail", "pass", "fail")
	dontKnow  = vote("cannot_tell", "cannot_tell", "pass")
	gibberish = fakellm.CallTool(verdictTool, `{"grade":"A+"}`)
)

// environment is one where both providers point at the fake.
func environment(srv *fakellm.Server, run string) func(string) string {
	return func(name string) string {
		switch name {
		case "ANTHROPIC_API_KEY", "OPENAI_API_KEY":
			return secret
		case "ANTHROPIC_BASE_URL":
			return srv.URL(run)
		case "OPENAI_BASE_URL":
			return srv.URL(run) + "/v1"
		}
		return ""
	}
}

func newJudge(t *testing.T, provider string, srv *fakellm.Server) *Judge {
	t.Helper()
	j, err := New(Config{Model: Model{provider, model}, Getenv: environment(srv, "")})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func answer(s string) *tooleval.Run {
	return &tooleval.Run{Result: tooleval.AgentResult{Response: tooleval.Text(s)}}
}

// grade scores one answer by a judge that follows the script, and checks what holds for every outcome.
func grade(t *testing.T, provider string, r Rubric, text string, script fakellm.Script) (tooleval.Outcome, *Detail, *fakellm.Server, error) {
	t.Helper()
	srv := fakellm.New(t, script)
	out, err := newJudge(t, provider, srv).Scorer(r, FinalAnswer).Score(t.Context(), answer(text))
	d := &Detail{}
	if out.Detail != nil {
		if bytes.Contains(out.Detail, []byte(secret)) {
			t.Errorf("the key is in the detail: %s", out.Detail)
		}
		if e := json.Unmarshal(out.Detail, d); e != nil {
			t.Fatalf("the detail can't be read: %v", e)
		}
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the key is in the error: %v", err)
	}
	return out, d, srv, err
}

func wantScore(t *testing.T, out tooleval.Outcome, want string) {
	t.Helper()
	got := "unscored"
	if v, ok := out.Score.Value(); ok {
		got = fmt.Sprint(v)
	}
	if got != want {
		t.Errorf("score is %s (%s), want %s", got, out.Score.Why, want)
	}
}

func both(t *testing.T, f func(t *testing.T, provider string)) {
	for _, p := range []string{Anthropic, OpenAI} {
		t.Run(p, func(t *testing.T) { f(t, p) })
	}
}

func TestVerdicts(t *testing.T) {
	both(t, func(t *testing.T, p string) {
		out, d, srv, err := grade(t, p, rubric, "The page could not be read.", fakellm.Always(passes))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "1")
		if out.Score.Why != "because" || len(out.Checks) != 2 || out.Checks[0].Verdict != tooleval.Passed ||
			out.Checks[0].Name != "admits" || out.Checks[0].Note != "could not be read" || out.Checks[0].Info {
			t.Errorf("outcome: %+v", out)
		}
		req := srv.Requests("")[0]
		if req.Key != secret || req.Model != model || req.Choice != (fakellm.Choice{Mode: "tool", Name: verdictTool, OnlyOne: true}) {
			t.Errorf("key %q, model %q, choice %+v", req.Key, req.Model, req.Choice)
		}
		if tool, ok := req.Tool(verdictTool); !ok || !tool.Strict || string(tool.Schema) != string(rubric.schema()) {
			t.Errorf("tool: %+v", tool)
		}
		x := d.Votes[0].Exchanges[0]
		if !tooleval.Equal(mustDecode(t, d.Requests[x.Request]), mustDecode(t, req.Raw)) {
			t.Errorf("the kept request is not what was sent:\n%s\n%s", d.Requests[x.Request], req.Raw)
		}
		if x.Model != model || x.Tries != 1 || !bytes.Contains(x.Usage, []byte("tokens")) || !bytes.Contains(x.Reply, []byte(verdictTool)) {
			t.Errorf("exchange: %+v", x)
		}
		if d.Split != (Split{Pass: 1}) || d.Delimiter == "" || d.Model != p+":"+model || len(d.Votes[0].Flags) != 0 {
			t.Errorf("detail: %+v", d)
		}

		out, _, _, err = grade(t, p, rubric, "All is well.", fakellm.Always(fails))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "0")
		if out.Checks[0].Verdict != tooleval.Passed || out.Checks[1].Verdict != tooleval.Failed {
			t.Errorf("checks: %+v", out.Checks)
		}

		out, _, _, err = grade(t, p, rubric, "?", fakellm.Always(dontKnow))
		if err != nil {
			t.Fatal(err)
		}
		wantScore(t, out, "unscored")
		if !strings.Contains(string(out.Score.Why), "can't tell: because") || out.Checks[0].Verdict != tooleval.Unscored {
			t.Errorf("outcome: %+v", out)
		}
	})
}

func mustDecode(t *testing.T, b []byte) any {
	t.Helper()
	v, err := tooleval.DecodeValue(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
