package chatagent

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
)

// The providers.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai" // and every server that speaks its chat completions
)

// Defaults of Settings.
const (
	DefaultMaxTurns  = 30
	DefaultMaxTokens = 16384 // for Anthropic, whose API wants a number
	DefaultRetries   = 4
)

// Settings say which model answers and how it is asked.
type Settings struct {
	Provider string // Anthropic or OpenAI
	Model    string
	// BaseURL is the server's address; empty stands for ANTHROPIC_BASE_URL or OPENAI_BASE_URL, and where that is not
	// set for the vendor's own. OpenAI's ends with /v1, Anthropic's does not.
	BaseURL string
	// MaxTurns bounds the requests of a run; 0 stands for DefaultMaxTurns.
	MaxTurns int
	// MaxTokens bounds one reply; 0 stands for DefaultMaxTokens with Anthropic, and for the server's own with OpenAI.
	MaxTokens int
	// Temperature and Seed are sent when they are set. Anthropic's API has neither.
	Temperature *float64
	Seed        *int64
	// Retries is how often a request is repeated that failed for the time being; 0 stands for DefaultRetries, a
	// negative number for never.
	Retries int
}

// options are the names after the question mark of a spec.
var options = []string{"base_url", "max_tokens", "max_turns", "retries", "seed", "temperature"}

// Parse reads a spec: anthropic:MODEL or openai:MODEL, and behind a question mark options as in a URL:
// openai:MODEL?temperature=0&seed=7. The error says everything that is wrong with it.
func Parse(spec string) (Settings, error) {
	provider, rest, _ := strings.Cut(spec, ":")
	s := Settings{Provider: provider}
	if provider != Anthropic && provider != OpenAI {
		return s, fmt.Errorf("%q: want %s:MODEL or %s:MODEL", spec, Anthropic, OpenAI)
	}
	model, query, _ := strings.Cut(rest, "?")
	fail := func(format string, args ...any) (Settings, error) {
		return s, fmt.Errorf("%s:%s: %w", provider, model, fmt.Errorf(format, args...)) // the rest may hold a password
	}
	if s.Model = strings.TrimSpace(model); s.Model == "" {
		return fail("the model is missing; write %s:MODEL", provider)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return fail("the options: %w", err)
	}
	for name, list := range values {
		if !slices.Contains(options, name) {
			hint := ""
			if strings.Contains(name, "key") || strings.Contains(name, "token") && name != "max_tokens" {
				hint = "; keys are read from the environment"
			}
			return fail("unknown option %q%s; the options are %s%s", name,
				tooleval.DidYouMean(name, options), strings.Join(options, ", "), hint)
		}
		if len(list) > 1 {
			return fail("option %s is given twice", name)
		}
		if err := s.set(name, list[0]); err != nil {
			return fail("option %s: %w", name, err)
		}
	}
	return s, s.check()
}

func (s *Settings) set(name, value string) error {
	count := func(to *int, least int) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > 1_000_000 {
			return fmt.Errorf("want a whole number from %d to 1000000", least)
		}
		*to = n
		return nil
	}
	switch name {
	case "base_url":
		s.BaseURL = value
		_, err := parseBase(value)
		return err
	case "max_tokens":
		return count(&s.MaxTokens, 1)
	case "max_turns":
		return count(&s.MaxTurns, 1)
	case "retries":
		if err := count(&s.Retries, 0); err != nil {
			return err
		}
		if s.Retries == 0 {
			s.Retries = -1
		}
	case "seed":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("want a whole number")
		}
		s.Seed = &n
	case "temperature":
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || f < 0 || f > 2 {
			return fmt.Errorf("want a number from 0 to 2")
		}
		s.Temperature = &f
	}
	return nil
}

// check refuses what the provider's API does not have, rather than leaving it out.
func (s *Settings) check() error {
	if s.Provider == Anthropic && (s.Temperature != nil || s.Seed != nil) {
		return fmt.Errorf("%s:%s: Anthropic's API takes no temperature and no seed (since its version 2026-10-21); leave them out",
			s.Provider, s.Model)
	}
	return nil
}

// parseBase reads the address of a server. It becomes part of records, so it must hold no password.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("want http://HOST… or https://HOST…")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("want an address without a user, a password, a query or a fragment; keys are read from the environment")
	}
	return u, nil
}

// local reports whether a server is on this machine or in a private network, where a key is not the rule.
func local(u *url.URL) bool {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return strings.EqualFold(host, "localhost") || !strings.Contains(host, ".") ||
		strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal")
}
