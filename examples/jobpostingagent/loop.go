package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/tooleval/tooleval"
)

const (
	// defaultModel answers unless --model or the environment names another.
	defaultModel = anthropic.ModelClaudeSonnet5_5
	// defaultTurns bounds the requests of one step.
	defaultTurns = 12
	// maxTokens bounds one reply.
	maxTokens = 8192
	// maxRetries is how often the SDK repeats a request that was refused for the time being (429, 529, 5xx) or broke off.
	maxRetries = 4
	// requestTime bounds one try of a request.
	requestTime = 3 * time.Minute
	// maxParallel bounds the tool calls of one turn that are served at once.
	maxParallel = 8
	// maxResult is the most bytes of a tool result that the model is shown.
	maxResult = 100_000
	// submitTool is the tool by which a step ends.
	submitTool = "submit"
)

// An Agent is the model with its settings. It keeps nothing between runs and may be used concurrently.
type Agent struct {
	client anthropic.Client
	model  string
	turns  int
	// log takes a line for every turn and call; nil says nothing.
	log func(format string, args ...any)
}

// newAgent uses the key and the base URL that the SDK finds in the environment, unless an option says otherwise.
func newAgent(model string, turns int, opts ...option.RequestOption) *Agent {
	opts = append([]option.RequestOption{
		option.WithMaxRetries(maxRetries), option.WithRequestTimeout(requestTime), option.WithoutOpenTelemetry(),
		option.WithMiddleware(keyed),
	}, opts...)
	return &Agent{client: anthropic.NewClient(opts...), model: model, turns: turns}
}

// A session is one run: the tools that it was given and what it has used up. Its steps follow one another.
type session struct {
	agent *Agent
	tools tooleval.ToolHandler
	specs []tooleval.Tool
	usage usage
}

// work is a step without its types.
type work struct {
	name, system, schema, input string
	tools                       []string
	done                        bool
	accept                      func(json.RawMessage) error
}

// loop asks the model, serves the calls that it makes, and returns when it has submitted an output that is accepted. One
// output that is not, or a missing one, is answered with the reason; the next ends the run.
//
// The tool choice is never forced: some models refuse that with status 400.
func (x *session) loop(ctx context.Context, w work) (answer string, err error) {
	params, err := x.open(w)
	if err != nil {
		return "", err
	}
	tried, succeeded, corrected := false, false, false
	for range x.agent.turns {
		m, err := x.ask(ctx, params)
		if err != nil {
			return "", err
		}
		if len(m.Content) > 0 { // the API takes no empty message
			params.Messages = append(params.Messages, m.ToParam())
		}
		if m.StopReason == anthropic.StopReasonPauseTurn {
			continue
		}
		text, uses := read(m)
		answers, err := x.serve(ctx, w, uses)
		if err != nil {
			return "", err
		}
		calls, submit := 0, -1
		for i, u := range uses {
			if u.Name == submitTool {
				submit = i
				continue
			}
			calls++
			tried = tried || u.Name == w.tools[0]
			succeeded = succeeded || u.Name == w.tools[0] && !answers[i].isError
		}
		problem := ""
		switch {
		case submit >= 0 && calls > 0:
			problem = "nothing was submitted: call submit alone, once you have seen the results of the other calls"
		case calls > 0: // go on
		case !tried:
			problem = fmt.Sprintf("nothing was submitted: call %s before", w.tools[0])
		case w.done && !succeeded:
			problem = fmt.Sprintf("nothing was submitted: %s has not succeeded yet", w.tools[0])
		default:
			raw := text
			if submit >= 0 {
				raw = string(uses[submit].Input)
			}
			s, err := parseSubmission(raw)
			if err == nil {
				err = w.accept(s.output)
			}
			if err == nil {
				x.logf("%s: done", w.name)
				if blank(s.answer) {
					s.answer = text
				}
				return s.answer, nil
			}
			problem = err.Error()
		}
		if problem != "" {
			if corrected {
				return "", fmt.Errorf("no usable output, after one correction: %s", problem)
			}
			corrected = true
			x.logf("%s: %s", w.name, problem)
		}
		params.Messages = append(params.Messages, follow(uses, answers, problem))
	}
	return "", fmt.Errorf("no output after %d turns", x.agent.turns)
}

