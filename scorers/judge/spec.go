package judge

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// Providers of a judge.
const (
	None      = "none"
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

var providers = []string{Anthropic, None, OpenAI}

// DefaultModel judges when nothing is chosen.
var DefaultModel = Model{Anthropic, "claude-sonnet-5-5"}

// A Model is a provider and the provider's name for a model. The provider none has no model.
type Model struct {
	Provider string
	Name     string
}

// String is the spelling that [Parse] reads.
func (m Model) String() string {
	if m.Name == "" {
		return m.Provider
	}
	return m.Provider + ":" + m.Name
}

// Parse reads none, anthropic:MODEL or openai:MODEL. Empty stands for [DefaultModel], and so does anthropic alone. The
// model's name may hold colons.
func Parse(spec string) (Model, error) {
	provider, name, colon := strings.Cut(spec, ":")
	switch {
	case spec == "":
		return DefaultModel, nil
	case spec == None:
		return Model{Provider: None}, nil
	case spec == Anthropic:
		return DefaultModel, nil
	case provider == None:
		return Model{}, fmt.Errorf("judge %q: none takes no model", spec)
	case provider == Anthropic || provider == OpenAI:
		if strings.TrimSpace(name) == "" || strings.TrimSpace(name) != name {
			return Model{}, fmt.Errorf("judge %q: name a model, as in %s:MODEL", spec, provider)
		}
		return Model{provider, name}, nil
	case !colon && strings.HasPrefix(spec, "claude"):
		return Model{}, fmt.Errorf("judge %q: say whose model it is: anthropic:%s", spec, spec)
	}
	return Model{}, fmt.Errorf("judge %q: unknown provider %q%s: want none, anthropic:MODEL or openai:MODEL",
		spec, provider, tooleval.DidYouMean(provider, providers))
}
