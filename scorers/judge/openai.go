package judge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/openaichat"
)

const openAIBase = "https://api.openai.com/v1"

type openAIAsker struct {
	client *openaichat.Client
	model  string
}

// newOpenAI asks the server at OPENAI_BASE_URL, or OpenAI's own. A server of one's own may need no key.
func newOpenAI(cfg Config) (asker, error) {
	key, base := strings.TrimSpace(cfg.Getenv("OPENAI_API_KEY")), strings.TrimSpace(cfg.Getenv("OPENAI_BASE_URL"))
	if key == "" && base == "" {
		return nil, errors.New("the judge needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs no key: " +
			"set one, or choose another judge with --judge anthropic:MODEL or --judge none")
	}
	if base == "" {
		base = openAIBase
	}
	return &openAIAsker{&openaichat.Client{BaseURL: base, Key: key, Timeout: cfg.Timeout}, cfg.Model.Name}, nil
}

func (a *openAIAsker) ask(ctx context.Context, q question) (reply, error) {
	alone := false
	req := openaichat.Request{
		Model: a.model,
		Messages: []openaichat.Message{
			{Role: "system", Content: q.system},
			{Role: "user", Content: q.user},
		},
		Tools: []openaichat.Tool{{
			Name: verdictTool, Description: toolDescription, Parameters: q.schema, Strict: q.strict,
		}},
		ToolChoice: openaichat.ToolChoice{Mode: "auto"},
		Parallel:   &alone,
		MaxTokens:  q.maxTokens,
	}
	if q.forced {
		req.ToolChoice = openaichat.ToolChoice{Tool: verdictTool}
	}
	sent, _ := a.client.Body(req) // Chat reports what is wrong with it
	res, err := a.client.Chat(ctx, req)
	if err != nil {
		return a.failed(ctx, reply{sent: sent}, err)
	}
	got := reply{
		sent: sent, raw: res.Raw, tries: res.Tries, stop: res.Finish, model: res.Model,
		cutOff:  res.Finish == "length",
		refused: res.Finish == "content_filter" || res.Message.Refusal != "",
	}
	var usage struct {
		Usage json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(res.Raw, &usage) == nil {
		got.usage = usage.Usage
	}
	for _, c := range res.Message.ToolCalls {
		if c.Name == verdictTool {
			got.calls = append(got.calls, c.Arguments)
		}
	}
	return got, nil
}

func (a *openAIAsker) failed(ctx context.Context, got reply, err error) (reply, error) {
	var e *openaichat.Error
	if !errors.As(err, &e) {
		return got, tooleval.Blame(tooleval.OwnerInfra, err)
	}
	got.raw, got.tries = e.Body, e.Tries
	switch e.Kind {
	case openaichat.BadReply:
		got.broken = true
		return got, nil
	case openaichat.ContextOverflow:
		return got, &tooLong{err}
	case openaichat.Auth, openaichat.ModelNotFound:
		return got, tooleval.Blame(tooleval.OwnerUser, err)
	case openaichat.BadRequest:
		if u := refusedShape(e.Message, err); u != nil && e.Status != 0 {
			return got, u
		}
		if e.Status == 0 { // it could not even be sent: the base URL
			return got, tooleval.Blame(tooleval.OwnerUser, err)
		}
	}
	return got, tooleval.Blame(tooleval.OwnerInfra, err)
}
