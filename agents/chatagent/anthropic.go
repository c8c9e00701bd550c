package chatagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/tooleval/tooleval"
)

const (
	requestTime = 5 * time.Minute // of one try
	maxReply    = 16 << 20        // bytes
)

// newAnthropic makes a client that uses what it is given and nothing else: the library's own look at the environment
// and at files is switched off.
func (a *Agent) newAnthropic() func(tooleval.Assignment, *names) (conversation, error) {
	client := anthropic.NewClient(
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithBaseURL(a.base),
		option.WithAPIKey(a.key),
		option.WithMaxRetries(max(a.settings.Retries, 0)),
		option.WithRequestTimeout(requestTime),
		option.WithMiddleware(bounded),
		// A redirect would carry the conversation, and perhaps the key, to a place that nobody chose.
		option.WithHTTPClient(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}),
	)
	return func(as tooleval.Assignment, n *names) (conversation, error) {
		c := &anthropicChat{client: client, key: a.key, params: anthropic.MessageNewParams{
			Model: a.settings.Model, MaxTokens: int64(a.settings.MaxTokens),
			System:   []anthropic.TextBlockParam{{Text: SystemPrompt}},
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt(as)))},
		}}
		for i, t := range as.Tools {
			s, err := schema(t)
			if err != nil {
				return nil, err
			}
			// The library's own type sorts the properties.
			p := anthropic.ToolParam{Name: n.offered[i], InputSchema: param.Override[anthropic.ToolInputSchemaParam](s)}
			if t.Description != "" {
				p.Description = anthropic.String(valid(t.Description))
			}
			c.params.Tools = append(c.params.Tools, anthropic.ToolUnionParam{OfTool: &p})
		}
		return c, nil
	}
}

type anthropicChat struct {
	client anthropic.Client
	key    string
	params anthropic.MessageNewParams
}

func (c *anthropicChat) ask(ctx context.Context) (turn, error) {
	m, err := c.client.Messages.New(ctx, c.params)
	if err != nil {
		return turn{}, c.fault(err)
	}
	t := turn{used: anthropicUsage(m)}
	switch m.StopReason {
	case anthropic.StopReasonPauseTurn:
		t.stop = paused
	case anthropic.StopReasonMaxTokens:
		t.stop = cut
	case anthropic.StopReasonRefusal:
		t.stop = refused
	case anthropic.StopReasonModelContextWindowExceeded:
		t.stop = overflow
	}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			t.text += b.Text
		case anthropic.ToolUseBlock:
			t.calls = append(t.calls, call{b.ID, b.Name, tooleval.Raw(b.Input)})
		}
	}
	p := m.ToParam()
	p.OfAssistant.Content = slices.DeleteFunc(p.OfAssistant.Content, func(b anthropic.ContentBlockParamUnion) bool {
		return b.OfText != nil && strings.TrimSpace(b.OfText.Text) == "" // replied, but not taken back
	})
	for _, b := range p.OfAssistant.Content {
		if use := b.OfToolUse; use != nil {
			if input, ok := use.Input.(json.RawMessage); ok {
				use.Input = resendable(tooleval.Raw(input))
			}
		}
	}
	if len(p.OfAssistant.Content) > 0 { // the API takes no empty message either
		c.params.Messages = append(c.params.Messages, p)
	}
	return t, nil
}

func (c *anthropicChat) answer(results []result) {
	var blocks []anthropic.ContentBlockParamUnion
	for _, r := range results {
		blocks = append(blocks, anthropic.NewToolResultBlock(r.id, r.text, r.isError))
	}
	c.params.Messages = append(c.params.Messages, anthropic.NewUserMessage(blocks...))
}

// fault says whose fault a failed request is.
func (c *anthropicChat) fault(err error) error {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return tooleval.Blamef(tooleval.OwnerInfra, "asking the model: %s", short(hide(err.Error(), c.key)))
	}
	said := e.Message
	if said == "" {
		said = http.StatusText(e.StatusCode)
	}
	said = short(hide(said, c.key))
	kind := ""
	if e.Type() != "" {
		kind = fmt.Sprintf(" (%s)", e.Type())
	}
	err = fmt.Errorf("asking the model: status %d%s: %s", e.StatusCode, kind, said)
	low := strings.ToLower(said)
	switch {
	case e.StatusCode == http.StatusRequestEntityTooLarge,
		e.StatusCode == http.StatusBadRequest && (strings.Contains(low, "too long") || strings.Contains(low, "context window")):
		return tooFull(said)
	case e.StatusCode == http.StatusRequestTimeout, e.StatusCode == http.StatusConflict,
		e.StatusCode == http.StatusTooManyRequests, e.StatusCode >= 500, e.StatusCode < 400:
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	// The rest is in what was asked for: the key, the model's name, the bill, a parameter, a schema. The model had no
	// part in any of it.
	return tooleval.Blame(tooleval.OwnerUser, err)
}

// bounded makes a reply of more than maxReply bytes an error.
func bounded(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(req)
	if err == nil && resp.Body != nil {
		resp.Body = &limited{resp.Body, maxReply}
	}
	return resp, err
}

type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("the reply has more than %d bytes", maxReply)
	}
	return n, err
}

// hide takes the key out of what a server may have echoed.
func hide(s, key string) string {
	if len(key) < 4 { // no key, or one that would turn up in any text
		return s
	}
	return strings.ReplaceAll(s, key, "[key]")
}

// short cuts what a server said.
func short(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
