package answer

import (
	"strings"
	"testing"
	"time"
)

func TestJSONObject(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"result": 42}`, `{"result":42}`},
		{" \n{\"a\": 12345678901234567890}\n", `{"a":12345678901234567890}`},
		{"Done:\n```json\n{\"result\": 42}\n```\nAnything else?", `{"result":42}`},
		{"```\n{\"a\":1}\n```\nor rather\n```json\n{\"a\":2}\n```", `{"a":2}`},
		{"```{\"a\":1}```", `{"a":1}`},
		{"```json\n{\"a\":1}\n```\n```sh\nls\n```", `{"a":1}`},
		{`The answer is {"result": 42}.`, `{"result":42}`},
		{"I used {\"x\": 1} at first. Now:\n{\n  \"result\": {\"n\": [42]}\n}", `{"result":{"n":[42]}}`},
		{"odd {brace, then {\"a\":\"}{\"}", `{"a":"}{"}`},
		{"{\"a\":1}\nThat is all.", `{"a":1}`},
		{`I called calculate with {"expression": "6*7"} and got 42`, ""},
		{`{"a":1} {"a":2} done`, ""},
		{"42", ""}, {"", ""}, {"[1]", ""}, {`"{}"`, ""}, {`{"a":`, ""}, {"{\"a\":\"\xff\"}", ""}, {"```", ""}, {"```{", ""},
	} {
		got, ok := JSONObject(c.text)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%q: got %s, %v, want %s", c.text, got, ok, c.want)
		}
	}
}

// TestJSONObjectIsBounded: a hostile text costs a moment, not an hour.
func TestJSONObjectIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat(`{"a":`, 400_000) + "}", strings.Repeat("{", 2<<20) + "}", strings.Repeat(`{"a":"`, 200_000) + "}",
		strings.Repeat("```{", 500_000), strings.Repeat("{}\n{", 500_000) + "}",
	} {
		began := time.Now()
		JSONObject(text)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.20q…: %v", text, took)
		}
	}
}
