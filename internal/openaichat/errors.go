package openaichat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// A Kind says what went wrong. It is an error itself, so that errors.Is(err, openaichat.RateLimited) works.
type Kind string

// The kinds of an [Error].
const (
	RateLimited     Kind = "rate limited"     // 429
	Overloaded      Kind = "overloaded"       // 503, 529
	Auth            Kind = "not authorised"   // 401, 403
	ModelNotFound   Kind = "model not found"  // 404
	ContextOverflow Kind = "context overflow" // the request is too long for the model
	BadRequest      Kind = "bad request"      // any other 4xx, and requests that can't be sent
	ServerFault     Kind = "server error"     // any other 5xx
	BadReply        Kind = "unreadable reply" // a reply that is no completion
	Network         Kind = "no reply"         // the connection failed or took too long
)

// Error is the kind in words.
func (k Kind) Error() string { return string(k) }

// An Error is a request that got no completion.
type Error struct {
	Kind Kind
	// Status is the HTTP status; 0 when there was no reply.
	Status int
	// Message is what the server said, or what is wrong. It comes from outside.
	Message string
	// Code is the server's own word for the error, if it gave one.
	Code string
	// Body is the reply as it came, without the key; nil when there was none.
	Body []byte
	// RetryAfter is how long the server wants to be left alone; nil when it does not say.
	RetryAfter *time.Duration
	// Tries counts the requests that were sent.
	Tries int

	cause error
}

// Error says the kind, the status, how often it was tried, and the start of the server's message.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	if e.Status != 0 && e.Status != http.StatusOK {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	if e.Tries > 1 {
		fmt.Fprintf(&b, " after %d tries", e.Tries)
	}
	if m := clip(e.Message, 300); m != "" {
		b.WriteString(": " + m)
	}
	return b.String()
}

// Is reports whether target is the error's kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Unwrap is what broke the connection, if one broke.
func (e *Error) Unwrap() error { return e.cause }

// failure reads an error in whichever of the many shapes it comes.
func failure(status int, h http.Header, raw []byte) *Error {
	e := &Error{Status: status, Body: raw, RetryAfter: retryAfter(h, time.Now())}
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	var inner struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(raw, &wrapped) == nil {
		e.Message = wrapped.Message
		if json.Unmarshal(wrapped.Error, &inner) == nil && inner.Message != "" {
			e.Message = inner.Message
			e.Code = strings.Trim(string(inner.Code), `"`)
			if e.Code == "" || e.Code == "null" {
				e.Code = inner.Type
			}
		} else if s := plain(wrapped.Error); s != "" {
			e.Message = s
		} else if s := plain(wrapped.Detail); s != "" {
			e.Message = s
		}
	}
	if e.Message == "" {
		e.Message = strings.Join(strings.Fields(clip(string(raw), 300)), " ")
	}
	if status == http.StatusOK {
		// A gateway's 200: the code may be the status that it got.
		var code int
		if json.Unmarshal(inner.Code, &code) == nil && code >= 400 && code < 600 {
			e.Status = code
		}
	}
	e.Kind = kind(e)
	return e
}

func kind(e *Error) Kind {
	said := strings.ToLower(e.Code + " " + e.Message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch s := e.Status; {
	case s == http.StatusTooManyRequests:
		return RateLimited
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return Auth
	case s == http.StatusServiceUnavailable, s == 529:
		return Overloaded
	case s >= 500:
		return ServerFault
	case s == http.StatusRequestEntityTooLarge, s >= 400 && has("context_length", "context length", "maximum context",
		"context window", "prompt is too long", "too many tokens"):
		return ContextOverflow
	case s == http.StatusNotFound, s >= 400 && has("model_not_found"):
		return ModelNotFound
	case s >= 400:
		return BadRequest
	}
	return BadReply
}

// plain is a JSON string, or the text of another value that is neither null nor empty.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// clip cuts s between characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
