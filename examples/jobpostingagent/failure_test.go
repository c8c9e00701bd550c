package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/fakellm"
)

// Troubles with the provider: those that pass are sat out, and the others are blamed on who can mend them.
func TestProviderTroubles(t *testing.T) {
	always := func(r fakellm.Reply) fakellm.Script { return fakellm.Always(r) }
	once := func(r fakellm.Reply) fakellm.Script { return fakellm.Turns(r, fetches, submits) }
	tests := []struct {
		name   string
		script fakellm.Script
		owner  tooleval.Owner // empty: the run ends well
		words  string
	}{
		{"429 with retry-after", once(fakellm.RateLimited(5 * time.Millisecond)), "", ""},
		{"529", once(fakellm.Overloaded()), "", ""},
		{"500", once(fakellm.ServerError()), "", ""},
		{"a reply that breaks off", once(fakellm.Truncated(submits)), "", ""},
		{"429 for good", always(fakellm.RateLimited(time.Millisecond)), tooleval.OwnerInfra, "status 429 (rate_limit_error)"},
		{"529 for good", always(fakellm.Overloaded()), tooleval.OwnerInfra, "status 529 (overloaded_error)"},
		{"502 of a proxy", always(fakellm.BadGateway()), tooleval.OwnerInfra, "status 502: Bad Gateway"},
		{"no JSON", always(fakellm.Garbage()), tooleval.OwnerInfra, "asking the model"},
		{"a wrong key", fakellm.Authorized("other", submitsAlways), tooleval.OwnerUser, "status 401 (authentication_error): invalid api key"},
		{"no such model", always(fakellm.Fail(http.StatusNotFound, "not_found_error", "model: x")), tooleval.OwnerUser, "status 404"},
		{"no money", always(invalid("Your credit balance is too low")), tooleval.OwnerUser, "credit"},
		{"E17 too long", always(invalid("prompt is too long")), tooleval.OwnerAgent, "too long"},
		{"a refusal", always(fakellm.Refusal("no")), tooleval.OwnerAgent, "refused to answer"},
		{"max tokens", always(fakellm.MaxTokens(fakellm.CallTool("submit", `{"output":{`))), tooleval.OwnerAgent, "cut off at 8192 tokens"},
		{"no end", always(fetches), tooleval.OwnerAgent, "no output after 4 turns"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, srv := testAgent(t, test.script)
			got, err := runEntry(t, a, &toolbox{text: "page"}, extractEntry, posting)
			if test.owner == "" {
				if err != nil || *got.Usage.Turns != 2 || len(srv.Requests("")) != 3 {
					t.Fatalf("got error %v, usage %+v, %d requests", err, got.Usage, len(srv.Requests("")))
				}
				return
			}
			owner, ok := tooleval.BlamedOn(err)
			if !ok {
				owner = tooleval.OwnerAgent
			}
			if err == nil || owner != test.owner || !strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v, blamed on %s; want %q, on %s", err, owner, test.words, test.owner)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "step extract: ") {
				t.Errorf("the step is not named: %v", err)
			}
			if n := len(srv.Requests("")); strings.Contains(test.name, "for good") && n != maxRetries+1 {
				t.Errorf("%d tries", n)
			}
		})
	}
}

func invalid(message string) fakellm.Reply {
	return fakellm.Fail(http.StatusBadRequest, "invalid_request_error", message)
}

var submitsAlways = fakellm.Always(submits)

func TestNoKey(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	srv := fakellm.New(t, submitsAlways)
	_, err := runEntry(t, newAgent("m", 2, option.WithBaseURL(srv.URL(""))), &toolbox{}, extractEntry, posting)
	owner, _ := tooleval.BlamedOn(err)
	if owner != tooleval.OwnerUser || !strings.Contains(fmt.Sprint(err), "set ANTHROPIC_API_KEY") {
		t.Errorf("got %v, blamed on %q", err, owner)
	}
}
