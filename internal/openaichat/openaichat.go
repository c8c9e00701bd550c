// Package openaichat is a small client for the chat completions of OpenAI and of the many servers that speak the same.
//
//	c := &openaichat.Client{BaseURL: "http://localhost:11434/v1", Key: key}
//	reply, err := c.Chat(ctx, openaichat.Request{
//		Model:    "some-model",
//		Messages: []openaichat.Message{{Role: "user", Content: "6 * 7?"}},
//	})
//
// It exists because OpenAI's own library takes long to compile and loses what an evaluation needs: the status and body of
// an error that is not in OpenAI's shape, and arguments exactly as the model wrote them.
//
// # Limits
//
// One choice, text only, no streaming.
package openaichat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Defaults of a [Client].
const (
	DefaultRetries = 2
	DefaultTimeout = 5 * time.Minute
	DefaultMaxBody = 16 << 20
	// MaxWait is the longest pause between two tries. A server that asks for a longer one is not asked again.
	MaxWait = time.Minute
)

// A Client asks one server. The zero value of a field but BaseURL is its default. It may be used concurrently.
type Client struct {
	// BaseURL is the URL below which /chat/completions lies, such as https://api.openai.com/v1.
	BaseURL string
	// Key is sent as a bearer token; empty sends none. It never appears in an error.
	Key string
	// Retries is how often a request is repeated: 0 means twice, a negative number never.
	Retries int
	// Timeout bounds one try.
	Timeout time.Duration
	// MaxBody bounds a reply in bytes.
	MaxBody int64
	// Transport is http.DefaultTransport when nil.
	Transport http.RoundTripper

	// pause waits between two tries; tests set it.
	pause func(context.Context, time.Duration) error
}

// Chat sends one request and returns the reply. Statuses 408, 409, 429 and 5xx, and connections that break, are tried
// again, after Retry-After-Ms or Retry-After when the server says so, else after 0.5 s·2^n up to 8 s, up to a quarter
// less at random. An error is an [*Error].
func (c *Client) Chat(ctx context.Context, req Request) (*Response, error) {
	body, err := c.Body(req)
	if err != nil {
		return nil, &Error{Kind: BadRequest, Message: err.Error()}
	}
	tries := 1 + cmp.Or(c.Retries, DefaultRetries)
	if c.Retries < 0 {
		tries = 1
	}
	for n := 1; ; n++ {
		res, fault := c.try(ctx, body)
		if fault == nil {
			res.Tries = n
			return res, nil
		}
		fault.Tries = n
		if ctx.Err() != nil {
			fault.cause = context.Cause(ctx)
			return nil, fault
		}
		wait, again := fault.again(n)
		if !again || n >= tries {
			return nil, fault
		}
		if err := c.wait(ctx, wait); err != nil {
			fault.cause = err
			return nil, fault
		}
	}
}

// Body is the body that Chat sends for a request. OpenAI renamed max_tokens and refuses the old name for its newer models; other servers
// know the old name alone.
func (c *Client) Body(req Request) ([]byte, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("base url %q: want http://host… or https://host…", c.BaseURL)
	}
	if req.Model == "" {
		return nil, errors.New("the request names no model")
	}
	w := wireRequest{Request: req}
	if req.MaxTokens > 0 {
		if u.Hostname() == "api.openai.com" {
			w.MaxCompletionTokens = req.MaxTokens
		} else {
			w.MaxTokens = req.MaxTokens
		}
	}
	body, err := encode(w)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	return body, nil
}

// try sends the request once.
func (c *Client) try(ctx context.Context, body []byte) (*Response, *Error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(c.Timeout, DefaultTimeout), errors.New("the model took too long"))
	defer cancel()
	target := strings.TrimRight(c.BaseURL, "/") + "/chat/completions"
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Kind: BadRequest, Message: c.hide(err.Error())}
	}
	hr.Header.Set("Content-Type", "application/json")
	hr.Header.Set("Accept", "application/json")
	if c.Key != "" {
		hr.Header.Set("Authorization", "Bearer "+c.Key)
	}
	// A redirect would carry the conversation, and perhaps the key, to a place that nobody chose.
	client := &http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(hr)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer resp.Body.Close()
	limit := cmp.Or(c.MaxBody, DefaultMaxBody)
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	if int64(len(raw)) > limit {
		return nil, &Error{Kind: BadReply, Status: resp.StatusCode, Message: fmt.Sprintf("the reply has more than %d bytes", limit)}
	}
	raw = []byte(c.hide(string(raw)))
	if resp.StatusCode != http.StatusOK {
		return nil, failure(resp.StatusCode, resp.Header, raw)
	}
	return decode(resp.Header, raw)
}

// broken is the error of a connection that failed.
func (c *Client) broken(ctx context.Context, err error) *Error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &Error{Kind: Network, Message: c.hide(err.Error()), cause: err}
}

// hide takes the key out of what a server may have echoed.
func (c *Client) hide(s string) string {
	if len(c.Key) < 4 { // no key, or one that would turn up in any text
		return s
	}
	return strings.ReplaceAll(s, c.Key, "[key]")
}

func (c *Client) wait(ctx context.Context, d time.Duration) error {
	if c.pause != nil {
		return c.pause(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// again says whether a fault is worth another try, and after which pause, when n tries are done.
func (e *Error) again(n int) (time.Duration, bool) {
	switch {
	case e.Kind == Network:
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict, e.Status == http.StatusTooManyRequests:
	case e.Status >= 500:
	default:
		return 0, false
	}
	if e.RetryAfter != nil {
		return *e.RetryAfter, *e.RetryAfter <= MaxWait
	}
	d := min(8*time.Second, 500*time.Millisecond<<min(n-1, 10))
	return d - time.Duration(rand.Int64N(int64(d/4))), true
}

// retryAfter reads how long the server wants to be left alone; nil when it does not say.
func retryAfter(h http.Header, now time.Time) *time.Duration {
	read := func(name string, unit time.Duration) *time.Duration {
		v := strings.TrimSpace(h.Get(name))
		if f, err := strconv.ParseFloat(v, 64); err == nil && f >= 0 && f < 1e9 {
			d := time.Duration(f * float64(unit))
			return &d
		}
		if t, err := http.ParseTime(v); err == nil {
			d := max(0, t.Sub(now))
			return &d
		}
		return nil
	}
	if d := read("Retry-After-Ms", time.Millisecond); d != nil {
		return d
	}
	return read("Retry-After", time.Second)
}
