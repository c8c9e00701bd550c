package httpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
)

// post sends the request, again and again as long as no connection can be made.
func (a *Agent) post(ctx context.Context, id string, body []byte) (*http.Response, error) {
	// The library itself repeats requests with an Idempotency-Key when a connection that was kept alive breaks. So none
	// is kept, and HTTP/2, which has rules of its own, is off.
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, Protocols: new(http.Protocols),
		DialContext: (&net.Dialer{Timeout: a.options.ConnectWithin}).DialContext, TLSHandshakeTimeout: a.options.ConnectWithin,
		MaxResponseHeaderBytes: 1 << 20,
	}
	transport.Protocols.SetHTTP1(true)
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // it would carry the run's token to a place that nobody chose
	}}
	giveUp := time.Now().Add(a.options.ConnectWithin)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url.String(), bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		req.Header.Set("X-ToolEval-Run", id)
		req.Header.Set("Idempotency-Key", id)
		if a.options.Token != "" {
			req.Header.Set("Authorization", "Bearer "+a.options.Token)
		}
		resp, err := client.Do(req)
		if err == nil {
			return resp, nil
		}
		var inner *url.Error
		if errors.As(err, &inner) { // whose own text repeats the URL
			err = inner.Err
		}
		if !unsent(err) {
			return nil, fmt.Errorf("no response: %w", err)
		}
		if time.Now().Add(pause).After(giveUp) {
			return nil, fmt.Errorf("it can't be reached: %w", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// unsent reports whether a fault came before there was a connection.
func unsent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}

// refusal is the error of a response that is no 200.
func refusal(resp *http.Response, body []byte) error {
	var said struct {
		Error struct {
			Message tooleval.Text  `json:"message"`
			Owner   tooleval.Owner `json:"owner"`
		} `json:"error"`
	}
	owner := tooleval.OwnerAgent
	var text string
	switch s := resp.StatusCode; {
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s == http.StatusBadGateway,
		s == http.StatusServiceUnavailable, s == http.StatusGatewayTimeout:
		owner = tooleval.OwnerInfra
	case s >= 300 && s < 400, s == http.StatusUnauthorized, s == http.StatusForbidden,
		s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		owner = tooleval.OwnerUser
	}
	if json.Unmarshal(body, &said) == nil && said.Error.Message != "" {
		text = string(said.Error.Message)
		switch o := said.Error.Owner; o {
		case tooleval.OwnerAgent, tooleval.OwnerInfra, tooleval.OwnerUser:
			owner = o
		}
	} else {
		text = tail(body)
	}
	hint := ""
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		hint = fmt.Sprintf(" (redirects, here to %q, are not followed: name the URL itself)", clip(resp.Header.Get("Location")))
	case s == http.StatusUnauthorized:
		hint = " (set TOOLEVAL_HTTP_TOKEN)"
	}
	if text != "" {
		text = fmt.Sprintf(": %q", clip(text))
	}
	return tooleval.Blamef(owner, "answered %d%s%s", resp.StatusCode, hint, text)
}

const mostText = 1000 // bytes of a text from outside that messages show

// tail is the end of a body: where there is a trace of an exception, the reason stands last.
func tail(b []byte) string {
	text := strings.TrimSpace(string(b))
	if len(text) > mostText {
		text = "…" + text[len(text)-mostText:]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func clip(s string) string {
	if len(s) > mostText+len("…") {
		s = s[:mostText] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
