package chatagent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// SystemPrompt is the whole system prompt.
const SystemPrompt = "Do the task that you are given with the tools that you have. " +
	"When it is done, give the final answer, in the form that the task asks for."

// vendors are the addresses that a provider's requests go to, and the variables that say so.
var vendors = map[string]struct{ base, key, baseURL string }{
	Anthropic: {"https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
	OpenAI:    {"https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"},
}

// An Agent is a model with its settings. It keeps nothing between runs and may be used concurrently.
type Agent struct {
	settings Settings
	base     string // the address in use
	key      string
	missing  error // the key that is missing
	prices   *Prices
	// open starts a conversation with the model.
	open func(a tooleval.Assignment, n *names) (conversation, error)
}

// New makes an Agent. The key comes from ANTHROPIC_API_KEY or OPENAI_API_KEY; OpenAI's may be missing for a server that
// is local. The prices come from the file that TOOLEVAL_PRICES names, else from the table that is built in. A missing
// key is told by Preflight and by every run, any other trouble at once.
func New(s Settings, getenv func(string) string) (*Agent, error) {
	v, ok := vendors[s.Provider]
	if !ok {
		return nil, fmt.Errorf("unknown provider %q: want %s or %s", s.Provider, Anthropic, OpenAI)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.MaxTurns = cmp.Or(s.MaxTurns, DefaultMaxTurns)
	s.Retries = cmp.Or(s.Retries, DefaultRetries)
	a := &Agent{settings: s, key: strings.TrimSpace(getenv(v.key))}
	a.base = cmp.Or(s.BaseURL, strings.TrimSpace(getenv(v.baseURL)), v.base)
	u, err := parseBase(a.base)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: the base URL (option base_url, or %s): %w", s.Provider, s.Model, v.baseURL, err)
	}
	a.base = strings.TrimRight(a.base, "/")
	if a.key == "" && (s.Provider == Anthropic || !local(u)) {
		hint := ""
		if s.Provider == OpenAI {
			hint = ", or OPENAI_BASE_URL to a server of yours that needs none"
		}
		a.missing = tooleval.Blamef(tooleval.OwnerUser, "%s:%s needs a key: set %s%s", s.Provider, s.Model, v.key, hint)
	}
	if a.prices, err = LoadPrices(getenv("TOOLEVAL_PRICES")); err != nil {
		return nil, err
	}
	if s.Provider == Anthropic {
		a.settings.MaxTokens = cmp.Or(s.MaxTokens, DefaultMaxTokens)
		a.open = a.newAnthropic()
	} else {
		a.open = a.newOpenAI()
	}
	return a, nil
}

// Preflight tells of a missing key. It asks nothing of the model, which would cost money.
func (a *Agent) Preflight(context.Context, []tooleval.Assignment) error { return a.missing }

// Fingerprint is the model with everything that changes what it is asked. The key does not count.
func (a *Agent) Fingerprint() any {
	s := a.settings
	return struct {
		Provider    string   `json:"provider"`
		Model       string   `json:"model"`
		BaseURL     string   `json:"base_url"`
		MaxTurns    int      `json:"max_turns"`
		MaxTokens   int      `json:"max_tokens,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		Seed        *int64   `json:"seed,omitempty"`
		System      string   `json:"system"`
	}{s.Provider, s.Model, a.base, s.MaxTurns, s.MaxTokens, s.Temperature, s.Seed, fmt.Sprintf("%x", sha256.Sum256([]byte(SystemPrompt)))}
}

// prompt is the user's one message.
func prompt(a tooleval.Assignment) string {
	text := valid(a.Description)
	if len(a.Input) > 0 {
		text += "\n\nThe input:\n\n" + valid(string(a.Input))
	}
	if strings.TrimSpace(text) == "" { // which no server takes
		return "(The task has no description.)"
	}
	return text
}

// valid replaces what is not UTF-8, which no JSON can carry.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
