package worlds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

var talk = []tooleval.Tool{{Name: "ask_user", Schema: tooleval.Raw(`{"type":"object"}`)}, {Name: "look", Schema: tooleval.Raw(`{"type":"object"}`)}}

func TestAUserAnswersByAScript(t *testing.T) {
	u := worlds.User{
		World: worlds.Mock{InitialState: tooleval.Raw(`{"n":1}`), Fixtures: []worlds.Fixture{
			{Tool: "look", Results: []worlds.Answer{{Result: tooleval.TextResult("seen")}}}}},
		Replies: map[string][]worlds.Reply{"t": {
			{When: "(?i)booking|reservation", Say: "It is Z7.", Times: 1},
			{When: "(?i)anything else", Say: "No. Bye!", Ends: true},
			{When: "name", Say: "Mia"},
		}},
	}
	s := &tooleval.Suite{Tools: talk, Tasks: []tooleval.Task{{ID: "t", Toolset: []string{"ask_user", "look"}}}}
	if err := u.Check(s); err != nil {
		t.Fatal(err)
	}
	spec := tooleval.WorldSpec{Task: s.Tasks[0], Tools: talk}
	for range 2 { // the second run meets a fresh user
		w, err := u.NewWorld(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			tool, args, text string
			isError, ends    bool
		}{
			{"ask_user", `{"message":"Which RESERVATION?"}`, "It is Z7.", false, false},
			{"ask_user", `{"message":"your name?"}`, "Mia", false, false},
			{"ask_user", `{"message":"your name again?"}`, "Mia", false, false},
			{"look", `{}`, "seen", false, false},
			{"ask_user", `{}`, `missing argument "message"`, true, false},
			{"ask_user", `{"message":3}`, `argument "message": want a string`, true, false},
			{"ask_user", `[]`, `arguments are not a JSON object`, true, false},
			{"ask_user", `{"message":"Anything else?"}`, "No. Bye!", false, true},
		} {
			r, err := w.CallTool(t.Context(), tooleval.ToolCall{Tool: c.tool, Args: tooleval.Raw(c.args)})
			if err != nil || string(r.Text) != c.text || r.IsError != c.isError || r.EndsRun != c.ends {
				t.Errorf("%s(%s): got %+v, %v; want %q", c.tool, c.args, r, err, c.text)
			}
		}
		_, err = w.CallTool(t.Context(), tooleval.ToolCall{Tool: "ask_user", Args: tooleval.Raw(`{"message":"The booking?"}`)})
		if gap, ok := errors.AsType[*tooleval.Gap](err); !ok || !strings.Contains(gap.Nearest, "used up") {
			t.Errorf("a reply that was used up: got %v", err)
		}
		if state, err := w.State(); err != nil || string(state) != `{"n":1}` {
			t.Errorf("got %s, %v", state, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckReportsWhatIsWrongWithAUser(t *testing.T) {
	u := worlds.User{Tool: "ask", Replies: map[string][]worlds.Reply{"booking": {{When: "("}, {Times: -1}}}, World: worlds.Mock{
		Fixtures: []worlds.Fixture{{Tool: "nope"}}}}
	err := u.Check(&tooleval.Suite{Tools: talk, Tasks: []tooleval.Task{{ID: "bookings", Toolset: []string{"ask"}}}})
	for _, want := range []string{`no tool "ask"`, `nobody answers`, `unknown task "booking" (did you mean "bookings"?)`,
		"reply 1: error parsing regexp", "times is negative", `"nope"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %q", err, want)
		}
	}
}
