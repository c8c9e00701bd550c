package judge

import (
	"os"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

func TestFamily(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic:claude-sonnet-5-5": "Claude (Anthropic)", "claude-code": "Claude (Anthropic)", "us.anthropic.claude-3": "Claude (Anthropic)",
		"openai:gpt-4o": "GPT (OpenAI)", "o3-mini": "GPT (OpenAI)", "codex": "GPT (OpenAI)", "openai:qwen2.5-72b": "Qwen (Alibaba)",
		"gemini-2.5-pro": "Gemini (Google)", "meta-llama/Llama-3.1": "Llama (Meta)", "DeepSeek-R1-Distill-Qwen-7B": "Qwen (Alibaba)",
		"phi4": "Phi (Microsoft)", "o30-mini": "", "openai": "", "anthropic": "", "scripted": "", "commander": "", "novation": "", "": "", "judge-model": "",
	} {
		if got := Family(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestFamiliesPage: the how-to lists the families that are known.
func TestFamiliesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/audit-a-judge.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Families {
		if row := "| " + f.Name + " | " + strings.Join(f.Words, ", ") + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("the page has no row %q", row)
		}
	}
}

func TestDetailIsReadBack(t *testing.T) {
	three := rubric
	three.Votes = 3
	for _, c := range []struct {
		script fakellm.Script
		want   Verdict
		ok     bool
	}{
		{fakellm.Turns(passes, fails, passes), Pass, true},
		{fakellm.Turns(fails, fails, passes), Fail, true},
		{fakellm.Turns(dontKnow, dontKnow, passes), CannotTell, true},
		{fakellm.Turns(dontKnow, fails, passes), "", false},
	} {
		out, _, _, err := grade(t, Anthropic, three, "text", c.script)
		if err != nil {
			t.Fatal(err)
		}
		d, ok := ReadDetail(out.Detail)
		if !ok {
			t.Fatalf("it is not read back: %s", out.Detail)
		}
		if got, ok := d.Decided(); got != c.want || ok != c.ok {
			t.Errorf("got %q, %v, want %q, %v", got, ok, c.want, c.ok)
		}
		if v, scored := out.Score.Value(); scored != (c.want == Pass || c.want == Fail) || scored && (v == 1) != (c.want == Pass) {
			t.Errorf("the score is %v, the verdict %s", out.Score, c.want)
		}
	}
	for _, raw := range []string{"", "null", "{}", "[1]", `{"mode":"exact"}`, `{"model":"m","rubric":{"name":"x"},"votes":[]}`, "\xff"} {
		if _, ok := ReadDetail(tooleval.Raw(raw)); ok {
			t.Errorf("%q is read as a judge's", raw)
		}
	}
}
