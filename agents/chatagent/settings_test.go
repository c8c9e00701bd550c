package chatagent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents/chatagent"
)

func TestParse(t *testing.T) {
	s, err := chatagent.Parse("openai:org/model:8b?temperature=0.5&seed=-7&max_turns=20&max_tokens=100&retries=0&base_url=http://localhost:11434/v1")
	if err != nil || s.Model != "org/model:8b" || *s.Temperature != 0.5 || *s.Seed != -7 || s.MaxTurns != 20 || s.MaxTokens != 100 ||
		s.Retries >= 0 || s.BaseURL != "http://localhost:11434/v1" {
		t.Errorf("%+v, %v", s, err)
	}
	for spec, want := range map[string]string{
		"gemini:x":                           "want anthropic:MODEL or openai:MODEL",
		"openai":                             "the model is missing",
		"openai: ?seed=1":                    "the model is missing",
		"openai:m?temprature=0":              `did you mean "temperature"`,
		"openai:m?api_key=sk":                "keys are read from the environment",
		"openai:m?seed=1&seed=2":             "given twice",
		"openai:m?seed=x":                    "whole number",
		"openai:m?temperature=NaN":           "from 0 to 2",
		"openai:m?temperature=3":             "from 0 to 2",
		"openai:m?max_turns=0":               "from 1",
		"openai:m?max_turns=99999999999":     "from 1",
		"openai:m?retries=-1":                "from 0",
		"openai:m?base_url=localhost:1":      "want http://",
		"openai:m?base_url=http://u:p@h/":    "without a user",
		"openai:m?base_url=http://h/?k=s":    "without a user",
		"openai:m?%zz":                       "the options",
		"anthropic:m?temperature=0":          "takes no temperature and no seed",
		"anthropic:m?seed=0":                 "takes no temperature and no seed",
		"anthropic:m?max_tokens=1.5&seed=0x": "want a whole number",
	} {
		if _, err := chatagent.Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}

// TestMissingKey: it is told before anything is asked, with what to set.
func TestMissingKey(t *testing.T) {
	for _, c := range []struct {
		spec string
		env  map[string]string
		want string
	}{
		{"anthropic:m", nil, "ANTHROPIC_API_KEY"},
		{"anthropic:m?base_url=http://127.0.0.1:1", nil, "ANTHROPIC_API_KEY"},
		{"anthropic:m", map[string]string{"ANTHROPIC_API_KEY": "k"}, ""},
		{"openai:m", nil, "set OPENAI_API_KEY, or OPENAI_BASE_URL"},
		{"openai:m", map[string]string{"OPENAI_API_KEY": " "}, "OPENAI_API_KEY"},
		{"openai:m?base_url=https://models.example.com/v1", nil, "OPENAI_API_KEY"},
		{"openai:m?base_url=http://localhost:11434/v1", nil, ""},
		{"openai:m", map[string]string{"OPENAI_BASE_URL": "http://192.168.1.9/v1"}, ""},
		{"openai:m", map[string]string{"OPENAI_API_KEY": "k"}, ""},
	} {
		s, err := chatagent.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		a, err := chatagent.New(s, environment(c.env))
		if err != nil {
			t.Fatal(err)
		}
		err = a.Preflight(t.Context(), nil)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.spec, err)
			}
			continue
		}
		if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerUser || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.spec, err)
		}
		if _, again := a.Run(t.Context(), assignment, calculate); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: the run says %v", c.spec, again)
		}
	}
}

// TestFingerprint: what changes the question changes it, and the key does not.
func TestFingerprint(t *testing.T) {
	print := func(spec, key string) string {
		s, err := chatagent.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		a, err := chatagent.New(s, environment(map[string]string{"OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(a.Fingerprint())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	base := print("openai:m", "k1")
	if other := print("openai:m?max_turns=30&retries=1", "k2"); other != base {
		t.Errorf("the same question differs:\n%s\n%s", base, other)
	}
	for _, spec := range []string{"openai:n", "anthropic:m", "openai:m?temperature=0", "openai:m?seed=0", "openai:m?max_turns=3", "openai:m?max_tokens=3", "openai:m?base_url=http://h/v1"} {
		if print(spec, "k1") == base {
			t.Errorf("%s has the same fingerprint", spec)
		}
	}
	if strings.Contains(base, "k1") {
		t.Errorf("the key is in %s", base)
	}
}

func TestPrices(t *testing.T) {
	if _, err := chatagent.LoadPrices(""); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"good":     {`{"date":"2026-01-02","models":{"m":{"input":1,"output":0}}}`, ""},
		"empty":    {``, "EOF"},
		"no date":  {`{"models":{"m":{"input":1,"output":2}}}`, "date"},
		"nothing":  {`{"date":"2026-01-02","models":{}}`, "no models"},
		"half":     {`{"date":"2026-01-02","models":{"m":{"input":1}}}`, `"m" needs`},
		"negative": {`{"date":"2026-01-02","models":{"m":{"input":-1,"output":2}}}`, "price of -1"},
		"misspelt": {`{"date":"2026-01-02","models":{"m":{"inptu":1,"output":2}}}`, "inptu"},
		"more":     {`{"date":"2026-01-02","models":{"m":{"input":1,"output":2}}} x`, "behind"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := chatagent.LoadPrices(path)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "TOOLEVAL_PRICES")) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := chatagent.New(chatagent.Settings{Provider: "openai", Model: "m"}, environment(map[string]string{"TOOLEVAL_PRICES": filepath.Join(dir, "absent")})); err == nil {
		t.Error("a missing table was taken")
	}
}
