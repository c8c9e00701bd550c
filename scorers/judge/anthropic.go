package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/tooleval/tooleval"
)

type anthropicAsker struct {
	client anthropic.Client
	model  string
	key    string
}

// newAnthropic asks Anthropic's API, or the server at ANTHROPIC_BASE_URL. The library's own look at the environment and at
// files is switched off: the judge uses what it was given and nothing else.
func newAnthropic(cfg Config) (asker, error) {
	key := strings.TrimSpace(cfg.Getenv("ANTHROPIC_API_KEY"))
	if key == "" {
		return nil, errors.New("the judge needs ANTHROPIC_API_KEY: set it, or choose another judge with " +
			"--judge openai:MODEL or --judge none")
	}
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithAPIKey(key),
		option.WithMaxRetries(2),
		// A redirect would carry the conversation, and perhaps the key, to a place that nobody chose.
		option.WithHTTPClient(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}),
	}
	if base := strings.TrimSpace(cfg.Getenv("ANTHROPIC_BASE_URL")); base != "" {
		opts = append(opts, option.WithBaseURL(base))
	}
	return &anthropicAsker{anthropic.NewClient(opts...), cfg.Model.Name, key}, nil
}

func (a *anthropicAsker) ask(ctx context.Context, q question) (reply, error) {
	tool := anthropic.ToolParam{
		Name:        verdictTool,
		Description: anthropic.String(toolDescription),
		// The library's own type sorts the properties.
		InputSchema: param.Override[anthropic.ToolInputSchemaParam](q.schema),
	}
	if q.strict {
		tool.Strict = anthropic.Bool(true)
	}
	choice := anthropic.ToolChoiceUnionParam{OfAuto: &anthropic.ToolChoiceAutoParam{
		DisableParallelToolUse: anthropic.Bool(true),
	}}
	if q.forced {
		choice = anthropic.ToolChoiceParamOfTool(verdictTool)
		choice.OfTool.DisableParallelToolUse = anthropic.Bool(true)
	}
	wire := &wiretap{key: a.key}
	m, err := a.client.Messages.New(ctx, anthropic.MessageNewParams{
		Model:      a.model,
		MaxTokens:  int64(q.maxTokens),
		System:     []anthropic.TextBlockParam{{Text: q.system}},
		Messages:   []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.user))},
		Tools:      []anthropic.ToolUnionParam{{OfTool: &tool}},
		ToolChoice: choice,
	}, option.WithMiddleware(wire.watch))
	got := reply{sent: wire.sent, raw: wire.raw, tries: wire.tries}
	if err != nil {
		return a.failed(ctx, got, wire, err)
	}
	got.stop, got.model = string(m.StopReason), m.Model
	if usage := m.Usage.RawJSON(); usage != "" {
		got.usage = json.RawMessage(usage)
	}
	switch m.StopReason {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		got.cutOff = true
	case anthropic.StopReasonRefusal:
		got.refused = true
	}
	for _, b := range m.Content {
		if use, ok := b.AsAny().(anthropic.ToolUseBlock); ok && use.Name == verdictTool {
			got.calls = append(got.calls, string(use.Input))
		}
	}
	return got, nil
}

// failed sorts the errors by whose fault they are.
func (a *anthropicAsker) failed(ctx context.Context, got reply, wire *wiretap, err error) (reply, error) {
	if cause := context.Cause(ctx); cause != nil {
		return got, tooleval.Blame(tooleval.OwnerInfra, cause)
	}
	var e *anthropic.Error
	if !errors.As(err, &e) {
		if wire.status == http.StatusOK && wire.whole {
			got.broken = true
			return got, nil
		}
		return got, tooleval.Blamef(tooleval.OwnerInfra, "no reply after %d tries: %s", wire.tries,
			short(hide(err.Error(), a.key)))
	}
	said := e.Message
	if said == "" {
		said = string(wire.raw)
	}
	said = short(hide(said, a.key))
	err = fmt.Errorf("status %d (%s) after %d tries: %s", e.StatusCode, e.Type(), wire.tries, said)
	if e.Type() == "" {
		err = fmt.Errorf("status %d after %d tries: %s", e.StatusCode, wire.tries, said)
	}
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return got, tooleval.Blame(tooleval.OwnerUser, err)
	case http.StatusRequestEntityTooLarge:
		return got, &tooLong{err}
	case http.StatusBadRequest:
		low := strings.ToLower(said)
		if strings.Contains(low, "too long") || strings.Contains(low, "context window") {
			return got, &tooLong{err}
		}
		if u := refusedShape(said, err); u != nil {
			return got, u
		}
	}
	return got, tooleval.Blame(tooleval.OwnerInfra, err)
}

// A wiretap keeps what one call really sent and received: the last of its tries.
type wiretap struct {
	key       string
	tries     int
	sent, raw []byte
	status    int
	whole     bool // the body was read to its end
}

// maxReply bounds a reply in bytes.
const maxReply = 16 << 20

func (w *wiretap) watch(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	w.tries++
	w.raw, w.status, w.whole = nil, 0, false
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			w.sent, _ = io.ReadAll(body)
			_ = body.Close()
		}
	}
	resp, err := next(req)
	if err != nil {
		return resp, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	_ = resp.Body.Close()
	if err == nil && len(raw) > maxReply {
		raw, err = nil, fmt.Errorf("the reply has more than %d bytes", maxReply)
	}
	w.raw, w.status, w.whole = []byte(hide(string(raw), w.key)), resp.StatusCode, err == nil
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	if err != nil {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(raw), failing{err}))
	}
	return resp, nil
}

// failing is a body that breaks off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
