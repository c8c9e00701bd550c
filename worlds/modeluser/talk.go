package modeluser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/openaichat"
)

// rules is what the model is told before the instruction; the one verb is the stop.
const rules = `You play a user who talks to an agent. The agent's messages come to you as those of the user; whatever you write
is said to the agent by the person described below.
- Write only what that person says next, in their own words, and one short message at a time.
- Say what you want and what you know bit by bit, when it is asked for. Make up nothing that is not described below: say that
  you don't know.
- You are never the agent: offer no help, and use no tools.
- When what you want is done, or plainly can't be done, end your message with %s.

`

const (
	openAIBase = "https://api.openai.com/v1"
	// askTime bounds one try, mostReply a reply in bytes.
	askTime   = 2 * time.Minute
	mostReply = 1 << 20
)

// newClient is the server that plays users. A server of one's own may need no key.
func newClient(getenv func(string) string) (*openaichat.Client, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	key, base := strings.TrimSpace(getenv("OPENAI_API_KEY")), strings.TrimSpace(getenv("OPENAI_BASE_URL"))
	if key == "" && base == "" {
		return nil, tooleval.Blamef(tooleval.OwnerUser, "a model plays the user of this suite: set OPENAI_API_KEY, or OPENAI_BASE_URL "+
			"for a server of yours that needs none")
	}
	if base == "" {
		base = openAIBase
	}
	return &openaichat.Client{BaseURL: base, Key: key, Timeout: askTime, MaxBody: mostReply}, nil
}

// A talk is the conversation of one run. It is used by one goroutine at a time.
type talk struct {
	getenv  func(string) string
	client  *openaichat.Client // made by the first message
	request openaichat.Request
	stop    string
	left    int // answers
	over    bool
}

func (u User) newTalk(spec tooleval.WorldSpec) (*talk, error) {
	model, err := u.model()
	if err != nil {
		return nil, err
	}
	temperature, seed := 0.0, int64(spec.Seed&0x7fffffff) // servers differ in how large a seed may be
	system := fmt.Sprintf(rules, u.stop()) + u.instruction(spec.Task.ID)
	return &talk{getenv: spec.Getenv, stop: u.stop(), left: u.maxReplies(), request: openaichat.Request{
		Model: model, Temperature: &temperature, Seed: &seed,
		Messages: []openaichat.Message{{Role: "system", Content: strings.ToValidUTF8(system, "\uFFFD")}},
	}}, nil
}

// say is what the user answers. A message that is not answered leaves no trace in the conversation.
func (t *talk) say(ctx context.Context, message string) (string, error) {
	if t.client == nil {
		c, err := newClient(t.getenv)
		if err != nil {
			return "", err
		}
		t.client = c
	}
	req := t.request
	req.Messages = append(slices.Clone(req.Messages), openaichat.Message{Role: "user", Content: strings.ToValidUTF8(message, "\uFFFD")})
	res, err := t.ask(ctx, &req)
	if err != nil {
		return "", blame(err)
	}
	said := res.Message.Content
	text, _, stopped := strings.Cut(said, t.stop)
	text = strings.TrimSpace(text)
	if text == "" && !stopped || res.Message.Refusal != "" || res.Finish == "content_filter" {
		return "", tooleval.Blamef(tooleval.OwnerInfra, "the model that plays the user said nothing (it stopped by %.40q)", res.Finish)
	}
	req.Messages = append(req.Messages, openaichat.Message{Role: "assistant", Content: strings.ToValidUTF8(said, "\uFFFD")})
	t.request = req
	t.left--
	t.over = stopped || t.left <= 0
	return text, nil
}

// ask leaves out the temperature or the seed where the server says that it does not take them.
func (t *talk) ask(ctx context.Context, req *openaichat.Request) (*openaichat.Response, error) {
	for {
		res, err := t.client.Chat(ctx, *req)
		var e *openaichat.Error
		if err == nil || !errors.As(err, &e) || e.Kind != openaichat.BadRequest {
			return res, err
		}
		switch said := strings.ToLower(e.Message); {
		case req.Temperature != nil && strings.Contains(said, "temperature"):
			req.Temperature = nil
		case req.Seed != nil && strings.Contains(said, "seed"):
			req.Seed = nil
		default:
			return nil, err
		}
	}
}

// blame says whose fault a failed request is.
func blame(err error) error {
	var e *openaichat.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case openaichat.Auth, openaichat.ModelNotFound, openaichat.BadRequest:
			if e.Status != 408 && e.Status != 409 {
				return tooleval.Blame(tooleval.OwnerUser, fmt.Errorf("asking the model that plays the user: %w", err))
			}
		}
	}
	return tooleval.Blame(tooleval.OwnerInfra, fmt.Errorf("asking the model that plays the user: %w", err))
}

// brief is an error without what the server said: an agent may see the error of a call, and a server may repeat what it
// was sent, the instruction with it. The whole of it is in the error of State.
func brief(err error) error {
	var e *openaichat.Error
	if !errors.As(err, &e) {
		return err
	}
	short := *e
	short.Message, short.Code, short.Body = "", "", nil
	owner, _ := tooleval.BlamedOn(err)
	return tooleval.Blamef(owner, "asking the model that plays the user: %s", short.Error())
}
