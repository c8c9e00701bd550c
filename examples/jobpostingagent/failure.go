package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

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

// keyed answers a request that has no key as the provider would. The SDK takes a missing key for a connection that may
// come back, and tries for seconds.
func keyed(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || req.Header.Get("X-Api-Key") != "" {
		return next(req)
	}
	const body = `{"type":"error","error":{"type":"authentication_error","message":"there is no key: set ANTHROPIC_API_KEY"}}`
	return &http.Response{
		Status: "401 Unauthorized", StatusCode: http.StatusUnauthorized, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req,
	}, nil
}
