package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/tooleval/tooleval"
)

// classify says whose fault a failed request is. The provider's troubles, which the SDK has tried to sit out, are infra's;
// keys, models and bills are the user's; a request that is wrong in itself is the agent's.
func classify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *anthropic.Error
	if !errors.As(err, &e) {
		// The SDK's own type for this is internal. Its text lists every source that it tried.
		if strings.Contains(err.Error(), "no Anthropic credentials found") {
			return tooleval.Blamef(tooleval.OwnerUser, "no key for the model: set ANTHROPIC_API_KEY")
		}
		return tooleval.Blamef(tooleval.OwnerInfra, "asking the model: %w", err)
	}
	said := e.Message
	if said == "" {
		said = http.StatusText(e.StatusCode)
	}
	kind := ""
	if e.Type() != "" {
		kind = fmt.Sprintf(" (%s)", e.Type())
	}
	err = fmt.Errorf("asking the model: status %d%s: %.500s", e.StatusCode, kind, said)
	low := strings.ToLower(said)
	switch {
	case e.StatusCode == http.StatusUnauthorized, e.StatusCode == http.StatusForbidden, e.StatusCode == http.StatusNotFound,
		e.StatusCode == http.StatusPaymentRequired, strings.Contains(low, "credit balance"):
		return tooleval.Blame(tooleval.OwnerUser, err)
	case e.StatusCode == http.StatusRequestTimeout, e.StatusCode == http.StatusConflict,
		e.StatusCode == http.StatusTooManyRequests, e.StatusCode >= 500, e.StatusCode < 400:
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	return tooleval.Blame(tooleval.OwnerAgent, err)
}
