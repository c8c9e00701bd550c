package chatagent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/openaichat"
)

func (a *Agent) newOpenAI() func(tooleval.Assignment, *names) (conversation, error) {
	client := &openaichat.Client{BaseURL: a.base, Key: a.key, Retries: a.settings.Retries, Timeout: requestTime, MaxBody: maxReply}
	return func(as tooleval.Assignment, n *names) (conversation, error) {
		c := &openAIChat{client: client, request: openaichat.Request{
			Model:       a.settings.Model,
			Messages:    []openaichat.Message{{Role: "system", Content: SystemPrompt}, {Role: "user", Content: prompt(as)}},
			Temperature: a.settings.Temperature, Seed: a.settings.Seed, MaxTokens: a.settings.MaxTokens,
		}}
		for i, t := range as.Tools {
			s, err := schema(t)
			if err != nil {
				return nil, err
			}
			c.request.Tools = append(c.request.Tools, openaichat.Tool{Name: n.offered[i], Description: valid(t.Description), Parameters: s})
		}
		return c, nil
	}
}

type openAIChat struct {
	client  *openaichat.Client
	request openaichat.Request
	asked   int // requests so far, for calls without an id
}

func (c *openAIChat) ask(ctx context.Context) (turn, error) {
	c.asked++
	res, err := c.client.Chat(ctx, c.request)
	if err != nil {
		return turn{}, c.fault(err)
	}
	t := turn{used: openAIUsage(res), text: res.Message.Content}
	switch {
	case res.Finish == "length":
		t.stop = cut
	case res.Finish == "content_filter", res.Message.Refusal != "":
		t.stop = refused
		if t.text == "" {
			t.text = res.Message.Refusal
		}
	}
	m := openaichat.Message{Role: "assistant", Content: valid(res.Message.Content)}
	for i, tc := range res.Message.ToolCalls {
		if tc.ID == "" { // some servers leave it out, and refuse results without one
			tc.ID = fmt.Sprintf("call_%d_%d", c.asked, i)
		}
		t.calls = append(t.calls, call{tc.ID, tc.Name, tooleval.Raw(tc.Arguments)})
		tc.Arguments = string(resendable(tooleval.Raw(tc.Arguments)))
		m.ToolCalls = append(m.ToolCalls, tc)
	}
	c.request.Messages = append(c.request.Messages, m)
	return t, nil
}

// answer adds one message a result. The API has no flag for errors, so the text says it.
func (c *openAIChat) answer(results []result) {
	for _, r := range results {
		if r.isError && !strings.HasPrefix(strings.ToLower(r.text), "error") {
			r.text = "Error: " + r.text
		}
		c.request.Messages = append(c.request.Messages, openaichat.Message{Role: "tool", ToolCallID: r.id, Content: r.text})
	}
}

// fault says whose fault a failed request is.
func (c *openAIChat) fault(err error) error {
	var e *openaichat.Error
	if !errors.As(err, &e) {
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	err = fmt.Errorf("asking the model: %w", e)
	switch e.Kind {
	case openaichat.ContextOverflow:
		return tooFull(short(e.Message))
	case openaichat.Auth, openaichat.ModelNotFound, openaichat.BadRequest:
		if e.Status != 408 && e.Status != 409 {
			// It is in what was asked for: the key, the model's name, a parameter, a schema. The model had no part in
			// it.
			return tooleval.Blame(tooleval.OwnerUser, err)
		}
	}
	return tooleval.Blame(tooleval.OwnerInfra, err)
}