// ask sends one request. A reply that the model could not finish is an error of the agent's.
func (x *session) ask(ctx context.Context, params anthropic.MessageNewParams) (*anthropic.Message, error) {
	m, err := x.agent.client.Messages.New(ctx, params)
	if err != nil {
		return nil, classify(ctx, err)
	}
	x.usage.add(m)
	switch m.StopReason {
	case anthropic.StopReasonRefusal:
		return nil, errors.New("the model refused to answer")
	case anthropic.StopReasonMaxTokens:
		return nil, fmt.Errorf("the model's reply was cut off at %d tokens", maxTokens)
	case anthropic.StopReasonModelContextWindowExceeded:
		return nil, errors.New("the conversation no longer fits into the model's context window")
	}
	return m, nil
}

// read is a reply's words and tool calls.
func read(m *anthropic.Message) (text string, uses []anthropic.ToolUseBlock) {
	var words []string
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			words = append(words, b.Text)
		case anthropic.ToolUseBlock:
			uses = append(uses, b)
		}
	}
	return strings.TrimSpace(strings.Join(words, "\n")), uses
}

// An answer is what the model is told about one call.
type answer struct {
	text    string
	isError bool
}

// serve calls the tools of one turn at the same time and returns the answers in the order of the calls. The answer to a
// submit stays empty. An error is the harness's or the world's, and ends the run.
func (x *session) serve(ctx context.Context, w work, uses []anthropic.ToolUseBlock) ([]answer, error) {
	answers, errs := make([]answer, len(uses)), make([]error, len(uses))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i, u := range uses {
		if u.Name == submitTool {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			answers[i], errs[i] = x.call(ctx, w, u)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// call answers one call. What is outside the step's tools never leaves the agent.
func (x *session) call(ctx context.Context, w work, u anthropic.ToolUseBlock) (answer, error) {
	if !slices.Contains(w.tools, u.Name) {
		x.logf("%s: refused a call of %.100q", w.name, u.Name)
		return answer{fmt.Sprintf("there is no tool %.100q here; there are: %s, %s", u.Name,
			strings.Join(w.tools, ", "), submitTool), true}, nil
	}
	x.logf("%s: %s %.300s", w.name, u.Name, u.Input)
	r, err := x.tools.CallTool(ctx, tooleval.ToolCall{ID: u.ID, Tool: u.Name, Args: tooleval.Raw(u.Input)})
	if err != nil {
		return answer{}, err
	}
	text := string(r.Text)
	if text == "" {
		text = string(r.Structured)
	}
	if len(text) > maxResult {
		text = text[:maxResult] + "\n(the rest was cut off)"
	}
	if text = strings.ToValidUTF8(text, "\uFFFD"); blank(text) { // the API takes no empty text
		text = "(the tool returned nothing)"
	}
	return answer{text, r.IsError}, nil
}

// follow is the message after a turn: the results of its calls, and what was wrong with it.
func follow(uses []anthropic.ToolUseBlock, answers []answer, problem string) anthropic.MessageParam {
	var blocks []anthropic.ContentBlockParamUnion
	for i, u := range uses {
		a := answers[i]
		if u.Name == submitTool {
			a = answer{problem, true}
		}
		blocks = append(blocks, anthropic.NewToolResultBlock(u.ID, a.text, a.isError))
	}
	if len(blocks) == 0 {
		blocks = append(blocks, anthropic.NewTextBlock("That could not be used: "+problem+". End with one call of submit."))
	}
	return anthropic.NewUserMessage(blocks...)
}

func (x *session) logf(format string, args ...any) {
	if x.agent.log != nil {
		x.agent.log(format, args...)
	}
}
