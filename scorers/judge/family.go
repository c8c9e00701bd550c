package judge

import (
	"strings"
	"unicode"
)

// A ModelFamily is models of one maker and line, which tend to write alike and to favour what they would have written.
type ModelFamily struct {
	Name string
	// Words are beginnings of a word in a model's name that tell the family.
	Words []string
}

// Families are the families that are known.
var Families = []ModelFamily{
	{"Claude (Anthropic)", []string{"claude"}},
	{"GPT (OpenAI)", []string{"gpt", "chatgpt", "codex", "davinci", "o1", "o3", "o4"}},
	{"Gemini (Google)", []string{"gemini", "gemma", "palm"}},
	{"Llama (Meta)", []string{"llama", "codellama"}},
	{"Mistral", []string{"mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral"}},
	{"Qwen (Alibaba)", []string{"qwen", "qwq"}},
	{"DeepSeek", []string{"deepseek"}},
	{"Grok (xAI)", []string{"grok"}},
	{"Command (Cohere)", []string{"command"}},
	{"Phi (Microsoft)", []string{"phi"}},
	{"Nova (Amazon)", []string{"nova"}},
	{"Kimi (Moonshot)", []string{"kimi", "moonshot"}},
	{"GLM (Zhipu)", []string{"glm", "chatglm"}},
	{"MiniMax", []string{"minimax"}},
	{"Nemotron (NVIDIA)", []string{"nemotron"}},
}

// Family is the family of a model or mind by its name, such as "anthropic:claude-sonnet-5-5", "gpt-4o" or
// "meta-llama/Llama-3"; empty when the name does not tell. A provider alone tells nothing, since one serves many families.
// Of a name that holds several families, as that of a distilled model does, the last one is taken: it says what was trained.
func Family(name string) string {
	found := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, f := range Families {
			for _, w := range f.Words {
				rest, ok := strings.CutPrefix(word, w)
				// What follows is a version: "qwen2" and "gpt4o" but not "commander" or "novation".
				if ok && (rest == "" || unicode.IsDigit(rune(rest[0])) && !unicode.IsDigit(rune(w[len(w)-1]))) {
					found = f.Name
				}
			}
		}
	}
	return found
}
